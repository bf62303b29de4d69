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

pub(crate) use graph::{Graph, Neighbours, interaction_graph};
pub(crate) use layers::{frontier, reverse_cuthill_mckee};
#[cfg(test)]
pub(crate) use noise::Noise;
pub(crate) use search::{fewest_pairs, search};
