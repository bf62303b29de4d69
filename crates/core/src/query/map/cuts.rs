//! Cycle inequalities on the moments of (1, x): which ones are violated, and f with them added.

use crate::certify::Cut;
use crate::choice::choice;
use crate::error::Result;
use crate::linalg::Square;
use crate::model::{Ising, Polynomial};
use std::collections::BTreeMap;

/// Which inequalities tighten the zero-temperature bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cuts {
    /// None.
    #[default]
    None,
    /// `1 + a x_i + b x_j + ab x_i x_j >= 0`: triangles through the constant.
    Pairwise,
    /// `1 + s z_i z_j + t z_i z_k + st z_j z_k >= 0` for every triple of z = (1, x).
    Triangle,
}

impl Cuts {
    /// Every choice.
    pub const ALL: [Cuts; 3] = [Cuts::None, Cuts::Pairwise, Cuts::Triangle];

    /// The name used everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Cuts::None => "none",
            Cuts::Pairwise => "pairwise",
            Cuts::Triangle => "triangle",
        }
    }

    /// What they are, on one line.
    pub fn about(self) -> &'static str {
        match self {
            Cuts::None => "no inequality beside the moment matrix",
            Cuts::Pairwise => "the probabilities of every pair of spins are nonnegative",
            Cuts::Triangle => "those, and every triangle of spins",
        }
    }
}

choice!(Cuts, "cuts", about);

/// The triangle `1 + s X_ab + t X_ac + st X_bc >= 0`, a < b < c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Triangle {
    pub(super) vertices: [u32; 3],
    /// Signs of ab, ac, bc; their product is 1.
    pub(super) signs: [i8; 3],
}

impl Triangle {
    /// The three entries of the moment matrix with their signs.
    pub(super) fn entries(&self) -> [(usize, usize, f64); 3] {
        let [a, b, c] = self.vertices.map(|v| v as usize);
        let [ab, ac, bc] = self.signs.map(f64::from);
        [(a, b, ab), (a, c, ac), (b, c, bc)]
    }

    /// `s X_ab + t X_ac + st X_bc`.
    pub(super) fn moment(&self, x: &Square) -> f64 {
        self.entries().iter().map(|&(i, j, s)| s * x.at(i, j)).sum()
    }

    /// As data of a certificate.
    pub(super) fn cut(&self, multiplier: f64) -> Cut {
        let [ab, ac, bc] = self.signs;
        Cut { multiplier, cycle: self.vertices.to_vec(), signs: vec![ab, bc, ac] }
    }
}

const SIGNS: [[i8; 3]; 4] = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];

/// At most `count` triangles that `x` violates by more than `least`, the most violated first.
///
/// **Cost** O(n^2) for pairwise cuts, O(n^3) for all triangles.
pub(super) fn separate(x: &Square, kind: Cuts, least: f64, count: usize) -> Vec<Triangle> {
    let n = x.n();
    let mut found: Vec<(f64, Triangle)> = Vec::new();
    let mut threshold = least;
    let tops = match kind {
        Cuts::None => 0..0,
        Cuts::Pairwise => 0..n.min(1),
        Cuts::Triangle => 0..n,
    };
    for a in tops {
        for b in a + 1..n {
            let ab = x.at(a, b);
            let (of_a, of_b) = (x.column(a), x.column(b));
            for c in b + 1..n {
                let (ac, bc) = (of_a[c], of_b[c]);
                // The least of the four values is 1 - |..| with an odd number of sign changes.
                for signs in SIGNS {
                    let [s, t, u] = signs.map(f64::from);
                    let violation = -(1.0 + s * ab + t * ac + u * bc);
                    if violation > threshold {
                        let vertices = [a as u32, b as u32, c as u32];
                        found.push((violation, Triangle { vertices, signs }));
                    }
                }
            }
        }
        if found.len() > 8 * count.max(1) {
            keep(&mut found, count);
            threshold = found.last().map_or(least, |f| f.0);
        }
    }
    keep(&mut found, count);
    found.into_iter().map(|f| f.1).collect()
}

fn keep(found: &mut Vec<(f64, Triangle)>, count: usize) {
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.truncate(count);
}

/// `f + sum_k multiplier_k cut_k`.
///
/// # Errors
/// Coefficients that leave floating point.
pub(super) fn add(f: &Ising, cuts: &[Cut]) -> Result<Polynomial> {
    let mut constant = f.constant();
    let mut fields = f.fields().to_vec();
    let mut pairs: BTreeMap<(usize, usize), f64> = f.triples().map(|(i, j, v)| ((i, j), v)).collect();
    for cut in cuts {
        let k = cut.cycle.len();
        constant += (k - 2) as f64 * cut.multiplier;
        for p in 0..k {
            let (a, b) = (cut.cycle[p] as usize, cut.cycle[(p + 1) % k] as usize);
            let (a, b, value) = (a.min(b), a.max(b), f64::from(cut.signs[p]) * cut.multiplier);
            match a {
                0 => fields[b - 1] += value,
                _ => *pairs.entry((a - 1, b - 1)).or_insert(0.0) += value,
            }
        }
    }
    let couplings: Vec<_> = pairs.into_iter().map(|((i, j), v)| (i, j, v)).collect();
    Ok(Ising::new(f.d(), &fields, &couplings)?.with_constant(constant)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_nonnegative_on_the_cube_and_zero_somewhere() {
        let zero = Ising::new(3, &[0.0; 3], &[]).unwrap();
        for vertices in [[0, 1, 3], [1, 2, 3]] {
            for signs in SIGNS {
                let cut = add(&zero, &[Triangle { vertices, signs }.cut(0.5)]).unwrap();
                let value =
                    |bits: i32| cut.value(&[0, 1, 2].map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }));
                let least = (0..8).map(value).fold(f64::INFINITY, f64::min);
                assert_eq!(least, 0.0);
            }
        }
    }
}
