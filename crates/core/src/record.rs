//! The one result record: what `zbound bound --json` prints, sweeps store and Python reads.
//!
//! Every number called `lower` or `upper` here comes from a verified certificate or from an exact
//! enclosure. Floats are written with the shortest digits that read back bit for bit; infinities
//! and NaN become null and `reason` says why.

use crate::error::Result;
use crate::exact::Exact;
use crate::model::{Model, Polynomial, VarSet};
use crate::settings::{Method, Solver};
use crate::solution::{Solution, StopReason};
use serde::{Deserialize, Serialize};

/// Value of [`BoundRecord::schema`].
pub const BOUND_SCHEMA: &str = "zbound.bound/1";

/// The document `zbound.bound/1`: one model at one temperature, one entry per method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRecord {
    /// Always [`BOUND_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The model.
    pub model: ModelRecord,
    /// Temperature.
    pub eps: f64,
    /// One entry per requested method, in the order they ran.
    pub results: Vec<MethodRecord>,
    /// The best certified sides over all methods.
    pub best: BestRecord,
}

/// The model in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// The file as the user named it; null for a model built in memory.
    pub path: Option<String>,
    /// Free spins.
    pub d: usize,
    /// Pairs of free spins that interact.
    pub edges: usize,
    /// Terms (or tables) over three free spins and more.
    pub terms: usize,
}

/// Both sides of an unknown value, and the best number that is not a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// Certified lower bound.
    pub lower: Option<f64>,
    /// Certified upper bound.
    pub upper: Option<f64>,
    /// Best plain floating-point value.
    pub estimate: Option<f64>,
}

/// Two certified sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Certified lower bound.
    pub lower: Option<f64>,
    /// Certified upper bound.
    pub upper: Option<f64>,
}

/// How a method ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// The tolerance was met.
    Converged,
    /// The iteration cap was reached.
    IterationLimit,
    /// The time limit was reached.
    TimeLimit,
    /// The user stopped it.
    Cancelled,
    /// No further progress in floating point.
    Stalled,
    /// A decomposition failed or values left the range of floating point.
    NumericalTrouble,
    /// The method does not apply to this model; `reason` says why.
    NotApplicable,
    /// The method ran and no side of its result could be proved; `reason` says why.
    Uncertified,
}

impl Status {
    /// The word used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::IterationLimit => "iteration-limit",
            Status::TimeLimit => "time-limit",
            Status::Cancelled => "cancelled",
            Status::Stalled => "stalled",
            Status::NumericalTrouble => "numerical-trouble",
            Status::NotApplicable => "not-applicable",
            Status::Uncertified => "uncertified",
        }
    }
}

impl From<StopReason> for Status {
    fn from(stop: StopReason) -> Self {
        match stop {
            StopReason::Converged => Status::Converged,
            StopReason::MaxIterations => Status::IterationLimit,
            StopReason::TimeLimit => Status::TimeLimit,
            StopReason::Cancelled => Status::Cancelled,
            StopReason::Stalled => Status::Stalled,
            StopReason::NumericalTrouble => Status::NumericalTrouble,
        }
    }
}

/// One greedy step in the file's variable numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The feature added.
    pub feature: Vec<usize>,
    /// Certified bound on phi after the step.
    pub phi_upper: Option<f64>,
}

/// The outcome of one method. Variables are numbered as in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodRecord {
    /// The method.
    pub method: Method,
    /// Bounds on `phi = eps log E exp(f/eps)`.
    pub phi: Sides,
    /// Bounds on `eps log Z = phi + eps d log 2`.
    pub log_z: Sides,
    /// Distance from `phi.upper` to a feasible primal value of the same relaxation.
    pub relaxation_gap: Option<f64>,
    /// How the method ended.
    pub status: Status,
    /// Whether every side given here is proved, and at least one is given.
    pub certified: bool,
    /// The algorithm that ran, when there was a choice.
    pub solver: Option<Solver>,
    /// Iterations of the outermost loop.
    pub iterations: usize,
    /// Eigendecompositions, certification included.
    pub eigendecompositions: usize,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Features of the moment matrix.
    pub features: Option<Vec<Vec<usize>>>,
    /// Greedy steps.
    pub steps: Option<Vec<StepRecord>>,
    /// `P(x_i = +1)` per variable of the file.
    pub marginals: Option<Vec<f64>>,
    /// `(i, j, E x_i x_j)` over free spins, on request.
    pub pairwise: Option<Vec<(usize, usize, f64)>>,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// The best certified sides and the methods behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BestRecord {
    /// On eps log Z.
    pub log_z: Interval,
    /// On phi.
    pub phi: Interval,
    /// The method with the smallest upper bound.
    pub upper_method: Option<Method>,
    /// The method with the largest lower bound.
    pub lower_method: Option<Method>,
}

impl ModelRecord {
    /// Summary of `model`; `polynomial` is f over the free spins when there is one.
    ///
    /// # Errors
    /// As [`Model::factors`], which is read when the model has no polynomial.
    pub fn new(path: Option<String>, model: &Model, polynomial: Option<&Polynomial>) -> Result<Self> {
        let (edges, terms) = match polynomial {
            Some(f) => (f.pairwise_part().edges().len(), f.terms().len()),
            None => {
                let tables = model.factors()?;
                let pairs = tables.factors().filter(|f| f.scope.len() == 2);
                let pairs = pairs.map(|f| (f.scope[0].min(f.scope[1]), f.scope[0].max(f.scope[1])));
                let pairs: std::collections::BTreeSet<_> = pairs.collect();
                (pairs.len(), tables.factors().filter(|f| f.scope.len() > 2).count())
            }
        };
        Ok(ModelRecord { path, d: model.d(), edges, terms })
    }
}

/// Turns results over free spins into records in the file's variable numbers.
pub(crate) struct Recorder<'a> {
    pub(crate) model: &'a Model,
    pub(crate) eps: f64,
    pub(crate) want_pairwise: bool,
    free: Vec<usize>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(model: &'a Model, eps: f64, want_pairwise: bool) -> Self {
        Recorder { model, eps, want_pairwise, free: model.free_variables() }
    }

    /// A method that gave nothing.
    pub(crate) fn empty(&self, method: Method, status: Status, reason: impl Into<String>) -> MethodRecord {
        MethodRecord {
            method,
            phi: Sides::default(),
            log_z: Sides::default(),
            relaxation_gap: None,
            status,
            certified: false,
            solver: None,
            iterations: 0,
            eigendecompositions: 0,
            seconds: 0.0,
            features: None,
            steps: None,
            marginals: None,
            pairwise: None,
            reason: Some(reason.into()),
        }
    }

    /// The record of a relaxation's solution.
    pub(crate) fn solution(&self, solution: &Solution) -> MethodRecord {
        let phi = Sides {
            lower: solution.lower.and_then(|b| finite(b.phi())),
            upper: solution.upper.and_then(|b| finite(b.phi())),
            estimate: finite(solution.estimate),
        };
        let certified = phi.lower.is_some() || phi.upper.is_some();
        let reason = solution.reason.clone().or_else(|| {
            (!certified).then(|| "no side of the result could be proved in floating point".to_owned())
        });
        MethodRecord {
            phi,
            log_z: self.log_z(phi),
            relaxation_gap: solution.relaxation_gap.and_then(finite),
            status: if certified { solution.stop.into() } else { Status::Uncertified },
            certified,
            solver: solution.solver,
            iterations: solution.iterations,
            eigendecompositions: solution.eigendecompositions,
            seconds: solution.seconds,
            features: solution.features.as_ref().map(|f| f.sets().iter().map(|s| self.names(s)).collect()),
            steps: solution.steps.as_ref().map(|steps| {
                let step = |s: &crate::GreedyStep| StepRecord {
                    feature: self.names(&s.feature),
                    phi_upper: finite(s.phi_upper),
                };
                steps.iter().map(step).collect()
            }),
            marginals: solution.means.as_ref().map(|means| self.marginals(means)),
            pairwise: self.pairwise(solution.pairwise.as_deref()),
            reason,
            ..self.empty(solution.method, Status::Converged, "")
        }
    }

    /// The record of exact inference.
    pub(crate) fn exact(&self, exact: &Exact, seconds: f64) -> MethodRecord {
        let (phi, log_z) = (exact.phi_bounds, exact.log_z_bounds);
        let phi = Sides { lower: finite(phi.0), upper: finite(phi.1), estimate: finite(exact.phi) };
        let log_z = Sides { lower: finite(log_z.0), upper: finite(log_z.1), estimate: finite(exact.log_z) };
        let impossible = exact.log_z == f64::NEG_INFINITY;
        MethodRecord {
            phi,
            log_z,
            relaxation_gap: (!impossible).then_some(0.0),
            certified: impossible || phi.upper.is_some() && phi.lower.is_some(),
            seconds,
            marginals: (!impossible).then(|| self.marginals(&exact.means)),
            pairwise: self.pairwise((!impossible).then_some(&exact.pairwise)),
            reason: impossible.then(|| IMPOSSIBLE.to_owned()),
            ..self.empty(Method::Exact, Status::Converged, "")
        }
    }

    fn log_z(&self, phi: Sides) -> Sides {
        let d = self.model.d();
        Sides {
            lower: phi.lower.and_then(|v| finite(log_z_down(v, self.eps, d))),
            upper: phi.upper.and_then(|v| finite(log_z_up(v, self.eps, d))),
            estimate: phi.estimate.and_then(|v| finite(v + self.eps * d as f64 * std::f64::consts::LN_2)),
        }
    }

    fn names(&self, set: &VarSet) -> Vec<usize> {
        set.iter().map(|i| self.free[i]).collect()
    }

    fn marginals(&self, means: &[f64]) -> Vec<f64> {
        let probability: Vec<f64> = means.iter().map(|m| (0.5 * (1.0 + m)).clamp(0.0, 1.0)).collect();
        self.model.expand(&probability, |spin| if spin > 0 { 1.0 } else { 0.0 })
    }

    fn pairwise(&self, moments: Option<&[(u32, u32, f64)]>) -> Option<Vec<(usize, usize, f64)>> {
        let moments = moments.filter(|_| self.want_pairwise)?;
        Some(moments.iter().map(|&(i, j, v)| (self.free[i as usize], self.free[j as usize], v)).collect())
    }
}

/// The reason given when no state has positive weight.
pub(crate) const IMPOSSIBLE: &str =
    "log Z is -infinity: no state has positive weight (the evidence contradicts the model)";

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// `std::f64::consts::LN_2` is the double just below log 2 (by 2.3e-17), its successor just above.
const LN_2_DOWN: f64 = std::f64::consts::LN_2;

/// Upper bound on `eps log Z` from one on phi: `phi + eps d log 2`, rounded up.
///
/// ```
/// use zbound::record::log_z_up;
/// assert!(log_z_up(0.0, 1.0, 10) >= 1024f64.ln());
/// ```
pub fn log_z_up(phi_up: f64, eps: f64, d: usize) -> f64 {
    match d {
        0 => phi_up,
        _ => (phi_up + ((eps * d as f64).next_up() * LN_2_DOWN.next_up()).next_up()).next_up(),
    }
}

/// Lower bound on `eps log Z` from one on phi: `phi + eps d log 2`, rounded down.
pub fn log_z_down(phi_down: f64, eps: f64, d: usize) -> f64 {
    match d {
        0 => phi_down,
        _ => (phi_down + ((eps * d as f64).next_down() * LN_2_DOWN).next_down()).next_down(),
    }
}
