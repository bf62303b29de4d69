//! Elimination orders.
//!
//! The price of an order is the number of entries of all its cliques, `sum_v prod_{u in clique(v)} q_u`.

mod bisect;
mod core;
mod dissect;
mod graph;
mod layers;
mod noise;
mod search;
mod sparse;
mod windows;

pub(crate) use graph::{Graph, interaction_graph};
pub(crate) use layers::frontier;
pub(crate) use search::{fewest_pairs, search};
