//! Work on a thread of its own, waited for with an eye on the user.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

/// Time between two looks around while the work goes on.
const LOOK: Duration = Duration::from_millis(20);

/// Work that has begun; stopping it is the business of the deadline it was handed.
pub(crate) struct Aside<'s, T> {
    worker: ScopedJoinHandle<'s, T>,
    done: Receiver<()>,
}

impl<'s, T: Send + 's> Aside<'s, T> {
    /// Begins `work`.
    pub(crate) fn begin(scope: &'s Scope<'s, '_>, work: impl FnOnce() -> T + Send + 's) -> Self {
        let (end, done) = mpsc::channel();
        let worker = scope.spawn(move || {
            // The other side waits for this to be dropped, which a panic does too.
            let _end: mpsc::Sender<()> = end;
            work()
        });
        Aside { worker, done }
    }

    /// Waits for it, looking around all the while.
    pub(crate) fn end(self, mut look: impl FnMut()) -> T {
        while let Err(RecvTimeoutError::Timeout) = self.done.recv_timeout(LOOK) {
            look();
        }
        self.worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_around_until_the_work_is_done() {
        let (mut looks, (go, told)) = (0, mpsc::channel());
        let answer = std::thread::scope(|scope| {
            let work = Aside::begin(scope, move || told.recv().map(|()| 42));
            work.end(|| {
                looks += 1;
                let _ = go.send(());
            })
        });
        assert_eq!((answer, looks > 0), (Ok(42), true));
    }

    #[test]
    #[should_panic(expected = "on its own thread")]
    fn a_panic_comes_back() {
        std::thread::scope(|scope| Aside::begin(scope, || panic!("on its own thread")).end(|| ()));
    }
}
