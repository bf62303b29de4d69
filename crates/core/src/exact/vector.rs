//! Exponentials and logarithms over slices, written branch-free so that the compiler vectorises
//! them, with proved errors. `u = 2^-53` throughout.

/// Smallest argument that is not clamped: `e^-708` is still a normal number.
pub(crate) const EXP_FLOOR: f64 = -708.0;

/// Bound, in units of u, on the relative error of [`exp`] for arguments in `[-708, 708]`.
///
/// The reduced argument `r = x - n ln 2` errs by at most `0.36 u + 2e-23` (the product with the
/// high part of ln 2 and the first subtraction are exact, the second is rounded once), the
/// Taylor remainder is below `0.35^14 / 14! < 0.1 u`, and Horner's rule adds at most
/// `(1 + 2 |r| + ...) u / e^r < 4 u`; scaling by `2^n` is exact. The sum is below 5.
pub(crate) const EXP_ULPS: f64 = 8.0;

/// Bound, in units of u, on the absolute error of the correction `log(1 + e^-t)` in [`log_add`].
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

/// `1/k!` from k = 13 down to 2.
const TAYLOR: [f64; 12] = [
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
];

/// `e^x` for `x <= 708`, arguments below -708 being raised to -708.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = if x > EXP_FLOOR { x } else { EXP_FLOOR };
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let mut p = TAYLOR[0];
    for c in &TAYLOR[1..] {
        p = p * r + c;
    }
    let value = (p * r + 1.0) * r + 1.0;
    // n sits in the low bits of `shifted`; moved to the exponent field it becomes 2^n.
    value * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1.0f64.to_bits()))
}

/// Replaces every `x_k` by `exp((x_k - shift) * scale)`.
pub(crate) fn exp_all(values: &mut [f64], shift: f64, inverse_eps: f64) {
    for x in values {
        *x = exp((*x - shift) * inverse_eps);
    }
}

/// `log(e^a + e^b)`, with `-inf` for `log 0`.
#[inline(always)]
pub(crate) fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // NaN when both are -inf; the comparison below discards it.
    let e = exp(low - high);
    // log(1 + e) = log 2 + log((1 + e)/2): keep the argument of atanh below 0.172.
    let big = e > 0.414_213_562_373_095_1;
    let (num, den, base) = if big { (e - 1.0, e + 3.0, std::f64::consts::LN_2) } else { (e, e + 2.0, 0.0) };
    let s = num / den;
    let s2 = s * s;
    let mut p = 1.0 / 21.0;
    for c in
        [1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0]
    {
        p = p * s2 + c;
    }
    let correction = base + (2.0 * s + 2.0 * s * s2 * p);
    if high > f64::NEG_INFINITY { high + correction } else { high }
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
