//! One call: which methods run, and in which order.

use super::announce::Announcer;
use super::cost;
use super::cost::constants::PATIENCE_SECS;
use super::dispatch::{relaxation, table_bound};
use super::job::{Job, Outcome};
use super::plan::{BoundRequest, MethodChoice};
use super::portfolio;
use super::report::Report;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::Wanted;
use crate::model::Model;
use crate::observer::{Flow, Observer, Progress};
use crate::record::{ModelRecord, Status};
use crate::settings::{Method, Solver};
use crate::solution::{Solution, StopReason};
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
    bound_from(model, request, &[], observer)
}

/// The same, where methods may begin at `earlier` solutions of the model, at another temperature.
pub(super) fn bound_from(
    model: &Model,
    request: &BoundRequest,
    earlier: &[Solution],
    observer: &mut dyn Observer,
) -> Result<Report> {
    request.validate()?;
    let ends = request.settings.ends();
    let job = Job::new(model, request, earlier)?;
    let summary = ModelRecord::new(request.path.clone(), model, job.polynomial()?)?;
    job.announce(&summary, &[], &[], observer)?;
    match &request.methods {
        MethodChoice::Auto => portfolio::run(&job, summary, &ends, observer)?.report(request),
        MethodChoice::All => {
            let results = in_order(&job, &Method::ALL, &summary, &ends, observer)?;
            Report::new(summary, request, results)
        }
        MethodChoice::List(methods) => {
            let results = in_order(&job, methods, &summary, &ends, observer)?;
            Report::new(summary, request, results)
        }
    }
}

/// Seconds that a forecast for somebody who watches may take.
const FORECAST_SECS: f64 = 0.2;

/// Runs methods one after another, each with an equal share of the time left.
fn in_order(
    job: &Job<'_>,
    methods: &[Method],
    summary: &ModelRecord,
    ends: &Deadline,
    observer: &mut dyn Observer,
) -> Result<Vec<Outcome>> {
    let (start, request) = (Instant::now(), job.request);
    let mut results: Vec<Outcome> = Vec::new();
    for (done, &method) in methods.iter().enumerate() {
        let cancelled = |(record, _): &Outcome| record.status == Status::Cancelled;
        if results.iter().any(cancelled)
            || observer.observe(&Progress::at(start.elapsed().as_secs_f64())) == Flow::Stop
        {
            results.push(job.by_coefficients(method, StopReason::Cancelled)?);
            continue;
        }
        if let Some(stop) = ends.stop() {
            results.push(job.by_coefficients(method, stop)?);
            continue;
        }
        observer.begin(method);
        let mut settings = request.settings.for_part(ends, None);
        if !request.is_explicit() {
            settings.solver = Solver::Auto;
        }
        // A method that ends early leaves its time to the next.
        let runs = |method: &Method| {
            matches!(method, Method::Exact | Method::Branch)
                || relaxation(*method, None).is_some()
                || table_bound(*method).is_some()
        };
        let waiting = methods[done..].iter().filter(|m| runs(m)).count().max(1);
        settings.time_limit_secs = ends.is_limited().then(|| ends.seconds_left() / waiting as f64);
        // Exact inference has no use for a limit below its cost, and was not started if that is high.
        let patience = request.methods == MethodChoice::All && !ends.is_limited() && method != Method::Exact;
        if patience {
            settings.time_limit_secs = Some(PATIENCE_SECS);
        }
        if method == Method::Exact && observer.wants_forecast() {
            let glance = settings.clone().with_time_limit(Some(FORECAST_SECS));
            let cost = cost::exact(job.model, Wanted::ALL, &glance);
            cost.into_iter().for_each(|cost| observer.forecast(cost.seconds));
        }
        let waiting = &methods[done + 1..];
        let mut announcer = Announcer { job, summary, results: &results, waiting, method, observer };
        let mut outcome = job.run(method, &settings, &mut announcer)?;
        if patience && outcome.0.status == Status::TimeLimit && outcome.0.reason.is_none() {
            let name = method.name();
            outcome.0.reason =
                Some(format!("stopped after {PATIENCE_SECS} s; ask for --method {name} to let it finish"));
        }
        results.push(outcome);
        job.announce(summary, &results, waiting, observer)?;
    }
    Ok(results)
}
