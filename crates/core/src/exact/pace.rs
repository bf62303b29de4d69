//! Whether work whose share that is done is known will end in time: what will not is given up early, while the time left is of
//! use to something else.

use super::cost::time_in_words;
use crate::error::{Error, Result};
use crate::observer::Monitor;
use crate::solution::StopReason;
use std::time::Instant;

/// Seconds after which the speed so far tells something.
const TELLING_SECS: f64 = 0.1;

/// How much longer than the time limit work may be on course to take when it has just begun; less and less after that.
const HOPE: f64 = 0.3;

/// The pace of one sweep over work.
pub(super) struct Pace {
    start: Instant,
    /// Share of the work after which the speed so far tells something: the less, the more alike its pieces are.
    telling: f64,
    /// Seconds that there were at the start.
    left: f64,
}

impl Pace {
    pub(super) fn new(telling: f64, monitor: &Monitor<'_>) -> Self {
        Pace { start: Instant::now(), telling, left: monitor.seconds_left().unwrap_or(f64::INFINITY) }
    }

    /// Gives the work up when it cannot be expected to end in time, with this share of it done.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(super) fn check(&self, done: f64, monitor: &mut Monitor<'_>) -> Result<()> {
        let seconds = self.start.elapsed().as_secs_f64();
        if done < self.telling || seconds < TELLING_SECS || !is_late(seconds, done, self.left) {
            return Ok(());
        }
        let (whole, left) = (time_in_words(seconds / done), time_in_words(self.left));
        monitor.note(&format!("exact inference would take {whole} at this speed and has {left}: given up"));
        Err(Error::Interrupted(StopReason::TimeLimit))
    }
}

fn is_late(seconds: f64, done: f64, left: f64) -> bool {
    seconds / done > (1.0 + HOPE * (1.0 - done)) * left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_course_goes_on_and_what_is_not_does_not() {
        assert!(!is_late(1.0, 0.1, 10.0) && !is_late(9.5, 0.95, 10.0), "on course");
        assert!(!is_late(1.0, 0.1, 9.0), "may still become faster");
        assert!(is_late(9.0, 0.8, 10.0) && is_late(1.0, 0.05, 10.0), "late");
        assert!(!is_late(1e9, 1e-9, f64::INFINITY), "no limit");
    }
}
