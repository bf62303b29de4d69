//! Good assignments: one engine for `map`, for lower bounds and for branching.
//!
//! Annealing runs over changes of single variables; their best assignments breed the starts of the next
//! generation. [`spins`] takes polynomials, [`search()`] factor tables with any number of states and hard zeros.

mod anneal;
mod landscape;
mod pairs;
mod population;
mod random;
mod spins;
mod states;
mod tables;
mod terms;

pub(crate) use population::Effort;
pub(crate) use spins::best_spins;
pub use spins::spins;
pub use states::{Found, search};
pub(crate) use states::{best_states, modes};
