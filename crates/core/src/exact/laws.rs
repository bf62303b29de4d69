//! Proved intervals around the probabilities of a law.

use crate::certify::Interval;

/// What underflow can hide in all sums of a run: products of numbers above `e^-690`, at most `2^64` of them.
const HIDDEN: f64 = 1e-200;

/// Intervals around the probabilities `w_s / sum w` where `w_s` is `law[s]` times a factor within `e^-radius .. e^radius`,
/// up to a factor common to all; the law adds up to one.
pub(crate) fn within_factor(law: &[f64], radius: f64) -> Vec<[f64; 2]> {
    if !(radius < 1.0) {
        return vec![[0.0, 1.0]; law.len()];
    }
    let wide = Interval { lo: -2.0 * radius, hi: 2.0 * radius }.exp();
    let around = |&p: &f64| {
        let interval = Interval::point(p) * wide;
        [interval.lo - HIDDEN, interval.hi + HIDDEN]
    };
    tightened(law.iter().map(around).collect())
}

/// Intervals around probabilities that are off by at most `radius`.
pub(crate) fn within_radius(law: &[f64], radius: f64) -> Vec<[f64; 2]> {
    let around = |&p: &f64| {
        let interval = Interval::point(p) + Interval { lo: -radius, hi: radius };
        [interval.lo, interval.hi]
    };
    tightened(law.iter().map(around).collect())
}

/// The same intervals cut by what they say about each other: probabilities are between 0 and 1 and add up to one.
/// Ends that are not numbers prove nothing.
pub(crate) fn tightened(mut law: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    for [low, high] in &mut law {
        *low = if *low >= 0.0 { *low } else { 0.0 };
        *high = if *high <= 1.0 { *high } else { 1.0 };
    }
    let sum = |end: usize| law.iter().fold(Interval::ZERO, |sum, p| sum + Interval::point(p[end]));
    let (lows, highs) = (sum(0), sum(1));
    let others = |all: Interval, own: f64| Interval::ONE - (all - Interval::point(own));
    let cut = |p: &[f64; 2]| {
        let (low, high) = (others(highs, p[1]).lo, others(lows, p[0]).hi);
        [if low > p[0] { low } else { p[0] }, if high < p[1] { high.max(0.0) } else { p[1] }]
    };
    law.iter().map(cut).collect()
}

/// Brackets of `eps log` of the parts of a sum, minus infinity twice for a part that is empty, and of the whole.
pub(crate) struct Shares<'a> {
    pub(crate) parts: &'a [Interval],
    pub(crate) whole: Interval,
    pub(crate) eps: f64,
}

/// Intervals around every part's share: `1 / (1 + sum_t exp((U_t - L_s)/eps)) <= P_s <= 1 / (1 + sum_t exp((L_t - U_s)/eps))`
/// over the other parts t, and `exp((L_s - U)/eps) <= P_s <= exp((U_s - L)/eps)` for the whole's `L <= U`.
pub(crate) fn shares(Shares { parts, whole, eps }: &Shares<'_>) -> Vec<[f64; 2]> {
    let ratio = |of: f64, by: f64| {
        if of == f64::NEG_INFINITY {
            return Interval::ZERO;
        }
        if !of.is_finite() || !by.is_finite() {
            // Nothing is known of a quotient with an end that is not known.
            return Interval { lo: 0.0, hi: f64::INFINITY };
        }
        ((Interval::point(of) - Interval::point(by)) / Interval::point(*eps)).exp()
    };
    let is_empty = |part: &Interval| part.hi == f64::NEG_INFINITY;
    let share = |s: usize| {
        if is_empty(&parts[s]) {
            return [0.0, 0.0];
        }
        let others = || parts.iter().enumerate().filter(|(t, _)| *t != s).map(|(_, part)| part);
        let above = others().fold(Interval::ONE, |sum, t| sum + ratio(t.hi, parts[s].lo));
        let below = others().fold(Interval::ONE, |sum, t| sum + ratio(t.lo, parts[s].hi));
        let low = (Interval::ONE / above).lo.max(ratio(parts[s].lo, whole.hi).lo);
        let high = (Interval::ONE / below).hi;
        let most = ratio(parts[s].hi, whole.lo).hi;
        [low, if most < high { most } else { high }]
    };
    tightened((0..parts.len()).map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_the_truth_whatever_is_known() {
        let logs = [0.3f64, -1.2, 2.0];
        let total: f64 = logs.iter().map(|v| v.exp()).sum();
        let unknown = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
        for width in [0.0, 1e-9, 0.1, 2.0, f64::INFINITY] {
            let parts: Vec<Interval> =
                logs.iter().map(|v| Interval { lo: v - width, hi: v + width }).collect();
            for whole in [unknown, Interval { lo: total.ln() - 1e-3, hi: total.ln() + 1e-3 }] {
                let found = shares(&Shares { parts: &parts, whole, eps: 1.0 });
                for (v, [low, high]) in logs.iter().zip(found) {
                    let truth = v.exp() / total;
                    assert!(low <= truth + 1e-15 && truth <= high + 1e-15, "{width}: {low} {truth} {high}");
                    assert!(width > 0.0 || high - low < 1e-14);
                }
            }
        }
    }

    #[test]
    fn empty_parts_have_no_share() {
        let parts = [Interval::point(f64::NEG_INFINITY), Interval { lo: f64::NEG_INFINITY, hi: 3.0 }];
        let whole = Interval { lo: f64::NEG_INFINITY, hi: 3.0 };
        assert_eq!(shares(&Shares { parts: &parts, whole, eps: 2.0 }), [[0.0, 0.0], [1.0, 1.0]]);
    }

    #[test]
    fn intervals_cut_each_other() {
        let law = tightened(vec![[0.2, 0.3], [0.1, 0.9], [f64::NAN, f64::NAN]]);
        assert_eq!(law[0], [0.2, 0.3]);
        assert!(law[1][1] <= 0.8 + 1e-15 && law[2][1] <= 0.7 + 1e-15 && law[2][0] == 0.0);
    }
}
