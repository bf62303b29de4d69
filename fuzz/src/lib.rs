//! Fuzzing on stable Rust without tools: targets, a mutator, and a loop that keeps what is new.
//!
//! ```text
//! seeds + kept inputs ── mutate ── target ── kind of outcome: new? keep the input
//!                                        └── panic or hang: the input goes to found/, the test fails
//! ```
//! A target says how an input ended, in words; inputs that end in a way not seen before are mutated further. That
//! stands in for the coverage of branches that an instrumented build would measure.

mod campaign;
mod mutate;
mod targets;

pub use campaign::{Campaign, Summary};
pub use mutate::Mutator;
pub use targets::{TARGETS, Target};
