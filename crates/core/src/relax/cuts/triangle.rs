//! Triangles over all pairs of vertices: the violated ones, and those worth keeping.

use super::quad::SIGNS;
use crate::certify::Cut;
use crate::linalg::Square;
use std::ops::Range;

/// The triangle `1 + s X_ab + t X_ac + st X_bc >= 0`, a < b < c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Triangle {
    pub(crate) vertices: [u32; 3],
    /// Signs of ab, ac, bc; their product is 1.
    pub(crate) signs: [i8; 3],
}

impl Triangle {
    /// The three entries of the moment matrix with their signs.
    pub(crate) fn entries(&self) -> [(usize, usize, f64); 3] {
        let [a, b, c] = self.vertices.map(|v| v as usize);
        let [ab, ac, bc] = self.signs.map(f64::from);
        [(a, b, ab), (a, c, ac), (b, c, bc)]
    }

    /// `s X_ab + t X_ac + st X_bc`.
    pub(crate) fn moment(&self, x: &Square) -> f64 {
        self.entries().iter().map(|&(i, j, s)| s * x.at(i, j)).sum()
    }

    /// As data of a certificate: the cycle a, b, c has the sides ab, bc, ca.
    pub(crate) fn cut(&self, multiplier: f64) -> Cut {
        let [ab, ac, bc] = self.signs;
        Cut { multiplier, cycle: self.vertices.to_vec(), signs: vec![ab, bc, ac] }
    }
}

/// A triangle after its left side, which is negative.
type Violated = (f64, Triangle);

/// Triangles found before the least violated are forgotten, in units of those asked for, and at least this many.
const BACKLOG: (usize, usize) = (8, 1000);

/// Triangles with first vertex in `first` that `x` violates by more than `least`, the worst first, at most `count`.
///
/// **Cost** two comparisons per triple: n^3 / 6 of them when `first` is everything.
pub(crate) fn violated(x: &Square, first: Range<usize>, least: f64, count: usize) -> Vec<Violated> {
    violated_until(x, first, least, count, &mut || false)
}

/// As [`violated`], among the first vertices that come before `stop`.
pub(crate) fn violated_until(
    x: &Square,
    first: Range<usize>,
    least: f64,
    count: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Vec<Violated> {
    let mut found: Vec<Violated> = Vec::new();
    let mut limit = -1.0 - least;
    for a in first {
        if stop() {
            break;
        }
        let of_a = x.column(a);
        for (b, &ab) in of_a.iter().enumerate().skip(a + 1) {
            let of_b = x.column(b);
            for (c, (ac, bc)) in of_a.iter().zip(of_b).enumerate().skip(b + 1) {
                // The least of the four left sides is 1 + min(ab - |ac + bc|, -ab - |ac - bc|).
                let (sum, difference) = (ac + bc, ac - bc);
                let mut push = |slack: f64, kind: usize| {
                    found.push((
                        slack,
                        Triangle { vertices: [a, b, c].map(|v| v as u32), signs: SIGNS[kind] },
                    ));
                };
                if ab - sum.abs() < limit {
                    push(1.0 + ab - sum.abs(), if sum > 0.0 { 1 } else { 0 });
                }
                if -ab - difference.abs() < limit {
                    push(1.0 - ab - difference.abs(), if difference > 0.0 { 3 } else { 2 });
                }
            }
        }
        if found.len() > BACKLOG.0 * count.max(BACKLOG.1) {
            keep(&mut found, count);
            limit = found.last().map_or(limit, |last| last.0 - 1.0);
        }
    }
    keep(&mut found, count);
    found
}

fn keep(found: &mut Vec<Violated>, count: usize) {
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    found.truncate(count);
}

/// Share of the largest multiplier below which a cut carries nothing and only slows the next round.
const IDLE: f64 = 1e-3;

/// The cuts with the largest multipliers, at most `count`.
pub(crate) fn heaviest(active: Vec<Triangle>, multipliers: &[f64], count: usize) -> Vec<Triangle> {
    let top = multipliers.iter().fold(0.0f64, |m, g| m.max(*g));
    let mut weighed: Vec<(f64, Triangle)> =
        multipliers.iter().copied().zip(active).filter(|(g, _)| *g > IDLE * top).collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    weighed.truncate(count);
    weighed.into_iter().map(|(_, cut)| cut).collect()
}

#[cfg(test)]
mod tests {
    use super::super::quad::slacks;
    use super::*;

    #[test]
    fn every_violated_triangle_is_found_with_its_slack() {
        let n = 7;
        let mut x = Square::identity(n);
        for k in 0..n {
            for l in 0..k {
                let v = (1.3 * (k * n + l) as f64).sin();
                x.data_mut()[k + n * l] = v;
                x.data_mut()[l + n * k] = v;
            }
        }
        let found = violated(&x, 0..n, 0.0, 10_000);
        let mut expected = Vec::new();
        for k in 0..n {
            for l in k + 1..n {
                for m in l + 1..n {
                    let slacks = slacks([x.at(k, l), x.at(k, m), x.at(l, m)]);
                    expected.extend(slacks.into_iter().filter(|g| *g < 0.0));
                }
            }
        }
        expected.sort_by(f64::total_cmp);
        assert_eq!(found.len(), expected.len());
        for ((slack, triangle), expected) in found.iter().zip(&expected) {
            assert!((slack - expected).abs() < 1e-14);
            assert!((1.0 + triangle.moment(&x) - slack).abs() < 1e-14);
        }
        assert_eq!(violated(&x, 0..n, 0.0, 5), found[..5]);
    }
}
