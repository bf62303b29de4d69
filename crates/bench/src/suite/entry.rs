//! One model, one program, one limit.

use super::{AUTO, Instance};
use crate::duration;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use zbound::record::{BoundRecord, MethodRecord, Status};
use zbound::run::{BoundRequest, MethodChoice, bound, forecast};
use zbound::{Deadline, Error, Flow, Method, Model, Observer, Progress, Settings};

/// A bracket this narrow, relative to `max(1, |log Z|)`, is closed.
pub(super) const CLOSED: f64 = 1e-6;

/// Digits that published values are trusted to: most are printed with six.
const PUBLISHED_DIGITS: f64 = 1e-5;

/// What one program said of one model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Name of the model.
    pub model: String,
    /// `auto`, the name of a method, or another program.
    pub tool: String,
    /// Seconds that it was given.
    pub limit: f64,
    /// Seconds that it took, reading included.
    pub seconds: f64,
    /// Free variables.
    pub d: usize,
    /// Pairs with a coupling, where the model is pairwise.
    pub edges: usize,
    /// Lower bound of log Z.
    pub lower: Option<f64>,
    /// Upper bound of log Z.
    pub upper: Option<f64>,
    /// log Z without a proof.
    pub value: Option<f64>,
    /// Whether no state has positive weight.
    #[serde(default)]
    pub impossible: bool,
    /// The method behind the lower bound.
    pub lower_method: Option<String>,
    /// The method behind the upper bound.
    pub upper_method: Option<String>,
    /// Seconds that the method was expected to take until it ends by itself.
    pub expected: Option<f64>,
    /// Seconds that it took until then, if it did.
    pub took: Option<f64>,
    /// How the bracket shrank.
    pub trace: Vec<Moment>,
    /// Why there is no answer.
    pub refused: Option<String>,
}

/// The bracket from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Since reading began.
    pub seconds: f64,
    /// Lower bound of log Z.
    pub lower: Option<f64>,
    /// Upper bound of log Z.
    pub upper: Option<f64>,
}

/// Keeps how the bracket shrank, and passes everything on.
struct Watch<'o> {
    inner: &'o mut dyn Observer,
    start: Instant,
    trace: Vec<Moment>,
}

impl Watch<'_> {
    fn note(&mut self, record: &BoundRecord) {
        let (lower, upper) = (record.best.log_z.lower, record.best.log_z.upper);
        if self.trace.last().is_none_or(|last| (last.lower, last.upper) != (lower, upper)) {
            self.trace.push(Moment { seconds: self.start.elapsed().as_secs_f64(), lower, upper });
        }
    }
}

impl Observer for Watch<'_> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.inner.observe(progress)
    }

    fn wants_reports(&self) -> bool {
        true
    }

    fn report(&mut self, so_far: &BoundRecord) {
        self.note(so_far);
    }
}

impl Entry {
    /// An answer of this library: `auto` or a method.
    pub(super) fn ours(
        instance: &Instance,
        tool: &str,
        limit: f64,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Self {
        let start = Instant::now();
        let mut request = BoundRequest::default();
        request.settings = settings.clone().with_time_limit(Some(limit));
        request.settings.deadline = Deadline::after(start, Some(limit));
        let mut watch = Watch { inner: observer, start, trace: Vec::new() };
        let mut entry = Entry { model: instance.name.clone(), tool: tool.into(), limit, ..Entry::default() };
        let answer = instance.model().and_then(|model| {
            if tool != AUTO {
                request.methods = MethodChoice::List(vec![tool.parse()?]);
            }
            let report = bound(&model, &request, &mut watch)?;
            Ok((model, report.record))
        });
        entry.seconds = start.elapsed().as_secs_f64();
        match answer {
            Ok((model, record)) => {
                watch.note(&record);
                // What the coefficients alone prove comes first, and is no answer of a method.
                entry.trace = watch.trace;
                entry.fill(&record);
                if let MethodChoice::List(methods) = &request.methods {
                    entry.compare(&model, methods[0], &record.results[0], settings);
                }
            }
            Err(error) => entry.refused = Some(error.to_string()),
        }
        entry
    }

    fn fill(&mut self, record: &BoundRecord) {
        let name = |method: Option<Method>| method.map(|m| m.name().to_owned());
        (self.d, self.edges) = (record.model.d, record.model.edges);
        (self.lower, self.upper) = (record.best.log_z.lower, record.best.log_z.upper);
        self.lower_method = name(record.best.lower_method);
        self.upper_method = name(record.best.upper_method);
        let is_empty = |r: &MethodRecord| r.certified && r.log_z.lower.is_none() && r.log_z.upper.is_none();
        self.impossible = record.results.iter().any(is_empty);
        let is_refused = |r: &MethodRecord| matches!(r.status, Status::NotApplicable | Status::Skipped);
        if record.results.iter().all(is_refused) {
            let why = record.results.first().and_then(|r| r.reason.clone());
            self.refused = Some(why.unwrap_or_else(|| "not applicable".into()));
        }
    }

    /// What a method was expected to take, and took.
    fn compare(&mut self, model: &Model, method: Method, result: &MethodRecord, settings: &Settings) {
        if self.refused.is_some() {
            return;
        }
        let limited = settings.clone().with_time_limit(Some(self.limit));
        let expected: Result<_, Error> = forecast(model, method, &limited);
        self.expected = expected.ok().flatten().map(|e| e.seconds);
        let ended = matches!(result.status, Status::Converged | Status::Stalled);
        self.took = ended.then_some(result.seconds);
    }

    /// upper - lower.
    #[must_use]
    pub fn width(&self) -> Option<f64> {
        Some(self.upper? - self.lower?)
    }

    /// The width in units of `max(1, |log Z|)`.
    #[must_use]
    pub fn relative_width(&self) -> Option<f64> {
        if self.impossible {
            return Some(0.0);
        }
        relative(self.lower, self.upper)
    }

    /// Whether log Z is known to six digits or no state has positive weight.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.relative_width().is_some_and(|width| width <= CLOSED)
    }

    /// Whether a published value lies outside the bracket by more than its digits.
    #[must_use]
    pub fn refutes(&self, published: f64) -> bool {
        let slack = PUBLISHED_DIGITS * published.abs().max(1.0);
        self.lower.is_some_and(|lower| published < lower - slack)
            || self.upper.is_some_and(|upper| published > upper + slack)
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let head = format!("{}, {}, {} s", self.model, self.tool, self.limit);
        match (&self.refused, self.value) {
            (Some(why), _) => format!("{head}: {why}"),
            (None, Some(value)) => format!("{head}: {value:.4} in {}", duration(self.seconds)),
            (None, None) => {
                let (lower, upper) = (show(self.lower), show(self.upper));
                format!("{head}: [{lower}, {upper}] in {}", duration(self.seconds))
            }
        }
    }
}

/// The width of a bracket in units of `max(1, |log Z|)`.
pub(super) fn relative(lower: Option<f64>, upper: Option<f64>) -> Option<f64> {
    let (lower, upper) = (lower?, upper?);
    Some((upper - lower) / (0.5 * (upper + lower)).abs().max(1.0))
}

pub(super) fn show(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"))
}
