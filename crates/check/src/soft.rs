//! `W log sum exp(theta/W)` in plain floating point, with errors known beforehand (docs/certificate-format.md, section 6).

use crate::interval::split;

/// How a variable is summed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Weight(f64),
    Largest,
    Least,
}

/// `exp(x)` within 8 * 2^-53 for -700 <= x <= 700, 0 below: Taylor's polynomial of degree 13 on |t| < 0.35, whose tail
/// is below 5e-18.
pub(crate) fn exp_fast(x: f64) -> f64 {
    if x < -700.0 {
        return 0.0;
    }
    // 1 / log 2; the cast truncates, so half is added away from zero.
    let scaled = x * std::f64::consts::LOG2_E;
    let whole = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i64;
    let k = whole as f64;
    // log 2 in two pieces, the first of 33 bits.
    let t = (x - k * 0.693_147_180_369_123_8) - k * 1.908_214_929_270_587_7e-10;
    let mut sum = 1.0 / 6_227_020_800.0;
    for c in [
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
    ] {
        sum = sum * t + c;
    }
    sum * f64::from_bits(((whole + 1023) as u64) << 52)
}

/// `log s`, s >= 1, within 8 * 2^-53 (1 + log s): `log m = 2 artanh((m - 1) / (m + 1))`.
pub(crate) fn log_fast(s: f64) -> f64 {
    let (m, e) = split(s);
    let z = (m - 1.0) / (m + 1.0);
    let square = z * z;
    let series = (0..=12).rev().fold(0.0, |sum, j| 1.0 / f64::from(2 * j + 1) + square * sum);
    e * 0.693_147_180_369_123_8 + (e * 1.908_214_929_270_587_7e-10 + 2.0 * z * series)
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m })
}

fn least(values: &[f64]) -> f64 {
    values.iter().fold(f64::INFINITY, |m, v| if *v < m { *v } else { m })
}

/// `-inf` when every entry is (W > 0) or any is (W < 0).
pub(crate) fn soft(theta: &[f64], rule: Rule) -> f64 {
    let (w, m) = match rule {
        _ if theta.len() == 1 => return theta[0],
        Rule::Largest => return largest(theta),
        Rule::Least => return least(theta),
        Rule::Weight(w) if w > 0.0 => (w, largest(theta)),
        Rule::Weight(w) => (w, least(theta)),
    };
    if m == f64::NEG_INFINITY {
        return m;
    }
    m + w * log_fast(theta.iter().fold(0.0, |sum, v| sum + exp_fast((v - m) / w)))
}

/// What evaluating [`soft`] over q terms of size at most M can err: `2u (|W| (3q + 32) + M)`.
pub(crate) fn soft_error(q: usize, rule: Rule, size: f64) -> f64 {
    match rule {
        Rule::Weight(w) if q > 1 => f64::EPSILON * (w.abs() * (3.0 * q as f64 + 32.0) + size),
        _ => 0.0,
    }
}
