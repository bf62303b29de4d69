//! Exact inference: the oracles.
//!
//! [`exact`] picks the cheaper of two algorithms: enumeration of all states ([`enumerate`]) or
//! elimination of one variable after another along a good order. Both return log Z with a proved
//! enclosure, the marginals, the entropy and a state of largest f; [`exact_with`] does less when less is
//! wanted, and [`sample`] draws from the law itself.

mod answer;
mod best;
mod choose;
mod descend;
mod eliminate;
mod entries;
pub mod enumerate;
mod front;
mod info;
mod laws;
pub(crate) mod layers;
mod layout;
mod maximum;
mod moments;
mod peak;
mod proof;
pub(crate) mod rounding;
mod sample;
mod slice;
pub(crate) mod vector;
mod workers;

pub use answer::Exact;
pub(crate) use choose::Estimator;
pub use choose::{Algorithm, Cost, Wanted, estimate, estimate_for};
pub(crate) use entries::entry_bracket;
pub(crate) use front::{Prepared, Sampler};
pub use front::{exact, exact_with, sample};
pub use info::{Info, Sign, info};
pub(crate) use laws::{Shares, shares, tightened};
pub(crate) use peak::PreparedPeak;
pub(crate) use proof::proof;
pub(crate) use workers::pool;
