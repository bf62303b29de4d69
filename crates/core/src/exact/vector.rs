//! Exponentials and logarithms over slices, written branch-free so that the compiler vectorises
//! them, with proved errors. `u = 2^-53` throughout.

use crate::certify::exp_log::INVERSE_FACTORIALS;

/// Smallest argument that is not clamped: `e^-708` is still a normal number.
pub(crate) const EXP_FLOOR: f64 = -708.0;

/// Bound, in units of u, on the relative error of [`exp_all`] for arguments in `[-708, 708]`.
///
/// The reduced argument `r = x - n ln 2` errs by at most `0.36 u + 2e-23` (the product with the
/// high part of ln 2 and the first subtraction are exact, the second is rounded once), the
/// Taylor remainder is below `0.35^14 / 14! < 0.1 u`, and Horner's rule adds at most
/// `(1 + 2 |r| + ...) u / e^r < 4 u`; scaling by `2^n` is exact. The sum is below 5.
pub(crate) const EXP_ULPS: f64 = 8.0;

/// Bound, in units of u, on the absolute error of the correction `log(1 + e^-t)` in [`log_add_all`].
///
/// `e^-t` errs by `8 u` relatively, which moves `log(1 + e^-t)` by at most `4 u`; the quotient s,
/// the series and the two last operations add less than `6 u` times a value below 0.7, and
/// clamping at `e^-708` adds nothing visible.
pub(crate) const LOG_ADD_ULPS: f64 = 12.0;

/// `1.5 * 2^52`: adding it rounds to an integer that then sits in the low mantissa bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// The leading 33 bits of ln 2, so that `n * LN2_HIGH` is exact for |n| <= 2^20.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// `ln 2 - LN2_HIGH`.
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Numbers handled together: one operation on all of them after another is what the compiler
/// turns into vector instructions, where a loop over whole functions stays scalar.
pub(crate) const LANES: usize = 8;
pub(crate) type Lanes = [f64; LANES];

#[inline(always)]
pub(crate) fn map(x: &Lanes, f: impl Fn(f64) -> f64) -> Lanes {
    std::array::from_fn(|k| f(x[k]))
}

#[inline(always)]
pub(crate) fn zip(x: &Lanes, y: &Lanes, f: impl Fn(f64, f64) -> f64) -> Lanes {
    std::array::from_fn(|k| f(x[k], y[k]))
}

/// `e^x` for `x <= 708`, arguments below -708 being raised to -708.
#[inline(always)]
pub(crate) fn exp_lanes(x: &Lanes) -> Lanes {
    let x = map(x, |x| if x > EXP_FLOOR { x } else { EXP_FLOOR });
    let shifted = map(&x, |x| x * std::f64::consts::LOG2_E + ROUNDER);
    let n = map(&shifted, |s| s - ROUNDER);
    let r = zip(&x, &n, |x, n| x - n * LN2_HIGH);
    let r = zip(&r, &n, |r, n| r - n * LN2_LOW);
    // The Taylor polynomial of degree 13.
    let mut p = [INVERSE_FACTORIALS[1]; LANES];
    for &c in &INVERSE_FACTORIALS[2..] {
        p = zip(&p, &r, |p, r| p * r + c);
    }
    // n sits in the low bits of `shifted`; moved to the exponent field it becomes 2^n.
    let power = map(&shifted, |s| f64::from_bits((s.to_bits() << 52).wrapping_add(1.0f64.to_bits())));
    zip(&p, &power, |p, power| p * power)
}

/// `log(e^a + e^b)`, with `-inf` for `log 0`.
#[inline(always)]
fn log_add_lanes(a: &Lanes, b: &Lanes) -> Lanes {
    let low = zip(a, b, |a, b| if a < b { a } else { b });
    let high = zip(a, b, |a, b| if a < b { b } else { a });
    // Both -inf would make NaN; against the least finite number the sum below stays -inf.
    let e = exp_lanes(&zip(&low, &high, |l, h| l - if h > f64::MIN { h } else { f64::MIN }));
    // log(1 + e) = log 2 + log((1 + e)/2): keep the argument of atanh below 0.172.
    let num = map(&e, |e| e - if e > SPLIT { 1.0 } else { 0.0 });
    let den = map(&e, |e| e + if e > SPLIT { 3.0 } else { 2.0 });
    let base = map(&e, |e| if e > SPLIT { std::f64::consts::LN_2 } else { 0.0 });
    let s = zip(&num, &den, |n, d| n / d);
    let s2 = map(&s, |s| s * s);
    let mut p = [ATANH[0]; LANES];
    for &c in &ATANH[1..] {
        p = zip(&p, &s2, |p, s2| p * s2 + c);
    }
    let twice = map(&s, |s| s + s);
    let tail = zip(&twice, &zip(&s2, &p, |s2, p| s2 * p), |t, q| t + t * q);
    zip(&high, &zip(&base, &tail, |b, t| b + t), |h, c| h + c)
}

/// `log x` for normal `x > 0`, by `x = 2^n m` with m between `sqrt(1/2)` and `sqrt 2` and the series of atanh.
#[inline(always)]
pub(crate) fn log_lanes(x: &Lanes) -> Lanes {
    // Counting exponents from sqrt(1/2) leaves m in its interval.
    let shifted: [u64; LANES] =
        std::array::from_fn(|k| x[k].to_bits().wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits()));
    let n: Lanes = std::array::from_fn(|k| f64::from((shifted[k] as i64 >> 52) as i32));
    let m: Lanes =
        std::array::from_fn(|k| f64::from_bits(x[k].to_bits().wrapping_sub(shifted[k] & !0 << 52)));
    let s = map(&m, |m| (m - 1.0) / (m + 1.0));
    let s2 = map(&s, |s| s * s);
    let mut p = [ATANH[0]; LANES];
    for &c in &ATANH[1..] {
        p = zip(&p, &s2, |p, s2| p * s2 + c);
    }
    let twice = map(&s, |s| s + s);
    let tail = zip(&twice, &zip(&s2, &p, |s2, p| s2 * p), |t, q| t + t * q);
    zip(&n, &tail, |n, t| n * std::f64::consts::LN_2 + t)
}

/// Where [`log_add_all`] changes from `log(1 + e)` to `log 2 + log((1 + e)/2)`: sqrt 2 - 1.
const SPLIT: f64 = 0.414_213_562_373_095_1;

/// `1/(2k + 1)` from k = 10 down to 1.
const ATANH: [f64; 10] = [
    1.0 / 21.0,
    1.0 / 19.0,
    1.0 / 17.0,
    1.0 / 15.0,
    1.0 / 13.0,
    1.0 / 11.0,
    1.0 / 9.0,
    1.0 / 7.0,
    1.0 / 5.0,
    1.0 / 3.0,
];

/// `e^x`, the same function as [`exp_all`].
pub(crate) fn exp(x: f64) -> f64 {
    exp_lanes(&[x; LANES])[0]
}

/// Replaces every `x_k` by `exp((x_k - shift) * inverse_eps)`.
pub(crate) fn exp_all(values: &mut [f64], shift: f64, inverse_eps: f64) {
    let (whole, rest) = values.as_chunks_mut::<LANES>();
    for x in whole {
        *x = exp_lanes(&map(x, |x| (x - shift) * inverse_eps));
    }
    if !rest.is_empty() {
        let mut last = [shift; LANES];
        last[..rest.len()].copy_from_slice(rest);
        last = exp_lanes(&map(&last, |x| (x - shift) * inverse_eps));
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// `out_k = log(e^a_k + e^b_k)`, with `-inf` for `log 0`; three slices of one length.
pub(crate) fn log_add_all(out: &mut [f64], a: &[f64], b: &[f64]) {
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = log_add_lanes(a, b);
    }
    if !out_rest.is_empty() {
        let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
        x[..a_rest.len()].copy_from_slice(a_rest);
        y[..b_rest.len()].copy_from_slice(b_rest);
        out_rest.copy_from_slice(&log_add_lanes(&x, &y)[..out_rest.len()]);
    }
}

/// Replaces every `x_k >= 0` by its logarithm, `-inf` for 0.
pub(crate) fn log_all(values: &mut [f64]) {
    values.iter_mut().for_each(|x| *x = libm::log(*x));
}

/// `max_k values[k]`, `-inf` for no value.
pub(crate) fn max_of(values: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 8];
    let mut chunks = values.chunks_exact(8);
    for chunk in &mut chunks {
        for (m, &v) in lanes.iter_mut().zip(chunk) {
            *m = if v > *m { v } else { *m };
        }
    }
    lanes.iter().chain(chunks.remainder()).fold(f64::NEG_INFINITY, |m, &v| if v > m { v } else { m })
}

/// Coefficients `theta_S` to values `sum_S theta_S x^S`, bit i of the index meaning `x_i = +1`.
pub(crate) fn values_from_coefficients(w: &mut [f64]) {
    let mut half = 1;
    while half < w.len() {
        for block in w.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (l, h) in low.iter_mut().zip(high) {
                (*l, *h) = (*l - *h, *l + *h);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_stays_within_its_bound() {
        let mut x = -707.9;
        while x < 700.0 {
            let (ours, libm) = (exp(x), libm::exp(x));
            assert!((ours / libm - 1.0).abs() <= EXP_ULPS * f64::EPSILON / 2.0, "{x}: {ours} {libm}");
            x += 0.037_193;
        }
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(-1e9) > 0.0 && exp(-1e9) < 4e-308);
    }

    #[test]
    fn logarithm_agrees_with_libm() {
        let mut x = 1e-300;
        while x < 1e300 {
            let (ours, libm) = (log_lanes(&[x; LANES])[0], libm::log(x));
            assert!((ours - libm).abs() <= 4.0 * f64::EPSILON * libm.abs().max(1.0), "{x}: {ours} {libm}");
            x *= 1.0193;
        }
    }

    fn log_add(a: f64, b: f64) -> f64 {
        let mut out = [0.0];
        log_add_all(&mut out, &[a], &[b]);
        out[0]
    }

    #[test]
    fn log_add_stays_within_its_bound() {
        let mut t = 0.0;
        while t < 60.0 {
            let truth = libm::log1p(libm::exp(-t));
            assert!((log_add(-t, 0.0) - truth).abs() <= LOG_ADD_ULPS * f64::EPSILON / 2.0, "{t}");
            t += 0.001_37;
        }
        let none = f64::NEG_INFINITY;
        assert_eq!((log_add(none, none), log_add(none, 3.0), log_add(-4.0, none)), (none, 3.0, -4.0));
    }
}
