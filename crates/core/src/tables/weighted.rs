//! Weighted sums over one variable in the log domain: `W log sum_x exp(theta_x / W)` for `W > 0` and `W < 0`.
//!
//! A block holds `states` runs of one length, the summed variable slowest, so that every operation goes
//! along contiguous memory. `-inf` is log 0: with `W < 0` a single one makes the message `-inf`.

use crate::exact::vector::{LANES, Lanes, exp_lanes, log_lanes, map, zip};

/// Replaces `theta` by the conditional law `exp((theta_x - m) / W)` of the summed variable and writes the message m.
pub(crate) fn normalise(theta: &mut [f64], weight: f64, message: &mut [f64]) {
    sum_out_with(theta, weight, message, true);
}

/// Writes the message `W log sum_x exp(theta_x / W)`; `theta` is left in an unspecified state.
pub(crate) fn sum_out(theta: &mut [f64], weight: f64, message: &mut [f64]) {
    sum_out_with(theta, weight, message, false);
}

fn sum_out_with(theta: &mut [f64], weight: f64, message: &mut [f64], want_law: bool) {
    let run = message.len();
    let states = theta.len() / run;
    if states == 1 {
        message.copy_from_slice(theta);
        if want_law {
            theta.iter_mut().for_each(|t| *t = if *t > f64::MIN { 1.0 } else { 0.0 });
        }
        return;
    }
    if states == 2 {
        let (low, high) = theta.split_at_mut(run);
        return pair(low, high, weight, message, want_law);
    }
    let mut start = 0;
    while start < run {
        let width = LANES.min(run - start);
        let mut top = [f64::NEG_INFINITY; LANES];
        let inverse = 1.0 / weight;
        for x in 0..states {
            let scaled = map(&load(&theta[x * run + start..], width, f64::NEG_INFINITY), |t| t * inverse);
            top = zip(&top, &scaled, |a, b| if b > a { b } else { a });
        }
        // Infinite tops would make NaN below; the message is set apart at the end.
        let reference = map(&top, |t| if t.abs() <= f64::MAX { t } else { 0.0 });
        let mut total = [0.0; LANES];
        for x in 0..states {
            let place = &mut theta[x * run + start..];
            let e =
                exp_lanes(&zip(&load(place, width, f64::NEG_INFINITY), &reference, |t, r| t * inverse - r));
            total = zip(&total, &e, |s, e| s + e);
            if want_law {
                place[..width].copy_from_slice(&e[..width]);
            }
        }
        let log = log_lanes(&map(&total, |s| if s > f64::MIN_POSITIVE { s } else { f64::MIN_POSITIVE }));
        let finite = zip(&reference, &log, |r, l| weight * (r + l));
        let m = zip(&top, &finite, |t, m| if t.abs() <= f64::MAX { m } else { f64::NEG_INFINITY });
        message[start..start + width].copy_from_slice(&m[..width]);
        if want_law {
            let share = zip(&top, &total, |t, s| if t.abs() <= f64::MAX { 1.0 / s } else { 0.0 });
            for x in 0..states {
                let place = &mut theta[x * run + start..x * run + start + width];
                place.iter_mut().zip(&share).for_each(|(e, s)| *e *= s);
            }
        }
        start += width;
    }
}

/// Two states: one exponential of their distance is enough.
fn pair(low: &mut [f64], high: &mut [f64], weight: f64, message: &mut [f64], want_law: bool) {
    let inverse = 1.0 / weight;
    let mut start = 0;
    while start < message.len() {
        let width = LANES.min(message.len() - start);
        let a = map(&load(&low[start..], width, 0.0), |t| t * inverse);
        let b = map(&load(&high[start..], width, 0.0), |t| t * inverse);
        let top = zip(&a, &b, |a, b| if b > a { b } else { a });
        let e = ratio(&a, &b);
        let total = map(&e, |e| 1.0 + e);
        let log = log_lanes(&total);
        let finite = zip(&top, &log, |t, l| weight * (t + l));
        let m = zip(&top, &finite, |t, m| if t.abs() <= f64::MAX { m } else { f64::NEG_INFINITY });
        message[start..start + width].copy_from_slice(&m[..width]);
        if want_law {
            let share = zip(&top, &total, |t, s| if t.abs() <= f64::MAX { 1.0 / s } else { 0.0 });
            let rest = zip(&share, &e, |p, e| p * e);
            let is_high: [bool; LANES] = std::array::from_fn(|k| b[k] > a[k]);
            for k in 0..width {
                low[start + k] = if is_high[k] { rest[k] } else { share[k] };
                high[start + k] = if is_high[k] { share[k] } else { rest[k] };
            }
        }
        start += width;
    }
}

/// `exp(-|a - b|)`; nothing where that is no number.
#[inline(always)]
fn ratio(a: &Lanes, b: &Lanes) -> Lanes {
    exp_lanes(&zip(a, b, |a, b| -(a - b).abs()))
}

/// As [`joint`] for a variable of two states, whose tables lie one after the other: no message is needed.
pub(crate) fn joint_pair(theta: &mut [f64], inverse_weight: f64, above: &[f32]) -> f64 {
    let (low, high) = theta.split_at_mut(above.len());
    let (mut moment, mut start) = ([0.0; LANES], 0);
    while start < above.len() {
        let width = LANES.min(above.len() - start);
        let a = map(&load(&low[start..], width, 0.0), |t| t * inverse_weight);
        let b = map(&load(&high[start..], width, 0.0), |t| t * inverse_weight);
        let mut q = [0.0; LANES];
        q.iter_mut().zip(&above[start..start + width]).for_each(|(q, &x)| *q = f64::from(x));
        let e = ratio(&a, &b);
        let share = zip(&q, &e, |q, e| q / (1.0 + e));
        let rest = zip(&share, &e, |p, e| p * e);
        // Minus the entropy: -q log(1 + e) - rest |a - b|, and log(1 + e) from the share.
        let distance = zip(&a, &b, |a, b| (a - b).abs());
        let distance = map(&distance, |x| if x < -FLOOR { x } else { -FLOOR });
        let log = log_lanes(&map(&e, |e| 1.0 + e));
        let part = zip(&zip(&q, &log, |q, l| q * l), &zip(&rest, &distance, |r, x| r * x), |x, y| x + y);
        moment = zip(&moment, &part, |s, x| s - x);
        for k in 0..width {
            let is_high = b[k] > a[k];
            low[start + k] = if is_high { rest[k] } else { share[k] };
            high[start + k] = if is_high { share[k] } else { rest[k] };
        }
        start += width;
    }
    moment.iter().sum()
}

/// The first `width` values, padded.
#[inline(always)]
fn load(values: &[f64], width: usize, pad: f64) -> Lanes {
    match values.first_chunk::<LANES>() {
        Some(whole) if width == LANES => *whole,
        _ => {
            let mut lanes = [pad; LANES];
            lanes[..width].copy_from_slice(&values[..width]);
            lanes
        }
    }
}

/// `values_k <- scale * (values_k - shift_k)`, exponentiated, times `factor_k`; returns `sum_k result_k * exponent_k`.
///
/// This turns a table `theta` into the joint law `exp((theta - m) / W) q` of a mini-bucket and gives minus the
/// conditional entropy. Impossible entries get (nearly) no mass.
pub(crate) fn joint(theta: &mut [f64], message: &[f64], inverse_weight: f64, above: &[f32]) -> f64 {
    let mut moment = [0.0; LANES];
    let mut one = |t: &Lanes, m: &Lanes, q: &Lanes| {
        let exponent = zip(t, m, |t, m| (t - m) * inverse_weight);
        // NaN and -inf fall to the floor of the exponential.
        let exponent = map(&exponent, |e| if e > FLOOR { e } else { FLOOR });
        let law = zip(&exp_lanes(&exponent), q, |e, q| e * q);
        moment = zip(&moment, &zip(&law, &exponent, |l, e| l * e), |s, x| s + x);
        law
    };
    let (whole, rest) = theta.as_chunks_mut::<LANES>();
    let (messages, message_rest) = message.as_chunks::<LANES>();
    let (aboves, above_rest) = above.as_chunks::<LANES>();
    for ((t, m), q) in whole.iter_mut().zip(messages).zip(aboves) {
        *t = one(t, m, &std::array::from_fn(|k| f64::from(q[k])));
    }
    if !rest.is_empty() {
        let (mut t, mut m, mut q) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let width = rest.len();
        t[..width].copy_from_slice(rest);
        m[..width].copy_from_slice(message_rest);
        q.iter_mut().zip(above_rest).for_each(|(q, &a)| *q = f64::from(a));
        rest.copy_from_slice(&one(&t, &m, &q)[..width]);
    }
    moment.iter().sum()
}

/// Exponent below which a probability counts as none.
const FLOOR: f64 = -700.0;

/// Adds `weight * log values_k` to `message_k`, where `values > 0`.
pub(crate) fn add_log(message: &mut [f64], values: &[f64], weight: f64) {
    let (whole, rest) = message.as_chunks_mut::<LANES>();
    let (v, v_rest) = values.as_chunks::<LANES>();
    let one = |m: &Lanes, v: &Lanes| {
        let log = log_lanes(&map(v, |v| if v > f64::MIN_POSITIVE { v } else { f64::MIN_POSITIVE }));
        zip(m, &log, |m, l| m + weight * l)
    };
    for (m, v) in whole.iter_mut().zip(v) {
        *m = one(m, v);
    }
    if !rest.is_empty() {
        let width = rest.len();
        rest.copy_from_slice(&one(&load(rest, width, 0.0), &load(v_rest, width, 1.0))[..width]);
    }
}
