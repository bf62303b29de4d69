//! The model's own factors, by bucket.

use super::plan::Plan;
use super::table::{Domain, SAFE, Table, offsets, sorted};
use crate::exact::rounding::CompensatedSum;
use crate::model::FactorModel;

/// Factors of one bucket are multiplied beforehand while their product has at most this many entries.
const MERGED: usize = 256;

/// A model's factors, each in the bucket of the first of its variables to go.
pub(crate) struct Buckets {
    /// By position.
    pub(crate) tables: Vec<Vec<Table>>,
    /// Sum of what was taken out of the tables, in units of f.
    pub(crate) offset: f64,
    /// Bound, in units of u, on the error of the logarithm of every product of entries.
    pub(crate) roundings: f64,
    /// Whether a factor forbids every state by itself.
    pub(crate) impossible: bool,
}

impl Buckets {
    /// The factors of `model` at temperature eps.
    pub(crate) fn new(model: &FactorModel, plan: &Plan, eps: f64) -> Self {
        let mut out =
            Buckets { tables: vec![Vec::new(); model.d()], offset: 0.0, roundings: 0.0, impossible: false };
        let mut offset = CompensatedSum::default();
        for factor in model.factors() {
            let positions: Vec<u32> = factor.scope.iter().map(|&i| plan.position[i as usize]).collect();
            let top = crate::exact::vector::max_of(factor.table);
            let scaled = Table::from_factor(&positions, &plan.states, factor.table, eps);
            if top == f64::NEG_INFINITY {
                out.impossible = true;
                continue;
            }
            offset.add(top);
            // One more for the product it joins.
            out.roundings += scaled.roundings + 1.0;
            out.place(&positions, scaled.table, plan);
        }
        out.offset = offset.value();
        out
    }

    /// The factors as they are, logarithms without a temperature: for the maximum.
    pub(crate) fn logs(model: &FactorModel, plan: &Plan) -> Self {
        let mut out =
            Buckets { tables: vec![Vec::new(); model.d()], offset: 0.0, roundings: 0.0, impossible: false };
        for factor in model.factors() {
            let positions: Vec<u32> = factor.scope.iter().map(|&i| plan.position[i as usize]).collect();
            let (scope, data) = sorted(&positions, &plan.states, factor.table);
            let table = Table { scope, data, domain: Domain::Log, highest: 0.0, lowest: 0.0 };
            out.place(&positions, table, plan);
        }
        out
    }

    fn place(&mut self, positions: &[u32], table: Table, plan: &Plan) {
        // A factor without variables is part of the model's constant, never of its factors' buckets.
        if let Some(&first) = positions.iter().min() {
            push(&mut self.tables[first as usize], table, &plan.states);
        }
    }
}

/// Adds a table to a bucket, multiplying it into another when the product stays small.
fn push(bucket: &mut Vec<Table>, table: Table, states: &[u32]) {
    let size = |scope: &[u32]| scope.iter().map(|&q| states[q as usize] as usize).product::<usize>();
    let found = bucket.iter().position(|other| {
        let most = table.data.len().max(other.data.len()).max(MERGED);
        let range = (table.highest + other.highest) - (table.lowest + other.lowest);
        table.domain == other.domain && !(range > SAFE) && size(&union(&table.scope, &other.scope)) <= most
    });
    match found {
        Some(k) => bucket[k] = product(&bucket[k], &table, states),
        None => bucket.push(table),
    }
}

/// The positions of both scopes, last eliminated first.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut scope = [a, b].concat();
    scope.sort_unstable_by(|x, y| y.cmp(x));
    scope.dedup();
    scope
}

/// The product of two tables over the union of their variables: of numbers, or as a sum of logarithms.
fn product(a: &Table, b: &Table, states: &[u32]) -> Table {
    let scope = union(&a.scope, &b.scope);
    let along = |table: &Table| {
        let mut stride = 1;
        let mut axes = Vec::with_capacity(scope.len());
        for &q in &scope {
            let count = states[q as usize] as usize;
            let present = table.scope.contains(&q);
            axes.push((count, if present { stride } else { 0 }));
            stride *= if present { count } else { 1 };
        }
        offsets(&axes)
    };
    let pairs = along(a).into_iter().zip(along(b));
    let data = match a.domain {
        Domain::Linear => pairs.map(|(i, j)| a.data[i] * b.data[j]).collect(),
        Domain::Log => pairs.map(|(i, j)| a.data[i] + b.data[j]).collect(),
    };
    Table { scope, data, domain: a.domain, highest: a.highest + b.highest, lowest: a.lowest + b.lowest }
}
