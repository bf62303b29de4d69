//! Witnesses that are one assignment or independent variables: `eps log Z >= E_q f + eps H(q)`.

use crate::certify::interval::Interval;
use crate::error::{Error, Result};
use crate::model::FactorModel;

/// `eps log Z >= f(x)` for every x.
pub(in crate::certify) fn states(model: &FactorModel, states: &[u32]) -> Result<Interval> {
    let cardinalities = model.cardinalities();
    if states.len() != model.d() || states.iter().zip(cardinalities).any(|(s, q)| s >= q) {
        return Err(Error::Certificate(format!(
            "the witness is not a state for each of {} variables",
            model.d()
        )));
    }
    let start = Interval::point(model.constant());
    let add = |sum: Interval, v: f64| sum + Interval::point(v);
    Ok(model.factors().map(|f| f.table[f.index_of(states, cardinalities)]).fold(start, add))
}

/// Independent variables; rows are normalised here.
pub(in crate::certify) fn state_product(
    model: &FactorModel,
    rows: &[Vec<f64>],
    eps: f64,
) -> Result<Interval> {
    let fits = |(row, q): (&Vec<f64>, &u32)| {
        row.len() == *q as usize && row.iter().all(|p| *p >= 0.0 && p.is_finite())
    };
    if rows.len() != model.d() || !rows.iter().zip(model.cardinalities()).all(fits) {
        return Err(Error::Certificate(format!("the witness is not a law of {} variables", model.d())));
    }
    let mut laws: Vec<Vec<Interval>> = Vec::with_capacity(rows.len());
    let mut value = Interval::point(model.constant());
    let mut entropy = Interval::ZERO;
    for row in rows {
        let law = normalized(row)?;
        for (p, _) in law.iter().zip(row).filter(|(_, stored)| **stored != 0.0) {
            entropy = entropy - information(*p);
        }
        laws.push(law);
    }
    for factor in model.factors() {
        let marginals: Vec<&[Interval]> = factor.scope.iter().map(|&v| &laws[v as usize][..]).collect();
        value = value + expectation(factor.table, &marginals)?;
    }
    Ok(value + Interval::point(eps) * entropy)
}

/// A row divided by its sum; zeros stay exactly zero.
fn normalized(row: &[f64]) -> Result<Vec<Interval>> {
    let total = row.iter().fold(Interval::ZERO, |sum, p| sum + Interval::point(*p));
    if !(total.lo > 0.0 && total.hi.is_finite()) {
        return Err(Error::Certificate("probabilities do not have a positive sum".into()));
    }
    let share = |p: &f64| {
        if *p == 0.0 {
            Interval::ZERO
        } else {
            // A quotient that underflows is still a probability.
            nonnegative(Interval::point(*p) / total)
        }
    };
    Ok(row.iter().map(share).collect())
}

/// What is known to be at least 0; NaN stays.
pub(super) fn nonnegative(x: Interval) -> Interval {
    Interval { lo: if x.lo < 0.0 { 0.0 } else { x.lo }, hi: x.hi }
}

/// `p log p` for a probability p > 0 that may have underflowed.
fn information(p: Interval) -> Interval {
    if p.lo > 0.0 {
        return p * p.log();
    }
    // |p log p| increases up to 1/e and p is below the least normal number.
    Interval { lo: -1e-300, hi: 0.0 }
}

/// `sum_x table[x] prod_i p_i(x_i)`, first variable fastest, where an impossible state counts for nothing.
///
/// # Errors
/// [`Error::Certificate`] when a state of positive probability has no weight: then the bound is `-inf`.
pub(super) fn expectation(table: &[f64], marginals: &[&[Interval]]) -> Result<Interval> {
    // Sums over the last variable first: each partial sum is a table over the variables before it.
    fn level(table: &[f64], marginals: &[&[Interval]]) -> Option<Interval> {
        let Some((last, before)) = marginals.split_last() else {
            return Some(Interval::point(table[0]));
        };
        let stride = table.len() / last.len();
        let mut sum = Interval::ZERO;
        for (s, p) in last.iter().enumerate().filter(|(_, p)| **p != Interval::ZERO) {
            let part = level(&table[s * stride..(s + 1) * stride], before)?;
            if part.lo == f64::NEG_INFINITY {
                return None;
            }
            sum = sum + *p * part;
        }
        Some(sum)
    }
    level(table, marginals).ok_or_else(|| Error::Certificate("the witness meets a zero of a table".into()))
}
