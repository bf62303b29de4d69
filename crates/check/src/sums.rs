//! Sums over the cube, by elimination.

use crate::cert::Polynomial;
use crate::cert_tables::Elimination;
use crate::interval::{Interval, ONE, ZERO, at};
use crate::limits::{Limits, Stop};
use crate::model::{Factor, Set};
use crate::require;
use crate::weighted::{Side, Tables, exact, replay};

/// `eps log((exp(a/eps) + exp(b/eps)) / 2)`, the maximum at eps = 0: increasing in a and b.
pub(crate) fn soft_mean(a: Interval, b: Interval, eps: f64) -> Interval {
    let one = |x: f64, y: f64| {
        if x.is_nan() || y.is_nan() {
            return at(f64::NAN);
        }
        let (low, high) = (at(x.min(y)), at(x.max(y)));
        if eps == 0.0 {
            return high;
        }
        let odds = ((low - high) / at(eps)).exp();
        high + at(eps) * ((ONE + odds) * at(0.5)).log()
    };
    Interval { lo: one(a.lo, b.lo).lo, hi: one(a.hi, b.hi).hi }
}

/// Place of each of `0..n` in `order`, which must be a permutation.
pub(crate) fn places(order: &[usize], n: usize) -> Result<Vec<usize>, String> {
    let mut place = vec![usize::MAX; n];
    for (step, &i) in order.iter().enumerate() {
        require(i < n && place[i] == usize::MAX, &format!("{i} is repeated or unknown in an order"))?;
        place[i] = step;
    }
    if order.len() == n { Ok(place) } else { Err("an order is incomplete".into()) }
}

/// One table per coefficient, and the constant.
fn tables_of<'a>(
    f: impl Iterator<Item = (&'a Set, &'a Interval)>,
) -> Result<(Interval, Vec<Factor>), String> {
    let (mut constant, mut factors) = (ZERO, Vec::new());
    for (set, theta) in f {
        if set.is_empty() {
            constant = *theta;
            continue;
        }
        require(set.len() <= 25, "a term has more than 25 spins")?;
        let (middle, error) = theta.middle();
        let odd = |k: usize| (set.len() - k.count_ones() as usize) % 2 == 1;
        let values = (0..1usize << set.len()).map(|k| if odd(k) { -middle } else { middle }).collect();
        factors.push(Factor { scope: set.iter().map(|i| *i as u32).collect(), values, error });
    }
    Ok((constant, factors))
}

/// `eps log Z` of a polynomial over d spins by eliminating them in `order` (max f at eps = 0).
pub(crate) fn eliminate(
    f: &Polynomial,
    order: &[usize],
    d: usize,
    eps: f64,
    limits: &Limits,
) -> Result<Interval, Stop> {
    affordable(f.keys(), limits)?;
    let (constant, factors) = tables_of(f.iter())?;
    let states = vec![2; d];
    let scopes: Vec<&[u32]> = factors.iter().map(|factor| &factor.scope[..]).collect();
    let elimination = exact(order, &scopes, &states)?;
    let model = Tables { constant, factors: &factors, states: &states };
    replay(&model, &elimination, None, eps, Side::Upper, limits)
}

/// At least `eps log Z` of the polynomial with these terms, by a weighted elimination of one table per term.
pub(crate) fn eliminate_weighted(
    terms: &[(Set, Interval)],
    elimination: &Elimination,
    d: usize,
    eps: f64,
    limits: &Limits,
) -> Result<Interval, Stop> {
    affordable(terms.iter().map(|(set, _)| set), limits)?;
    let (constant, factors) = tables_of(terms.iter().map(|(set, v)| (set, v)))?;
    let states = vec![2; d];
    let model = Tables { constant, factors: &factors, states: &states };
    replay(&model, elimination, None, eps, Side::Upper, limits)
}

/// Whether the tables of coefficients fit, before they are made.
fn affordable<'a>(sets: impl Iterator<Item = &'a Set>, limits: &Limits) -> Result<(), Stop> {
    let entries = |set: &Set| 2f64.powi(set.len().min(1000) as i32);
    let bytes: f64 = sets.filter(|set| set.len() > 2).map(|set| 8.0 * entries(set)).sum();
    limits.allow(crate::limits::Cost { work: bytes, memory: bytes })
}
