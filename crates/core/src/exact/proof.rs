//! Exact elimination as data for a certificate: one mini-bucket of weight one per variable.

use crate::certify::{MiniBucket, WeightedElimination};
use crate::model::FactorModel;
use crate::tables::propagate::Propagator;

/// Elimination of all variables along `order`, states that hard zeros rule out removed beforehand: a proof of
/// log Z from above and from below.
///
/// **Cost** the symbolic elimination.
pub(crate) fn proof(model: &FactorModel, order: &[u32]) -> WeightedElimination {
    let mut propagator = Propagator::new(model, model.cardinalities());
    let _ = propagator.run(u64::MAX);
    let mut place = vec![0u32; model.d()];
    order.iter().enumerate().for_each(|(p, &v)| place[v as usize] = p as u32);
    let mut scopes: Vec<Vec<u32>> = vec![Vec::new(); model.d()];
    let mut factor_home = Vec::with_capacity(model.len());
    for factor in model.factors() {
        // A factor without variables is a number, wherever it stands.
        let home = factor.scope.iter().map(|&v| place[v as usize]).min().unwrap_or(0);
        let several = factor.scope.iter().filter(|&&v| propagator.left(v as usize) > 1);
        if let Some(scope) = scopes.get_mut(home as usize) {
            scope.extend(several.map(|&v| place[v as usize]));
        }
        factor_home.push(home);
    }
    let mut mini_buckets = Vec::with_capacity(model.d());
    for p in 0..model.d() {
        let mut scope = std::mem::take(&mut scopes[p]);
        scope.sort_unstable();
        scope.dedup();
        scope.retain(|&q| q as usize > p);
        let message_home = scope.first().copied();
        mini_buckets.push(MiniBucket { position: p as u32, weight: 1.0, message_home });
        if let Some(home) = message_home {
            scopes[home as usize].extend(scope);
        }
    }
    let (removals, order) = (propagator.trail().to_vec(), order.to_vec());
    WeightedElimination { removals, order, mini_buckets, factor_home, shifts: Vec::new() }
}
