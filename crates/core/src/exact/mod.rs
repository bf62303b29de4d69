//! Exact inference: the oracles.
//!
//! [`exact`] picks the cheaper of two algorithms: enumeration of all states ([`enumerate`]) or
//! elimination of one spin after another along a good order. Both return log Z with a proved
//! enclosure, the marginals, the entropy and a state of largest f.

mod clique;
mod eliminate;
pub mod enumerate;
mod front;
mod info;
mod layout;
mod moments;
mod order;
mod rounding;
mod sweep;
mod vector;

pub use front::{Algorithm, Cost, Exact, estimate, exact};
pub use info::{Info, Sign, info};

use crate::error::{Error, Result};

/// A pool of `threads` threads, or none when the caller's own is enough.
pub(crate) fn pool(threads: usize) -> Result<Option<rayon::ThreadPool>> {
    if threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Some).map_err(|e| Error::Setting(format!("threads = {threads}: {e}")))
}
