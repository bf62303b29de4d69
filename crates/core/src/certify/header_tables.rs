//! The header of proofs about tables, and the order of their floats.

use super::file::malformed;
use super::header_source::Source;
use super::tables::{MiniBucket, Removal, Shift, WeightedElimination};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Everything but weights and shift tables.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EliminationHeader {
    /// `[variable, state, factor]`.
    removals: Vec<[u32; 3]>,
    order: Vec<u32>,
    /// Per mini-bucket.
    positions: Vec<u32>,
    /// Per mini-bucket.
    message_home: Vec<Option<u32>>,
    factor_home: Vec<u32>,
    shifts: Vec<ShiftHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShiftHeader {
    to: u32,
    from: u32,
    scope: Vec<u32>,
    /// Entries of the table.
    size: usize,
}

impl EliminationHeader {
    /// Floats: one weight per mini-bucket, then the tables of the shifts.
    pub(super) fn new(e: &WeightedElimination, floats: &mut Vec<f64>) -> Self {
        floats.extend(e.mini_buckets.iter().map(|b| b.weight));
        e.shifts.iter().for_each(|s| floats.extend(&s.table));
        let shift =
            |s: &Shift| ShiftHeader { to: s.to, from: s.from, scope: s.scope.clone(), size: s.table.len() };
        EliminationHeader {
            removals: e.removals.iter().map(|r| [r.variable, r.state, r.factor]).collect(),
            order: e.order.clone(),
            positions: e.mini_buckets.iter().map(|b| b.position).collect(),
            message_home: e.mini_buckets.iter().map(|b| b.message_home).collect(),
            factor_home: e.factor_home.clone(),
            shifts: e.shifts.iter().map(shift).collect(),
        }
    }

    pub(super) fn read(self, source: &mut Source<'_>) -> Result<WeightedElimination> {
        if self.positions.len() != self.message_home.len() {
            return Err(malformed("mini-buckets do not have one message each"));
        }
        let weights = source.take(self.positions.len())?;
        let places = self.positions.iter().zip(&self.message_home);
        let mini_buckets = places
            .zip(weights)
            .map(|((&position, &message_home), &weight)| MiniBucket { position, weight, message_home })
            .collect();
        let shift = |s: ShiftHeader| -> Result<Shift> {
            let table = source.take(s.size)?.to_vec();
            Ok(Shift { to: s.to, from: s.from, scope: s.scope, table })
        };
        let shifts = self.shifts.into_iter().map(shift).collect::<Result<_>>()?;
        let removal = |&[variable, state, factor]: &[u32; 3]| Removal { variable, state, factor };
        let removals = self.removals.iter().map(removal).collect();
        Ok(WeightedElimination {
            removals,
            order: self.order,
            mini_buckets,
            factor_home: self.factor_home,
            shifts,
        })
    }
}

/// Rows of different lengths, one after another.
pub(super) fn push_rows(rows: &[Vec<f64>], floats: &mut Vec<f64>) -> Vec<u32> {
    rows.iter().for_each(|row| floats.extend(row));
    rows.iter().map(|row| row.len() as u32).collect()
}

pub(super) fn read_rows(sizes: &[u32], source: &mut Source<'_>) -> Result<Vec<Vec<f64>>> {
    sizes.iter().map(|&n| Ok(source.take(n as usize)?.to_vec())).collect()
}
