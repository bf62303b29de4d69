//! Coefficients that come in any order, with repeats, gathered into a polynomial.

use super::ising::Ising;
use super::polynomial::Polynomial;
use super::varset::VarSet;
use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// Sums of coefficients by their variables. Sets are named only from three variables on: a [`VarSet`] is as large as d.
pub(crate) struct Collector {
    constant: f64,
    fields: Vec<f64>,
    pairs: Vec<(usize, usize, f64)>,
    higher: BTreeMap<VarSet, f64>,
}

impl Collector {
    pub(crate) fn new(d: usize) -> Self {
        Collector { constant: 0.0, fields: vec![0.0; d], pairs: Vec::new(), higher: BTreeMap::new() }
    }

    /// Adds `value` to the coefficient of the product of `members`, which are different.
    ///
    /// # Errors
    /// A member out of range.
    pub(crate) fn add(&mut self, members: &[usize], value: f64) -> Result<()> {
        let d = self.fields.len();
        if members.iter().any(|&i| i >= d) {
            let set: VarSet = members.iter().copied().collect();
            return Err(Error::Model(format!("term {set} is out of range for d = {d}")));
        }
        match *members {
            [] => self.constant += value,
            [i] => self.fields[i] += value,
            [i, j] => self.pairs.push((i.min(j), i.max(j), value)),
            _ => *self.higher.entry(members.iter().copied().collect()).or_insert(0.0) += value,
        }
        Ok(())
    }

    /// The polynomial with these sums.
    ///
    /// # Errors
    /// Sums that are not finite.
    pub(crate) fn finish(mut self) -> Result<Polynomial> {
        // A stable sort: repeats are added up in the order in which they came.
        self.pairs.sort_by_key(|&(i, j, _)| (i, j));
        self.pairs.dedup_by(|next, sum| {
            let is_repeat = (next.0, next.1) == (sum.0, sum.1);
            if is_repeat {
                sum.2 += next.2;
            }
            is_repeat
        });
        let d = self.fields.len();
        let ising = Ising::new(d, &self.fields, &self.pairs)?.with_constant(self.constant)?;
        Polynomial::new(ising, self.higher.into_iter().collect())
    }
}
