//! Weighted mini-buckets: both sides of log Z for any tables (docs/theory.md).
//!
//! Variables are summed out in an order; a bucket whose joint table would be too large is split into mini-buckets
//! with weights, by Hoelder's inequality from above and by its reverse from below. [`structure`] decides the split,
//! [`pass`] computes messages and the laws that come back, [`matching`] moves shifts between mini-buckets, [`side`]
//! moves weights, [`solve`] makes the tables larger as long as memory and time allow.

mod boxes;
mod budget;
mod clauses;
mod decode;
mod ending;
mod feasible;
mod gains;
mod greedy;
mod lower;
mod matching;
mod orders;
mod partition;
mod pass;
mod polish;
mod proof;
mod reduced;
mod rounds;
mod scopes;
mod side;
mod solve;
mod structure;
mod track;

use self::solve::{Found, Run, Wishes};
use self::track::Best;
use super::TableBound;
use crate::aside::Aside;
use crate::certify::{
    Certificate, CertifiedBound, Component, Form, Removal, Slack, WeightedElimination, Witness,
};
use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::{Monitor, Observer};
use crate::record::IMPOSSIBLE;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};

/// Upper and lower bounds by weighted mini-buckets, for any arity, any number of states and hard zeros.
///
/// Small tables first, then as large as [`Settings::memory_limit`] and the time limit allow (or exactly as wide as
/// [`Settings::ibound`] says); every pass is a bound, and the best is kept and verified.
///
/// **Cost** per pass proportional to the entries of all tables; memory about 24 bytes per entry of all messages.
///
/// ```
/// use zbound::relax::{TableBound, Wmb};
/// use zbound::{FactorModel, Settings, Silent};
/// let mut model = FactorModel::with_cardinalities(&[3, 2])?;
/// model.push(&[0, 1], &[0.0, 1.0, f64::NEG_INFINITY, 0.5, 0.0, 2.0])?;
/// let solution = Wmb.solve_tables(&model, 1.0, &Settings::default(), &mut Silent)?;
/// let exact = (1.0 + 1f64.exp() + 0.5f64.exp() + 1.0 + 2f64.exp()).ln();
/// assert!((solution.upper.unwrap().log_z() - exact).abs() < 1e-9);
/// assert!((solution.lower.unwrap().log_z() - exact).abs() < 1e-9);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Wmb;

impl TableBound for Wmb {
    fn solve_tables(
        &self,
        tables: &FactorModel,
        eps: f64,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let wishes = Wishes::new(eps, settings);
        let mut proofs =
            Proofs { tables, eps, threads: settings.threads, upper: None, lower: None, failure: None };
        let found = Run::new(tables, wishes, &mut monitor).run(&mut |news, removals| {
            proofs.offer(news, removals);
            [proofs.upper.as_ref().map(|(bound, _)| *bound), proofs.lower.as_ref().map(|(bound, _)| *bound)]
        });
        proofs.offer_state(&found);
        Ok(proofs.solution(found, monitor))
    }
}

impl Wishes {
    fn new(eps: f64, settings: &Settings) -> Self {
        Wishes {
            eps,
            seed: settings.seed,
            tol: settings.tol,
            memory: settings.memory_limit as f64,
            threads: settings.threads,
            ibound: settings.ibound,
            is_counted: settings.max_iterations.is_some() && !settings.ends().is_limited(),
            upper_alone: false,
        }
    }
}

/// The upper side alone, as a component for other bounds: `offer` is given eliminations to verify, each better than the
/// ones before, says what is proved by then, and the time it takes is planned for.
pub(crate) fn upper_alone(
    tables: &FactorModel,
    eps: f64,
    settings: &Settings,
    observer: &mut dyn Observer,
    offer: &mut dyn FnMut(WeightedElimination) -> Option<CertifiedBound>,
) -> StopReason {
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let wishes = Wishes { upper_alone: true, ..Wishes::new(eps, settings) };
    let found = Run::new(tables, wishes, &mut monitor).run(&mut |[above, _], removals| {
        let Some(best) = above else { return [None; 2] };
        [offer(elimination(best, removals)), None]
    });
    found.stop.unwrap_or(StopReason::Converged)
}

/// What proves the best of a side.
fn elimination(best: &Best, removals: &[Removal]) -> WeightedElimination {
    proof::elimination(removals, &best.layout.model, &best.layout.structure, &best.parameters)
}

/// The best verified proofs so far.
struct Proofs<'a> {
    tables: &'a FactorModel,
    eps: f64,
    threads: usize,
    upper: Option<(CertifiedBound, Component)>,
    lower: Option<(CertifiedBound, Witness)>,
    failure: Option<String>,
}

impl Proofs<'_> {
    /// Verifies what is new, both sides at once if there are threads for it, and keeps what is better than what is proved.
    fn offer(&mut self, [above, below]: [Option<&Best>; 2], removals: &[Removal]) {
        let tables = self.tables;
        let upper = above.map(|best| {
            let component = Component { weight: 1.0, form: Form::Tables(elimination(best, removals)) };
            self.certificate(vec![component], None)
        });
        let lower = below.map(|best| {
            // A box says itself which states are summed over.
            let allowed = best.layout.allowed.clone();
            let removals = if allowed.is_some() { &[] } else { removals };
            let witness = Witness::Tables { elimination: elimination(best, removals), allowed };
            self.certificate(Vec::new(), Some(witness))
        });
        let prove_upper = || upper.as_ref().map(|certificate| certificate.verify_tables(tables));
        let prove_lower = || lower.as_ref().map(|certificate| certificate.verify_lower_tables(tables));
        let (above, below) = if self.threads > 1 && upper.is_some() && lower.is_some() {
            std::thread::scope(|scope| {
                let beside = Aside::begin(scope, prove_lower);
                (prove_upper(), beside.end(|| ()))
            })
        } else {
            (prove_upper(), prove_lower())
        };
        if let (Some(answer), Some(certificate)) = (above, upper) {
            self.keep_upper(answer, certificate);
        }
        if let (Some(answer), Some(certificate)) = (below, lower) {
            self.keep_lower(answer, certificate);
        }
    }

    fn keep_upper(&mut self, answer: Result<CertifiedBound>, mut certificate: Certificate) {
        match answer {
            Ok(bound) if self.upper.as_ref().is_none_or(|(old, _)| bound.phi() < old.phi()) => {
                self.upper = certificate.components.pop().map(|component| (bound, component));
            }
            Ok(_) => {}
            Err(error) => self.failure = Some(error.to_string()),
        }
    }

    fn keep_lower(&mut self, answer: Result<CertifiedBound>, certificate: Certificate) {
        match answer {
            Ok(bound) if self.lower.as_ref().is_none_or(|(old, _)| bound.phi() > old.phi()) => {
                self.lower = certificate.witness.map(|witness| (bound, witness));
            }
            Ok(_) => {}
            Err(error) => self.failure = Some(error.to_string()),
        }
    }

    fn offer_witness(&mut self, witness: Witness) {
        let certificate = self.certificate(Vec::new(), Some(witness));
        self.keep_lower(certificate.verify_lower_tables(self.tables), certificate);
    }

    /// One state proves something too, and at low temperatures nearly everything.
    fn offer_state(&mut self, found: &Found) {
        if let Some(states) = found.state.clone().or_else(|| likely_state(self.tables, found)) {
            self.offer_witness(Witness::States { states });
        }
    }

    fn certificate(&self, components: Vec<Component>, witness: Option<Witness>) -> Certificate {
        Certificate { eps: self.eps, slack: Slack::default(), components, witness }
    }

    fn solution(self, found: Found, monitor: Monitor<'_>) -> Solution {
        let mut solution = Solution::new(Method::Wmb, found.stop.unwrap_or(StopReason::Converged));
        let reason = match (&self.upper, &self.lower) {
            _ if found.is_impossible => Some(IMPOSSIBLE.to_owned()),
            (Some(_), None) if found.is_stateless => Some("no state of positive weight was found".into()),
            (Some(_), Some(_)) => found.narrowed.map(|width| {
                format!("the memory limit allows mini-buckets of {width} variables and no wider")
            }),
            // A sum that comes out as zero has no logarithm to certify.
            (None, None) if found.stop == Some(StopReason::TimeLimit) => {
                self.failure.clone().or(Some("the time ended before the first pass did".into()))
            }
            (None, None) => self.failure.clone().or(Some("no state of positive weight was found".into())),
            _ => self.failure.clone(),
        };
        solution.reason = reason;
        solution.upper = self.upper.as_ref().map(|(bound, _)| *bound);
        solution.lower = self.lower.as_ref().map(|(bound, _)| *bound);
        if let (Some(upper), Some(lower)) = (solution.upper, solution.lower) {
            solution.estimate = 0.5 * (upper.phi() + lower.phi());
            solution.relaxation_gap = Some(upper.phi() - lower.phi());
        }
        if self.tables.is_binary() {
            solution.means =
                found.marginals.as_ref().map(|laws| laws.iter().map(|law| law[1] - law[0]).collect());
        }
        solution.state_marginals = found.marginals;
        if self.upper.is_some() || self.lower.is_some() {
            let components = self.upper.map(|(_, component)| component).into_iter().collect();
            let witness = self.lower.map(|(_, witness)| witness);
            solution.certificate =
                Some(Certificate { eps: self.eps, slack: Slack::default(), components, witness });
        }
        solution.iterations = monitor.iterations;
        solution.seconds = monitor.seconds();
        solution.trace = monitor.trace;
        solution
    }
}

/// The likeliest state of every variable, improved one variable at a time.
fn likely_state(tables: &FactorModel, found: &Found) -> Option<Vec<u32>> {
    let laws = found.marginals.as_ref()?;
    let top = |law: &Vec<f64>| (0..law.len()).fold(0, |b, s| if law[s] > law[b] { s } else { b }) as u32;
    let mut state: Vec<u32> = laws.iter().map(top).collect();
    feasible::climb(tables, &mut state, || false);
    tables.value_of(&state).is_finite().then_some(state)
}
