//! Intervals that contain the exact result of every operation, by rounding to nearest and stepping outward.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// All reals from `lo` to `hi`; NaN when nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

pub(crate) const ZERO: Interval = at(0.0);
pub(crate) const ONE: Interval = at(1.0);
/// 0.693147180559945286 < log 2 < 0.693147180559945398.
pub(crate) const LN_2: Interval =
    Interval { lo: std::f64::consts::LN_2, hi: std::f64::consts::LN_2.next_up() };
/// 3.14159265358979311 < pi < 3.14159265358979356.
pub(crate) const PI: Interval = Interval { lo: std::f64::consts::PI, hi: std::f64::consts::PI.next_up() };

/// The interval of one number.
pub(crate) const fn at(x: f64) -> Interval {
    Interval { lo: x, hi: x }
}

/// The float nearest to a + b and what it misses, exactly (Knuth's two-sum).
pub(crate) fn exact_add(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// `[a + b, c + d]`, ends moved outward where the sum was rounded inward.
fn sum_outward([a, b]: [f64; 2], [c, d]: [f64; 2]) -> Interval {
    let ((lo, lo_miss), (hi, hi_miss)) = (exact_add(a, b), exact_add(c, d));
    // A miss that is NaN or infinite (overflow) steps outward too.
    let keep_lo = lo_miss >= 0.0 && lo_miss.is_finite();
    let keep_hi = hi_miss <= 0.0 && hi_miss.is_finite();
    Interval { lo: if keep_lo { lo } else { lo.next_down() }, hi: if keep_hi { hi } else { hi.next_up() } }
}

impl Add for Interval {
    type Output = Interval;
    fn add(self, o: Interval) -> Interval {
        sum_outward([self.lo, o.lo], [self.hi, o.hi])
    }
}

impl Sub for Interval {
    type Output = Interval;
    fn sub(self, o: Interval) -> Interval {
        sum_outward([self.lo, -o.hi], [self.hi, -o.lo])
    }
}

impl Neg for Interval {
    type Output = Interval;
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Mul for Interval {
    type Output = Interval;
    fn mul(self, o: Interval) -> Interval {
        let exact_zero = |a: Interval, b: Interval| a == ZERO && b.lo.is_finite() && b.hi.is_finite();
        match (self == ONE, o == ONE) {
            (true, _) => o,
            (_, true) => self,
            _ if exact_zero(self, o) || exact_zero(o, self) => ZERO,
            _ => outward([self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi]),
        }
    }
}

impl Div for Interval {
    type Output = Interval;
    fn div(self, o: Interval) -> Interval {
        let apart_from_zero = o.lo > 0.0 || o.hi < 0.0;
        if !apart_from_zero {
            at(f64::NAN)
        } else if self == ZERO || o == ONE {
            self
        } else {
            outward([self.lo / o.lo, self.lo / o.hi, self.hi / o.lo, self.hi / o.hi])
        }
    }
}

/// One float beyond the least and the largest.
fn outward(ends: [f64; 4]) -> Interval {
    if ends.iter().any(|e| e.is_nan()) {
        return at(f64::NAN);
    }
    let lo = ends.iter().fold(f64::INFINITY, |m, e| m.min(*e));
    let hi = ends.iter().fold(f64::NEG_INFINITY, |m, e| m.max(*e));
    Interval { lo: lo.next_down(), hi: hi.next_up() }
}

impl Interval {
    /// Largest absolute value; NaN stays NaN.
    pub(crate) fn size(self) -> f64 {
        if self.lo.is_nan() || self.hi.is_nan() { f64::NAN } else { self.lo.abs().max(self.hi.abs()) }
    }

    /// Square root of something nonnegative.
    pub(crate) fn sqrt(self) -> Interval {
        let lo = self.lo.sqrt();
        Interval { lo: if lo > 0.0 { lo.next_down() } else { lo }, hi: self.hi.sqrt().next_up() }
    }

    pub(crate) fn exp(self) -> Interval {
        Interval { lo: exp(self.lo).lo, hi: exp(self.hi).hi }
    }

    pub(crate) fn log(self) -> Interval {
        Interval { lo: log(self.lo).lo, hi: log(self.hi).hi }
    }

    /// Middle and half width, rounded up.
    pub(crate) fn middle(self) -> (f64, f64) {
        let middle = 0.5 * self.lo + 0.5 * self.hi;
        (middle, (self - at(middle)).size())
    }
}

/// `exp(x) = 2^k exp(t)`, t = x - k log 2, |t| < 0.36: 15 terms of the Taylor series, all in intervals; the rest of the
/// series is below `0.36^15 / 15! * 1.03 < 2e-19`.
fn exp(x: f64) -> Interval {
    if x.is_nan() {
        return at(x);
    }
    if x > 709.0 {
        return Interval { lo: 8e307, hi: f64::INFINITY };
    }
    if x < -745.2 {
        return Interval { lo: 0.0, hi: f64::from_bits(1) };
    }
    let k = (x / std::f64::consts::LN_2).round();
    // log 2 in two pieces: the first has 33 bits, so that its product with k is exact; the second is within 2^-86.
    let (first, second) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    let rest = Interval { lo: second - 2f64.powi(-85), hi: second + 2f64.powi(-85) };
    let t = (at(x) - at(k * first)) - at(k) * rest;
    let t = if k == 0.0 { at(x) } else { t };
    let series = (1..=14).rev().fold(ONE, |sum, j| ONE + t * sum / at(f64::from(j)));
    let value = series + Interval { lo: -2e-19, hi: 2e-19 };
    let half = (k / 2.0).trunc();
    let scale = |v: f64| v * 2f64.powi(half as i32) * 2f64.powi((k - half) as i32);
    if k > -1020.0 {
        return Interval { lo: scale(value.lo), hi: scale(value.hi) };
    }
    Interval { lo: scale(value.lo).next_down().max(0.0), hi: scale(value.hi).next_up() }
}

/// `log x = e log 2 + log m`, m in [0.7, 1.42), `log m = 2 artanh z`, z = (m - 1) / (m + 1): |z| < 0.18, and the terms of the
/// series from `z^27 / 27` on add up to `z^27` times something in [0, 0.04]. Near 1 the relative error stays small, and log 1 is 0.
fn log(x: f64) -> Interval {
    if x == 0.0 {
        return Interval { lo: f64::NEG_INFINITY, hi: -745.0 };
    }
    if !(x > 0.0 && x.is_finite()) {
        return at(f64::NAN);
    }
    if x == 1.0 {
        return ZERO;
    }
    let (m, e) = split(x);
    // m - 1 is exact; so is the power of two that split took away.
    let z = at(m - 1.0) / (at(m) + ONE);
    let square = z * z;
    let tail = Interval { lo: 0.0, hi: 0.04 };
    let series = (0..=12).rev().fold(tail, |sum, j| ONE / at(f64::from(2 * j + 1)) + square * sum);
    let log = (z + z) * series;
    if e == 0.0 { log } else { at(e) * LN_2 + log }
}

/// `x = m 2^e` for finite x > 0.
pub(crate) fn split(x: f64) -> (f64, f64) {
    let (x, moved) = if x < f64::MIN_POSITIVE { (x * 2f64.powi(60), 60.0) } else { (x, 0.0) };
    let e = ((x.to_bits() >> 52) as i64 - 1023) as f64;
    let m = f64::from_bits(x.to_bits() & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
    if m >= 1.42 { (0.5 * m, e + 1.0 - moved) } else { (m, e - moved) }
}

/// A running sum of floats that loses almost nothing: the misses are summed on the side.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    sum: f64,
    missed: Interval,
}

impl Sum {
    pub(crate) const EMPTY: Sum = Sum { sum: 0.0, missed: ZERO };

    pub(crate) fn add(&mut self, x: f64) {
        let (sum, miss) = exact_add(self.sum, x);
        self.sum = sum;
        self.missed = self.missed + at(miss);
    }

    pub(crate) fn total(self) -> Interval {
        at(self.sum) + self.missed
    }
}

/// Sum of nonnegative floats, rounded up.
pub(crate) fn sum_up(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(ZERO, |sum, x| sum + at(x)).hi
}
