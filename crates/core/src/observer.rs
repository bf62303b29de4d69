//! One way to watch, limit and cancel any solve.

use crate::certify::CertifiedBound;
use crate::deadline::Deadline;
use crate::record::BoundRecord;
use crate::settings::{Method, Settings};
use crate::solution::{StopReason, TracePoint};
use std::time::Instant;

/// Sees every iteration of every method and may stop it.
///
/// A closure `|progress: &Progress| Flow::Continue` is an observer.
pub trait Observer {
    /// Called at least once per outer iteration and before long steps.
    fn observe(&mut self, progress: &Progress) -> Flow;

    /// Called by [`crate::run::bound`] before each method.
    fn begin(&mut self, _method: Method) {}

    /// Whether [`Observer::forecast`] is worth a small estimate.
    fn wants_forecast(&self) -> bool {
        false
    }

    /// Called after [`Observer::begin`] with the seconds that the method is expected to take, where that is known.
    fn forecast(&mut self, _seconds: f64) {}

    /// Called by runs of many parts with the share of the whole that is done.
    fn share(&mut self, _done: f64) {}

    /// Called with a sentence for people, such as how long the work that begins now is expected to take.
    fn note(&mut self, _sentence: &str) {}

    /// Called by methods that have proved something and go on: what they have proved so far, whatever comes.
    fn proved(&mut self, _lower: Option<CertifiedBound>, _upper: Option<CertifiedBound>) {}

    /// Whether [`Observer::report`] is to be called.
    fn wants_reports(&self) -> bool {
        false
    }

    /// Called by [`crate::run::bound`] when the model is ready and after each method, with the document that would be
    /// the answer if the run had to end now: what is proved by then is not lost in the middle of the next method.
    fn report(&mut self, _so_far: &BoundRecord) {}
}

/// What the solver is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop at once with what is there: [`StopReason::Cancelled`].
    Stop,
}

/// State of a running solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Iterations of the outermost loop so far.
    pub iteration: usize,
    /// Best primal value so far (on phi), NaN when there is none yet.
    pub lower: f64,
    /// Best dual value so far (on phi, not yet certified), NaN when there is none yet.
    pub upper: f64,
    /// Seconds since the solve began.
    pub seconds: f64,
}

impl Progress {
    /// Between methods, `seconds` after the start: nothing is known yet.
    pub fn at(seconds: f64) -> Self {
        Progress { iteration: 0, lower: f64::NAN, upper: f64::NAN, seconds }
    }
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _: &Progress) -> Flow {
        Flow::Continue
    }
}

impl<F: FnMut(&Progress) -> Flow> Observer for F {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self(progress)
    }
}

/// The solver's side of an observer: clock, limits, counters and trace in one place.
pub(crate) struct Monitor<'a> {
    observer: &'a mut dyn Observer,
    start: Instant,
    /// When everything has to be done, and when the ending has to begin.
    whole: Deadline,
    deadline: Deadline,
    max_iterations: usize,
    keep_trace: bool,
    last: (f64, f64),
    /// When the last iteration ended.
    lap: Instant,
    pub(crate) iterations: usize,
    pub(crate) eigendecompositions: usize,
    pub(crate) trace: Vec<TracePoint>,
}

/// Iterations shorter than this, in seconds, are not foreseen to miss the deadline: the overshoot is theirs at most.
const SHORT_ITERATION: f64 = 0.02;

impl<'a> Monitor<'a> {
    /// Starts the clock; `default_iterations` caps the loop unless the settings do.
    pub(crate) fn new(
        settings: &Settings,
        default_iterations: usize,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (start, whole) = (Instant::now(), settings.ends());
        Monitor {
            observer,
            start,
            deadline: whole.clone(),
            whole,
            max_iterations: settings.max_iterations.unwrap_or(default_iterations),
            keep_trace: settings.trace,
            last: (f64::NAN, f64::NAN),
            lap: start,
            iterations: 0,
            eigendecompositions: 0,
            trace: Vec::new(),
        }
    }

    /// Ends an iteration with primal value `lower` and dual value `upper`; says whether to stop: also when another
    /// iteration as long as this one would miss the deadline.
    pub(crate) fn iteration(&mut self, lower: f64, upper: f64) -> Option<StopReason> {
        let now = Instant::now();
        let lap = now.duration_since(std::mem::replace(&mut self.lap, now)).as_secs_f64();
        let late = lap > SHORT_ITERATION && self.deadline.seconds_left() < lap;
        self.round(lower, upper).or(late.then_some(StopReason::TimeLimit))
    }

    /// As [`Monitor::iteration`], for work that can be cut short: it stops when the time is up, and not before.
    pub(crate) fn round(&mut self, lower: f64, upper: f64) -> Option<StopReason> {
        self.iterations += 1;
        self.last = (lower, upper);
        if self.keep_trace {
            let eigendecompositions = self.eigendecompositions;
            self.trace.push(TracePoint {
                iteration: self.iterations,
                lower,
                upper,
                seconds: self.seconds(),
                eigendecompositions,
            });
        }
        let last = (self.iterations >= self.max_iterations).then_some(StopReason::MaxIterations);
        self.interrupted().or(last)
    }

    /// Polls for cancellation and the time limit inside long steps.
    pub(crate) fn interrupted(&mut self) -> Option<StopReason> {
        let (lower, upper) = self.last;
        let progress = Progress { iteration: self.iterations, lower, upper, seconds: self.seconds() };
        if self.observer.observe(&progress) == Flow::Stop {
            self.deadline.cancel();
        }
        self.deadline.stop()
    }

    /// Tells the observer a sentence for people.
    pub(crate) fn note(&mut self, sentence: &str) {
        self.observer.note(sentence);
    }

    /// Tells the observer what is proved by now.
    pub(crate) fn proved(&mut self, lower: Option<CertifiedBound>, upper: Option<CertifiedBound>) {
        self.observer.proved(lower, upper);
    }

    /// An observer for a part of this solve: the part sees the cancellation of the whole.
    pub(crate) fn relay(&mut self) -> impl Observer {
        |_: &Progress| match self.interrupted() {
            Some(StopReason::Cancelled) => Flow::Stop,
            _ => Flow::Continue,
        }
    }

    /// Allows `more` iterations to another algorithm that takes over, within the user's limit.
    pub(crate) fn allow(&mut self, more: usize, settings: &Settings) {
        self.max_iterations = settings.max_iterations.unwrap_or(self.iterations + more);
    }

    /// Keeps time for an ending of so many operations of dense linear algebra: the deadline moves that much closer.
    pub(crate) fn reserve(&mut self, operations: f64) {
        self.deadline = self.whole.sooner(operations);
    }

    /// Keeps so many seconds for the ending, in place of what was kept before.
    pub(crate) fn reserve_seconds(&mut self, seconds: f64) {
        self.deadline = self.whole.earlier(seconds);
    }

    /// When the solve has to end.
    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds left under the time limit, if there is one.
    pub(crate) fn seconds_left(&self) -> Option<f64> {
        self.deadline.is_limited().then(|| self.deadline.seconds_left())
    }
}
