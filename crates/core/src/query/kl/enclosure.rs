//! Rigorous enclosures of sums over all states.

use super::Distribution;
use crate::certify::Interval;

impl Distribution {
    /// A proved lower bound on `D(p || q)`: `sum_x p log(p/q) - p + q` over states, no term of which is negative.
    ///
    /// **Cost** four outward-rounded transcendental functions per state.
    pub(super) fn kl_down(&self, q: &Distribution) -> f64 {
        let (p_total, q_total) = (self.log_total(), q.log_total());
        let mut sum = Interval::ZERO;
        for k in 0..self.logs.len() {
            let (log_p, log_q) = (self.log(k) - p_total, q.log(k) - q_total);
            let term = match (self.logs[k] == f64::NEG_INFINITY, q.logs[k] == f64::NEG_INFINITY) {
                (true, true) => 0.0,
                (true, false) => log_q.exp().lo,
                (false, true) => return f64::INFINITY,
                (false, false) => {
                    let p = log_p.exp();
                    (p * (log_p - log_q) - p + log_q.exp()).lo
                }
            };
            // Also turns NaN, from numbers beyond the range of floats, into what is known.
            sum = sum + Interval::point(term.max(0.0));
        }
        sum.lo.max(0.0)
    }

    /// `E_p f` of a Gibbs distribution p.
    ///
    /// **Cost** two outward-rounded exponentials per state.
    pub(super) fn mean_energy(&self) -> Option<MeanEnergy> {
        let (top, eps) = self.gibbs?;
        let total = self.log_total();
        let mut mean = Interval::ZERO;
        for k in (0..self.logs.len()).filter(|&k| self.logs[k].is_finite()) {
            mean = mean + (self.log(k) - total).exp() * self.log(k);
        }
        Some(MeanEnergy { top, eps, mean })
    }

    fn log(&self, k: usize) -> Interval {
        Interval::around(self.logs[k], self.radius)
    }

    /// Logarithm of the sum of the weights.
    fn log_total(&self) -> Interval {
        let finite = (0..self.logs.len()).filter(|&k| self.logs[k] != f64::NEG_INFINITY);
        finite.fold(Interval::ZERO, |sum, k| sum + self.log(k).exp()).log()
    }
}

/// `E_p f = top + eps mean`.
pub(super) struct MeanEnergy {
    top: f64,
    eps: f64,
    mean: Interval,
}

impl MeanEnergy {
    /// A proved upper bound on `E_p f - eps kl_lower`; with a bound `kl_lower` on `D(p || uniform)` it bounds phi, which is
    /// `E_p f - eps D(p || uniform)`.
    pub(super) fn phi_up(&self, kl_lower: f64) -> Option<f64> {
        let mean = self.mean - Interval::point(kl_lower);
        let phi = Interval::point(self.top) + Interval::point(self.eps) * mean;
        Some(phi.hi).filter(|phi| phi.is_finite())
    }
}
