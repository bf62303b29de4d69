//! `W log sum_j exp(theta_j / W)`, fast, with an error that is known beforehand.
//!
//! For W of either sign the value is monotone and nonexpansive in the largest norm, so errors of theta pass through
//! unchanged. What evaluation adds, u = 2^-53, q terms, M the largest finite |theta_j|:
//! - exponents `(theta_j - m)/W <= 0`, m the term that dominates, err by 2u of their size, and `|z| exp(z) <= 1/e`; the
//!   exponential errs by 8u (see [`exp_near`]), the sum of q terms by q u: its relative error is at most `u (2q + 8)`, because it is
//!   at least 1;
//! - the logarithm is a guess y corrected by `r = s / exp(y) - 1`: it errs by `8u + u log q + r^2`;
//! - the product with W and the last sum round once each.
//!
//! Together less than `2u (|W| (3q + 32) + M) + 2 |W| r^2`.

use crate::certify::exp_log::{exp_near, exp_near_all};

/// How a variable is summed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// `W log sum exp(./W)`, W not zero.
    Soft(f64),
    /// Its limit as W decreases to 0.
    Max,
    /// Its limit as W increases to 0.
    Min,
}

/// Evaluates and remembers how good its logarithms were.
#[derive(Default)]
pub(super) struct Soft {
    worst_correction: f64,
    /// By run of states: the entry that dominates, the sum of exponentials, a guess of its logarithm and the exponential of that.
    tops: Vec<f64>,
    sums: Vec<f64>,
    guesses: Vec<f64>,
    back: Vec<f64>,
    exponentials: Vec<f64>,
}

impl Soft {
    /// Appends the value of every run of `q` entries: `-inf` when every entry is (W > 0) or any is (W < 0).
    pub(super) fn values(&mut self, theta: &[f64], q: usize, rule: Rule, out: &mut Vec<f64>) {
        let runs = theta.chunks_exact(q);
        let largest = |run: &[f64]| run.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
        let least = |run: &[f64]| run.iter().fold(f64::INFINITY, |m, v| if *v < m { *v } else { m });
        let w = match rule {
            _ if q == 1 => return out.extend_from_slice(theta),
            Rule::Max => return out.extend(runs.map(largest)),
            Rule::Min => return out.extend(runs.map(least)),
            Rule::Soft(w) => w,
        };
        self.tops.clear();
        if w > 0.0 {
            self.tops.extend(runs.map(largest));
        } else {
            self.tops.extend(runs.map(least));
        }
        self.sum(theta, q, w);
        self.guess(q);
        let corrected = self.sums.iter().zip(&self.guesses).zip(&self.back).zip(&self.tops);
        for (((sum, guess), back), &top) in corrected {
            let correction = (sum - back) / back;
            // A guess that is no number must not be lost in the comparison.
            if !(correction.abs() <= self.worst_correction) {
                self.worst_correction = correction.abs();
            }
            out.push(if top == f64::NEG_INFINITY { top } else { top + w * (guess + correction) });
        }
    }

    /// Sums of exponentials, relative to `tops`; whatever, but a number of at least one, where that is `-inf`.
    fn sum(&mut self, theta: &[f64], q: usize, w: f64) {
        let exponent = |v: f64, m: f64| if m == f64::NEG_INFINITY { 0.0 } else { (v - m) / w };
        self.exponentials.clear();
        self.sums.clear();
        if q == 2 {
            // The entry that dominates counts as one.
            let others = theta.chunks_exact(2).zip(&self.tops);
            let other = |(run, m): (&[f64], &f64)| exponent(if run[0] == *m { run[1] } else { run[0] }, *m);
            self.exponentials.extend(others.map(other));
            exp_near_all(&mut self.exponentials);
            self.sums.extend(self.exponentials.iter().map(|e| 1.0 + e));
        } else {
            for (run, &m) in theta.chunks_exact(q).zip(&self.tops) {
                self.exponentials.extend(run.iter().map(|v| exponent(*v, m)));
            }
            exp_near_all(&mut self.exponentials);
            self.sums.extend(self.exponentials.chunks_exact(q).map(|run| run.iter().sum::<f64>()));
        }
    }

    /// Guesses of the logarithms of all sums, and their exponentials.
    fn guess(&mut self, q: usize) {
        self.guesses.clear();
        if q == 2 {
            self.guesses.extend(self.sums.iter().map(|s| log_up_to_two(*s)));
        } else {
            self.guesses.extend(self.sums.iter().map(|s| libm::log(*s)));
        }
        self.back.clone_from(&self.guesses);
        exp_near_all(&mut self.back);
    }

    /// `log s` for s >= 1.
    pub(super) fn log(&mut self, s: f64) -> f64 {
        let guess = libm::log(s);
        let back = exp_near(guess);
        let correction = (s - back) / back;
        // A guess that is no number must not be lost in the comparison.
        if !(correction.abs() <= self.worst_correction) {
            self.worst_correction = correction.abs();
        }
        guess + correction
    }

    /// Bound on the error of every value so far with these parameters; infinite when a logarithm was far off.
    pub(super) fn error_up(&self, q: usize, rule: Rule, magnitude: f64) -> f64 {
        let w = match rule {
            Rule::Soft(w) if q > 1 => w.abs(),
            _ => return 0.0,
        };
        let r = self.worst_correction;
        if !(r < 1e-3) {
            return f64::INFINITY;
        }
        f64::EPSILON * (w * (3.0 * q as f64 + 32.0) + magnitude) + 2.0 * w * r * r
    }
}

/// About `log s` for s from 1 to 2, to 1e-12: `2 artanh z` with `z = (s - 1)/(s + 1)` at most 1/3, by its power series.
fn log_up_to_two(s: f64) -> f64 {
    /// `1/(2k + 1)` for k = 10 down to 0.
    const COEFFICIENTS: [f64; 11] = [
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
        1.0,
    ];
    let z = (s - 1.0) / (s + 1.0);
    let square = z * z;
    2.0 * z * COEFFICIENTS.iter().fold(0.0, |sum, c| sum * square + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `W log sum exp(theta/W)` one step at a time.
    fn slowly(theta: &[f64], w: f64) -> f64 {
        let m = theta
            .iter()
            .fold(-w.signum() * f64::INFINITY, |m, v| if w > 0.0 { m.max(*v) } else { m.min(*v) });
        if m == f64::NEG_INFINITY {
            return m;
        }
        m + w * theta.iter().map(|v| ((v - m) / w).exp()).sum::<f64>().ln()
    }

    #[test]
    fn values_are_within_their_error_for_weights_of_either_sign() {
        for q in 1..6 {
            for w in [1.0, 0.3, -0.7, 1e-3, -1e3, 40.0] {
                let theta: Vec<f64> = (0..q * 37)
                    .map(|k| if k % 11 == 5 { f64::NEG_INFINITY } else { 3.0 * (k as f64 * 1.7).sin() })
                    .collect();
                let (mut soft, mut out) = (Soft::default(), Vec::new());
                soft.values(&theta, q, Rule::Soft(w), &mut out);
                let error = soft.error_up(q, Rule::Soft(w), 3.0);
                assert!(error < 1e-10 * w.abs().max(1.0), "{error}");
                for (run, value) in theta.chunks_exact(q).zip(&out) {
                    let expected = if q == 1 { run[0] } else { slowly(run, w) };
                    let off = if *value == expected { 0.0 } else { (value - expected).abs() };
                    assert!(off <= error + 1e-12 * (1.0 + w.abs()), "{q} {w}: {run:?} {value} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_state_without_weight_leaves_the_other() {
        let zero = f64::NEG_INFINITY;
        let (mut soft, mut out) = (Soft::default(), Vec::new());
        soft.values(&[zero, 1.5, zero, zero, 2.0, zero], 2, Rule::Soft(0.5), &mut out);
        assert_eq!(out, [1.5, zero, 2.0]);
        out.clear();
        soft.values(&[zero, 1.5, zero, zero], 2, Rule::Soft(-0.5), &mut out);
        assert_eq!(out, [zero, zero]);
        assert!(soft.error_up(2, Rule::Soft(-0.5), 2.0).is_finite());
    }
}
