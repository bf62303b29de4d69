//! One loop over the methods.

use super::plan::{BoundRequest, MethodChoice, PATIENCE_SECS, dense_refusal, exact_refusal, methods};
use super::report::Report;
use crate::certify::{Certificate, Component, Form, Slack, Witness};
use crate::error::{Error, Result};
use crate::exact::{self, Exact, entry_bracket};
use crate::features::{FeatureSpec, Features};
use crate::model::{FactorModel, Model, Polynomial, VarSet};
use crate::observer::{Flow, Observer, Progress};
use crate::problem::Problem;
use crate::query::ais::Ais;
use crate::record::{IMPOSSIBLE, MethodRecord, ModelRecord, Recorder, Status};
use crate::relax::{
    Combined, LogDet, MeanField, Quantum, QuantumDiag, QuantumGreedy, Relaxation, TableBound, Trw,
};
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use std::cell::OnceCell;
use std::time::Instant;

/// Bounds the log-partition function of `model` as `request` asks.
///
/// A method that does not apply, stops early or fails to certify is a record, not an error.
///
/// # Errors
/// Bad settings, features that are malformed or cannot represent the model, a named method that
/// needs more memory than allowed, and certified sides that contradict each other.
///
/// ```
/// use zbound::run::{BoundRequest, bound};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.0; 2], &[(0, 1, 1.0)])?);
/// let report = bound(&model, &BoundRequest::default(), &mut Silent)?;
/// let exact = (2.0 * 1f64.exp() + 2.0 * (-1f64).exp()).ln();
/// assert!((report.record.best.log_z.upper.unwrap() - exact).abs() < 1e-9);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn bound(model: &Model, request: &BoundRequest, observer: &mut dyn Observer) -> Result<Report> {
    request.validate()?;
    let start = Instant::now();
    let ends = request.settings.ends();
    let job = Job::new(model, request)?;
    let summary = ModelRecord::new(request.path.clone(), model, job.exact_polynomial())?;
    let mut results = Vec::new();
    job.announce(&summary, &[], &[], observer)?;
    let methods = methods(model, request, job.polynomial());
    for (done, &method) in methods.iter().enumerate() {
        let cancelled = |(record, _): &Outcome| record.status == Status::Cancelled;
        if results.iter().any(cancelled)
            || observer.observe(&Progress::at(start.elapsed().as_secs_f64())) == Flow::Stop
        {
            results.push(job.from_coefficients(method, StopReason::Cancelled));
            continue;
        }
        if let Some(stop) = ends.stop() {
            results.push(job.from_coefficients(method, stop));
            continue;
        }
        observer.begin(method);
        let mut settings = request.settings.for_part(&ends, None);
        if !request.is_explicit() {
            settings.solver = Solver::Auto;
        }
        // Equal shares of what is left: a method that ends early leaves its time to the next.
        let runs = |method: &Method| {
            *method == Method::Exact || relaxation(*method).is_some() || table_bound(*method).is_some()
        };
        let waiting = methods[done..].iter().filter(|m| runs(m)).count().max(1);
        settings.time_limit_secs = ends.is_limited().then(|| ends.seconds_left() / waiting as f64);
        // Exact inference has no use for a limit below its cost, and was not started if that is high.
        let patience = request.methods == MethodChoice::All && !ends.is_limited() && method != Method::Exact;
        if patience {
            settings.time_limit_secs = Some(PATIENCE_SECS);
        }
        let mut outcome = job.run(method, &settings, observer)?;
        if patience && outcome.0.status == Status::TimeLimit && outcome.0.reason.is_none() {
            let name = method.name();
            outcome.0.reason =
                Some(format!("stopped after {PATIENCE_SECS} s; ask for --method {name} to let it finish"));
        }
        results.push(outcome);
        job.announce(&summary, &results, &methods[done + 1..], observer)?;
    }
    Report::new(summary, request, results)
}

/// The dispatch table. A method that is missing here is reported as not available.
pub(crate) fn relaxation(method: Method) -> Option<Box<dyn Relaxation>> {
    match method {
        Method::Quantum => Some(Box::new(Quantum::default())),
        Method::QuantumGreedy => Some(Box::new(QuantumGreedy)),
        Method::QuantumDiag => Some(Box::new(QuantumDiag)),
        Method::LogDet => Some(Box::new(LogDet)),
        Method::Trw => Some(Box::new(Trw)),
        Method::MeanField => Some(Box::new(MeanField)),
        Method::Combined => Some(Box::new(Combined)),
        _ => None,
    }
}

/// Methods that work on the model's tables, hard zeros and any number of states included.
pub(crate) fn table_bound(method: Method) -> Option<Box<dyn TableBound>> {
    match method {
        Method::Ais => Some(Box::new(Ais)),
        _ => None,
    }
}

/// What the methods work on.
struct Job<'a> {
    model: &'a Model,
    request: &'a BoundRequest,
    recorder: Recorder<'a>,
    /// g >= f over the free spins, `None` when no state has positive weight or some variable is no spin.
    majorant: Option<Polynomial>,
    /// The tables, when there is no such g.
    tables: Option<FactorModel>,
    /// Whether the tables alone show that no state has positive weight.
    impossible: bool,
    /// Where g differs from f: the value of raised zeros.
    floor: Option<f64>,
    /// What the coefficients alone prove, once it is asked for.
    coefficients: OnceCell<Solution>,
}

/// A record and, for relaxations, the solution behind it.
type Outcome = (MethodRecord, Option<Solution>);

impl<'a> Job<'a> {
    fn new(model: &'a Model, request: &'a BoundRequest) -> Result<Self> {
        let recorder = Recorder::new(model, request.eps, request.want_pairwise);
        let (majorant, floor) = match model.majorant(request.eps) {
            Ok((f, floor)) => (Some(f), floor),
            Err(Error::NotApplicable(_)) => (None, None),
            Err(error) => return Err(error),
        };
        let tables = if majorant.is_none() { Some(model.factors()?) } else { None };
        let impossible = tables.as_ref().is_some_and(|t| t.zero_floor(request.eps).is_err());
        let coefficients = OnceCell::new();
        Ok(Job { model, request, recorder, majorant, tables, impossible, floor, coefficients })
    }

    fn polynomial(&self) -> Option<&Polynomial> {
        self.majorant.as_ref()
    }

    fn exact_polynomial(&self) -> Option<&Polynomial> {
        self.majorant.as_ref().filter(|_| self.floor.is_none())
    }

    fn run(&self, method: Method, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome> {
        if self.impossible {
            return Ok(self.impossible(method));
        }
        let attempt = match (method, table_bound(method), &self.majorant) {
            (Method::Exact, ..) => self.exact(settings, observer),
            (_, Some(bound), _) => self.over_tables(bound.as_ref(), settings, observer),
            (_, None, Some(f)) => self.relax(method, f, settings, observer),
            (_, None, None) => self
                .model
                .polynomial()
                .and(Err(Error::NotApplicable("the method needs variables of two states".into()))),
        };
        let refused = |why: String| Ok((self.recorder.empty(method, Status::NotApplicable, why), None));
        match attempt {
            Err(Error::NotApplicable(why)) => refused(why),
            Err(Error::Interrupted(stop)) => Ok(self.from_coefficients(method, stop)),
            // Only a method the user named may end the whole job.
            Err(error @ Error::Memory { .. }) if !self.request.is_explicit() => refused(error.to_string()),
            Err(error @ Error::Features(_))
                if !self.request.is_explicit() && self.request.features == FeatureSpec::Default =>
            {
                refused(error.to_string())
            }
            other => other,
        }
    }

    /// What the coefficients alone prove, for a method that was stopped before it had anything of its own.
    fn from_coefficients(&self, method: Method, stop: StopReason) -> Outcome {
        if self.impossible {
            return self.impossible(method);
        }
        let Some(f) = &self.majorant else {
            let (lower, upper) = self.tables.as_ref().map_or((None, f64::INFINITY), entry_bracket);
            return (self.recorder.bracket(method, stop.into(), lower, upper), None);
        };
        let proved = || Solution::from_coefficients(f, self.request.eps, self.floor.is_none());
        let solution = Solution { method, stop, ..self.coefficients.get_or_init(proved).clone() };
        (self.recorder.solution(&solution), Some(solution))
    }

    /// No state has positive weight.
    fn impossible(&self, method: Method) -> Outcome {
        let mut record = self.recorder.empty(method, Status::Converged, IMPOSSIBLE);
        record.certified = true;
        (record, None)
    }

    /// Tells the observer what the report would be if the run had to end now: `waiting` methods (the first of those
    /// that are chosen, when none is yet) would give what the coefficients prove.
    fn announce(
        &self,
        summary: &ModelRecord,
        results: &[Outcome],
        waiting: &[Method],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if !observer.wants_reports() {
            return Ok(());
        }
        let first = match &self.request.methods {
            MethodChoice::List(methods) => methods.clone(),
            _ => vec![Method::MeanField],
        };
        let waiting = if results.is_empty() && waiting.is_empty() { &first[..] } else { waiting };
        let done = results.iter().map(|(record, _)| (record.clone(), None));
        let rest =
            waiting.iter().map(|&method| (self.from_coefficients(method, StopReason::TimeLimit).0, None));
        let report = Report::new(summary.clone(), self.request, done.chain(rest).collect())?;
        observer.report(&report.record);
        Ok(())
    }

    fn exact(&self, settings: &Settings, observer: &mut dyn Observer) -> Result<Outcome> {
        if !self.request.is_explicit()
            && let Some(why) = exact_refusal(self.model, settings)
        {
            return Err(Error::NotApplicable(why));
        }
        let exact = exact::exact(self.model, self.request.eps, settings, observer)?;
        let proof = self.exact_polynomial().filter(|_| self.request.want_certificate);
        let solution = proof.and_then(|f| certified(f, self.request.eps, &exact));
        Ok((self.recorder.exact(&exact), solution))
    }

    fn over_tables(
        &self,
        bound: &dyn TableBound,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let tables = self.model.factors()?;
        let solution = bound.solve_tables(&tables, self.request.eps, settings, observer)?;
        Ok((self.recorder.solution(&solution), Some(solution)))
    }

    fn relax(
        &self,
        method: Method,
        f: &Polynomial,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let Some(relaxation) = relaxation(method) else {
            return Err(Error::NotApplicable("not available in this version".into()));
        };
        if self.floor.is_some() && method == Method::MeanField {
            let why =
                "the model has zero table entries (hard constraints): its lower bounds need exact methods";
            return Err(Error::NotApplicable(why.into()));
        }
        let features = self.features(method, f)?;
        if self.request.methods == MethodChoice::All
            && let Some(why) = dense_refusal(method, f.d(), features.len(), settings)
        {
            return Err(Error::NotApplicable(why));
        }
        let problem = Problem::new(f.clone(), features)?.with_temperature(self.request.eps)?;
        let mut solution = relaxation.solve_with(&problem, settings, observer)?;
        if self.floor.is_some() {
            // A bound from below on g >= f says nothing about f.
            solution.lower = None;
            solution.certificate.iter_mut().for_each(|c| c.witness = None);
            let note =
                "zero table entries were raised to a small positive floor, which keeps the upper bound valid";
            solution.reason = Some(match solution.reason.take() {
                Some(reason) => format!("{reason}; {note}"),
                None => note.into(),
            });
        }
        Ok((self.recorder.solution(&solution), Some(solution)))
    }

    fn features(&self, method: Method, f: &Polynomial) -> Result<Features> {
        match (method, &self.request.features) {
            // These have no moment matrix: n x n storage must not stand in the way of large models.
            (Method::Trw | Method::MeanField, _) => Features::new(f.d(), vec![VarSet::EMPTY]),
            (Method::LogDet, _) => FeatureSpec::Default.resolve(f),
            (_, FeatureSpec::Explicit(sets)) => {
                FeatureSpec::Explicit(free_sets(self.model, sets)?).resolve(f)
            }
            (_, spec) => spec.resolve(f),
        }
    }
}

/// The exact answer with a certificate: the model itself, summed along an order. `None` when the order
/// is too wide to be checked.
fn certified(f: &Polynomial, eps: f64, exact: &Exact) -> Option<Solution> {
    let order = exact.order.clone().unwrap_or_else(|| (0..f.d() as u32).collect());
    let certificate = Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component {
            weight: 1.0,
            form: Form::Elimination { polynomial: f.clone(), order: order.clone() },
        }],
        witness: Some(Witness::Elimination { order }),
    };
    let (upper, lower) = (certificate.verify(f).ok()?, certificate.verify_lower(f).ok()?);
    Some(Solution {
        upper: Some(upper),
        lower: Some(lower),
        estimate: exact.phi,
        seconds: exact.seconds,
        means: Some(exact.means.clone()),
        certificate: Some(certificate),
        ..Solution::new(Method::Exact, exact.stop)
    })
}

/// Sets in file numbers as sets of free spins: a fixed spin is a constant and drops out of its
/// monomial, and monomials that become equal are one.
pub(crate) fn free_sets(model: &Model, sets: &[VarSet]) -> Result<Vec<VarSet>> {
    let variables = model.variables();
    let mut new_name = vec![None; variables];
    model.free_variables().into_iter().enumerate().for_each(|(k, i)| new_name[i] = Some(k));
    let mut seen = std::collections::HashSet::new();
    let mut out = Vec::new();
    for set in sets {
        if set.largest() >= Some(variables) {
            return Err(Error::Features(format!(
                "feature {set} is out of range: the model has {variables} variables"
            )));
        }
        let free: VarSet = set.iter().filter_map(|i| new_name[i]).collect();
        let is_new = seen.insert(free.clone());
        // Without evidence a repeat is the user's mistake and stays for `Features` to name.
        if is_new || model.d() == variables {
            out.push(free);
        }
    }
    Ok(out)
}
