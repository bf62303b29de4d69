//! When to stop: the gap that a tolerance allows, and the patience with a gap that stands.

/// How values of g read as values of phi: `phi = constant + eps g`.
#[derive(Clone, Copy)]
pub(crate) struct Units {
    pub(crate) eps: f64,
    pub(crate) constant: f64,
}

impl Units {
    pub(crate) fn phi(self, g: f64) -> f64 {
        self.constant + self.eps * g
    }

    /// The gap in g that a relative tolerance on phi allows at value g.
    pub(super) fn allowed(self, relative_tol: f64, g: f64) -> f64 {
        relative_tol * (g + self.constant / self.eps).abs().max(1.0)
    }
}

/// Steps at the final temperature that may pass without halving the gap.
const PATIENCE: usize = 25;

/// The best gap at the final temperature, and for how many steps it has stood.
pub(super) struct Progress {
    gap: f64,
    stands: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Progress { gap: f64::INFINITY, stands: 0 }
    }
}

impl Progress {
    pub(super) fn is_stalled(&mut self, gap: f64) -> bool {
        if gap < 0.5 * self.gap {
            *self = Progress { gap, stands: 0 };
        } else {
            self.stands += 1;
        }
        self.stands > PATIENCE
    }
}
