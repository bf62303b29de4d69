//! What would be the answer if the run had to end now, told while it goes on.

use super::job::{Job, Outcome};
use super::plan::MethodChoice;
use super::report::Report;
use crate::certify::CertifiedBound;
use crate::error::Result;
use crate::observer::{Flow, Observer, Progress};
use crate::record::{BoundRecord, MethodRecord, ModelRecord, Status};
use crate::settings::Method;
use crate::solution::StopReason;

impl Job<'_> {
    /// Tells the observer what the report would be if the run had to end now: `waiting` methods (the first of those
    /// that are chosen, when none is yet) would give what the coefficients prove.
    pub(super) fn announce(
        &self,
        summary: &ModelRecord,
        results: &[Outcome],
        waiting: &[Method],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if !observer.wants_reports() {
            return Ok(());
        }
        self.announce_records(summary, results.iter().map(|(record, _)| record.clone()), waiting, observer)
    }

    fn announce_records(
        &self,
        summary: &ModelRecord,
        done: impl ExactSizeIterator<Item = MethodRecord>,
        waiting: &[Method],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let first = match &self.request.methods {
            MethodChoice::List(methods) => methods.clone(),
            _ => vec![Method::MeanField],
        };
        let waiting = if done.len() == 0 && waiting.is_empty() { &first[..] } else { waiting };
        let rest = waiting.iter().map(|&method| self.by_coefficients(method, StopReason::TimeLimit));
        let mut records: Vec<Outcome> = done.map(|record| (record, None)).collect();
        for outcome in rest {
            records.push((outcome?.0, None));
        }
        let report = Report::new(summary.clone(), self.request, records)?;
        observer.report(&report.record);
        Ok(())
    }
}

/// Stands between a method and the observer: what the method proves on its way is not lost in the middle of it.
pub(super) struct Announcer<'a, 'm> {
    pub(super) job: &'a Job<'m>,
    pub(super) summary: &'a ModelRecord,
    pub(super) results: &'a [Outcome],
    pub(super) waiting: &'a [Method],
    pub(super) method: Method,
    pub(super) observer: &'a mut dyn Observer,
}

impl Observer for Announcer<'_, '_> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.observer.observe(progress)
    }

    fn begin(&mut self, method: Method) {
        self.observer.begin(method);
    }

    fn wants_forecast(&self) -> bool {
        self.observer.wants_forecast()
    }

    fn forecast(&mut self, seconds: f64) {
        self.observer.forecast(seconds);
    }

    fn share(&mut self, done: f64) {
        self.observer.share(done);
    }

    fn note(&mut self, sentence: &str) {
        self.observer.note(sentence);
    }

    fn wants_reports(&self) -> bool {
        self.observer.wants_reports()
    }

    fn report(&mut self, so_far: &BoundRecord) {
        self.observer.report(so_far);
    }

    fn proved(&mut self, lower: Option<CertifiedBound>, upper: Option<CertifiedBound>) {
        if !self.observer.wants_reports() {
            return;
        }
        let upper = upper.map_or(f64::INFINITY, |bound| bound.phi());
        let lower = lower.map(|bound| bound.phi());
        let mut record = self.job.bracket(self.method, Status::TimeLimit, lower, upper);
        record.reason = None;
        let done: Vec<MethodRecord> =
            self.results.iter().map(|(record, _)| record.clone()).chain([record]).collect();
        // What cannot be told now is told at the end.
        let _ = self.job.announce_records(self.summary, done.into_iter(), self.waiting, self.observer);
    }
}
