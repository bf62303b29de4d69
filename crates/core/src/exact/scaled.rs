//! Positive numbers of any size: a float and a power of two.

use crate::certify::Interval;

/// Bias of the exponent of a float, and its fraction.
const BIAS: i64 = 1023;
const FRACTION: u64 = (1 << 52) - 1;

/// `value 2^exponent`, value in [1, 2) or 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Scaled {
    pub(crate) value: f64,
    pub(crate) exponent: i64,
}

impl Scaled {
    /// A number in the enclosure of exp(a), and a bound on its relative error.
    pub(crate) fn exp(a: Interval) -> (Self, f64) {
        let exponent = (a.lo * std::f64::consts::LOG2_E).round();
        let rest = (a - Interval::point(exponent) * Interval::LN_2).exp();
        let (center, radius) = rest.center_radius();
        let (mut value, mut power) = ([center], [exponent as i64]);
        take_exponents(&mut value, &mut power);
        (Scaled { value: value[0], exponent: power[0] }, radius / rest.lo * (1.0 + 1e-9))
    }

    /// The product, with one rounding.
    pub(crate) fn times(self, other: Scaled) -> Scaled {
        let (mut value, mut exponent) = ([self.value * other.value], [self.exponent + other.exponent]);
        take_exponents(&mut value, &mut exponent);
        Scaled { value: value[0], exponent: exponent[0] }
    }

    /// The sum, with one rounding (powers of two are exact); what is 2^-900 of the larger is dropped, far below a rounding.
    pub(crate) fn plus(self, other: Scaled) -> Scaled {
        if self.value == 0.0 {
            return other;
        }
        if other.value == 0.0 {
            return self;
        }
        let (big, little) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let sum = big.value + little.value * down(big.exponent - little.exponent);
        let (mut value, mut exponent) = ([sum], [big.exponent]);
        take_exponents(&mut value, &mut exponent);
        Scaled { value: value[0], exponent: exponent[0] }
    }

    /// The sum of `values[k] 2^exponents[k]`, values in [1, 2), with at most one rounding each.
    pub(crate) fn sum(values: &[f64], exponents: &[i64]) -> Scaled {
        let Some(&top) = exponents.iter().max() else { return Scaled::default() };
        let sum: f64 = values.iter().zip(exponents).map(|(v, e)| v * down(top - e)).sum();
        let (mut value, mut exponent) = ([sum], [top]);
        take_exponents(&mut value, &mut exponent);
        Scaled { value: value[0], exponent: exponent[0] }
    }
}

/// `2^-shift`, 0 from 900 on.
fn down(shift: i64) -> f64 {
    if shift < 900 { f64::from_bits(((BIAS - shift) as u64) << 52) } else { 0.0 }
}

/// Writes every (positive, normal) number as a mantissa in [1, 2) and adds the exponent to its own: exact.
pub(crate) fn take_exponents(numbers: &mut [f64], exponents: &mut [i64]) {
    for (number, exponent) in numbers.iter_mut().zip(exponents) {
        let bits = number.to_bits();
        *exponent += (bits >> 52) as i64 - BIAS;
        *number = f64::from_bits(bits & FRACTION | (BIAS as u64) << 52);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_products_and_exponentials_of_any_size_are_right() {
        for a in [-5000.0, -3.0, 0.0, 0.7, 900.0] {
            let (x, error) = Scaled::exp(Interval::point(a));
            assert!(error < 1e-12 && (1.0..2.0).contains(&x.value));
            let log = x.value.ln() + x.exponent as f64 * std::f64::consts::LN_2;
            assert!((log - a).abs() < 1e-12 * (1.0 + a.abs()));
            let double = x.plus(x);
            assert_eq!(double, Scaled { exponent: x.exponent + 1, ..x });
            assert_eq!(
                Scaled::sum(&[x.value; 4], &[x.exponent; 4]),
                Scaled { exponent: x.exponent + 2, ..x }
            );
            let one = x.times(Scaled::exp(Interval::point(-a)).0);
            assert!((one.value * (one.exponent as f64).exp2() - 1.0).abs() < 1e-12);
        }
        let (big, small) = (Scaled { value: 1.5, exponent: 2000 }, Scaled { value: 1.0, exponent: 0 });
        assert_eq!(big.plus(small), big);
        assert_eq!(small.plus(Scaled::default()), small);
    }
}
