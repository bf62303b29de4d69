//! What turns bounds at a temperature eps into bounds at an inverse temperature beta, 0 included.

use crate::certify::Interval;
use crate::error::Result;
use crate::model::{FactorModel, Model, Source};

/// What turns bounds at eps into bounds at beta.
pub(super) struct Scale {
    /// Above |f(x)| wherever the weight of x is positive.
    pub(super) largest: f64,
    pub(super) has_zeros: bool,
    cardinalities: Vec<u32>,
}

impl Scale {
    pub(super) fn of(model: &Model) -> Result<Self> {
        // Sums of sizes err by far less than this in all.
        const ROUNDING: f64 = 1.0 + 1e-6;
        let (sum, has_zeros) = match model.source() {
            Source::Polynomial(_) => {
                let f = model.polynomial()?;
                (f.l1_norm() + f.uncertainty(), false)
            }
            Source::Factors(_) => {
                let f = model.factors()?;
                let size = |table: &[f64]| {
                    table.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()))
                };
                let constant = if f.constant().is_finite() { f.constant().abs() } else { 0.0 };
                let tables: f64 = f.factors().map(|factor| size(factor.table)).sum();
                (tables + constant + f.uncertainty(), f.has_hard_zeros() || !f.constant().is_finite())
            }
        };
        Ok(Scale { largest: sum * ROUNDING, has_zeros, cardinalities: model.free_cardinalities() })
    }

    /// log of the number of states.
    pub(super) fn log_states(&self) -> Interval {
        let mut counts: Vec<(u32, f64)> = Vec::new();
        for &q in &self.cardinalities {
            match counts.iter_mut().find(|(known, _)| *known == q) {
                Some((_, count)) => *count += 1.0,
                None => counts.push((q, 1.0)),
            }
        }
        let log = |&(q, count): &(u32, f64)| Interval::point(count) * Interval::point(f64::from(q)).log();
        counts.iter().fold(Interval::ZERO, |sum, entry| sum + log(entry))
    }
}

/// The same hard zeros with every other value 0: what beta = 0 leaves of a model.
pub(super) fn support(model: &Model) -> Result<Model> {
    let f = model.factors()?;
    let sizes: Vec<usize> = f.cardinalities().iter().map(|&q| q as usize).collect();
    let mut flat = FactorModel::with_cardinalities(&sizes)?;
    for factor in f.factors() {
        let scope: Vec<usize> = factor.scope.iter().map(|&i| i as usize).collect();
        let table: Vec<f64> =
            factor.table.iter().map(|&v| if v == f64::NEG_INFINITY { v } else { 0.0 }).collect();
        flat.push(&scope, &table)?;
    }
    if f.constant() == f64::NEG_INFINITY {
        flat.add_constant(f64::NEG_INFINITY);
    }
    Ok(Model::new(Source::Factors(flat)))
}
