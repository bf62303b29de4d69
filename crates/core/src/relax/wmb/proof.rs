//! From the numbers of one side to the data of a proof.

use super::reduced::Reduced;
use super::side::Parameters;
use super::structure::{NONE, Structure};
use crate::certify::{MiniBucket, Removal, Shift, WeightedElimination};

/// The elimination that `parameters` describe, after `removals`.
pub(super) fn elimination(
    removals: &[Removal],
    model: &Reduced,
    structure: &Structure,
    parameters: &Parameters,
) -> WeightedElimination {
    let mut mini_buckets = Vec::with_capacity(structure.len());
    let mut shifts = Vec::new();
    for p in 0..model.d() {
        let bucket = structure.bucket(p);
        for c in bucket.clone() {
            let home = structure.home[c];
            let weight = parameters.weights[c];
            let message_home = (home != NONE).then_some(home);
            mini_buckets.push(MiniBucket { position: p as u32, weight, message_home });
        }
        let share = structure.share(p);
        for c in bucket.clone().skip(1) {
            let table = &parameters.shifts[structure.shift(c)];
            if table.iter().any(|&t| t != 0.0) {
                let mut scope: Vec<u32> = share.iter().map(|&u| model.order[u as usize]).collect();
                scope.push(model.order[p]);
                shifts.push(Shift { to: c as u32, from: bucket.start as u32, scope, table: table.to_vec() });
            }
        }
    }
    // A factor whose variables all have one state left is a number; the first mini-bucket is early enough for it.
    let factor_home = structure.factor_home.clone();
    WeightedElimination {
        removals: removals.to_vec(),
        order: model.order.clone(),
        mini_buckets,
        factor_home,
        shifts,
    }
}
