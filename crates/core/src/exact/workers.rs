//! Blocks of states on a fixed number of threads, in a fixed partition.

use super::layout::Layout;
use super::pace::Pace;
use crate::error::{Error, Result};
use crate::observer::Monitor;
use rayon::prelude::*;

/// Blocks per task, as a power of two: at most 2^22 states between two polls of the observer.
pub(crate) const TASK_BITS: usize = 6;

/// Share of the tasks after which the time so far tells how long the rest takes: they are alike.
const TELLING: f64 = 0.02;

/// A pool of `threads` threads, or none when the caller's own is enough.
pub(crate) fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some).map_err(|e| Error::Setting(format!("threads = {threads}: {e}")))
}

/// Runs tasks on a fixed number of threads, polling the observer from the calling thread.
pub(crate) struct Workers<'m, 'o> {
    pool: Option<rayon::ThreadPool>,
    threads: usize,
    monitor: &'m mut Monitor<'o>,
}

impl<'m, 'o> Workers<'m, 'o> {
    pub(crate) fn new(threads: usize, monitor: &'m mut Monitor<'o>) -> Result<Self> {
        Ok(Workers { pool: pool(threads)?, threads, monitor })
    }

    /// Calls `work` on each range of blocks and `combine` on the results, in order.
    pub(crate) fn run<T: Send>(
        &mut self,
        layout: &Layout,
        work: impl Fn(std::ops::Range<u64>) -> T + Sync,
        mut combine: impl FnMut(T),
    ) -> Result<()> {
        let size = 1u64 << TASK_BITS.min(layout.high());
        let tasks = 1u64 << (layout.high() - TASK_BITS.min(layout.high()));
        let range = |task: u64| task * size..(task + 1) * size;
        let pace = Pace::new(TELLING, self.monitor);
        let mut next = 0;
        while next < tasks {
            self.monitor.interrupted().map_or(Ok(()), |stop| Err(Error::Interrupted(stop)))?;
            pace.check(next as f64 / tasks as f64, self.monitor)?;
            let round = next..tasks.min(next + self.threads as u64);
            next = round.end;
            match &self.pool {
                None => round.for_each(|task| combine(work(range(task)))),
                Some(pool) => {
                    let parts: Vec<T> =
                        pool.install(|| round.into_par_iter().map(|task| work(range(task))).collect());
                    parts.into_iter().for_each(&mut combine);
                }
            }
        }
        Ok(())
    }
}
