//! Exact inference: the oracles.
//!
//! [`exact`] picks the cheaper of two algorithms: enumeration of all states ([`enumerate`]) or
//! elimination of one variable after another along a good order. Both return log Z with a proved
//! enclosure, the marginals, the entropy and a state of largest f; [`exact_with`] does less when less is
//! wanted, and [`sample`] draws from the law itself.

mod answer;
mod best;
mod checks;
mod choose;
mod cost;
pub(crate) mod counting;
mod descend;
mod eliminate;
mod entries;
pub mod enumerate;
mod front;
mod info;
mod join;
mod laws;
pub(crate) mod layers;
mod layout;
mod maximum;
mod moments;
mod pace;
mod peak;
mod proof;
pub(crate) mod rounding;
mod sample;
mod sampler;
mod scaled;
mod slice;
mod tasks;
pub(crate) mod trim;
pub(crate) mod vector;
mod workers;

pub use answer::Exact;
pub(crate) use choose::Estimator;
pub use choose::{estimate, estimate_both, estimate_for};
pub use cost::{Algorithm, Cost, Wanted};
pub(crate) use cost::{memory_in_words, time_in_words};
pub(crate) use eliminate::Elimination;
pub(crate) use entries::entry_bracket;
pub(crate) use front::Prepared;
pub use front::{exact, exact_with};
pub use info::{Info, Sign, info};
pub(crate) use laws::{Shares, shares, tightened};
pub(crate) use peak::PreparedPeak;
pub(crate) use proof::proof;
pub(crate) use sampler::Sampler;
pub use sampler::sample;
pub use tasks::{Slices, slice, slices, sum};
pub(crate) use workers::pool;
