//! The exact sum of the whole, once the tree has taken as much time as it would: so that branching takes at most about
//! twice as long as the faster of the two.

use super::grow::{Growth, watched};
use super::leaf::Known;
use crate::error::{Error, Result};
use crate::exact::{self, Wanted};
use crate::observer::{Monitor, Silent};

/// Time that must be left, in units of what the sum is expected to take.
const CAUTION: f64 = 2.0;

impl Growth<'_> {
    /// Whether the tree has taken as long as the exact sum would, and there is time for that.
    pub(super) fn is_time_for_the_whole(&self, monitor: &Monitor<'_>) -> bool {
        let expected = self.bounder.exact_secs / self.hands() as f64;
        self.may_sum
            && monitor.seconds() >= expected
            && monitor.seconds_left().unwrap_or(f64::INFINITY) >= CAUTION * expected
    }

    /// Sums the whole; whether that worked out.
    pub(super) fn sum_whole(&mut self, monitor: &mut Monitor<'_>) -> Result<bool> {
        self.may_sum = false;
        let mut settings = self.bounder.settings.clone();
        settings.threads = self.hands();
        let (model, eps) = (self.bounder.model, self.bounder.eps);
        let sum = || exact::exact_with(model, eps, Wanted::LOG_Z, &settings, &mut Silent);
        match watched(&None, monitor, sum) {
            Ok(exact) => {
                let (lower, upper) = exact.log_z_bounds;
                let is_sum = lower.is_finite() && upper.is_finite();
                if is_sum {
                    self.tree.take_whole(Known { lower, upper, is_exact: true, ..Known::unknown() });
                }
                Ok(is_sum)
            }
            Err(Error::Interrupted(_) | Error::NotApplicable(_) | Error::Memory { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Threads that there are.
    pub(super) fn hands(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }
}
