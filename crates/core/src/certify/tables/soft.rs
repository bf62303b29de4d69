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

use crate::certify::exp_log::exp_near;

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
}

impl Soft {
    /// The value; `-inf` when every entry is (W > 0) or any is (W < 0).
    pub(super) fn value(&mut self, theta: &[f64], rule: Rule) -> f64 {
        if let [one] = theta {
            return *one;
        }
        let largest = || theta.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
        let least = || theta.iter().fold(f64::INFINITY, |m, v| if *v < m { *v } else { m });
        let (w, m) = match rule {
            Rule::Max => return largest(),
            Rule::Min => return least(),
            Rule::Soft(w) if w > 0.0 => (w, largest()),
            Rule::Soft(w) => (w, least()),
        };
        if m == f64::NEG_INFINITY {
            return m;
        }
        let sum = theta.iter().fold(0.0, |s, v| s + exp_near((v - m) / w));
        m + w * self.log(sum)
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
