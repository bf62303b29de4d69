//! From results over free spins to records in the file's variable numbers.

use super::{MethodRecord, Sides, Status, StepRecord};
use crate::certify;
use crate::exact::Exact;
use crate::model::{Model, VarSet};
use crate::settings::Method;
use crate::solution::{Solution, StopReason};

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
            status: if certified || solution.stop == StopReason::Cancelled {
                solution.stop.into()
            } else if solution.sampling.is_some() {
                Status::Estimate
            } else {
                Status::Uncertified
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
