//! The one result record: what `zbound bound --json` prints, sweeps store and Python reads.
//!
//! Every number called `lower` or `upper` here comes from a verified certificate or from an exact
//! enclosure. Floats are written with the shortest digits that read back bit for bit; infinities
//! and NaN become null and `reason` says why.

use crate::certify;
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
            state_marginals: None,
            pairwise: None,
            entropy: None,
            max_f: None,
            argmax: None,
            standard_error: None,
            effective_samples: None,
            reason: Some(reason.into()),
        }
    }

    /// The record of a relaxation's solution.
    pub(crate) fn solution(&self, solution: &Solution) -> MethodRecord {
        let (lower, upper) = (solution.lower, solution.upper);
        let phi = Sides {
            lower: lower.and_then(|b| finite(b.phi())),
            upper: upper.and_then(|b| finite(b.phi())),
            estimate: finite(solution.estimate),
        };
        let log_z = Sides {
            lower: lower.and_then(|b| finite(b.log_z())),
            upper: upper.and_then(|b| finite(b.log_z())),
            estimate: finite(solution.estimate + self.eps * self.log_states()),
        };
        let certified = phi.lower.is_some() || phi.upper.is_some();
        let reason = solution.reason.clone().or_else(|| {
            (!certified).then(|| "no side of the result could be proved in floating point".to_owned())
        });
        MethodRecord {
            phi,
            log_z,
            relaxation_gap: solution.relaxation_gap.and_then(finite),
            // Ctrl-C is reported as such whatever it left behind.
            status: match certified || solution.stop == StopReason::Cancelled {
                true => solution.stop.into(),
                false if solution.sampling.is_some() => Status::Estimate,
                false => Status::Uncertified,
            },
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
            state_marginals: solution.state_marginals.as_ref().map(|free| self.model.state_laws(free)),
            pairwise: self.pairwise(solution.pairwise.as_deref()),
            standard_error: solution.sampling.and_then(|s| finite(s.standard_error)),
            effective_samples: solution.sampling.and_then(|s| finite(s.effective_samples)),
            reason,
            ..self.empty(solution.method, Status::Converged, "")
        }
    }

    /// The record of proved sides of phi that no method gave.
    pub(crate) fn bracket(
        &self,
        method: Method,
        status: Status,
        lower: Option<f64>,
        upper: f64,
    ) -> MethodRecord {
        let count = |&i: &usize| certify::Interval::point(f64::from(self.model.cardinality(i))).log();
        let states = self.free.iter().fold(certify::Interval::ZERO, |sum, i| sum + count(i));
        let log_z = |phi: f64| certify::Interval::point(phi) + certify::Interval::point(self.eps) * states;
        let (lower, upper) = (lower.and_then(finite), finite(upper));
        MethodRecord {
            phi: Sides { lower, upper, estimate: None },
            log_z: Sides {
                lower: lower.and_then(|v| finite(log_z(v).lo)),
                upper: upper.and_then(|v| finite(log_z(v).hi)),
                estimate: None,
            },
            certified: lower.is_some() || upper.is_some(),
            ..self.empty(method, status, crate::solution::FALLBACK)
        }
    }

    /// The record of exact inference.
    pub(crate) fn exact(&self, exact: &Exact) -> MethodRecord {
        let (phi, log_z) = (exact.phi_bounds, exact.log_z_bounds);
        let phi = Sides { lower: finite(phi.0), upper: finite(phi.1), estimate: finite(exact.phi) };
        let log_z = Sides { lower: finite(log_z.0), upper: finite(log_z.1), estimate: finite(exact.log_z) };
        let impossible = exact.log_z == f64::NEG_INFINITY;
        MethodRecord {
            phi,
            log_z,
            relaxation_gap: (!impossible).then_some(0.0),
            certified: impossible || phi.upper.is_some() && phi.lower.is_some(),
            seconds: exact.seconds,
            marginals: (exact.has_marginals() && !exact.means.is_empty())
                .then(|| self.marginals(&exact.means)),
            state_marginals: (exact.has_marginals() && exact.means.is_empty())
                .then(|| self.model.state_laws(&exact.state_marginals)),
            pairwise: self.pairwise(exact.has_marginals().then_some(&exact.pairwise)),
            entropy: finite(exact.entropy).filter(|_| !impossible),
            max_f: finite(exact.max_f).filter(|_| !impossible),
            argmax: (!exact.best.is_empty() && !impossible).then(|| self.state(&exact.best)),
            reason: impossible.then(|| IMPOSSIBLE.to_owned()),
            ..self.empty(Method::Exact, Status::Converged, "")
        }
    }

    /// A joint state of the free variables in the words of the file.
    fn state(&self, free: &[u32]) -> Vec<i64> {
        let states = self.model.expand(free, |state| state);
        let is_binary = self.model.is_binary();
        states.into_iter().map(|s| if is_binary { 2 * i64::from(s) - 1 } else { i64::from(s) }).collect()
    }

    /// Logarithm of the number of joint states.
    fn log_states(&self) -> f64 {
        self.free.iter().map(|&i| f64::from(self.model.cardinality(i)).ln()).sum()
    }

    fn names(&self, set: &VarSet) -> Vec<usize> {
        set.iter().map(|i| self.free[i]).collect()
    }

    fn marginals(&self, means: &[f64]) -> Vec<f64> {
        let probability: Vec<f64> = means.iter().map(|m| (0.5 * (1.0 + m)).clamp(0.0, 1.0)).collect();
        self.model.expand(&probability, f64::from)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Certificate, Component, Form, Slack, Witness};
    use crate::features::Features;
    use crate::model::Ising;
    use crate::solution::GreedyStep;

    /// Four spins in a chain, the second one fixed: free spins 0, 1, 2 are 0, 2, 3 of the file.
    fn model() -> Model {
        let chain = Ising::new(4, &[0.0; 4], &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap();
        Model::from(chain).with_evidence(&[(1, -1)]).unwrap()
    }

    fn solution() -> Solution {
        let f = model().polynomial().unwrap();
        let certificate = Certificate {
            eps: 1.0,
            slack: Slack::default(),
            components: vec![Component { weight: 1.0, form: Form::Constant { value: 3.0 } }],
            witness: Some(Witness::Product { means: vec![0.0; 3] }),
        };
        Solution {
            upper: certificate.verify(&f).ok(),
            lower: certificate.verify_lower(&f).ok(),
            features: Some(Features::degree(3, 1)),
            steps: Some(vec![GreedyStep { feature: VarSet::pair(1, 2), phi_upper: f64::NAN }]),
            means: Some(vec![-0.5, 0.0, 0.5]),
            pairwise: Some(vec![(0, 2, 0.25)]),
            ..Solution::new(Method::Quantum, StopReason::Converged)
        }
    }

    #[test]
    fn records_speak_the_files_variable_numbers() {
        let model = model();
        let record = Recorder::new(&model, 1.0, true).solution(&solution());
        assert_eq!(record.features.unwrap(), [vec![], vec![0], vec![2], vec![3]]);
        assert_eq!(record.steps.unwrap(), [StepRecord { feature: vec![2, 3], phi_upper: None }]);
        assert_eq!(record.marginals.unwrap(), [0.25, 0.0, 0.5, 0.75]);
        assert_eq!(record.pairwise.unwrap(), [(0, 3, 0.25)]);
        assert_eq!(Recorder::new(&model, 1.0, false).solution(&solution()).pairwise, None);
    }

    #[test]
    fn log_z_is_phi_plus_the_entropy_rounded_outward() {
        let model = model();
        let record = Recorder::new(&model, 1.0, false).solution(&solution());
        let entropy = 8f64.ln();
        let (lower, upper) = (record.phi.lower.unwrap(), record.phi.upper.unwrap());
        assert!(record.certified && lower <= 0.0 && upper >= 3.0);
        assert!(record.log_z.upper.unwrap() > upper + entropy.next_down());
        assert!(record.log_z.lower.unwrap() < lower + entropy.next_up());
        assert!(record.log_z.upper.unwrap() - upper - entropy < 1e-14);
        // The estimate was never computed: NaN must not reach a document.
        assert_eq!((record.phi.estimate, record.log_z.estimate), (None, None));
    }

    #[test]
    fn a_result_without_proof_says_so() {
        let model = model();
        let record = Recorder::new(&model, 1.0, false).solution(&Solution {
            upper: None,
            lower: None,
            estimate: 1.0,
            ..solution()
        });
        assert_eq!((record.status, record.certified), (Status::Uncertified, false));
        assert!(record.reason.is_some() && record.phi.estimate == Some(1.0));
    }
}
