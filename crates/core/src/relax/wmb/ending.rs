//! Verifying what is best, during a run and at its end.

use super::solve::{Check, Run};
use super::track::Best;
use crate::solution::StopReason;

/// Seconds that a verification may take after a cancellation, or after the limit.
const PROMPT_SECS: f64 = 1.0;

/// Times longer than there is time that a verification may be expected to take.
const LATE: f64 = 1.5;

/// Passes are verified once they have taken so many times as long as that, and so many seconds.
const DUE: f64 = 3.0;
const DUE_SECS: f64 = 1.0;

/// Verification may take so many times as long an entry as it did when it was timed, and so many where the tables were so much smaller
/// that they were in the cache.
const CAUTION: f64 = 1.3;
const SLOWER: f64 = 2.0;
const CACHED: f64 = 3e6;

impl Run<'_, '_, '_> {
    /// Ends the run: verifies what is best, if there is time for it.
    pub(super) fn finish(&mut self, stop: StopReason, check: &mut Check<'_>) -> StopReason {
        let sides = [&self.found.upper, &self.found.lower].into_iter().zip(&self.confirmed);
        let news = sides.filter_map(|(best, confirmed)| {
            best.as_ref()
                .filter(|best| *confirmed != Some(best.value))
                .map(|best| best.layout.structure.work())
        });
        let seconds =
            if self.are_at_once() { news.fold(0.0, f64::max) } else { news.sum::<f64>() } * self.verify_secs;
        let is_proved = self.confirmed.iter().any(Option::is_some);
        let left = self.monitor.seconds_left().filter(|_| is_proved && !self.wishes.is_counted);
        let is_late = left.is_some_and(|left| seconds > LATE * left.max(0.0) + PROMPT_SECS);
        // Who cancels does not wait for a long verification, and one that comes too late is lost: what was proved before
        // stands.
        if !(is_late || stop == StopReason::Cancelled && seconds > PROMPT_SECS) {
            self.confirm(check);
        }
        stop
    }

    /// Seconds after the start when the verification of a stage has to begin in order to end in time.
    pub(super) fn verification_start(&self) -> f64 {
        if self.wishes.is_counted {
            return f64::INFINITY;
        }
        let caution = if self.verified.is_infinite() {
            // The shipped rate is cautious enough.
            1.0
        } else if self.verified >= self.reached.min(CACHED) {
            CAUTION
        } else {
            SLOWER
        };
        let seconds = self.verifications() * self.verify_secs * self.reached;
        self.monitor.seconds() + self.seconds_left() - caution * seconds
    }

    /// Verifies what is best if the passes since the last time took several times as long, and as many are to come: on very large models
    /// a stage takes most of the time there is.
    pub(super) fn confirm_if_due(&mut self, check: &mut Check<'_>) {
        let now = self.monitor.seconds();
        let due = DUE_SECS.max(DUE * self.verifications() * self.verify_secs * self.reached);
        if !self.wishes.is_counted && now - self.confirmed_at > due && self.until - now > due {
            self.confirm(check);
            self.until = self.verification_start();
        }
    }

    /// Verifies what is best and learns how long that takes.
    pub(super) fn confirm(&mut self, check: &mut Check<'_>) {
        let start = self.monitor.seconds();
        let sides = [&self.found.upper, &self.found.lower].into_iter().zip(&mut self.confirmed);
        let news: Vec<Option<&Best>> = sides
            .map(|(best, confirmed)| {
                let best = best.as_ref().filter(|best| *confirmed != Some(best.value))?;
                *confirmed = Some(best.value);
                Some(best)
            })
            .collect();
        let work: Vec<f64> = news.iter().flatten().map(|best| best.layout.structure.work()).collect();
        if !work.is_empty() {
            self.proved = check([news[0], news[1]], &self.found.removals);
            let [upper, lower] = self.proved;
            self.monitor.proved(lower, upper);
        }
        self.confirmed_at = self.monitor.seconds();
        let seconds = self.confirmed_at - start;
        // Two sides at once take as long as the larger.
        let entries: f64 =
            if self.are_at_once() { work.iter().fold(0.0, |m, w| m.max(*w)) } else { work.iter().sum() };
        if entries > 1e5 && !self.wishes.is_counted {
            (self.verify_secs, self.verified) = (seconds / entries, entries);
        }
    }
}
