//! What a solve returns: why it stopped, and what is proved. The two are kept apart.

use crate::certify::{Certificate, CertifiedBound};
use crate::features::Features;
use crate::model::{Polynomial, VarSet};
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::relax::SpectralPoint;
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

/// How far an estimate by sampling may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// Standard error of the estimate, from the spread of the weights.
    pub standard_error: f64,
    /// `(sum w)^2 / sum w^2`.
    pub effective_samples: f64,
    /// Independent chains.
    pub chains: usize,
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
    /// The spread behind `estimate`, for methods that sample.
    pub sampling: Option<Sampling>,
    /// Values along the way.
    pub trace: Vec<TracePoint>,
    /// Edges of each forest of a mixture, for methods over trees.
    pub(crate) forests: Option<Vec<Vec<[u32; 2]>>>,
    /// Where a spectral bound was found, for other solves to start from.
    pub(crate) point: Option<SpectralPoint>,
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
            sampling: None,
            trace: Vec::new(),
            forests: None,
            point: None,
            certificate: None,
        }
    }

    /// The one ending of a solve: decides the gap, the stop reason, the counters and the trace.
    ///
    /// `primal` is a feasible value of the same relaxation, for methods that have one. `converged` means that the
    /// certified gap is at most `tol max(eps, |phi.upper|)`, whatever the solver thought of it.
    pub(crate) fn finish(
        mut self,
        primal: Option<f64>,
        tol: f64,
        problem: &Problem,
        monitor: Monitor<'_>,
    ) -> Self {
        if let (Some(upper), Some(primal)) = (self.upper, primal) {
            self.relaxation_gap = Some((upper.phi() - primal).max(0.0)).filter(|gap| gap.is_finite());
        }
        // A step that was not begun for lack of time looks like trouble to the loop around it.
        if matches!(self.stop, StopReason::Stalled | StopReason::NumericalTrouble)
            && let Some(stop) = monitor.deadline().stop()
        {
            self.stop = stop;
        }
        self.settle(tol, problem.eps());
        self.fall_back(problem);
        self.iterations = monitor.iterations;
        self.eigendecompositions = monitor.eigendecompositions;
        self.seconds = monitor.seconds();
        self.trace = monitor.trace;
        self
    }

    /// Makes `converged` mean that the certified gap is within the tolerance, no more and no less; without a gap the
    /// solver's own word stands.
    pub(crate) fn settle(&mut self, tol: f64, eps: f64) {
        if self.relaxation_gap.is_none() {
            return;
        }
        if self.is_within(tol, eps) {
            self.stop = StopReason::Converged;
        } else if self.stop == StopReason::Converged {
            self.stop = StopReason::Stalled;
        }
        if self.stop == StopReason::Stalled {
            self.reason.get_or_insert_with(|| STALLED.into());
        }
    }

    /// A method that was stopped before it proved anything gives what the coefficients alone prove on its side.
    fn fall_back(&mut self, problem: &Problem) {
        let stopped = matches!(self.stop, StopReason::TimeLimit | StopReason::Cancelled);
        if !stopped || self.is_certified() {
            return;
        }
        let (f, lower) = (problem.polynomial(), self.method == Method::MeanField);
        self.prove_by_coefficients(f, Certificate::of_coefficients(f, problem.eps(), !lower, lower));
    }

    /// What the coefficients alone prove about phi, in place of a method that was stopped before it began; from below
    /// only when f is the model itself and nothing above it.
    pub(crate) fn from_coefficients(f: &Polynomial, eps: f64, lower: bool) -> Self {
        let mut solution = Solution::new(Method::MeanField, StopReason::TimeLimit);
        solution.prove_by_coefficients(f, Certificate::of_coefficients(f, eps, true, lower));
        solution
    }

    fn prove_by_coefficients(&mut self, f: &Polynomial, proof: Certificate) {
        self.upper = proof.verify(f).ok();
        self.lower = proof.verify_lower(f).ok();
        self.certificate = Some(proof);
        self.reason = Some(FALLBACK.into());
    }

    /// Whether the certified gap is at most `tol max(eps, |phi|)`.
    pub(crate) fn is_within(&self, tol: f64, eps: f64) -> bool {
        let (Some(upper), Some(gap)) = (self.upper, self.relaxation_gap) else { return false };
        gap <= tol * upper.phi().abs().max(eps)
    }

    /// Whether some side of phi is proved.
    pub fn is_certified(&self) -> bool {
        self.upper.is_some() || self.lower.is_some()
    }
}

/// Said when a solver came to its end above the tolerance.
const STALLED: &str = "rounding ended the iteration above the tolerance; the bound is valid";

/// Said when a method was stopped before it had a bound of its own.
pub(crate) const FALLBACK: &str =
    "stopped before a first bound was proved: this one comes from the coefficients alone";
