//! Exact inference: the oracles.
//!
//! [`exact`] picks the cheaper of two algorithms: enumeration of all states ([`enumerate`]) or
//! elimination of one spin after another along a good order. Both return log Z with a proved
//! enclosure, the marginals, the entropy and a state of largest f.

mod clique;
mod eliminate;
pub mod entries;
mod enumerate;
mod front;
mod info;
mod layout;
mod maximum;
mod moments;
pub(crate) mod order;
mod rounding;
mod sweep;
mod vector;
mod workers;

pub(crate) use entries::entry_bracket;
pub use front::{Algorithm, Cost, Exact, estimate, exact};
pub use info::{Info, Sign, info};
pub(crate) use workers::pool;
