//! When the Hessian passes for diagonal.

use super::LOG_SWITCH;
use crate::linalg::Gibbs;

/// Whether predictions may take the Hessian for diagonal: until one of them fails.
pub(super) struct Quick {
    trusted: bool,
    /// Value of the state the last prediction started from.
    from: f64,
}

impl Default for Quick {
    fn default() -> Self {
        Quick { trusted: true, from: f64::NAN }
    }
}

impl Quick {
    /// Judges the last prediction by the state reached, of residual `size`: if that is far off, or
    /// still the old one, it failed. Only predictions (`tilt > 0`) are allowed.
    pub(super) fn allows(&mut self, gibbs: &Gibbs, size: f64, tilt: f64) -> bool {
        self.trusted &= size < LOG_SWITCH && self.from != gibbs.log_mean;
        self.from = if tilt > 0.0 { gibbs.log_mean } else { f64::NAN };
        self.trusted && tilt > 0.0
    }
}
