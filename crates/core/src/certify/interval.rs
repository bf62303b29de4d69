//! Outward-rounded scalars in ordinary round-to-nearest arithmetic.
//!
//! No rounding mode is ever switched. A sum is widened only when it was not exact (its error is
//! itself a float, found by Knuth's two-sum); products and quotients are widened by one float.

use super::exp_log::{exp, log};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A closed interval that contains the exact value of whatever was computed.
///
/// Overflow widens to infinity and an invalid operation gives NaN ends, so that every test of the
/// form `x.hi <= limit` fails when nothing is known.
///
/// ```
/// use zbound::certify::Interval;
/// let third = Interval::point(1.0) / Interval::point(3.0);
/// assert!(third.lo < third.hi && third.hi - third.lo < 1e-15);
/// assert_eq!(Interval::point(0.5) + Interval::point(0.25), Interval::point(0.75));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Not above the exact value.
    pub lo: f64,
    /// Not below the exact value.
    pub hi: f64,
}

/// `a + b` and its rounding error, exact barring overflow (Knuth).
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `a + b` rounded up.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let (s, e) = two_sum(a, b);
    if e <= 0.0 && e.is_finite() { s } else { s.next_up() }
}

/// `a + b` rounded down.
pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    -add_up(-a, -b)
}

/// `a * b` rounded up.
pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    let exact = a == 1.0 || b == 1.0 || a == 0.0 || b == 0.0;
    if exact { product } else { product.next_up() }
}

/// `a * b` rounded down.
pub(crate) fn mul_down(a: f64, b: f64) -> f64 {
    -mul_up(-a, b)
}

/// `a / b` rounded up.
pub(crate) fn div_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if b == 1.0 || a == 0.0 { quotient } else { quotient.next_up() }
}

/// `a / b` rounded down.
pub(crate) fn div_down(a: f64, b: f64) -> f64 {
    -div_up(-a, b)
}

/// An upper bound on the sum of nonnegative numbers.
///
/// N - 1 additions of nonnegative floats err by at most `(N - 1) u` relative, u = 2^-53, and
/// never underflow; the factor 2^-52 per term covers that and its own rounding.
pub(crate) fn sum_up(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 4.0);
    for term in terms {
        sum += term;
        count += 1.0;
    }
    mul_up(sum, 1.0 + count * f64::EPSILON)
}

impl Interval {
    /// `log 2`: the float below it is the nearest one.
    pub const LN_2: Interval = Interval { lo: std::f64::consts::LN_2, hi: std::f64::consts::LN_2.next_up() };
    /// pi: the float below it is the nearest one.
    pub const PI: Interval = Interval { lo: std::f64::consts::PI, hi: std::f64::consts::PI.next_up() };
    /// Zero.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// One.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };

    /// The interval holding `x` alone.
    pub const fn point(x: f64) -> Self {
        Interval { lo: x, hi: x }
    }

    /// `center` widened by `radius >= 0` on both sides.
    pub fn around(center: f64, radius: f64) -> Self {
        Interval { lo: add_down(center, -radius), hi: add_up(center, radius) }
    }

    /// Largest absolute value.
    pub fn magnitude(self) -> f64 {
        // `f64::max` drops NaN; the sum brings it back.
        self.lo.abs().max(self.hi.abs()) + 0.0 * (self.lo + self.hi)
    }

    /// A float inside, and an upper bound on its distance to both ends.
    pub fn center_radius(self) -> (f64, f64) {
        let center = 0.5 * self.lo + 0.5 * self.hi;
        (center, add_up(self.hi, -center).max(add_up(center, -self.lo)))
    }

    /// Square root; NaN when the interval reaches below zero.
    pub fn sqrt(self) -> Self {
        let (lo, hi) = (self.lo.sqrt(), self.hi.sqrt());
        let lo = if lo > 0.0 { lo.next_down() } else { lo };
        Interval { lo, hi: hi.next_up() }
    }

    /// Exponential.
    pub fn exp(self) -> Self {
        Interval { lo: exp(self.lo).lo, hi: exp(self.hi).hi }
    }

    /// Natural logarithm; `-inf` at 0, NaN below.
    pub fn log(self) -> Self {
        Interval { lo: log(self.lo).lo, hi: log(self.hi).hi }
    }
}

impl Add for Interval {
    type Output = Interval;
    fn add(self, other: Interval) -> Interval {
        Interval { lo: add_down(self.lo, other.lo), hi: add_up(self.hi, other.hi) }
    }
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Interval;
    fn mul(self, other: Interval) -> Interval {
        if self == Interval::ONE {
            return other;
        }
        let ends = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)];
        hull(ends.map(|(a, b)| (mul_down(a, b), mul_up(a, b))))
    }
}

impl Div for Interval {
    type Output = Interval;
    /// A divisor that contains zero gives NaN ends.
    fn div(self, other: Interval) -> Interval {
        if !(other.lo > 0.0 || other.hi < 0.0) {
            return Interval::point(f64::NAN);
        }
        let ends = [(self.lo, other.lo), (self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)];
        hull(ends.map(|(a, b)| (div_down(a, b), div_up(a, b))))
    }
}

/// Smallest interval over all, NaN when any end is.
fn hull(ends: [(f64, f64); 4]) -> Interval {
    if ends.iter().any(|(lo, hi)| lo.is_nan() || hi.is_nan()) {
        return Interval::point(f64::NAN);
    }
    let lo = ends.iter().fold(f64::INFINITY, |m, e| m.min(e.0));
    let hi = ends.iter().fold(f64::NEG_INFINITY, |m, e| m.max(e.1));
    Interval { lo, hi }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_widened_only_when_inexact() {
        assert_eq!(Interval::point(1.0) + Interval::point(2.0), Interval::point(3.0));
        let rounded = Interval::point(1.0) + Interval::point(1e-20);
        assert!(rounded.lo == 1.0 && rounded.hi == 1f64.next_up());
        let rounded = Interval::point(1.0) - Interval::point(1e-20);
        assert!(rounded.lo == 1f64.next_down() && rounded.hi == 1.0);
    }

    #[test]
    fn what_is_not_known_is_infinite_or_nan() {
        let overflow = Interval::point(f64::MAX) + Interval::point(f64::MAX);
        assert_eq!(overflow.hi, f64::INFINITY);
        assert!((Interval::ONE / Interval { lo: -1.0, hi: 1.0 }).hi.is_nan());
        assert!((Interval::ZERO * Interval::point(f64::INFINITY)).hi.is_nan());
    }
}
