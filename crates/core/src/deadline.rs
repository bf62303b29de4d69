//! When a run has to end: the one clock behind time limits and cancellation.

use crate::run::cost::Speed;
use crate::solution::StopReason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// An instant after which nothing new is begun, and a flag that ends the work before.
///
/// A deadline is handed down: the command fixes it when the process starts, every method, part and kernel inherits it
/// or a sooner one ([`Deadline::within`]), and cancelling one cancels all that were derived from it. It can be
/// shared between threads.
///
/// ```
/// use std::time::Instant;
/// use zbound::{Deadline, StopReason};
/// let run = Deadline::after(Instant::now(), Some(60.0));
/// let part = run.within(Some(1.0));
/// assert!(part.stop().is_none() && part.seconds_left() <= 1.0);
/// run.cancel();
/// assert_eq!(part.stop(), Some(StopReason::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    at: Option<Instant>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    /// Whether something was not begun for lack of time.
    given_up: AtomicBool,
    parent: Option<Arc<Shared>>,
    /// How fast the machine is, measured once per run.
    speed: OnceLock<Speed>,
}

impl Shared {
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || self.parent.as_ref().is_some_and(|p| p.is_cancelled())
    }

    fn root(&self) -> &Shared {
        self.parent.as_ref().map_or(self, |parent| parent.root())
    }
}

/// Two deadlines are equal when they end at the same instant.
impl PartialEq for Deadline {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

/// Work counts as affordable when it would fit this many times into the time left: the machine may be busier later,
/// and factorisations run slower than the product that was measured.
const CAUTION: f64 = 1.3;

/// Work this short, in seconds, is done even after the deadline: a bound that costs next to nothing is worth it.
const GRACE: f64 = 0.02;

/// Operations that take less than that on any machine: they need no measurement.
const ALWAYS: f64 = 1e6;

impl Deadline {
    /// `seconds` after `start`; none when there is no limit (or one beyond the range of the clock).
    pub fn after(start: Instant, seconds: Option<f64>) -> Self {
        let at = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).and_then(|s| start.checked_add(s));
        Deadline { at, shared: Arc::default() }
    }

    /// This deadline, or `seconds` from now when that is sooner. Cancelling it leaves this one alone.
    #[must_use]
    pub fn within(&self, seconds: Option<f64>) -> Self {
        let own = Deadline::after(Instant::now(), seconds.map(|s| s.max(0.0))).at;
        let at = match (self.at, own) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let parent = Some(Arc::clone(&self.shared));
        Deadline { at, shared: Arc::new(Shared { parent, ..Shared::default() }) }
    }

    /// Asks for an end as soon as possible, on this deadline and all that were derived from it.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Why to stop now, if there is a reason.
    pub fn stop(&self) -> Option<StopReason> {
        if self.shared.is_cancelled() {
            return Some(StopReason::Cancelled);
        }
        let reached =
            self.shared.given_up.load(Ordering::Relaxed) || self.at.is_some_and(|at| Instant::now() >= at);
        reached.then_some(StopReason::TimeLimit)
    }

    /// Whether there is a time limit.
    pub fn is_limited(&self) -> bool {
        self.at.is_some()
    }

    /// Seconds until the deadline, 0 when it has passed, infinite when there is none.
    pub fn seconds_left(&self) -> f64 {
        let left = |at: Instant| at.saturating_duration_since(Instant::now()).as_secs_f64();
        self.at.map_or(f64::INFINITY, left)
    }

    /// How fast the machine is. The first call under a limit measures it, for some milliseconds; without a limit nothing
    /// depends on the machine, so that a run can be repeated on another.
    pub(crate) fn speed(&self) -> Speed {
        if self.is_limited() {
            *self.shared.root().speed.get_or_init(Speed::measured)
        } else {
            Speed::SHIPPED
        }
    }

    /// Seconds that `operations` of dense linear algebra on one thread are expected to take.
    pub(crate) fn dense_seconds(&self, operations: f64) -> f64 {
        self.speed().dense_seconds(operations)
    }

    /// The deadline less the time of an ending of so many operations.
    pub(crate) fn sooner(&self, operations: f64) -> Self {
        if !self.is_limited() || operations < ALWAYS {
            return self.clone();
        }
        self.earlier(CAUTION * self.dense_seconds(operations))
    }

    /// The deadline less so many seconds, which an ending takes; next to nothing is not kept.
    pub(crate) fn earlier(&self, seconds: f64) -> Self {
        let seconds = if seconds > GRACE { seconds } else { 0.0 };
        let seconds = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let moved = |at: Instant| at.checked_sub(seconds).unwrap_or_else(Instant::now);
        Deadline { at: self.at.map(moved), shared: Arc::clone(&self.shared) }
    }

    /// Whether dense linear algebra of so many operations, which has no place to look at the clock, can be expected to
    /// end in time. When not, it is not begun, and the deadline counts as reached from then on.
    pub(crate) fn may_begin(&self, operations: f64) -> bool {
        let stop = self.stop();
        if stop.is_none() && !self.is_limited() {
            return true;
        }
        let left = if stop == Some(StopReason::Cancelled) { 0.0 } else { self.seconds_left() };
        let fits = operations < ALWAYS || CAUTION * self.dense_seconds(operations) <= left.max(GRACE);
        if !fits {
            self.shared.given_up.store(true, Ordering::Relaxed);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_never_outlasts_the_run() {
        let run = Deadline::after(Instant::now(), Some(0.0));
        assert_eq!(run.stop(), Some(StopReason::TimeLimit));
        assert_eq!(run.within(Some(1e9)).stop(), Some(StopReason::TimeLimit));
        assert_eq!(run.within(None).seconds_left(), 0.0);
        assert!(run.may_begin(1.0) && !run.may_begin(1e12));
    }

    #[test]
    fn no_limit_and_a_limit_beyond_the_clock_never_stop() {
        for limit in [None, Some(f64::INFINITY), Some(1e300)] {
            let run = Deadline::after(Instant::now(), limit);
            assert!(run.stop().is_none() && run.may_begin(1e30) && run.seconds_left() == f64::INFINITY);
        }
    }

    #[test]
    fn work_that_cannot_end_in_time_is_not_begun_and_ends_the_part() {
        let run = Deadline::after(Instant::now(), Some(100.0));
        let part = run.within(None);
        assert!(part.may_begin(1e7) && part.stop().is_none());
        assert!(!part.may_begin(1e18));
        assert_eq!((part.stop(), run.stop()), (Some(StopReason::TimeLimit), None));
    }

    #[test]
    fn cancelling_reaches_the_parts_and_not_the_whole() {
        let run = Deadline::default();
        let (part, other) = (run.within(None), run.within(None));
        part.cancel();
        assert_eq!(part.within(None).stop(), Some(StopReason::Cancelled));
        assert!(run.stop().is_none() && other.stop().is_none());
    }
}
