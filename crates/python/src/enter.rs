//! The one way into the library: leaves the interpreter, polls for signals, catches panics.

use crate::errors;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use zbound::{Flow, Method, Observer, Progress, Result};

/// Time between two looks at pending signals.
const POLL: Duration = Duration::from_millis(50);

/// Stack of the thread that does long work; only touched pages cost memory.
const STACK_BYTES: usize = 64 << 20;

type Caught<T> = std::result::Result<Result<T>, Box<dyn Any + Send>>;

/// Runs work that ends soon without the interpreter.
pub(crate) fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let caught = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    settle(py, caught)
}

fn settle<T>(py: Python<'_>, caught: Caught<T>) -> PyResult<T> {
    match caught {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(errors::to_py(py, error)),
        Err(panic) => Err(errors::panicked(py, panic.as_ref())),
    }
}

/// Panics inside the library, for the test that no panic escapes.
#[pyfunction(name = "_panic")]
pub(crate) fn panic_for_tests(py: Python<'_>, is_long: bool) -> PyResult<()> {
    let watch = Watch { callback: None, is_long, threads: 1 };
    watch.run(py, |_| panic!("asked for"))
}

/// How to run a solve.
pub(crate) struct Watch {
    /// Called with `(method, iteration, lower, upper, seconds)`; returning `False` stops the solve.
    pub(crate) callback: Option<Py<PyAny>>,
    /// Whether one step may outlast the patience of someone who pressed Ctrl-C.
    pub(crate) is_long: bool,
    /// Threads of the solve.
    pub(crate) threads: usize,
}

impl Watch {
    /// Runs `work` under an observer. Short work runs on the caller's thread, because starting
    /// another costs more than the work; long work gets a thread of its own, so that the caller can
    /// answer a signal whatever the step under way.
    pub(crate) fn run<T, F>(self, py: Python<'_>, work: F) -> PyResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Observer) -> Result<T> + Send + 'static,
    {
        if self.is_long || self.threads > 1 { self.run_apart(py, work) } else { self.run_here(py, work) }
    }

    fn run_here<T, F>(self, py: Python<'_>, work: F) -> PyResult<T>
    where
        T: Send,
        F: FnOnce(&mut dyn Observer) -> Result<T> + Send,
    {
        let mut here =
            Here { callback: self.callback, last: Instant::now(), method: None, fresh: true, error: None };
        let caught = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(&mut here))));
        match here.error {
            Some(error) => Err(error),
            None => settle(py, caught),
        }
    }

    fn run_apart<T, F>(self, py: Python<'_>, work: F) -> PyResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Observer) -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let relay = Relay {
            reports: self.callback.is_some().then(|| sender.clone()),
            stop: Arc::clone(&stop),
            last: None,
            method: None,
        };
        let threads = self.threads;
        let body = move || {
            let caught = catch_unwind(AssertUnwindSafe(move || in_own_pool(threads, relay, work)));
            // The receiver is gone when the caller left after a signal.
            let _ = sender.send(Message::Done(caught));
        };
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body)?;
        wait(py, receiver, &stop, self.callback.as_ref())
    }
}

/// Parallel parts run in a pool that ends with the solve: a process that forks later has no dead threads.
fn in_own_pool<T: Send>(
    threads: usize,
    mut relay: Relay<T>,
    work: impl FnOnce(&mut dyn Observer) -> Result<T> + Send,
) -> Result<T> {
    if threads <= 1 {
        return work(&mut relay);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| zbound::Error::Setting(format!("threads = {threads}: {e}")))?;
    pool.install(move || work(&mut relay))
}

enum Message<T> {
    Report(Option<Method>, Progress),
    Done(Caught<T>),
}

fn wait<T: Send>(
    py: Python<'_>,
    mut receiver: Receiver<Message<T>>,
    stop: &AtomicBool,
    callback: Option<&Py<PyAny>>,
) -> PyResult<T> {
    loop {
        let message;
        (receiver, message) = py.detach(move || {
            let message = receiver.recv_timeout(POLL);
            (receiver, message)
        });
        let polled = match (message, callback) {
            (Ok(Message::Done(caught)), _) => return settle(py, caught),
            (Ok(Message::Report(method, progress)), Some(callback)) => {
                report(py, callback, method, &progress)
            }
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Err(errors::named(py, "InternalError", "the solve ended without an answer".into()));
            }
            _ => Ok(true),
        };
        match polled.and_then(|go_on| py.check_signals().map(|()| go_on)) {
            Ok(true) => {}
            Ok(false) => stop.store(true, Ordering::Relaxed),
            Err(error) => {
                // The thread stops by itself at its next look at the flag; it never calls Python.
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
    }
}

/// Whether to go on.
fn report(py: Python<'_>, callback: &Py<PyAny>, method: Option<Method>, p: &Progress) -> PyResult<bool> {
    let name = method.map(Method::name);
    let answer = callback.bind(py).call1((name, p.iteration, p.lower, p.upper, p.seconds))?;
    Ok(!answer.extract::<bool>().is_ok_and(|go_on| !go_on))
}

/// Observer on the caller's thread.
struct Here {
    callback: Option<Py<PyAny>>,
    last: Instant,
    method: Option<Method>,
    fresh: bool,
    error: Option<PyErr>,
}

impl Observer for Here {
    fn observe(&mut self, progress: &Progress) -> Flow {
        if self.error.is_some() {
            return Flow::Stop;
        }
        let first = self.fresh && self.callback.is_some();
        if !first && self.last.elapsed() < POLL {
            return Flow::Continue;
        }
        (self.last, self.fresh) = (Instant::now(), false);
        let polled = Python::try_attach(|py| {
            py.check_signals()?;
            self.callback.as_ref().map_or(Ok(true), |callback| report(py, callback, self.method, progress))
        });
        match polled {
            Some(Ok(true)) => Flow::Continue,
            Some(Err(error)) => {
                self.error = Some(error);
                Flow::Stop
            }
            Some(Ok(false)) | None => Flow::Stop,
        }
    }

    fn begin(&mut self, method: Method) {
        (self.method, self.fresh) = (Some(method), true);
    }
}

/// Observer on another thread: passes progress on, obeys the flag, never enters Python.
struct Relay<T> {
    reports: Option<Sender<Message<T>>>,
    stop: Arc<AtomicBool>,
    last: Option<Instant>,
    method: Option<Method>,
}

impl<T> Observer for Relay<T> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        if self.stop.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        if let Some(reports) = &self.reports
            && self.last.is_none_or(|last| last.elapsed() >= POLL)
        {
            self.last = Some(Instant::now());
            if reports.send(Message::Report(self.method, *progress)).is_err() {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    fn begin(&mut self, method: Method) {
        (self.method, self.last) = (Some(method), None);
    }
}
