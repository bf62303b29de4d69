//! Work on several threads whose results do not depend on how many there are: what one thread does is cut in pieces of a
//! fixed size, and every piece is computed in a fixed order.

use crate::error::Result;
use crate::exact::pool;
use rayon::ThreadPool;
use rayon::prelude::*;

/// Threads, or none but the caller's.
#[derive(Default)]
pub(super) struct Team(Option<ThreadPool>);

/// Items below which another thread is not worth waking.
const FEW: usize = 256;

impl Team {
    /// # Errors
    /// When threads cannot be started.
    pub(super) fn new(threads: usize) -> Result<Self> {
        pool(threads).map(Team)
    }

    /// Both results, computed at the same time.
    pub(super) fn join<A: Send, B: Send>(
        &self,
        a: impl FnOnce() -> A + Send,
        b: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match &self.0 {
            Some(pool) => pool.install(|| rayon::join(a, b)),
            None => (a(), b()),
        }
    }

    /// `f(0), f(1), ..`.
    pub(super) fn map<T: Send>(&self, count: usize, f: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        match &self.0 {
            Some(pool) if count > FEW => {
                pool.install(|| (0..count).into_par_iter().with_min_len(FEW / 4).map(f).collect())
            }
            _ => (0..count).map(f).collect(),
        }
    }

    /// Calls `f` with every piece of `size` numbers and its place in the order.
    pub(super) fn pieces(&self, data: &mut [f64], size: usize, f: impl Fn(usize, &mut [f64]) + Sync + Send) {
        match &self.0 {
            Some(pool) if data.len() > size => {
                pool.install(|| data.par_chunks_mut(size).enumerate().for_each(|(k, piece)| f(k, piece)));
            }
            _ => data.chunks_mut(size.max(1)).enumerate().for_each(|(k, piece)| f(k, piece)),
        }
    }
}
