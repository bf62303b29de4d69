//! Proofs about factor tables over any finite domains: nothing is turned into a polynomial, hard zeros stay zeros.
//!
//! The subject is `f(x) = c + sum_k table_k[x]` and the value `eps log Z = eps log sum_x exp(f(x)/eps)` (max f at eps = 0).

mod bethe;
mod blocks;
mod buckets;
mod domain;
mod moments;
mod soft;
mod states;
mod table;
mod weighted;

pub(super) use bethe::bethe;
pub(super) use blocks::{blocks, cost as blocks_cost};
pub(super) use states::{state_product, states};
pub(super) use weighted::{cost as weighted_cost, replay};

/// One state of one variable that factor `factor` alone rules out, given the removals before it: every entry of that
/// factor with the variable in this state, all other variables in their remaining states, is `-inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The variable, one of the factor's scope.
    pub variable: u32,
    /// The state removed.
    pub state: u32,
    /// The factor that is zero whenever the variable is in this state.
    pub factor: u32,
}

/// Sums out all variables, each bucket split into weighted mini-buckets (Hoelder's inequality, or the reverse one).
///
/// What a mini-bucket speaks of is not stored: it is the union of the scopes of what is inside (factors, messages
/// received, shifts) and the bucket's variable. Variables with one remaining state count for nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedElimination {
    /// Replayed in order before anything else.
    pub removals: Vec<Removal>,
    /// All variables, each once.
    pub order: Vec<u32>,
    /// Grouped by position in `order`: positions do not decrease and every position has at least one.
    pub mini_buckets: Vec<MiniBucket>,
    /// Per factor: the mini-bucket that holds it, no later than its first variable in the order.
    pub factor_home: Vec<u32>,
    /// Tables added to one mini-bucket and subtracted from another: they cancel exactly.
    pub shifts: Vec<Shift>,
}

/// A part of a bucket, which sends `W log sum_{x_v} exp(theta / W)` with `W = weight * eps`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MiniBucket {
    /// Position in the order of the variable v that is summed out.
    pub position: u32,
    /// Upper bounds: positive; the largest of a bucket is raised to the remainder when the sum is short of 1.
    /// Lower bounds: exactly one of a bucket is positive and is replaced by the remainder.
    pub weight: f64,
    /// The mini-bucket that receives the message; `None` when the message is a number.
    pub message_home: Option<u32>,
}

/// A table that moves from one mini-bucket to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The mini-bucket that gains the table.
    pub to: u32,
    /// The mini-bucket that loses it.
    pub from: u32,
    /// Variables of the table, none eliminated before either mini-bucket.
    pub scope: Vec<u32>,
    /// Finite values, first variable of the scope fastest, over the remaining states in increasing order.
    pub table: Vec<f64>,
}
