//! Bounds of one part of the state space: the model with some states fixed.

use crate::certify::{Certificate, Component, Form, Slack, Witness};
use crate::error::{Error, Result};
use crate::exact::{self, Wanted};
use crate::features::{FeatureSpec, Features};
use crate::model::{Model, Polynomial, Source, VarSet};
use crate::observer::Silent;
use crate::problem::Problem;
use crate::relax::{
    Bethe, CombinedStart, LogDet, Quantum, Relaxation, TableBound, Trw, Wmb, combined_from, quick_mean_field,
};
use crate::run::cost;
use crate::settings::{Method, Settings};
use crate::solution::Solution;
use std::sync::Arc;

/// A part whose exact sum is expected to take at most this many seconds is summed instead of bounded.
const EXACT_SECS: f64 = 0.1;

/// Exact inference is not planned for a part when this much of a saving would still be needed.
const FAR: f64 = 2.0;

/// Passes of mini-buckets over a part: most of what they gain comes first.
const PASSES: usize = 6;

/// Tolerance of the bound of a part: splitting it gains more than the last digits.
const PART_TOL: f64 = 1e-3;

/// Spins below which there is nothing to combine: the quantum bound takes over.
const COMBINED_LEAST: usize = 4;

/// Bytes of a node with its bounds, and of a proof: those of parts of some tens of spins.
const NODE_BYTES: u64 = 400;
const PROOF_BYTES: u64 = 40_000;

/// What is proved of a part, on `eps log Z`.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// Proof of `upper`.
    pub(super) proof: Option<Certificate>,
    /// Proof of `lower`.
    pub(super) witness: Option<Witness>,
    /// Whether both sides are the exact sum up to rounding.
    pub(super) is_exact: bool,
    /// `E x_i` of the free variables by the bound, where they are spins: what to split next.
    pub(super) means: Option<Vec<f64>>,
    /// Where the bound's solver ended: its parts begin there.
    pub(super) start: Option<Arc<CombinedStart>>,
}

impl Known {
    pub(super) fn unknown() -> Self {
        Known {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            proof: None,
            witness: None,
            is_exact: false,
            means: None,
            start: None,
        }
    }

    /// No state of positive weight.
    fn impossible() -> Self {
        Known { upper: f64::NEG_INFINITY, is_exact: true, ..Known::unknown() }
    }

    /// About what it takes to keep it, with its node.
    pub(super) fn bytes(&self) -> u64 {
        let proofs = u64::from(self.proof.is_some()) + u64::from(self.witness.is_some());
        let own = self.start.as_ref().map_or(0, |start| start.bytes());
        NODE_BYTES + own + proofs * PROOF_BYTES + 8 * self.means.as_ref().map_or(0, Vec::len) as u64
    }

    /// Takes the better sides of a solution.
    pub(super) fn take(&mut self, solution: Solution, keep: bool) {
        if let Some(upper) = solution.upper.map(|b| b.log_z()).filter(|u| *u < self.upper) {
            self.upper = upper;
            self.means = solution.means.clone();
            let proof = |c: &Certificate| Certificate { witness: None, ..c.clone() };
            self.proof = solution.certificate.as_ref().filter(|_| keep).map(proof);
        }
        if let Some(lower) = solution.lower.map(|b| b.log_z()).filter(|l| *l > self.lower) {
            self.lower = lower;
            self.witness = solution.certificate.filter(|_| keep).and_then(|c| c.witness);
        }
    }
}

/// How parts are bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// An upper bound of a pairwise or polynomial model with mean field below.
    Relaxation(Method),
    /// Mini-buckets, both sides.
    MiniBuckets,
}

/// Bounds parts of a model.
pub(super) struct Bounder<'a> {
    pub(super) model: &'a Model,
    pub(super) eps: f64,
    pub(super) rule: Rule,
    /// Whether proofs are kept; then a side without one is not used.
    pub(super) keep: bool,
    /// Seconds that the exact sum of the whole would take.
    pub(super) exact_secs: f64,
    pub(super) settings: Settings,
    /// File numbers of the whole model's free variables.
    pub(super) free: Vec<usize>,
}

impl Bounder<'_> {
    /// The model with the states of a path fixed.
    pub(super) fn part(&self, path: &[(u32, u32)]) -> Result<Model> {
        let states: Vec<(usize, u32)> = path.iter().map(|&(v, s)| (self.free[v as usize], s)).collect();
        self.model.clone().with_states(&states)
    }

    /// What can be proved of the part below a path.
    ///
    /// `start` is where the solver of a larger part ended, with the same spins fixed.
    pub(super) fn bound(&self, path: &[(u32, u32)], start: Option<CombinedStart>) -> Result<Known> {
        let part = self.part(path)?;
        if let Source::Factors(_) = part.source()
            && part.factors()?.zero_floor(self.eps).is_err()
        {
            return self.impossible(&part, None);
        }
        let saved: f64 =
            path.iter().map(|&(v, _)| f64::from(self.model.cardinality(self.free[v as usize]))).product();
        if self.exact_secs <= FAR * saved * EXACT_SECS
            && let Some(known) = self.exact(&part)?
        {
            return Ok(known);
        }
        self.relaxed(&part, self.rule, start, None)
    }

    /// The bounds of a rule, within so many seconds.
    pub(super) fn relaxed(
        &self,
        part: &Model,
        rule: Rule,
        start: Option<CombinedStart>,
        seconds: Option<f64>,
    ) -> Result<Known> {
        let mut known = Known::unknown();
        let mut settings = self.settings.clone().with_time_limit(seconds);
        settings.trace = false;
        settings.tol = settings.tol.max(PART_TOL);
        match rule {
            Rule::MiniBuckets => {
                settings.max_iterations = settings.max_iterations.or(Some(PASSES));
                known.take(Wmb.solve_tables(&part.factors()?, self.eps, &settings, &mut Silent)?, self.keep);
            }
            Rule::Relaxation(method) => {
                let f = part.polynomial()?;
                known.take(quick_mean_field(&f, self.eps, &settings, &mut Silent), self.keep);
                if method == Method::Combined && f.d() >= COMBINED_LEAST {
                    let problem =
                        Problem::new(f, Features::degree(part.d(), 1))?.with_temperature(self.eps)?;
                    let (solution, end) = combined_from(&problem, start.as_ref(), &settings, &mut Silent)?;
                    known.take(solution, self.keep);
                    known.start = Some(Arc::new(end));
                    return Ok(known);
                }
                known.take(upper(method, &f, self.eps, &settings)?, self.keep);
                if method == Method::Trw && f.as_ising().is_some() {
                    match relax(&Bethe, false, &f, self.eps, &settings) {
                        Ok(solution) => known.take(solution, self.keep),
                        Err(Error::NotApplicable(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(known)
    }

    /// A part without a state of positive weight, and the proof of that: elimination along an order that comes out as zero,
    /// which propagation alone may show. Where proofs are kept and there is none, the bound of the parent stands.
    fn impossible(&self, part: &Model, order: Option<&[u32]>) -> Result<Known> {
        if !self.keep {
            return Ok(Known::impossible());
        }
        let tables = part.factors()?;
        let own: Vec<u32> = (0..tables.d() as u32).collect();
        let form = Form::Tables(exact::proof(&tables, order.unwrap_or(&own)));
        let components = vec![Component { weight: 1.0, form }];
        let proof = Certificate { eps: self.eps, slack: Slack::default(), components, witness: None };
        let is_proved = proof.shows_impossible(part);
        Ok(if is_proved { Known { proof: Some(proof), ..Known::impossible() } } else { Known::unknown() })
    }

    /// The exact sum, if that is cheap.
    fn exact(&self, part: &Model) -> Result<Option<Known>> {
        let cheap = |seconds: f64| seconds <= EXACT_SECS;
        let plan = cost::exact(part, Wanted::LOG_Z, &self.settings);
        if !plan.is_some_and(|e| cheap(e.seconds) && e.fits(&self.settings)) {
            return Ok(None);
        }
        let exact = exact::exact_with(part, self.eps, Wanted::LOG_Z, &self.settings, &mut Silent)?;
        let (lower, upper) = exact.log_z_bounds;
        if exact.log_z == f64::NEG_INFINITY {
            return self.impossible(part, exact.order.as_deref()).map(Some);
        }
        if !(lower.is_finite() && upper.is_finite()) {
            return Ok(None);
        }
        if !self.keep {
            return Ok(Some(Known { lower, upper, is_exact: true, ..Known::unknown() }));
        }
        let Some(solution) = crate::run::certified_exact(part, self.eps, &exact)? else { return Ok(None) };
        let mut known = Known::unknown();
        known.take(solution, true);
        known.is_exact = known.proof.is_some() && known.witness.is_some();
        Ok(known.is_exact.then_some(known))
    }
}

fn upper(method: Method, f: &Polynomial, eps: f64, settings: &Settings) -> Result<Solution> {
    match method {
        Method::LogDet => relax(&LogDet, true, f, eps, settings),
        Method::Trw => relax(&Trw, false, f, eps, settings),
        _ => relax(&Quantum::default(), true, f, eps, settings),
    }
}

/// `linear`: whether the method has a moment matrix of (1, x) and the model's terms.
fn relax(
    method: &dyn Relaxation,
    linear: bool,
    f: &Polynomial,
    eps: f64,
    settings: &Settings,
) -> Result<Solution> {
    let features =
        if linear { FeatureSpec::Default.resolve(f)? } else { Features::new(f.d(), vec![VarSet::EMPTY])? };
    method.solve_with(&Problem::new(f.clone(), features)?.with_temperature(eps)?, settings, &mut Silent)
}
