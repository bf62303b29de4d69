//! Cycle inequalities on the moments of z = (1, x): signs, separation, pruning.
//!
//! Around a cycle of k vertices of z the products `z_p z_{p+1}` multiply to one, so that
//! ```text
//! k - 2 + sum_p s_p z_p z_{p+1} >= 0     for signs with prod_p s_p = (-1)^{k+1}
//! ```
//! holds at every assignment. Three vertices have four of them, which are nonnegative probabilities of a pair when one
//! vertex is the constant ([`quad`]); over all pairs those of triangles imply all others ([`triangle`]), over the edges
//! of a sparse graph longer cycles are needed ([`odd_cycle`]). [`augmented`] has them with multipliers, for
//! first-order methods.

pub(crate) mod augmented;
mod cycle;
mod odd_cycle;
mod pairs;
pub(crate) mod quad;
mod triangle;

pub(crate) use cycle::{Cycle, with_cuts};
pub(crate) use odd_cycle::Network;
pub(crate) use pairs::Pairs;
pub(crate) use triangle::{Triangle, heaviest, violated, violated_until};
