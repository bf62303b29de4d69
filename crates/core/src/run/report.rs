//! What the results amount to: the best sides, the certificate behind them, the exit code.

use super::plan::BoundRequest;
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::record::{BOUND_SCHEMA, BestRecord, BoundRecord, Bracket, MethodRecord, ModelRecord, Status};
use crate::settings::Method;
use crate::solution::Solution;
use std::path::Path;

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
    /// Whether `record` meets `request`: also for a document that an observer got in the middle of a run.
    pub fn of(request: &BoundRequest, record: &BoundRecord) -> Self {
        outcome(request, &record.results, extreme(&record.results, |r| r.log_z.upper.map(|v| -v)))
    }

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
        let (mut results, solutions): (Vec<_>, Vec<_>) = outcomes.into_iter().unzip();
        let best_upper = extreme(&results, |r| r.log_z.upper.map(|v| -v));
        let best_lower = extreme(&results, |r| r.log_z.lower);
        let mut best = best_record(&results, best_upper, best_lower);
        if let (Some(lower), Some(upper)) = (best.phi.lower, best.phi.upper)
            && lower > upper
        {
            return Err(Error::Certificate(format!(
                "the lower bound {lower} of {} exceeds the upper bound {upper} of {} on phi: one of them is wrong, please report this model",
                best.lower_method.map_or("?", |m| m.name()),
                best.upper_method.map_or("?", |m| m.name())
            )));
        }
        settle_estimate(&mut best, &mut results);
        let outcome = outcome(request, &results, best_upper);
        let record = BoundRecord {
            schema: BOUND_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model,
            eps: request.eps,
            results,
            best,
            advice: None,
        };
        Ok(Report { record, solutions, best_upper, best_lower, outcome })
    }

    /// The certificate behind the best upper bound that has one, else behind the best lower bound.
    pub fn best_certificate(&self) -> Option<&Certificate> {
        let proved = |k: &usize| self.solutions[*k].as_ref().is_some_and(|s| s.certificate.is_some());
        let upper = |k: usize| self.record.results[k].log_z.upper.map(|u| (-u, k));
        let lower = |k: usize| self.record.results[k].log_z.lower.map(|l| (l, k));
        let candidates = || (0..self.solutions.len()).filter(proved);
        // The first among equals: `max_by` would take the last.
        let first = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
        let best = candidates()
            .filter_map(upper)
            .max_by(first)
            .or_else(|| candidates().filter_map(lower).max_by(first));
        self.solutions[best?.1].as_ref()?.certificate.as_ref()
    }

    /// One certificate of the bracket: the components behind the best upper bound that has them and the witness behind
    /// the best lower bound that has one, whatever methods they come from.
    pub fn bracket_certificate(&self) -> Option<Certificate> {
        let best = |side: fn(&MethodRecord) -> Option<f64>, has: fn(&Certificate) -> bool| {
            let mut best: Option<(f64, &Certificate)> = None;
            for (record, solution) in self.record.results.iter().zip(&self.solutions) {
                let certificate = solution.as_ref().and_then(|s| s.certificate.as_ref()).filter(|c| has(c));
                let (Some(value), Some(certificate)) = (side(record), certificate) else { continue };
                if best.is_none_or(|(top, _)| value > top) {
                    best = Some((value, certificate));
                }
            }
            best.map(|(_, certificate)| certificate)
        };
        let upper = best(|r| r.log_z.upper.map(|u| -u), |c| !c.components.is_empty());
        let lower = best(|r| r.log_z.lower, |c| c.witness.is_some());
        let mut out = upper.or(lower)?.clone();
        out.witness = lower.and_then(|c| c.witness.clone());
        Some(out)
    }

    /// Writes that certificate, with what it proves about `model`, and says whether there was one.
    ///
    /// # Errors
    /// As [`Certificate::verify_model`] and [`Certificate::write`].
    pub fn write_certificate(&self, model: &Model, path: &Path) -> Result<bool> {
        let Some(certificate) = self.bracket_certificate() else { return Ok(false) };
        certificate.write(path, &certificate.verify_model(model)?)?;
        Ok(true)
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

/// Methods whose estimate is worth more than a bound's by-product, best first.
const ESTIMATORS: [Method; 2] = [Method::Exact, Method::Ais];

/// The best estimate, moved into the bracket; says so in its result when it lay outside.
fn settle_estimate(best: &mut BestRecord, results: &mut [MethodRecord]) {
    let of = |method: &Method| results.iter().position(|r| r.method == *method && r.log_z.estimate.is_some());
    let Some(k) = ESTIMATORS.iter().find_map(of) else { return };
    let Some(value) = results[k].log_z.estimate else { return };
    let (low, high) = (best.log_z.lower.unwrap_or(f64::MIN), best.log_z.upper.unwrap_or(f64::MAX));
    let inside = value.max(low).min(high);
    if inside != value {
        let note = format!("the estimate {value} lies outside the proved bracket");
        let reason = &mut results[k].reason;
        *reason = Some(reason.take().map_or_else(|| note.clone(), |old| format!("{old}; {note}")));
    }
    best.estimate = Some(inside);
    best.estimate_method = Some(results[k].method);
}

fn best_record(results: &[MethodRecord], upper: Option<usize>, lower: Option<usize>) -> BestRecord {
    let (upper, lower) = (upper.map(|k| &results[k]), lower.map(|k| &results[k]));
    BestRecord {
        log_z: Bracket { lower: lower.and_then(|r| r.log_z.lower), upper: upper.and_then(|r| r.log_z.upper) },
        phi: Bracket { lower: lower.and_then(|r| r.phi.lower), upper: upper.and_then(|r| r.phi.upper) },
        upper_method: upper.map(|r| r.method),
        lower_method: lower.map(|r| r.method),
        estimate: None,
        estimate_method: None,
    }
}

fn outcome(request: &BoundRequest, results: &[MethodRecord], best_upper: Option<usize>) -> Outcome {
    if results.iter().any(|r| r.status == Status::Cancelled) {
        return Outcome::Cancelled;
    }
    // A certified result without an upper bound on a model without states: log Z = -infinity.
    let impossible = |r: &MethodRecord| r.certified && r.log_z.lower.is_none() && r.log_z.upper.is_none();
    let met = if request.is_explicit() {
        results.iter().all(|r| is_met(request, r))
    } else {
        best_upper.is_some() || results.iter().any(impossible)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Ising, Model};
    use crate::record::Recorder;
    use crate::run::MethodChoice;
    use crate::settings::Settings;

    fn results(entries: &[(Method, Status, Option<f64>, Option<f64>)]) -> Vec<MethodRecord> {
        let model = Model::from(Ising::new(1, &[0.0], &[]).unwrap());
        let recorder = Recorder::new(&model, 1.0, false);
        let record = |&(method, status, lower, upper): &(Method, Status, Option<f64>, Option<f64>)| {
            let mut record = recorder.empty(method, status, "");
            (record.phi.lower, record.phi.upper) = (lower, upper);
            (record.log_z.lower, record.log_z.upper) = (lower, upper);
            record.certified = lower.is_some() || upper.is_some();
            record
        };
        entries.iter().map(record).collect()
    }

    fn report(request: &BoundRequest, results: Vec<MethodRecord>) -> Result<Report> {
        let model = ModelRecord { path: None, d: 1, edges: 0, terms: 0 };
        Report::new(model, request, results.into_iter().map(|r| (r, None)).collect())
    }

    #[test]
    fn best_takes_the_tightest_side_of_each() {
        use Status::Converged;
        let entries = [
            (Method::MeanField, Converged, Some(0.5), None),
            (Method::Quantum, Converged, None, Some(2.0)),
            (Method::Trw, Status::Stalled, Some(0.25), Some(1.0)),
            (Method::LogDet, Status::NotApplicable, None, None),
        ];
        let report = report(&BoundRequest::default(), results(&entries)).unwrap();
        let best = report.record.best;
        assert_eq!((best.phi.lower, best.phi.upper), (Some(0.5), Some(1.0)));
        assert_eq!((best.lower_method, best.upper_method), (Some(Method::MeanField), Some(Method::Trw)));
        assert_eq!((report.best_lower, report.best_upper), (Some(0), Some(2)));
        assert_eq!(report.outcome, Outcome::Complete);
    }

    #[test]
    fn contradicting_sides_are_never_reported() {
        let entries = [
            (Method::MeanField, Status::Converged, Some(1.5), None),
            (Method::Quantum, Status::Converged, None, Some(1.0)),
        ];
        let message = report(&BoundRequest::default(), results(&entries)).unwrap_err().to_string();
        assert!(message.contains("mean-field") && message.contains("quantum"), "{message}");
    }

    #[test]
    fn exit_codes_follow_what_was_asked() {
        let list = |settings: Settings| BoundRequest {
            methods: MethodChoice::List(vec![Method::Quantum]),
            settings,
            ..BoundRequest::default()
        };
        let plain = list(Settings::default());
        let timed = list(Settings::default().with_time_limit(Some(1.0)));
        let auto = BoundRequest::default();
        for (request, status, upper, code) in [
            (&plain, Status::Converged, Some(1.0), 0),
            (&plain, Status::TimeLimit, Some(1.0), 1),
            (&timed, Status::TimeLimit, Some(1.0), 0),
            (&timed, Status::TimeLimit, None, 1),
            (&plain, Status::Stalled, Some(1.0), 1),
            (&plain, Status::IterationLimit, Some(1.0), 1),
            (&plain, Status::Uncertified, None, 1),
            (&plain, Status::NotApplicable, None, 1),
            (&plain, Status::Cancelled, Some(1.0), 130),
            (&auto, Status::Stalled, Some(1.0), 0),
            (&auto, Status::NotApplicable, None, 1),
        ] {
            let outcome =
                report(request, results(&[(Method::Quantum, status, None, upper)])).unwrap().outcome;
            assert_eq!(outcome.exit_code(), code, "{status:?} {upper:?}");
        }
        let mut stalled = results(&[(Method::Quantum, Status::Stalled, None, Some(1.0))]);
        stalled[0].relaxation_gap = Some(1e-9);
        assert_eq!(report(&plain, stalled).unwrap().outcome, Outcome::Complete);
    }
}
