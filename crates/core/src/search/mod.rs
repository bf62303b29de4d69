//! Good assignments: one engine for `map`, for lower bounds and for branching.
//!
//! Annealing runs over single changes, whose best assignments breed the starts of the next generation.

mod anneal;
mod landscape;
mod pairs;
mod population;
mod random;
mod spins;
mod terms;

pub(crate) use population::Effort;
pub(crate) use spins::best_spins;
pub use spins::spins;
