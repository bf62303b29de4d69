//! A cycle inequality of any length, and f with such inequalities added.

use super::Triangle;
use crate::certify::Cut;
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use std::collections::BTreeMap;

/// `k - 2 + sum_p s_p z_p z_{p+1} >= 0` around k vertices, `prod s_p = (-1)^{k+1}`.
///
/// The smallest vertex comes first, the smaller of its neighbours second: a cycle has one form only.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cycle {
    vertices: Vec<u32>,
    /// Of the side from each vertex to the next.
    signs: Vec<i8>,
}

impl Cycle {
    /// The cycle through these vertices in this order; at least three, all different.
    pub(crate) fn new(mut vertices: Vec<u32>, mut signs: Vec<i8>) -> Self {
        let first = (0..vertices.len()).min_by_key(|&p| vertices[p]).unwrap_or(0);
        vertices.rotate_left(first);
        signs.rotate_left(first);
        if vertices[1] > vertices[vertices.len() - 1] {
            vertices[1..].reverse();
            signs.reverse();
        }
        Cycle { vertices, signs }
    }

    /// The constant of its left side.
    pub(crate) fn constant(&self) -> f64 {
        (self.vertices.len() - 2) as f64
    }

    /// Sides, smaller vertex first, with their signs.
    pub(crate) fn sides(&self) -> impl Iterator<Item = ([u32; 2], f64)> + '_ {
        let next = self.vertices[1..].iter().chain(&self.vertices[..1]);
        let ends = self.vertices.iter().zip(next).map(|(a, b)| [*a.min(b), *a.max(b)]);
        ends.zip(self.signs.iter().map(|s| f64::from(*s)))
    }

    /// The inequality with vertex `gone` fixed to `spin` times the constant, whose place it takes, and the vertices behind it
    /// moved up; `None` for a cycle that had both.
    pub(crate) fn fixed(&self, gone: u32, spin: i8) -> Option<Self> {
        let moved = |&v: &u32| if v > gone { v - 1 } else { v };
        let Some(at) = self.vertices.iter().position(|&v| v == gone) else {
            let vertices = self.vertices.iter().map(moved).collect();
            return Some(Cycle { vertices, signs: self.signs.clone() });
        };
        if self.vertices.contains(&0) {
            return None;
        }
        let mut vertices: Vec<u32> = self.vertices.iter().map(moved).collect();
        let mut signs = self.signs.clone();
        vertices[at] = 0;
        let before = (at + signs.len() - 1) % signs.len();
        signs[at] *= spin;
        signs[before] *= spin;
        Some(Cycle::new(vertices, signs))
    }

    /// As data of a certificate.
    pub(crate) fn cut(&self, multiplier: f64) -> Cut {
        Cut { multiplier, cycle: self.vertices.clone(), signs: self.signs.clone() }
    }
}

impl From<Triangle> for Cycle {
    fn from(triangle: Triangle) -> Self {
        let [ab, ac, bc] = triangle.signs;
        Cycle::new(triangle.vertices.to_vec(), vec![ab, bc, ac])
    }
}

/// `f + sum_k multiplier_k cut_k`.
///
/// # Errors
/// Coefficients that leave floating point.
pub(crate) fn with_cuts(f: &Ising, cuts: &[Cut]) -> Result<Polynomial> {
    let mut constant = f.constant();
    let mut fields = f.fields().to_vec();
    let mut pairs: BTreeMap<(usize, usize), f64> = f.triples().map(|(i, j, v)| ((i, j), v)).collect();
    for cut in cuts {
        let k = cut.cycle.len();
        constant += (k - 2) as f64 * cut.multiplier;
        for p in 0..k {
            let (a, b) = (cut.cycle[p] as usize, cut.cycle[(p + 1) % k] as usize);
            let (a, b, value) = (a.min(b), a.max(b), f64::from(cut.signs[p]) * cut.multiplier);
            if a == 0 {
                fields[b - 1] += value;
            } else {
                *pairs.entry((a - 1, b - 1)).or_insert(0.0) += value;
            }
        }
    }
    let couplings: Vec<_> = pairs.into_iter().map(|((i, j), v)| (i, j, v)).collect();
    Ok(Ising::new(f.d(), &fields, &couplings)?.with_constant(constant)?.into())
}

#[cfg(test)]
mod tests {
    use super::super::quad::SIGNS;
    use super::*;

    #[test]
    fn cuts_are_nonnegative_on_the_cube_and_zero_somewhere() {
        let zero = Ising::new(4, &[0.0; 4], &[]).unwrap();
        let mut list = Vec::new();
        for vertices in [[0, 1, 3], [1, 2, 4]] {
            list.extend(SIGNS.map(|signs| Cycle::from(Triangle { vertices, signs })));
        }
        for minus in 0..4 {
            // One sign differs from the other three: their product is -1.
            for most in [1i8, -1] {
                let signs = (0..4).map(|p| if p == minus { -most } else { most }).collect();
                list.push(Cycle::new(vec![3, 1, 4, 2], signs));
            }
        }
        for cycle in list {
            let cut = with_cuts(&zero, &[cycle.cut(0.5)]).unwrap();
            let value = |bits: i32| cut.value(&[0, 1, 2, 3].map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }));
            let least = (0..16).map(value).fold(f64::INFINITY, f64::min);
            assert_eq!(least, 0.0, "{cycle:?}");
        }
    }

    #[test]
    fn a_cycle_with_a_fixed_spin_has_the_same_values() {
        let value = |cycle: &Cycle, z: &[i8]| {
            let sides = cycle.sides().map(|([a, b], s)| s * f64::from(z[a as usize] * z[b as usize]));
            cycle.constant() + sides.sum::<f64>()
        };
        let cycles = [
            Cycle::new(vec![1, 2, 3], vec![1, -1, -1]),
            Cycle::new(vec![0, 3, 5], vec![-1, -1, 1]),
            Cycle::new(vec![5, 1, 4, 2], vec![1, 1, -1, 1]),
        ];
        for bits in 0..32u32 {
            let z: Vec<i8> = (0..6).map(|k| if k > 0 && bits >> (k - 1) & 1 == 1 { -1 } else { 1 }).collect();
            for gone in 1..6u32 {
                let rest: Vec<i8> = (0..6).filter(|&k| k != gone).map(|k| z[k as usize]).collect();
                for cycle in &cycles {
                    if let Some(fixed) = cycle.fixed(gone, z[gone as usize]) {
                        assert_eq!(value(cycle, &z), value(&fixed, &rest), "{cycle:?} {gone}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cycle_has_one_form() {
        let one = Cycle::new(vec![1, 5, 3, 7], vec![1, -1, 1, 1]);
        assert_eq!(one, Cycle::new(vec![3, 7, 1, 5], vec![1, 1, 1, -1]));
        assert_eq!(one, Cycle::new(vec![3, 5, 1, 7], vec![-1, 1, 1, 1]));
    }
}
