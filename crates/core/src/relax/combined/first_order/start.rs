//! Where a solve ended, as the start of another: the same model with one spin fixed.

use super::cuts::{Cut, Cuts};
use super::factor::{Factor, dot};
use super::pairs::Pairs;
use crate::relax::combined::pairs::SIGNS;
use std::collections::BTreeMap;

/// The moments and the cuts of a point.
#[derive(Clone)]
pub(crate) struct Start {
    pub(super) factor: Factor,
    /// Vertices, which of the four signs, and the multiplier.
    cuts: Vec<([u32; 3], u8, f64)>,
}

/// A spin that is all but certain to be the other one leaves no direction to turn to.
const LEAST_NORM: f64 = 1e-3;

impl Start {
    pub(super) fn new(factor: Factor, cuts: &Cuts) -> Self {
        let cuts = cuts.list.iter().filter(|cut| cut.nu > 0.0);
        Start { factor, cuts: cuts.map(|cut| (cut.vertices, cut.kind, cut.nu)).collect() }
    }

    /// Number of spins.
    pub(crate) fn d(&self) -> usize {
        self.factor.n - 1
    }

    /// The point with spin `v` fixed to `s`: its vertex becomes that of the constant, or the opposite of it.
    ///
    /// Moments between the other spins stay as they are, and their means become those with the mean direction of the
    /// two vertices. Cuts stay cuts; those that held both vertices are gone.
    pub(crate) fn fixed(&self, v: usize, s: i8) -> Self {
        let (gone, sign) = (v as u32 + 1, f64::from(s));
        let mut cuts: BTreeMap<([u32; 3], u8), f64> = BTreeMap::new();
        for &(vertices, kind, nu) in &self.cuts {
            if let Some(key) = substituted(vertices, kind, gone, sign) {
                *cuts.entry(key).or_insert(0.0) += nu;
            }
        }
        let cuts = cuts.into_iter().map(|((vertices, kind), nu)| (vertices, kind, nu)).collect();
        Start { factor: self.turned(v + 1, sign), cuts }
    }

    /// The factor without row `gone`, turned so that the mean of that row and the first becomes the first.
    fn turned(&self, gone: usize, sign: f64) -> Factor {
        let Factor { n, rank, .. } = self.factor;
        let mut axis: Vec<f64> = self.factor.row(gone).iter().map(|v| sign * v).collect();
        axis[0] += 1.0;
        let norm = dot(&axis, &axis).sqrt();
        // The reflection that takes the unit vector u to the first one has the axis u - e.
        axis.iter_mut().for_each(|v| *v /= norm);
        axis[0] -= 1.0;
        let square = dot(&axis, &axis);
        let is_needed = norm > LEAST_NORM && square > 0.0;
        let mut rows = Vec::with_capacity((n - 1) * rank);
        for k in (0..n).filter(|k| *k != gone) {
            let row = self.factor.row(k);
            let along = if is_needed { 2.0 * dot(row, &axis) / square } else { 0.0 };
            rows.extend(row.iter().zip(&axis).map(|(v, a)| v - along * a));
        }
        let mut factor = Factor { n: n - 1, rank, rows };
        factor.normalize();
        factor
    }

    /// The cuts, their sides numbered.
    pub(super) fn cuts(&self, pairs: &mut Pairs) -> Vec<Cut> {
        self.cuts.iter().map(|&(vertices, kind, nu)| Cut::new(vertices, kind, nu, pairs)).collect()
    }
}

/// A cut after vertex `gone` has become `sign` times the constant and those behind it have moved up.
fn substituted(vertices: [u32; 3], kind: u8, gone: u32, sign: f64) -> Option<([u32; 3], u8)> {
    let moved = |k: u32| if k > gone { k - 1 } else { k };
    let Some(at) = vertices.iter().position(|&k| k == gone) else { return Some((vertices.map(moved), kind)) };
    if vertices[0] == 0 {
        return None;
    }
    // Sides are kl, km, lm; the other two vertices keep their order behind the constant.
    let [kl, km, lm] = SIGNS[kind as usize];
    let [k, l, m] = vertices;
    let (others, signs) = match at {
        0 => ([l, m], [sign * kl, sign * km, lm]),
        1 => ([k, m], [sign * kl, sign * lm, km]),
        _ => ([k, l], [sign * km, sign * lm, kl]),
    };
    let kind = SIGNS.iter().position(|s| *s == signs)? as u8;
    Some(([0, moved(others[0]), moved(others[1])], kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The left side of a cut at signs of the vertices.
    fn slack(vertices: [u32; 3], kind: u8, z: &[f64]) -> f64 {
        let [k, l, m] = vertices.map(|v| z[v as usize]);
        let [kl, km, lm] = SIGNS[kind as usize];
        1.0 + kl * k * l + km * k * m + lm * l * m
    }

    #[test]
    fn a_cut_with_a_fixed_spin_has_the_same_values() {
        for bits in 0..32u32 {
            let z: Vec<f64> =
                (0..6).map(|k| if k > 0 && bits >> (k - 1) & 1 == 1 { -1.0 } else { 1.0 }).collect();
            for gone in 1..6u32 {
                let rest: Vec<f64> = (0..6).filter(|&k| k != gone).map(|k| z[k as usize]).collect();
                for kind in 0..4 {
                    for vertices in [[0, 1, 2], [1, 2, 3], [2, 3, 5], [1, 4, 5], [0, 3, 4]] {
                        let Some((new, kind_now)) = substituted(vertices, kind, gone, z[gone as usize])
                        else {
                            continue;
                        };
                        assert_eq!(
                            slack(vertices, kind, &z),
                            slack(new, kind_now, &rest),
                            "{vertices:?} {gone}"
                        );
                    }
                }
            }
        }
    }
}
