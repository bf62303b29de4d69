//! What a solve returns: why it stopped, and what is proved. The two are kept apart.

use crate::certify::{Certificate, CertifiedBound};
use crate::features::Features;
use crate::model::VarSet;
use crate::settings::{Method, Solver};

/// Why a solver stopped. Whatever the reason, the certificate it returns is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The relative gap fell below the tolerance.
    Converged,
    /// The iteration cap was reached.
    MaxIterations,
    /// The time limit was reached.
    TimeLimit,
    /// The observer asked to stop.
    Cancelled,
    /// No further progress in floating point.
    Stalled,
    /// A decomposition failed or values left the range of floating point.
    NumericalTrouble,
}

impl StopReason {
    /// The word used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Converged => "converged",
            StopReason::MaxIterations => "iteration-limit",
            StopReason::TimeLimit => "time-limit",
            StopReason::Cancelled => "cancelled",
            StopReason::Stalled => "stalled",
            StopReason::NumericalTrouble => "numerical-trouble",
        }
    }
}

/// One iteration as the trace keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TracePoint {
    /// Iteration, from 1.
    pub iteration: usize,
    /// Primal value on phi (NaN when not computed).
    pub lower: f64,
    /// Dual value on phi, in plain floating point (NaN when not computed).
    pub upper: f64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Eigendecompositions so far.
    pub eigendecompositions: usize,
}

/// One greedy step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GreedyStep {
    /// The feature added.
    pub feature: VarSet,
    /// Certified bound on phi with exactly these features; NaN when certification failed.
    pub phi_upper: f64,
}

/// The outcome of one method on one problem. All values are on `phi`, not log Z.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Solution {
    /// The method that was asked for.
    pub method: Method,
    /// The algorithm that ran, when there was a choice.
    pub solver: Option<Solver>,
    /// Why it stopped.
    pub stop: StopReason,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
    /// Proved upper bound on phi; `None` when certification failed (then `reason` says why).
    pub upper: Option<CertifiedBound>,
    /// Proved lower bound on phi.
    pub lower: Option<CertifiedBound>,
    /// The best plain floating-point value.
    pub estimate: f64,
    /// Distance from `upper` to a feasible primal value of the same relaxation.
    pub relaxation_gap: Option<f64>,
    /// Iterations of the outermost loop.
    pub iterations: usize,
    /// Eigendecompositions, certification included.
    pub eigendecompositions: usize,
    /// Wall-clock seconds, certification included.
    pub seconds: f64,
    /// Features of the moment matrix, for methods that have one.
    pub features: Option<Features>,
    /// Greedy steps, for methods that select features.
    pub steps: Option<Vec<GreedyStep>>,
    /// `E x_i` per free spin.
    pub means: Option<Vec<f64>>,
    /// Estimates of `P(x_i = s)`, one list of states per free variable, for methods over tables.
    pub state_marginals: Option<Vec<Vec<f64>>>,
    /// `(i, j, E x_i x_j)`.
    pub pairwise: Option<Vec<(u32, u32, f64)>>,
    /// Values along the way.
    pub trace: Vec<TracePoint>,
    /// The proof of `upper` (and `lower`).
    pub certificate: Option<Certificate>,
}

impl Solution {
    /// An empty solution of `method`, to be filled in by the method.
    pub(crate) fn new(method: Method, stop: StopReason) -> Self {
        Solution {
            method,
            solver: None,
            stop,
            reason: None,
            upper: None,
            lower: None,
            estimate: f64::NAN,
            relaxation_gap: None,
            iterations: 0,
            eigendecompositions: 0,
            seconds: 0.0,
            features: None,
            steps: None,
            means: None,
            state_marginals: None,
            pairwise: None,
            trace: Vec::new(),
            certificate: None,
        }
    }

    /// Whether the certified gap is at most `tol max(eps, |phi|)`, with room for the certificate's own width.
    pub(crate) fn is_within(&self, tol: f64, eps: f64) -> bool {
        let (Some(upper), Some(gap)) = (self.upper, self.relaxation_gap) else { return false };
        gap <= 1.5 * tol * upper.phi().abs().max(eps)
    }

    /// Whether some side of phi is proved.
    pub fn is_certified(&self) -> bool {
        self.upper.is_some() || self.lower.is_some()
    }
}
