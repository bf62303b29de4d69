//! The function f: pairwise models, polynomials, factor tables, and the model as loaded.

mod collect;
mod factors;
pub mod generate;
mod ising;
mod loaded;
mod polynomial;
mod raise;
mod varset;

pub use factors::{FactorModel, FactorRef};
pub use ising::{Adjacency, Ising};
pub use loaded::{Alphabet, Model, Source, Units};
pub use polynomial::Polynomial;
pub use varset::VarSet;
