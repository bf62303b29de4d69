//! From a bound to the maximum: elimination where it fits, branch and bound, mini-buckets for tables.

use super::branch::{self, Branching};
use super::lattice::Lattice;
use super::record::{Answer, Proof, entry_bound, record, value_of};
use super::report::{MapReport, MapRequest, answer};
use super::{Cuts, Map};
use crate::certify::{Certificate, Component, Form, Slack, Witness};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::exact::{self, PreparedPeak};
use crate::features::FeatureSpec;
use crate::model::{FactorModel, Model, Polynomial, Source};
use crate::observer::{Monitor, Observer};
use crate::problem::EPS_RANGE;
use crate::record::Status;
use crate::run::{BoundRequest, MethodChoice, Outcome, bound};
use crate::search::{Effort, best_spins, best_states};
use crate::settings::{Method, Settings};
use crate::solution::StopReason;

/// Seconds that are taken when no limit is given.
const DEFAULT_SECS: f64 = 60.0;
/// Share of the time that the search for an elimination order may take.
const PLANNING_SHARE: f64 = 0.08;
/// Elimination is begun when it is expected to fit this many times into the time left.
const CAUTION: f64 = 1.5;
/// Share of the time left for a first search of good assignments, and its bound in seconds.
const SEARCH: (f64, f64) = (0.15, 10.0);
/// Share of the time left for the search on a very large model; writing the answer takes long.
const SEARCHED_SHARE: f64 = 0.7;
/// Visits of single spins before branching: half a second; branching itself finds better assignments.
const SEARCH_VISITS: u64 = 30_000_000;
/// Spins and terms per spin above which a model is dense.
const DENSE: (usize, usize) = (64, 40);
/// Spins up to which a relaxation or an elimination is tried: beyond, plans and tables alone take longer than a search.
const MOST_RELAXED: usize = 200_000;
/// Share of the time that is kept for the verification of a tree whose certificate is wanted.
const PROOF_SHARE: f64 = 0.25;
/// Temperatures of mini-buckets, in units of the mean spread of a table.
const TEMPERATURES: [f64; 3] = [0.1, 0.01, 0.001];

/// Bounds and finds the maximum of `model` by whatever closes the gap.
///
/// # Errors
/// As [`super::map`].
pub(super) fn map(model: &Model, request: &MapRequest, observer: &mut dyn Observer) -> Result<MapReport> {
    request.settings.validate()?;
    let is_timed = request.settings.ends().is_limited();
    let ends = request.settings.ends().within((!is_timed).then_some(DEFAULT_SECS));
    let settings = request.settings.for_part(&ends, None);
    let mut work = Work { model, request, settings, ends, observer, seconds: std::time::Instant::now() };
    let (mut found, certificate) = match dense(model)? {
        Some(f) if f.d() > MOST_RELAXED => (work.searched(&f), None),
        Some(f) => work.polynomial(&f, None)?,
        None => {
            let tables = model.factors()?;
            if tables.zero_floor(1.0).is_err() {
                return Err(Error::NotApplicable("no state has positive weight".into()));
            }
            match work.eliminated(&tables)? {
                Some(found) => found,
                None => work.bounded(&tables)?,
            }
        }
    };
    found.seconds = work.seconds.elapsed().as_secs_f64();
    work.settle(&mut found, is_timed)?;
    let outcome = match found.status {
        Status::Cancelled => Outcome::Cancelled,
        _ if found.upper.is_some() => Outcome::Complete,
        _ => Outcome::Incomplete,
    };
    Ok(MapReport { record: record(model, request, found)?, certificate, zero_floor: None, outcome })
}

/// A polynomial with so many terms, or spins, that tables of them are a waste of memory and elimination is hopeless.
fn dense(model: &Model) -> Result<Option<Polynomial>> {
    let Source::Polynomial(f) = model.source() else { return Ok(None) };
    let terms = f.pairwise_part().edges().len() + f.terms().len();
    // Forests of any size are for elimination.
    let is_large = model.d() > MOST_RELAXED && terms >= model.d();
    if model.d() <= DENSE.0 || (terms <= DENSE.1 * model.d() && !is_large) {
        return Ok(None);
    }
    model.polynomial().map(Some)
}

struct Work<'a> {
    model: &'a Model,
    request: &'a MapRequest,
    settings: Settings,
    ends: Deadline,
    observer: &'a mut dyn Observer,
    seconds: std::time::Instant,
}

impl Work<'_> {
    /// The maximum by elimination, when that fits the limits and has a certificate if one is wanted.
    fn eliminated(&mut self, tables: &FactorModel) -> Result<Option<(Answer, Option<Certificate>)>> {
        let share = PLANNING_SHARE * self.ends.seconds_left();
        let planning = self.settings.for_part(&self.ends, Some(share));
        let prepared =
            PreparedPeak::new(tables, &planning, &mut Monitor::new(&planning, usize::MAX, self.observer))?;
        if prepared.is_impossible() {
            return Err(Error::NotApplicable("no state has positive weight".into()));
        }
        let allowed = self.ends.seconds_left() / CAUTION;
        if prepared.cost.bytes > self.settings.memory_limit || prepared.cost.seconds > allowed {
            return Ok(None);
        }
        let mut monitor = Monitor::new(&self.settings, usize::MAX, self.observer);
        match prepared.run(&self.settings, &mut monitor) {
            Ok(peak) => {
                let certificate = match (self.request.want_certificate, &peak.order) {
                    (false, _) => None,
                    (true, None) => return Ok(None),
                    (true, Some(order)) => match self.proof_of_elimination(tables, order, &peak.states) {
                        None => return Ok(None),
                        found => found,
                    },
                };
                let upper = Some(peak.upper);
                let answer = Answer::new(upper, Proof::Elimination, peak.states, Status::Converged);
                Ok(Some((answer, certificate)))
            }
            Err(Error::Interrupted(_) | Error::Memory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Elimination along an order as a certificate, `None` when it would be too large to be checked.
    fn proof_of_elimination(
        &self,
        tables: &FactorModel,
        order: &[u32],
        states: &[u32],
    ) -> Option<Certificate> {
        let form = match self.model.source() {
            Source::Factors(_) => Form::Tables(exact::proof(tables, order)),
            Source::Polynomial(_) => {
                Form::Elimination { polynomial: self.model.polynomial().ok()?, order: order.to_vec() }
            }
        };
        let certificate = certificate_of(form, self.witness(states));
        certificate.verify_model(self.model).is_ok().then_some(certificate)
    }

    /// One assignment of the free variables as a lower bound.
    fn witness(&self, states: &[u32]) -> Witness {
        match self.model.source() {
            Source::Factors(_) => Witness::States { states: states.to_vec() },
            Source::Polynomial(_) => {
                Witness::Point { spins: states.iter().map(|&s| if s == 1 { 1 } else { -1 }).collect() }
            }
        }
    }

    /// Bounds where elimination does not fit.
    fn bounded(&mut self, tables: &FactorModel) -> Result<(Answer, Option<Certificate>)> {
        let is_polynomial = match self.model.source() {
            Source::Polynomial(_) => true,
            Source::Factors(_) => {
                tables.is_binary() && !tables.has_hard_zeros() && tables.factors().all(|f| f.scope.len() <= 4)
            }
        };
        let f = if is_polynomial { self.model.polynomial().ok() } else { None };
        match &f {
            Some(f) => self.polynomial(f, Some(tables)),
            None => self.bucketed(tables),
        }
    }

    fn polynomial(
        &mut self,
        f: &Polynomial,
        tables: Option<&FactorModel>,
    ) -> Result<(Answer, Option<Certificate>)> {
        if f.as_ising().is_some() && f.d() <= branch::MOST_SPINS {
            return self.branched(f);
        }
        // More monomials than a moment matrix can hold, and nobody asked for them by name.
        let is_default = self.request.features == FeatureSpec::Default;
        if f.as_ising().is_none() && is_default && self.request.features.resolve(f).is_err() {
            let own = if tables.is_none() { Some(self.model.factors()?) } else { None };
            if let Some(tables) = tables.or(own.as_ref()) {
                return self.bucketed(tables);
            }
        }
        self.relaxed(f, tables)
    }

    fn search_settings(&self) -> Settings {
        let share = (SEARCH.0 * self.ends.seconds_left()).min(SEARCH.1);
        self.settings.for_part(&self.ends, Some(share))
    }

    fn branched(&mut self, f: &Polynomial) -> Result<(Answer, Option<Certificate>)> {
        let brief = self.search_settings();
        let mut monitor = Monitor::new(&brief, usize::MAX, self.observer);
        let effort = Effort { visits: SEARCH_VISITS, ..Effort::full(&self.settings) };
        let start = best_spins(f, &[], effort, &mut monitor);
        let coefficients = Certificate::of_coefficients(f, 0.0, true, false);
        let known = coefficients.verify(f).map_or(f64::INFINITY, |b| b.phi());
        let keeps = self.request.want_certificate;
        let mut monitor = Monitor::new(&self.settings, usize::MAX, self.observer);
        if keeps && let Some(left) = monitor.seconds_left() {
            // Every leaf is verified once more at the end.
            monitor.reserve_seconds(PROOF_SHARE * left);
        }
        let found = branch::run(f, start, known, keeps, &self.settings, &mut monitor)?;
        let Branching { upper, assignment, nodes, stop, certificate } = found;
        let states = assignment.iter().map(|&x| u32::from(x > 0)).collect();
        let upper = Some(upper).filter(|u| u.is_finite());
        let answer = Answer {
            nodes: Some(nodes),
            iterations: nodes,
            ..Answer::new(upper, Proof::Branching, states, stop.into())
        };
        Ok((answer, certificate))
    }

    /// The best assignment of a very large model, and what the coefficients prove.
    fn searched(&mut self, f: &Polynomial) -> Answer {
        let coefficients = Certificate::of_coefficients(f, 0.0, true, false);
        let upper = coefficients.verify(f).ok().map(|b| b.phi());
        let settings = self.settings.for_part(&self.ends, Some(SEARCHED_SHARE * self.ends.seconds_left()));
        let mut monitor = Monitor::new(&settings, usize::MAX, self.observer);
        let enough = upper.map_or(f64::INFINITY, |u| u - self.settings.tol * u.abs());
        let effort = Effort { enough, ..Effort::full(&settings) };
        let found = best_spins(f, &[], effort, &mut monitor);
        let states = found.iter().map(|&x| u32::from(x > 0)).collect();
        let stop = monitor.interrupted().map_or(Status::Stalled, Status::from);
        Answer::new(upper, Proof::Coefficients, states, stop)
    }

    /// The relaxation with triangle cuts.
    fn relaxed(
        &mut self,
        f: &Polynomial,
        tables: Option<&FactorModel>,
    ) -> Result<(Answer, Option<Certificate>)> {
        let cuts = if f.as_ising().is_some() { Cuts::Triangle } else { Cuts::None };
        let share = self.settings.for_part(&self.ends, Some(0.8 * self.ends.seconds_left()));
        let found = Map::new(cuts).solve_with(f, &self.request.features, &share, self.observer)?;
        let mut result = answer(&found, Proof::Relaxation);
        let mut certificate = found.certificate;
        if let Some(tables) = tables
            && f.as_ising().is_none()
            && found.stop != StopReason::Cancelled
        {
            let (buckets, proof) = self.bucket_bound(tables)?;
            if buckets < result.upper.unwrap_or(f64::INFINITY) {
                (result.upper, result.proof, result.relaxation_gap) =
                    (Some(buckets), Proof::MiniBuckets, None);
                certificate = proof.map(|form| certificate_of(form, self.witness(&result.states)));
            }
        }
        Ok((result, certificate))
    }

    fn bucketed(&mut self, tables: &FactorModel) -> Result<(Answer, Option<Certificate>)> {
        let brief = self.search_settings();
        let mut monitor = Monitor::new(&brief, usize::MAX, self.observer);
        let entries = entry_bound(self.model)?;
        let effort = Effort { enough: entries - self.settings.tol * entries.abs(), ..Effort::full(&brief) };
        let found = best_states(tables, &[], effort, &mut monitor);
        if found.value >= effort.enough && !self.request.want_certificate {
            let answer = Answer::new(Some(entries), Proof::Coefficients, found.states, Status::Converged);
            return Ok((answer, None));
        }
        let (upper, form) = self.bucket_bound(tables)?;
        let upper = Some(upper).filter(|u| u.is_finite());
        let stop = self.ends.stop().map_or(Status::Stalled, Status::from);
        let is_state = tables.value_of(&found.states).is_finite();
        let certificate = form.map(|form| {
            let mut certificate = certificate_of(form, self.witness(&found.states));
            certificate.witness = certificate.witness.filter(|_| is_state);
            certificate
        });
        Ok((Answer::new(upper, Proof::MiniBuckets, found.states, stop), certificate))
    }

    /// `max f <= eps log Z` at any temperature, by weighted mini-buckets at a few low ones; the same mini-buckets at
    /// temperature 0 are the proof.
    fn bucket_bound(&mut self, tables: &FactorModel) -> Result<(f64, Option<Form>)> {
        let (mut best, mut proof) = (f64::INFINITY, None);
        for (done, temperature) in TEMPERATURES.into_iter().enumerate() {
            if self.ends.stop().is_some() {
                break;
            }
            let share = self.ends.seconds_left() / (TEMPERATURES.len() - done) as f64;
            let part = BoundRequest {
                methods: MethodChoice::List(vec![Method::Wmb]),
                eps: (temperature * mean_spread(tables)).clamp(*EPS_RANGE.start(), *EPS_RANGE.end()),
                settings: self.settings.for_part(&self.ends, Some(share)),
                ..BoundRequest::default()
            };
            let report = match bound(self.model, &part, self.observer) {
                Err(Error::Memory { .. } | Error::NotApplicable(_)) => continue,
                other => other?,
            };
            best = best.min(report.record.best.log_z.upper.unwrap_or(f64::INFINITY));
            let certificate =
                report.bracket_certificate().map(|c| Certificate { eps: 0.0, witness: None, ..c });
            if let Some(mut certificate) = certificate.filter(Certificate::is_about_tables)
                && let Ok(bound) = certificate.verify_tables(tables)
                && (bound.phi() <= best || proof.is_none())
            {
                best = best.min(bound.phi());
                proof = certificate.components.pop().map(|component| component.form);
            }
        }
        Ok((best, proof))
    }

    /// Integrality, and the word for how it ended.
    fn settle(&self, found: &mut Answer, is_timed: bool) -> Result<()> {
        let entries = entry_bound(self.model)?;
        if found.upper.is_none_or(|upper| entries < upper) {
            (found.upper, found.proof) = (Some(entries).filter(|v| v.is_finite()), Proof::Coefficients);
        }
        if matches!(self.model.source(), Source::Polynomial(_))
            && let Some(upper) = &mut found.upper
            && let Some(lattice) = Lattice::of(&self.model.polynomial()?)
        {
            *upper = lattice.round_down(*upper);
        }
        let value = value_of(self.model, &found.states)?;
        let closed = |upper: f64| upper - value <= self.settings.tol * upper.abs().max(value.abs());
        if found.upper.is_some_and(closed) {
            found.status = Status::Converged;
        } else if found.status == Status::Converged && found.proof == Proof::Branching {
            found.status = Status::Stalled;
        }
        if found.status == Status::TimeLimit && !is_timed {
            let why = format!("stopped after {DEFAULT_SECS} s: a longer time limit narrows the gap");
            found.reason.get_or_insert(why);
        }
        Ok(())
    }
}

fn certificate_of(form: Form, witness: Witness) -> Certificate {
    let components = vec![Component { weight: 1.0, form }];
    Certificate { eps: 0.0, slack: Slack::default(), components, witness: Some(witness) }
}

/// Mean distance of the smallest and the largest finite entry of a table, at least a thousandth.
fn mean_spread(tables: &FactorModel) -> f64 {
    let spread = |table: &[f64]| {
        let finite = || table.iter().copied().filter(|v| v.is_finite());
        (finite().fold(f64::MIN, f64::max) - finite().fold(f64::MAX, f64::min)).max(0.0)
    };
    let total: f64 = tables.factors().map(|f| spread(f.table)).sum();
    (total / tables.len().max(1) as f64).max(1e-3)
}
