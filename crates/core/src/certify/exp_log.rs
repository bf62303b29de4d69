//! Enclosures of the exponential and of the logarithm, each with its error analysis.

use super::interval::{Interval, add_down, add_up, div_down};

/// `1/j!` for j = 14 down to 0, each correctly rounded by the compiler.
pub(crate) const INVERSE_FACTORIALS: [f64; 15] = [
    1.0 / 87_178_291_200.0,
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `log 2 = HIGH + LOW` up to 2^-86; HIGH has 33 significant bits, so `k * HIGH` is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);

/// Encloses `exp(x)`.
///
/// `x = k log 2 + t`, |t| < 0.35, `exp(t)` by its Taylor polynomial of degree 14. With u = 2^-53:
/// - t: `x - k HIGH` is exact (Sterbenz), `k LOW` and the tail of log 2 err by less than 2^-74, the
///   last subtraction by u/4, so t errs by less than 0.4 u;
/// - truncation: `0.35^15 / 15! < 2^-61`;
/// - Horner, from the inside: the tails from j = 3, 2, 1, 0 are at most .19, .57, 1.2, 1.42 and err by at
///   most .5u, .82u, 1.7u, 2.5u (each step: u times the new value, |t| times u times the old one,
///   |t| times the old error, u/6 for a rounded coefficient).
///
/// Against `exp(t) > 0.7` that is below 4.5 u; the enclosure uses 8 u = 2^-50.
pub(super) fn exp(x: f64) -> Interval {
    if x.is_nan() {
        return Interval::point(x);
    }
    if x > 709.0 {
        // exp(709) = 8.2e307.
        return Interval { lo: 8e307, hi: f64::INFINITY };
    }
    if x < -745.2 {
        // exp(-745.2) is below the least subnormal 2^-1074.
        return Interval { lo: 0.0, hi: f64::from_bits(1) };
    }
    let k = (x * std::f64::consts::LOG2_E).round();
    let t = (x - k * LN2_HIGH) - k * LN2_LOW;
    let y = INVERSE_FACTORIALS.iter().fold(0.0, |sum, c| sum * t + c);
    let slack = y * f64::powi(2.0, -50);
    let (lo, hi) = ((y - slack).next_down(), (y + slack).next_up());
    // Two factors, so that both are representable; the last product rounds only below 2^-1022.
    let half = (k / 2.0).trunc();
    let scale = |v: f64| v * f64::powi(2.0, half as i32) * f64::powi(2.0, (k - half) as i32);
    if k > -1020.0 {
        return Interval { lo: scale(lo), hi: scale(hi) };
    }
    Interval { lo: scale(lo).next_down().max(0.0), hi: scale(hi).next_up() }
}

/// Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Numbers that [`exp_near_all`] works on side by side.
const LANES: usize = 8;

/// `exp(x)` with a relative error below 8u = 2^-50 for x <= 700; 0 below -700, where the absolute error is below 1e-304.
///
/// The arithmetic is that of [`exp`], whose error it shares; powers of two are put together bit by bit.
pub(crate) fn exp_near(x: f64) -> f64 {
    let inside = if x > -700.0 { x } else { -700.0 };
    let inside = if inside < 700.0 { inside } else { 700.0 };
    let shifted = inside * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let t = (inside - k * LN2_HIGH) - k * LN2_LOW;
    let y = INVERSE_FACTORIALS.iter().fold(0.0, |sum, c| sum * t + c);
    // The whole number k stands in the low bits of `shifted`.
    let scale = f64::from_bits(shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(1023) << 52);
    let outside = if x.is_nan() { x } else { 0.0 };
    if x > -700.0 { y * scale } else { outside }
}

/// [`exp_near`] of every entry, in place: without branches, so that several are worked on at a time.
pub(crate) fn exp_near_all(values: &mut [f64]) {
    let mut chunks = values.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        let lanes: &mut [f64; LANES] =
            chunk.try_into().unwrap_or_else(|_| unreachable!("chunks are of that length"));
        *lanes = lanes.map(exp_near);
    }
    chunks.into_remainder().iter_mut().for_each(|x| *x = exp_near(*x));
}

/// Encloses `log(x)`: any guess y of `log m`, `x = m 2^e`, is corrected by the enclosure of `exp(y)` through
/// `q / (1 + q) <= log(1 + q) <= q` with `1 + q = m / exp(y)`.
pub(super) fn log(x: f64) -> Interval {
    if x == 0.0 {
        return Interval { lo: f64::NEG_INFINITY, hi: f64::MIN };
    }
    if x.is_nan() || x < 0.0 {
        return Interval::point(f64::NAN);
    }
    if x == f64::INFINITY {
        return Interval { lo: 709.0, hi: x };
    }
    if x == 1.0 {
        return Interval::ZERO;
    }
    let (m, e) = split(x);
    let guess = libm::log(m);
    let q = Interval::point(m) / exp(guess) - Interval::ONE;
    if !(q.lo > -0.5) {
        return Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    }
    // q / (1 + q) increases with q; both roundings of 1 + q, so that its sign does not matter.
    let lo = div_down(q.lo, add_up(1.0, q.lo)).min(div_down(q.lo, add_down(1.0, q.lo)));
    let correction = Interval { lo, hi: q.hi };
    Interval::point(guess) + correction + Interval::point(e) * Interval::LN_2
}

/// `x = m 2^e` with m in [0.7, 1.42), for finite positive x.
fn split(x: f64) -> (f64, f64) {
    let (normal, shift) = if x < f64::MIN_POSITIVE { (x * f64::powi(2.0, 64), 64) } else { (x, 0) };
    let bits = normal.to_bits();
    let exponent = (bits >> 52) as i64 - 1023 - shift;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > 1.4 { (0.5 * m, (exponent + 1) as f64) } else { (m, exponent as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_log_are_inverse_and_narrow() {
        let mut x = -740.0;
        while x < 708.0 {
            let e = exp(x);
            assert!(e.lo > 0.0 && e.lo <= e.hi, "{x}");
            if x > -700.0 {
                assert!(e.hi / e.lo - 1.0 < 4e-15, "{x}: {e:?}");
                let back = e.log();
                assert!(
                    back.lo <= x && x <= back.hi && back.hi - back.lo < 1e-14 * x.abs().max(1.0),
                    "{x}: {back:?}"
                );
            }
            x += 0.377;
        }
    }

    #[test]
    fn many_exponentials_are_those_of_one_at_a_time() {
        let mut values: Vec<f64> = (0..4000).map(|k| 0.37 * f64::from(k) - 750.0).collect();
        values.extend([f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -0.0, 0.0, -700.0, 700.0, 5e-324]);
        let single: Vec<u64> = values.iter().map(|x| exp_near(*x).to_bits()).collect();
        for (x, y) in values.iter().zip(&single).filter(|(x, _)| **x > -700.0 && **x <= 700.0) {
            let (near, proved) = (f64::from_bits(*y), exp(*x));
            let slack = near * f64::powi(2.0, -49);
            assert!(proved.lo - slack <= near && near <= proved.hi + slack, "{x}");
        }
        assert_eq!(f64::from_bits(single[4000]), 0.0);
        assert!(f64::from_bits(single[4002]).is_nan());
        exp_near_all(&mut values);
        assert!(values.iter().zip(&single).all(|(x, y)| x.to_bits() == *y));
    }

    #[test]
    fn known_constants_are_enclosed_tightly() {
        // e = 2.71828182845904523536...: the float below is 0x4005bf0a8b145769.
        let e = Interval::ONE.exp();
        let below = f64::from_bits(0x4005_bf0a_8b14_5769);
        assert!(e.lo <= below && below.next_up() <= e.hi.next_up() && e.hi >= below.next_up());
        // log 10 = 2.302585092994045684...: the float below is 2.302585092994045_5, at 0x40026bb1bbb55515.
        let ten = Interval::point(10.0).log();
        let below = f64::from_bits(0x4002_6bb1_bbb5_5515);
        assert!(ten.lo <= below && ten.hi >= below.next_up() && ten.hi - ten.lo < 1e-14);
        assert_eq!(Interval::ONE.log(), Interval::ZERO);
    }

    #[test]
    fn extremes_stay_valid() {
        assert_eq!(exp(f64::NEG_INFINITY).lo, 0.0);
        assert_eq!(exp(1000.0).hi, f64::INFINITY);
        assert!(exp(f64::NAN).hi.is_nan() && log(-1.0).lo.is_nan());
        assert_eq!(log(0.0).lo, f64::NEG_INFINITY);
        for tiny in [5e-324, 1e-310, f64::MIN_POSITIVE, f64::MAX] {
            let l = log(tiny);
            assert!(l.lo <= l.hi && l.hi - l.lo < 1e-12, "{tiny:e}: {l:?}");
        }
    }
}
