//! Two methods side by side: mean field, which bounds one side on one thread, and the method with the better other side.

use super::job::{Job, Outcome};
use super::portfolio::Portfolio;
use super::steps::Step;
use crate::aside::Aside;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::observer::{Observer, Silent};
use crate::record::Status;
use crate::settings::{Method, Settings};

/// Mean field has one in so many bytes of the memory, the other method the rest.
const ASIDE_MEMORY: u64 = 4;

/// Splits a round into what comes one after another and the method that may go beside mean field at its end.
pub(super) fn split<'r>(round: &'r [Step], settings: &Settings) -> (&'r [Step], Option<Method>) {
    let can = settings.threads > 1 && settings.ends().is_limited();
    match round {
        // Splitting the state space keeps every thread busy by itself.
        [.., (Method::Branch, _)] => (round, None),
        [before @ .., (Method::MeanField, _), (other, 1.0)] if can => (before, Some(*other)),
        all => (all, None),
    }
}

impl Portfolio {
    /// Mean field on a thread of its own beside `method` on the others, until the time is up.
    pub(super) fn try_both(
        &mut self,
        job: &Job<'_>,
        method: Method,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let ends: Deadline = settings.ends().within(None);
        let mut aside = settings.for_part(&ends, None);
        aside.threads = 1;
        aside.memory_limit = settings.memory_limit / ASIDE_MEMORY;
        let mut rest = settings.clone();
        rest.threads = settings.threads - 1;
        rest.memory_limit = settings.memory_limit - aside.memory_limit;
        let (found, beside) = std::thread::scope(|scope| {
            let beside = Aside::begin(scope, || job.run(Method::MeanField, &aside, &mut Silent));
            let found = self.try_for(job, method, None, &rest, observer);
            let makes_room = !self.last_resort(&[(method, 1.0)]).is_empty();
            let beside = beside.end(|| {
                if found.is_err() || makes_room || self.is_closed(None) || self.is_cancelled(observer) {
                    ends.cancel();
                }
            });
            (found, beside)
        });
        found?;
        let mut beside: Outcome = beside?;
        if beside.0.status == Status::Cancelled && !self.is_cancelled(observer) {
            // Nobody but us stopped it.
            beside.0.status = Status::TimeLimit;
        }
        self.absorb(beside);
        job.announce(&self.summary, &self.results, &[], observer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_field_at_the_end_goes_beside_another_where_there_are_threads_and_time() {
        let round = [(Method::Bethe, 0.1), (Method::MeanField, 0.3), (Method::Combined, 1.0)];
        let settings = Settings::default().with_threads(2).with_time_limit(Some(1.0));
        assert_eq!(split(&round, &settings), (&round[..1], Some(Method::Combined)));
        assert_eq!(split(&round[..2], &settings), (&round[..2], None));
        let branch = [(Method::MeanField, 0.05), (Method::Branch, 1.0)];
        assert_eq!(split(&branch, &settings), (&branch[..], None));
        assert_eq!(split(&round, &settings.clone().with_threads(1)), (&round[..], None));
        assert_eq!(split(&round, &settings.with_time_limit(None)), (&round[..], None));
    }
}
