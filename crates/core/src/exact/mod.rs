//! Exact inference: the oracles.

pub mod enumerate;
mod layout;
mod moments;
mod rounding;
mod vector;

use crate::error::{Error, Result};

/// A pool of `threads` threads, or none when the caller's own is enough.
pub(crate) fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some).map_err(|e| Error::Setting(format!("threads = {threads}: {e}")))
}
