//! The promise of a command: an answer by the time limit, or within two seconds of a signal.
//!
//! The work runs on a thread of its own and looks at the deadline as often as it can. The thread that started waits
//! for it; should a long step outlast the limit, the best document posted so far is the answer, and the process ends
//! without waiting for the step.

use crate::limits::LimitArgs;
use crate::progress::Watch;
use crate::signals::Signals;
use anyhow::{Context as _, Result, bail};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zbound::{Deadline, Settings};

/// Time between two looks at signals and the clock.
const POLL: Duration = Duration::from_millis(20);

/// Overshoot that the interface allows, in seconds and as a share of the limit.
const ALLOWED: (f64, f64) = (0.5, 0.1);

/// Share of that overshoot after which the work is left: printing takes the rest.
const LEAVE: f64 = 0.5;

/// The same after a signal, in seconds: when there is a document to print, and when only the work itself can give one.
const LEAVE_AFTER_SIGNAL: (f64, f64) = (1.0, 1.7);

/// Stack of the thread that works; only touched pages cost memory.
const STACK_BYTES: usize = 256 << 20;

/// A command under way.
pub(crate) struct Run {
    start: Instant,
    limit: Option<f64>,
    signals: Signals,
    /// Settings with all limits of the run.
    pub(crate) settings: Settings,
}

/// How supervised work ended.
pub(crate) enum Ended<T, P> {
    /// By itself.
    Done(T),
    /// It was left, with the last document it posted.
    Left(P),
    /// It was left before it had anything to say.
    Nothing,
}

/// Where work posts the document that is the answer if it has to be left.
pub(crate) struct Board<P>(Arc<Mutex<Option<P>>>);

impl<P> Clone for Board<P> {
    fn clone(&self) -> Self {
        Board(Arc::clone(&self.0))
    }
}

impl<P> Board<P> {
    /// Replaces the document.
    pub(crate) fn post(&self, document: P) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(document);
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn take(&self) -> Option<P> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Run {
    /// A run that began at `start`, the first instant of the process.
    ///
    /// # Errors
    /// A limit outside its range; signals that cannot be taken over.
    pub(crate) fn new(start: Instant, limits: &LimitArgs) -> Result<Self> {
        let settings = limits.settings(start)?;
        Ok(Run { start, limit: limits.time_limit, signals: Signals::take_over()?, settings })
    }

    /// The exit code, `code` unless a signal asks for its own.
    pub(crate) fn exit_code(&self, code: u8) -> u8 {
        self.signals.exit_code().unwrap_or(code)
    }

    /// Whether a signal was caught.
    pub(crate) fn is_stopped(&self) -> bool {
        self.signals.is_caught()
    }

    /// Runs `work` and waits for it, but not past the limit or a signal; before anything is posted, only a signal ends
    /// the wait, because a file has to be read before anything can be said about it.
    ///
    /// # Errors
    /// Those of the work.
    pub(crate) fn supervise<T, P>(
        &self,
        work: impl FnOnce(Watch, Board<P>) -> Result<T> + Send + 'static,
    ) -> Result<Ended<T, P>>
    where
        T: Send + 'static,
        P: Send + 'static,
    {
        let board = Board(Arc::new(Mutex::new(None)));
        let watch = Watch::new(self.start, self.limit);
        let bar = watch.bar();
        let (sender, receiver) = channel();
        let (own, deadline) = (board.clone(), self.settings.deadline.clone());
        let body = move || {
            // Nobody listens when the work was left.
            let _ = sender.send(work(watch, own));
        };
        let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body);
        let worker = worker.context("cannot start the working thread")?;
        let ended = loop {
            match receiver.recv_timeout(POLL) {
                Ok(answer) => break Ended::Done(answer?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => bail!("the work ended without an answer"),
                },
            }
            if let Some(ended) = self.leave(&board, &deadline) {
                break ended;
            }
        };
        bar.close();
        Ok(ended)
    }

    /// What there is when the work has to be left now.
    fn leave<T, P>(&self, board: &Board<P>, deadline: &Deadline) -> Option<Ended<T, P>> {
        let seconds = self.start.elapsed().as_secs_f64();
        if let Some(since) = self.signals.seconds_since_caught() {
            deadline.cancel();
            let patience = if board.is_empty() { LEAVE_AFTER_SIGNAL.1 } else { LEAVE_AFTER_SIGNAL.0 };
            return (since > patience).then(|| board.take().map_or(Ended::Nothing, Ended::Left));
        }
        let late = |limit: f64| seconds > limit + LEAVE * f64::max(ALLOWED.0, ALLOWED.1 * limit);
        if self.limit.is_some_and(late) { board.take().map(Ended::Left) } else { None }
    }
}
