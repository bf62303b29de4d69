//! `f_k` summed along an elimination order: exactly, or with the buckets split by Hoelder's inequality.
//!
//! Every coefficient becomes a table over its spins, in the order of the certificate's file (fields, pairs, terms, without
//! those that are 0), and these are replayed as any tables are ([`super::tables`]).

use super::bound::{Side, entropy};
use super::interval::Interval;
use super::limits::Cost;
use super::tables::{WeightedElimination, replay, weighted_cost};
use crate::error::{Error, Result};
use crate::model::{FactorModel, Polynomial};

/// Terms of more spins are refused: their tables alone take 0.25 GiB.
const MAX_ARITY: usize = 25;

/// Eliminations that take more memory are refused, whatever the limits: tables of `2^30` numbers.
const MOST_BYTES: f64 = 1e10;

/// Encloses `Phi(f)` by eliminating spins in `order`.
///
/// **Cost** d 2^(w+1) for the width w of the order.
///
/// # Errors
/// [`Error::Certificate`] when `order` is not a permutation, or a table would be too large for any memory.
pub(crate) fn enclose(f: &Polynomial, order: &[u32], eps: f64) -> Result<Interval> {
    let tables = tables_of(f)?;
    value(&tables, &WeightedElimination::exact(&tables, order)?, eps)
}

/// At least `Phi(f)`, by a weighted elimination of its tables.
///
/// # Errors
/// [`Error::Certificate`] when the elimination is not one of these tables.
pub(crate) fn weighted_up(f: &Polynomial, elimination: &WeightedElimination, eps: f64) -> Result<Interval> {
    value(&tables_of(f)?, elimination, eps)
}

fn value(tables: &FactorModel, elimination: &WeightedElimination, eps: f64) -> Result<Interval> {
    let bytes = weighted_cost(tables, elimination, None)?.bytes;
    if !(bytes <= MOST_BYTES) {
        return Err(Error::Certificate(format!("an elimination takes {bytes:.1e} bytes")));
    }
    Ok(replay(tables, elimination, None, eps, Side::Upper)? - entropy(eps, tables.d()))
}

fn tables_of(f: &Polynomial) -> Result<FactorModel> {
    match f.terms().iter().find(|(set, _)| set.len() > MAX_ARITY) {
        Some((set, _)) => Err(Error::Certificate(format!("a term has {} spins", set.len()))),
        None => Ok(FactorModel::from(f)),
    }
}

/// What [`enclose`] takes, from shapes alone.
///
/// # Errors
/// As [`enclose`].
pub(crate) fn cost(f: &Polynomial, order: &[u32]) -> Result<Cost> {
    let tables = tables_of(f)?;
    weighted_cost(&tables, &WeightedElimination::exact(&tables, order)?, None)
}

/// What [`weighted_up`] takes, from shapes alone.
///
/// # Errors
/// As [`weighted_up`].
pub(crate) fn cost_of_weighted(f: &Polynomial, elimination: &WeightedElimination) -> Result<Cost> {
    weighted_cost(&tables_of(f)?, elimination, None)
}

/// Where each spin stands in `order`.
pub(crate) fn positions(order: &[u32], d: usize) -> Result<Vec<usize>> {
    let mut position = vec![usize::MAX; d];
    for (step, &i) in order.iter().enumerate() {
        match position.get_mut(i as usize) {
            Some(place) if *place == usize::MAX => *place = step,
            _ => return Err(Error::Certificate(format!("spin {i} is repeated or unknown in an order"))),
        }
    }
    if order.len() != d {
        return Err(Error::Certificate(format!("an order has {} spins, the model {d}", order.len())));
    }
    Ok(position)
}
