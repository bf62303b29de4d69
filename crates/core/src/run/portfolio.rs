//! `auto`: methods under a deadline, in the order in which they narrow the bracket of this kind of model.

use super::beside;
use super::components;
use super::cost::constants::{
    AT_ONCE_SECS, DEFAULT_SECS, HASTY_SECS, HOPELESS_SECS, LAST_ROUND_SECS, MARGINALS_SECS, PLANNING_SHARE,
    QUICK,
};
use super::exact_plan::{ExactPlan, is_affordable};
use super::job::{Job, Outcome};
use super::plan::BoundRequest;
use super::report::Report;
use super::steps::Steps;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::Wanted;
use crate::observer::{Flow, Observer, Progress};
use crate::record::{MethodRecord, ModelRecord, Sides, Status};
use crate::settings::{Method, Solver};
use crate::solution::StopReason;
use std::time::Instant;

/// A bracket this narrow, relative to `max(1, |log Z|)`, is closed.
const CLOSED: f64 = 1e-6;

/// A better elimination order is searched for when exact inference along the first one would take at most this many times the time
/// left.
const LONG_SHOT: f64 = 2e3;

/// Runs the portfolio until the bracket is closed, the target is met, or time or ideas run out.
pub(super) fn run(
    job: &Job<'_>,
    summary: ModelRecord,
    ends: &Deadline,
    observer: &mut dyn Observer,
) -> Result<Portfolio> {
    // A number of iterations without a time limit asks for a run that is the same on every machine.
    let is_timed = ends.is_limited();
    let is_counted = !is_timed && job.request.settings.max_iterations.is_some();
    let ends = if is_timed || is_counted { ends.clone() } else { ends.within(Some(DEFAULT_SECS)) };
    let mut portfolio = Portfolio { results: Vec::new(), advice: None, start: Instant::now(), summary };
    let settings = job.request.settings.for_part(&ends, None).with_solver(Solver::Auto);
    let steps = Steps::new(job.shape()?, &settings);
    // A glance first: what is exact at once needs nothing else, and a long search for an order must not hold up the first bounds.
    let glance = HASTY_SECS.min(PLANNING_SHARE * ends.seconds_left());
    let mut exact = ExactPlan::new(job.model, &settings, glance);
    if let Some(e) = exact.all.filter(|e| e.seconds <= AT_ONCE_SECS && e.fits(&settings)) {
        portfolio.try_exact(job, (Wanted::ALL, e), &settings, observer)?;
    }
    if let Some(layers) = exact.layers.as_ref().filter(|layers| layers.seconds(&settings) <= AT_ONCE_SECS) {
        portfolio.try_layers(job, layers, &settings, observer)?;
    }
    for method in steps.quick() {
        if portfolio.is_done(job, &ends, observer) {
            break;
        }
        let seconds = (!is_counted).then(|| (QUICK.0 * ends.seconds_left()).min(QUICK.1));
        portfolio.try_for(job, method, seconds, &settings, observer)?;
    }
    // No certificate knows a search, and no number of iterations bounds it.
    let may_count = !job.request.want_certificate && !is_counted && !job.is_counted_out;
    if let Some(counting) = exact.counting.as_ref().filter(|_| may_count)
        && !portfolio.is_done(job, &ends, observer)
    {
        portfolio.try_counting(job, counting, &settings, observer)?;
    }
    let is_hopeful = exact.is_hasty && exact.seconds() < LONG_SHOT * ends.seconds_left();
    if is_hopeful && exact.affordable(&settings).is_empty() && !portfolio.is_done(job, &ends, observer) {
        exact = ExactPlan::new(job.model, &settings, PLANNING_SHARE * ends.seconds_left());
    }
    if let Some(layers) = exact.layers.as_ref()
        && is_affordable(layers.seconds(&settings), &settings)
        && !portfolio.is_done(job, &ends, observer)
    {
        portfolio.try_layers(job, layers, &settings, observer)?;
    }
    if !portfolio.is_done(job, &ends, observer) {
        for (wanted, cost) in exact.affordable(&settings) {
            // Marginals and a maximiser are worth some time even where log Z is known.
            let is_worthwhile = cost.seconds <= MARGINALS_SECS || !portfolio.is_closed(None);
            let fits = is_worthwhile && cost.is_affordable(&settings);
            if fits && !portfolio.is_cancelled(observer) {
                portfolio.try_exact(job, (wanted, cost), &settings, observer)?;
            }
        }
    }
    if !job.request.want_certificate && !portfolio.is_done(job, &ends, observer) {
        // One certificate holds one identity for all of f.
        let parts = components::parts(job)?;
        if !parts.is_empty() {
            // The search over what hard zeros leave takes parts apart by itself.
            let is_counted_out = may_count && exact.counting.is_some();
            let outcome = components::solve(job, &parts, is_counted_out, &settings, observer)?;
            portfolio.absorb(outcome);
            job.announce(&portfolio.summary, &portfolio.results, &[], observer)?;
        }
    }
    let mut round = steps.all(|method| portfolio.is_open(method));
    while !round.is_empty() && !portfolio.is_done(job, &ends, observer) {
        // A gap to stop at is looked at between methods.
        let has_target = job.request.target_gap.is_some();
        let (first, beside) = if has_target { (&round[..], None) } else { beside::split(&round, &settings) };
        for &step in first {
            if portfolio.is_done(job, &ends, observer) {
                break;
            }
            portfolio.try_method(job, step, &settings, observer)?;
        }
        if let Some(method) = beside.filter(|_| !portfolio.is_done(job, &ends, observer)) {
            portfolio.try_both(job, method, &settings, observer)?;
        }
        let last = if is_timed { portfolio.last_resort(&round) } else { Vec::new() };
        round = if last.is_empty() { portfolio.next_round(&round) } else { last };
    }
    // The time may have been used up before the first method, by reading say, and what is known without any may be better still.
    let stop = ends.stop().unwrap_or(StopReason::Stalled);
    let stop = if portfolio.is_cancelled(observer) { StopReason::Cancelled } else { stop };
    let free = job.by_coefficients(Method::MeanField, stop)?;
    if portfolio.results.is_empty() || portfolio.is_improved_by(&free.0) {
        portfolio.results.push(free);
    }
    portfolio.advice = portfolio.advise(job, &exact, &ends);
    Ok(portfolio)
}

/// What the portfolio found.
pub(super) struct Portfolio {
    /// One entry per method (two where neither of two runs was better on both sides).
    pub(super) results: Vec<Outcome>,
    /// What more time or memory would buy.
    pub(super) advice: Option<String>,
    pub(super) start: Instant,
    pub(super) summary: ModelRecord,
}

impl Portfolio {
    /// What it found as the answer to a request.
    pub(super) fn report(self, request: &BoundRequest) -> Result<Report> {
        let mut report = Report::new(self.summary, request, self.results)?;
        report.record.advice = self.advice;
        Ok(report)
    }

    /// Keeps the better of two runs of a method, and both where each has the better side.
    pub(super) fn absorb(&mut self, mut new: Outcome) {
        let at = self.results.iter().position(|old| old.0.method == new.0.method);
        let Some(at) = at else { return self.results.push(new) };
        let old = &self.results[at].0;
        if new.0.method == Method::Exact && [new.0.status, old.status] == [Status::Converged; 2] {
            // Everything after log Z alone: both enclose the same number, up to other roundings.
            new.0.phi = intersection(new.0.phi, old.phi);
            new.0.log_z = intersection(new.0.log_z, old.log_z);
        }
        if is_at_least(&new.0, old) {
            self.results[at] = new;
        } else if !is_at_least(old, &new.0) {
            self.results.push(new);
        } else {
            // Time may stop the second run short of the first, but the first did not end by itself.
            if new.0.certified && old.status != Status::Converged {
                self.results[at].0.status = new.0.status;
            }
        }
    }

    /// Best certified sides of log Z so far.
    fn bracket(&self) -> (f64, f64) {
        let sides = self.results.iter().map(|(record, _)| record.log_z);
        sides.fold((f64::NEG_INFINITY, f64::INFINITY), |(low, high), side| {
            (low.max(side.lower.unwrap_or(f64::NEG_INFINITY)), high.min(side.upper.unwrap_or(f64::INFINITY)))
        })
    }

    fn is_improved_by(&self, record: &MethodRecord) -> bool {
        let (low, high) = self.bracket();
        !self.is_closed(None)
            && (record.log_z.lower.is_some_and(|v| v > low) || record.log_z.upper.is_some_and(|v| v < high))
    }

    pub(super) fn is_closed(&self, target: Option<f64>) -> bool {
        let (low, high) = self.bracket();
        let impossible =
            |o: &Outcome| o.0.certified && o.0.log_z.upper.is_none() && o.0.log_z.lower.is_none();
        let exact =
            |o: &Outcome| o.0.method == Method::Exact && o.0.certified && o.0.status == Status::Converged;
        let is_narrow = high - low <= target.unwrap_or(0.0).max(CLOSED * high.abs().max(1.0));
        is_narrow && high.is_finite() && low.is_finite()
            || self.results.iter().any(|o| impossible(o) || exact(o))
    }

    pub(super) fn is_cancelled(&self, observer: &mut dyn Observer) -> bool {
        self.results.iter().any(|(record, _)| record.status == Status::Cancelled)
            || observer.observe(&Progress::at(self.start.elapsed().as_secs_f64())) == Flow::Stop
    }

    fn is_done(&self, job: &Job<'_>, ends: &Deadline, observer: &mut dyn Observer) -> bool {
        let little = ends.seconds_left() < LAST_ROUND_SECS && self.bracket().1.is_finite();
        self.is_cancelled(observer)
            || ends.stop().is_some()
            || little
            || self.is_closed(job.request.target_gap)
    }

    /// Whether time stopped a method.
    pub(super) fn is_open(&self, method: Method) -> bool {
        self.results.iter().any(|(record, _)| record.method == method && record.status == Status::TimeLimit)
    }

    fn advise(&self, job: &Job<'_>, exact: &ExactPlan, ends: &Deadline) -> Option<String> {
        if self.is_closed(job.request.target_gap) {
            return None;
        }
        let cheapest = exact.log_z.as_ref().or(exact.all.as_ref());
        let exact = cheapest.filter(|e| e.seconds < HOPELESS_SECS).map(|e| {
            let limit = if e.fits(&job.request.settings) { "" } else { " (above the memory limit)" };
            format!("exact inference would take about {}, {}{limit}", e.time(), e.memory())
        });
        let more = (ends.stop().is_some() || ends.seconds_left() < LAST_ROUND_SECS)
            .then(|| "more time narrows the bracket (--time-limit)".to_owned());
        let parts: Vec<String> = [more, exact].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The narrower of two enclosures on each side; the first one's estimate.
fn intersection(a: Sides, b: Sides) -> Sides {
    let pick = |a: Option<f64>, b: Option<f64>, best: fn(f64, f64) -> f64| match (a, b) {
        (Some(a), Some(b)) => Some(best(a, b)),
        _ => a.or(b),
    };
    Sides {
        lower: pick(a.lower, b.lower, f64::max),
        upper: pick(a.upper, b.upper, f64::min),
        estimate: a.estimate,
    }
}

/// Whether a run proves at least as much as another on both sides.
fn is_at_least(new: &MethodRecord, old: &MethodRecord) -> bool {
    let side = |v: Option<f64>| v.unwrap_or(f64::NEG_INFINITY);
    let negated = |v: Option<f64>| side(v.map(|v| -v));
    side(new.log_z.lower) >= side(old.log_z.lower) && negated(new.log_z.upper) >= negated(old.log_z.upper)
}
