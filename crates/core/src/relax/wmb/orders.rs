//! Elimination orders to try.

use super::greedy;
use crate::model::FactorModel;
use crate::tables::order::{Graph, search};

/// Variables above which the search for exact elimination is skipped: it would not find one that small tables can follow.
const LARGE: usize = 30_000;

/// Different orders, the most promising first; `limit` is the size of tables they are for.
pub(super) fn candidates(
    model: &FactorModel,
    left: &[Vec<u32>],
    limit: f64,
    seed: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Vec<Vec<u32>> {
    let mut orders = vec![greedy::order(model, left, limit, seed)];
    if model.d() <= LARGE {
        orders.push(search(&graph(model, left), seed, stop).order);
    }
    orders
}

/// `order` with the variables that have one state left at its end: a verifier wants tables no later than the first of
/// all their variables, and these are in no table here.
pub(super) fn open_first(order: &[u32], left: &[Vec<u32>]) -> Vec<u32> {
    let is_open = |v: &u32| left[*v as usize].len() > 1;
    let (mut open, rest): (Vec<u32>, Vec<u32>) = order.iter().partition(|v| is_open(v));
    open.extend(rest);
    open
}

/// The graph that joins variables of a common factor that both have a choice left.
fn graph(model: &FactorModel, left: &[Vec<u32>]) -> Graph {
    let mut neighbours = vec![Vec::new(); model.d()];
    let is_open = |v: u32| left[v as usize].len() > 1;
    for factor in model.factors() {
        for &i in factor.scope.iter().filter(|&&i| is_open(i)) {
            neighbours[i as usize].extend(factor.scope.iter().copied().filter(|&j| j != i && is_open(j)));
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    Graph { neighbours, bits: left.iter().map(|states| (states.len() as f64).log2()).collect() }
}
