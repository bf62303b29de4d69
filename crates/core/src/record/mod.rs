//! The one result record: what `zbound bound --json` prints, sweeps store and Python reads.
//!
//! Every number called `lower` or `upper` here comes from a verified certificate or from an exact
//! enclosure. Floats are written with the shortest digits that read back bit for bit; infinities
//! and NaN become null and `reason` says why.

mod recorder;

pub(crate) use recorder::{IMPOSSIBLE, Recorder};

use crate::error::Result;
use crate::model::{Model, Polynomial};
use crate::settings::{Method, Solver};
use crate::solution::StopReason;
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
    /// What more time or memory would buy, said by `auto` when the bracket is not closed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

impl BoundRecord {
    /// Gives the marginals of spins in the form that variables of any number of states have.
    pub fn add_states(&mut self) {
        for result in &mut self.results {
            let states = |marginals: &Vec<f64>| marginals.iter().map(|p| vec![1.0 - p, *p]).collect();
            if result.state_marginals.is_none() {
                result.state_marginals = result.marginals.as_ref().map(states);
            }
        }
    }

    /// Says of the methods that were not reached that the user stopped the run, not the time limit.
    pub fn mark_cancelled(&mut self) {
        let unreached = |r: &&mut MethodRecord| r.reason.as_deref() == Some(crate::solution::FALLBACK);
        self.results.iter_mut().filter(unreached).for_each(|r| r.status = Status::Cancelled);
    }
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
pub struct Bracket {
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
    /// The method was not started; `reason` says why.
    Skipped,
    /// The method gives an estimate and proves nothing.
    Estimate,
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
            Status::Skipped => "skipped",
            Status::Estimate => "estimate",
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
    /// `P(x_i = +1)` per variable of the file; null when some variable has other than two states.
    pub marginals: Option<Vec<f64>>,
    /// `P(x_i = s)`, a list of states per variable of the file.
    #[serde(default)]
    pub state_marginals: Option<Vec<Vec<f64>>>,
    /// `(i, j, E x_i x_j)` over free spins, on request.
    pub pairwise: Option<Vec<(usize, usize, f64)>>,
    /// `-sum p log p` in nats, from exact inference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub entropy: Option<f64>,
    /// The largest value of f, from exact inference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_f: Option<f64>,
    /// A state that has it, per variable of the file: -1 or +1 where all variables are spins, else states.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub argmax: Option<Vec<i64>>,
    /// Standard error of `estimate`, for methods that sample.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standard_error: Option<f64>,
    /// Effective number of samples behind `estimate`, for methods that sample.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effective_samples: Option<f64>,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// The best certified sides and the methods behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BestRecord {
    /// On eps log Z.
    pub log_z: Bracket,
    /// On phi.
    pub phi: Bracket,
    /// The method with the smallest upper bound.
    pub upper_method: Option<Method>,
    /// The method with the largest lower bound.
    pub lower_method: Option<Method>,
    /// The best number for eps log Z that is not a bound: that of exact inference or of sampling, moved into the
    /// bracket when it lies outside.
    #[serde(default)]
    pub estimate: Option<f64>,
    /// The method behind `estimate`.
    #[serde(default)]
    pub estimate_method: Option<Method>,
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
