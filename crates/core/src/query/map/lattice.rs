//! Integer data: the values that f can take lie on a lattice, and so does its maximum.

use crate::model::Polynomial;
use std::collections::HashMap;

/// Most spins of a term that is written out in bits: 2^10 coefficients.
const MOST_SPINS: usize = 10;
/// Binary places behind the point that coefficients may have.
const MOST_PLACES: i32 = 40;
/// Sums of coefficients below this, in units of the last place, are exact.
const LARGEST: f64 = (1u64 << 52) as f64;

/// All values of f are `origin + k step` in units of `2^-places`, k an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lattice {
    origin: i128,
    step: i128,
    places: i32,
}

impl Lattice {
    /// The lattice of f; `None` when coefficients are not short binary numbers, as decimal fractions are not.
    ///
    /// In bits, `x = 2b - 1`, f is `c + sum_A q_A b^A` with values at the corners of the cube: their differences generate
    /// what the `q_A` do, so that their greatest common divisor is the step.
    pub(super) fn of(f: &Polynomial) -> Option<Self> {
        if f.uncertainty() > 0.0 {
            return None;
        }
        let mut places = 0;
        f.visit(|_, v| places = places.max(binary_places(v)));
        let total = f.l1_norm() + f.pairwise_part().constant().abs();
        if places > MOST_PLACES || total * f64::exp2(f64::from(places)) * 64.0 > LARGEST {
            return None;
        }
        let mut bits: HashMap<Vec<usize>, i128> = HashMap::new();
        let mut is_long = false;
        f.visit(|set, v| {
            is_long |= set.len() > MOST_SPINS;
            if !is_long {
                let value = (v * f64::exp2(f64::from(places))) as i128;
                spread(set, value, &mut bits);
            }
        });
        if is_long {
            return None;
        }
        let origin = bits.remove(&Vec::new()).unwrap_or(0);
        let step = bits.into_values().fold(0, gcd);
        Some(Lattice { origin, step, places })
    }

    /// The largest value on the lattice that is at most `upper`.
    pub(super) fn round_down(&self, upper: f64) -> f64 {
        let scale = f64::exp2(f64::from(self.places));
        let scaled = (upper * scale).floor();
        if !(scaled.abs() < LARGEST) {
            return upper;
        }
        let below = match self.step {
            0 => self.origin,
            step => self.origin + (scaled as i128 - self.origin).div_euclid(step) * step,
        };
        if (below.unsigned_abs() as f64) < LARGEST { (below as f64 / scale).min(upper) } else { upper }
    }

    /// Distance of neighbouring values; infinite when f is constant.
    pub(super) fn step(&self) -> f64 {
        if self.step == 0 { f64::INFINITY } else { self.step as f64 * f64::exp2(f64::from(-self.places)) }
    }
}

/// Binary places that a number has behind the point.
fn binary_places(v: f64) -> i32 {
    if v == 0.0 {
        return 0;
    }
    if !v.is_finite() {
        return i32::MAX;
    }
    let bits = v.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    if exponent == 0 {
        return i32::MAX;
    }
    let zeros = (mantissa | 1 << 52).trailing_zeros() as i32;
    (1075 - exponent - zeros).max(0)
}

/// Adds `value prod_{i in set} (2 b_i - 1)`.
fn spread(set: &[usize], value: i128, bits: &mut HashMap<Vec<usize>, i128>) {
    for chosen in 0u32..1 << set.len() {
        let members = set.iter().enumerate().filter(|(k, _)| chosen >> k & 1 == 1).map(|(_, &i)| i).collect();
        let power = chosen.count_ones();
        let sign = if (set.len() as u32 - power).is_multiple_of(2) { 1 } else { -1 };
        *bits.entry(members).or_insert(0) += sign * (value << power);
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ising, VarSet};

    fn spins(d: usize, bits: usize) -> Vec<i8> {
        (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect()
    }

    #[test]
    fn every_value_is_on_the_lattice_and_the_step_is_the_largest() {
        let mut seed = 7u64;
        let mut draw = |n: i64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) as i64).rem_euclid(2 * n + 1) - n
        };
        for case in 0..200 {
            let d = 2 + case % 4;
            let unit = [1.0, 0.5, 0.25, 3.0][case % 4];
            let fields: Vec<f64> = (0..d).map(|_| unit * draw(2) as f64).collect();
            let pairs = (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j)));
            let couplings: Vec<_> = pairs.map(|(i, j)| (i, j, unit * draw(3) as f64)).collect();
            let ising = Ising::new(d, &fields, &couplings).unwrap().with_constant(0.5).unwrap();
            let terms =
                if d > 2 { vec![(VarSet::from_iter([0, 1, 2]), unit * draw(1) as f64)] } else { vec![] };
            let f = Polynomial::new(ising, terms).unwrap();
            let lattice = Lattice::of(&f).unwrap();
            let values: Vec<f64> = (0..1 << d).map(|b| f.value(&spins(d, b))).collect();
            let differences = values.iter().map(|v| ((v - values[0]) * 4.0) as i128);
            let step = differences.fold(0, gcd) as f64 / 4.0;
            assert!(step == lattice.step() || (step == 0.0 && lattice.step() == f64::INFINITY));
            for v in values {
                assert_eq!((lattice.round_down(v), lattice.round_down(v + 1e-9)), (v, v));
                assert!(lattice.round_down(v - 1e-9) < v || step == 0.0);
            }
        }
        let decimal = Ising::new(2, &[0.1, 0.0], &[(0, 1, 0.3)]).unwrap();
        assert_eq!(Lattice::of(&decimal.into()), None);
    }
}
