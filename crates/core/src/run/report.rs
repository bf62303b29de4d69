//! What the results amount to: the best sides, the certificate behind them, the exit code.

use super::plan::BoundRequest;
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::record::{BOUND_SCHEMA, BestRecord, BoundRecord, Interval, MethodRecord, ModelRecord, Status};
use crate::solution::Solution;

/// Everything one call of [`super::bound`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Report {
    /// The document for programs.
    pub record: BoundRecord,
    /// The solution behind each entry of `record.results`, for methods that have one.
    pub solutions: Vec<Option<Solution>>,
    /// Index of the result with the smallest certified upper bound.
    pub best_upper: Option<usize>,
    /// Index of the result with the largest certified lower bound.
    pub best_lower: Option<usize>,
    /// Whether the request was met.
    pub outcome: Outcome,
}

/// Whether a request was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every requested method certified the sides it gives and met its tolerance or a limit the user
    /// set; for `auto` and `all`, the best upper bound is certified.
    Complete,
    /// Something requested is missing or not certified.
    Incomplete,
    /// The user stopped it; what was certified until then is in the record.
    Cancelled,
}

impl Outcome {
    /// The exit code of the command line.
    pub fn exit_code(self) -> u8 {
        match self {
            Outcome::Complete => 0,
            Outcome::Incomplete => 1,
            Outcome::Cancelled => 130,
        }
    }
}

impl Report {
    pub(crate) fn new(
        model: ModelRecord,
        request: &BoundRequest,
        outcomes: Vec<(MethodRecord, Option<Solution>)>,
    ) -> Result<Self> {
        let (results, solutions): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        let best_upper = extreme(&results, |r| r.log_z.upper.map(|v| -v));
        let best_lower = extreme(&results, |r| r.log_z.lower);
        let best = best_record(&results, best_upper, best_lower);
        if let (Some(lower), Some(upper)) = (best.phi.lower, best.phi.upper) {
            if lower > upper {
                return Err(Error::Certificate(format!(
                    "the lower bound {lower} of {} exceeds the upper bound {upper} of {} on phi: one of them is wrong, please report this model",
                    results[best_lower.unwrap_or(0)].method.name(),
                    results[best_upper.unwrap_or(0)].method.name()
                )));
            }
        }
        let outcome = outcome(request, &results, best_upper);
        let record = BoundRecord {
            schema: BOUND_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model,
            eps: request.eps,
            results,
            best,
        };
        Ok(Report { record, solutions, best_upper, best_lower, outcome })
    }

    /// The certificate behind the best upper bound, when its method wrote one.
    pub fn best_certificate(&self) -> Option<&Certificate> {
        self.solutions[self.best_upper?].as_ref()?.certificate.as_ref()
    }
}

/// Index of the largest `key`, the first among equals.
fn extreme(results: &[MethodRecord], key: impl Fn(&MethodRecord) -> Option<f64>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (k, value) in results.iter().enumerate().filter_map(|(k, r)| Some((k, key(r)?))) {
        if best.is_none_or(|(_, top)| value > top) {
            best = Some((k, value));
        }
    }
    best.map(|(k, _)| k)
}

fn best_record(results: &[MethodRecord], upper: Option<usize>, lower: Option<usize>) -> BestRecord {
    let (upper, lower) = (upper.map(|k| &results[k]), lower.map(|k| &results[k]));
    BestRecord {
        log_z: Interval {
            lower: lower.and_then(|r| r.log_z.lower),
            upper: upper.and_then(|r| r.log_z.upper),
        },
        phi: Interval { lower: lower.and_then(|r| r.phi.lower), upper: upper.and_then(|r| r.phi.upper) },
        upper_method: upper.map(|r| r.method),
        lower_method: lower.map(|r| r.method),
    }
}

fn outcome(request: &BoundRequest, results: &[MethodRecord], best_upper: Option<usize>) -> Outcome {
    if results.iter().any(|r| r.status == Status::Cancelled) {
        return Outcome::Cancelled;
    }
    // A certified result without an upper bound on a model without states: log Z = -infinity.
    let impossible = |r: &MethodRecord| r.certified && r.log_z.lower.is_none() && r.log_z.upper.is_none();
    let met = match request.is_explicit() {
        true => results.iter().all(|r| is_met(request, r)),
        false => best_upper.is_some() || results.iter().any(impossible),
    };
    if met { Outcome::Complete } else { Outcome::Incomplete }
}

/// Whether a named method gave what was asked of it.
fn is_met(request: &BoundRequest, result: &MethodRecord) -> bool {
    let settings = &request.settings;
    let within_tol = || {
        let scale = request.eps.max(result.phi.upper?.abs());
        Some(result.relaxation_gap? <= settings.tol * scale)
    };
    let stopped_as_asked = match result.status {
        Status::Converged => true,
        Status::TimeLimit => settings.time_limit_secs.is_some(),
        Status::IterationLimit => settings.max_iterations.is_some(),
        _ => false,
    };
    result.certified && (stopped_as_asked || within_tol() == Some(true))
}
