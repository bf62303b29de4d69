//! `f_k` summed along an elimination order, in intervals.
//!
//! Tables hold values of f, not of exp(f), so nothing overflows. Removing a spin replaces the two
//! values a, b it leads to by `eps log((exp(a/eps) + exp(b/eps)) / 2)`, increasing in both: each end of the
//! interval comes from the same ends of a and b. At eps = 0 that is the maximum.

use super::interval::{Interval, add_down, add_up, div_down, div_up, mul_down, mul_up};
use super::limits::Cost;
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// Bytes of an entry.
const ENTRY: f64 = 16.0;

/// Tables above 2^25 entries are refused: 0.5 GiB.
const MAX_WIDTH: usize = 25;

/// Encloses `Phi(f)` by eliminating spins in `order`.
///
/// **Cost** d 2^(w+1) for the width w of the order.
///
/// # Errors
/// [`Error::Certificate`] when `order` is not a permutation or its width exceeds 25.
pub(crate) fn enclose(f: &Polynomial, order: &[u32], eps: f64) -> Result<Interval> {
    let position = positions(order, f.d())?;
    let ising = f.pairwise_part();
    let mut total = Interval::point(ising.constant());
    let mut buckets: Vec<Vec<Table>> = vec![Vec::new(); f.d()];
    let mut push = |table: Table| buckets[table.first(&position)].push(table);
    ising.fields().iter().enumerate().for_each(|(i, &h)| push(Table::monomial(vec![i as u32], h)));
    ising.triples().for_each(|(i, j, v)| push(Table::monomial(vec![i as u32, j as u32], v)));
    for (set, v) in f.terms() {
        if set.len() > MAX_WIDTH {
            return Err(Error::Certificate(format!("a term has {} spins", set.len())));
        }
        push(Table::monomial(set.iter().map(|i| i as u32).collect(), *v));
    }
    for (step, &spin) in order.iter().enumerate() {
        let message = eliminate(spin, std::mem::take(&mut buckets[step]), eps)?;
        if message.scope.is_empty() {
            total = total + message.entries[0];
        } else {
            buckets[message.first(&position)].push(message);
        }
    }
    Ok(total)
}

/// What [`enclose`] takes, from shapes alone.
///
/// # Errors
/// As [`enclose`].
pub(crate) fn cost(f: &Polynomial, order: &[u32]) -> Result<Cost> {
    let position = positions(order, f.d())?;
    let mut met: Vec<Vec<usize>> = vec![Vec::new(); f.d()];
    let (mut held, mut tables) = (0.0, vec![0usize; f.d()]);
    let mut meet = |mut places: Vec<usize>| {
        places.sort_unstable();
        if let Some(&first) = places.first() {
            held += ENTRY * f64::powi(2.0, places.len() as i32);
            tables[first] += 1;
            met[first].extend(places);
        }
    };
    f.pairwise_part().triples().for_each(|(i, j, _)| meet(vec![position[i], position[j]]));
    f.terms().iter().for_each(|(set, _)| meet(set.iter().map(|i| position[i]).collect()));
    let mut total = Cost { operations: 0.0, bytes: held };
    for step in 0..f.d() {
        let mut list = std::mem::take(&mut met[step]);
        list.retain(|&p| p != step);
        list.sort_unstable();
        list.dedup();
        if list.len() > MAX_WIDTH {
            return Err(Error::Certificate(format!("the elimination order has width {}", list.len())));
        }
        let entries = f64::powi(2.0, list.len() as i32);
        total.operations += entries * (8.0 * tables[step] as f64 + 128.0);
        held += ENTRY * entries;
        total.bytes = total.bytes.max(held);
        if let Some(&home) = list.first() {
            tables[home] += 1;
            met[home].extend(list);
        }
    }
    Ok(total)
}

/// Values over `scope`; bit p of an index is set when the p-th spin of the scope is +1.
#[derive(Clone)]
struct Table {
    scope: Vec<u32>,
    entries: Vec<Interval>,
}

impl Table {
    /// `theta x^A` over A.
    fn monomial(scope: Vec<u32>, theta: f64) -> Self {
        let arity = scope.len();
        let odd = |k: usize| (arity - k.count_ones() as usize) % 2 == 1;
        let entries = (0..1usize << arity).map(|k| Interval::point(if odd(k) { -theta } else { theta }));
        Table { entries: entries.collect(), scope }
    }

    /// Place in the order of the spin of the scope that is eliminated first.
    fn first(&self, position: &[usize]) -> usize {
        self.scope.iter().map(|&i| position[i as usize]).min().unwrap_or(0)
    }

    /// For every bit of an index over `target`, the bit it sets in an index of this table.
    fn strides(&self, target: &[u32]) -> Vec<usize> {
        let bit = |i: &u32| self.scope.iter().position(|j| j == i).map_or(0, |p| 1 << p);
        target.iter().map(bit).collect()
    }
}

/// Sums out `spin` from the tables that name it.
fn eliminate(spin: u32, tables: Vec<Table>, eps: f64) -> Result<Table> {
    let mut scope: Vec<u32> = tables.iter().flat_map(|t| t.scope.iter().copied()).collect();
    scope.push(spin);
    scope.sort_unstable();
    scope.dedup();
    scope.retain(|&i| i != spin);
    if scope.len() > MAX_WIDTH {
        return Err(Error::Certificate(format!("the elimination order has width {}", scope.len())));
    }
    let strides: Vec<Vec<usize>> = tables.iter().map(|t| t.strides(&scope)).collect();
    let up: Vec<usize> = tables.iter().map(|t| t.strides(&[spin])[0]).collect();
    let mut at = vec![0; tables.len()];
    let mut entries = Vec::with_capacity(1 << scope.len());
    for k in 0..1usize << scope.len() {
        let (mut plus, mut minus) = (Interval::ZERO, Interval::ZERO);
        // Stepping k to k + 1 clears its trailing ones and sets the next bit.
        let carry = (k.trailing_ones() as usize).min(scope.len());
        for (t, table) in tables.iter().enumerate() {
            plus = plus + table.entries[at[t] + up[t]];
            minus = minus + table.entries[at[t]];
            at[t] -= strides[t][..carry].iter().sum::<usize>();
            at[t] += strides[t].get(carry).copied().unwrap_or(0);
        }
        entries.push(soft_mean(plus, minus, eps));
    }
    Ok(Table { scope, entries })
}

/// `eps log((exp(a/eps) + exp(b/eps)) / 2)`, at eps = 0 the larger of the two.
pub(crate) fn soft_mean(a: Interval, b: Interval, eps: f64) -> Interval {
    if (a.lo + a.hi + b.lo + b.hi).is_nan() {
        // `min` and `max` below would drop it.
        return Interval::point(f64::NAN);
    }
    let (low, high) = ((a.lo.min(b.lo), a.lo.max(b.lo)), (a.hi.min(b.hi), a.hi.max(b.hi)));
    if eps == 0.0 {
        return Interval { lo: low.1, hi: high.1 };
    }
    // high + eps log((1 + exp(-t)) / 2) with t = (high - low) / eps from the safe side.
    let t_up = div_up(add_up(low.1, -low.0), eps);
    let t_down = div_down(add_down(high.1, -high.0), eps);
    let correction = |t: f64| {
        let mean = (Interval::ONE + Interval::point(-t).exp()) * Interval::point(0.5);
        mean.log()
    };
    Interval {
        lo: add_down(low.1, mul_down(eps, correction(t_up).lo)),
        hi: add_up(high.1, mul_up(eps, correction(t_down).hi)),
    }
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
