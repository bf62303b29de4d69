//! Weighted elimination: `sum_x prod_c exp(theta_c/eps)` by Hoelder's inequality, variable by variable.
//!
//! With `W_c > 0`, `sum_c W_c >= eps` in a bucket, `eps log sum_v exp(sum_c theta_c/eps) <= sum_c W_c log sum_v exp(theta_c/W_c)`;
//! with exactly one `W_c > 0` and `sum_c W_c <= eps` it is at least that. Functions of later variables only may be in any mini-bucket.

use super::buckets::{Buckets, Item};
use super::domain::Domains;
use super::soft::{Rule, Soft};
use super::table::{Table, View, magnitude, sum_by_blocks, sum_roundings};
use super::{MiniBucket, WeightedElimination};
use crate::certify::bound::Side;
use crate::certify::defect::ExactSum;
use crate::certify::interval::{Interval, add_down, add_up, mul_up};
use crate::certify::limits::{Cost, Limits};
use crate::error::{Error, Result};
use crate::model::FactorModel;

/// Finite values beyond this are refused: no sum of them comes near overflow.
const LARGEST: f64 = 1e290;

/// What replaying takes, from shapes alone.
///
/// # Errors
/// As [`replay`].
pub(in crate::certify) fn cost(
    model: &FactorModel,
    e: &WeightedElimination,
    allowed: Option<&[Vec<u32>]>,
) -> Result<Cost> {
    let table = |k: u32| model.factor(k as usize).table.len() as f64;
    let known = e.removals.iter().filter(|r| (r.factor as usize) < model.len());
    let removals = Cost { operations: known.map(|r| 4.0 * table(r.factor)).sum(), bytes: 0.0 };
    // Removals only shrink domains, and replaying them is bounded by the cost above.
    if removals.operations > Limits::default().operations {
        return Ok(removals);
    }
    let Some(domains) = Domains::after(model, &e.removals, allowed)? else { return Ok(removals) };
    Ok(removals.then(Buckets::new(model, e, &domains)?.cost))
}

/// Encloses what the elimination of the tables of `model` proves about `eps log Z` from one side; `-inf` from above when no
/// state has positive weight: removals that leave a variable without a state show that, and so does a message that is zero
/// everywhere.
///
/// # Errors
/// [`Error::Certificate`] when the data are not a proof, or numbers leave the range of floating point; exceeded limits.
pub(in crate::certify) fn replay(
    model: &FactorModel,
    e: &WeightedElimination,
    allowed: Option<&[Vec<u32>]>,
    eps: f64,
    side: Side,
) -> Result<Interval> {
    let impossible = |why: &str| match side {
        Side::Upper => Ok(Interval::point(f64::NEG_INFINITY)),
        Side::Lower => Err(Error::Certificate(why.into())),
    };
    let Some(domains) = Domains::after(model, &e.removals, allowed)? else {
        return impossible("a variable has no state left");
    };
    let mut numbers = model.factors().filter(|f| f.scope.is_empty()).map(|f| f.table[0]);
    if model.constant() == f64::NEG_INFINITY || numbers.any(|v| v == f64::NEG_INFINITY) {
        return impossible("a factor without variables is zero");
    }
    let buckets = Buckets::new(model, e, &domains)?;
    let rules = rules(&e.mini_buckets, eps, side)?;
    // Of many numbers: what rounding misses is kept.
    let mut value = ExactSum::default();
    model.factors().filter(|f| f.scope.is_empty()).for_each(|f| value.add(f.table[0]));
    let (mut error, mut count) = (0.0, 4.0);
    let mut messages: Vec<Option<Table>> = Vec::new();
    for (c, &rule) in rules.iter().enumerate() {
        let Some((shift, message)) = send(model, e, &domains, &buckets, c, rule, &mut messages)? else {
            return impossible("a message is zero everywhere");
        };
        value.add(shift);
        if message.scope.is_empty() {
            value.add(message.values[0]);
            error += message.error_up;
            count += 1.0;
        }
        messages.push(Some(message).filter(|m| !m.scope.is_empty()));
    }
    let error_up = mul_up(error, 1.0 + 1e-9 + count * f64::EPSILON);
    Ok(Interval::point(model.constant()) + value.total() + Interval { lo: -error_up, hi: error_up })
}

/// How each mini-bucket sums: weights times eps, the sum of a bucket on the safe side of eps.
fn rules(mini_buckets: &[MiniBucket], eps: f64, side: Side) -> Result<Vec<Rule>> {
    let mut rules = Vec::with_capacity(mini_buckets.len());
    for bucket in mini_buckets.chunk_by(|a, b| a.position == b.position) {
        if let Some(bad) = bucket.iter().find(|b| !b.weight.is_finite() || b.weight == 0.0) {
            return Err(Error::Certificate(format!("a mini-bucket has weight {}", bad.weight)));
        }
        let positive = bucket.iter().filter(|b| b.weight > 0.0).count();
        let fits = if side == Side::Upper { positive == bucket.len() } else { positive == 1 };
        if !fits {
            return Err(Error::Certificate(format!(
                "{positive} of {} weights of a bucket are positive",
                bucket.len()
            )));
        }
        // The largest weight takes what the others leave.
        let mut main = 0;
        for (k, b) in bucket.iter().enumerate() {
            if b.weight > bucket[main].weight {
                main = k;
            }
        }
        if eps == 0.0 {
            rules.extend(bucket.iter().map(|b| if b.weight > 0.0 { Rule::Max } else { Rule::Min }));
            continue;
        }
        let weights: Vec<f64> = bucket.iter().map(|b| b.weight * eps).collect();
        if weights.iter().any(|w| *w == 0.0 || w.abs() > LARGEST) {
            return Err(Error::Certificate("a weight is out of the range of floating point".into()));
        }
        let others = weights.iter().enumerate().filter(|(k, _)| *k != main).map(|(_, w)| *w);
        let rest = match side {
            Side::Upper => others.fold(eps, |left, w| add_up(left, -w)).max(weights[main]),
            Side::Lower => others.fold(eps, |left, w| add_down(left, -w)),
        };
        rules.extend(weights.iter().enumerate().map(|(k, &w)| Rule::Soft(if k == main { rest } else { w })));
    }
    Ok(rules)
}

/// The message of mini-bucket c, its largest entry moved into a number; `None` when it is zero everywhere.
fn send(
    model: &FactorModel,
    e: &WeightedElimination,
    domains: &Domains,
    buckets: &Buckets,
    c: usize,
    rule: Rule,
    messages: &mut [Option<Table>],
) -> Result<Option<(f64, Table)>> {
    let clique = &buckets.cliques[c];
    let items = &buckets.items[c];
    let (mut views, mut error, mut size) = (Vec::with_capacity(items.len()), 0.0, 0.0);
    for item in items {
        let (view, own_error, own_size) = match *item {
            Item::Factor(k) => {
                let view = View::of_factor(model, k as usize, clique, domains);
                (view, 0.0, magnitude(model.factor(k as usize).table))
            }
            Item::Gained(k) | Item::Lost(k) => {
                let shift = &e.shifts[k as usize];
                let lost = matches!(item, Item::Lost(_));
                let view = View::of_table(&shift.scope, &shift.table, lost, clique, domains);
                (view, 0.0, magnitude(&shift.table))
            }
            Item::Message(m) => {
                let Some(table) = &messages[m as usize] else { continue };
                let view = View::of_table(&table.scope, &table.values, false, clique, domains);
                (view, table.error_up, table.magnitude)
            }
        };
        views.push(view);
        error += own_error;
        size += own_size;
    }
    // Written so that NaN is refused.
    if !(size <= LARGEST) {
        return Err(Error::Certificate("table values are out of the range of floating point".into()));
    }
    let sizes: Vec<usize> = clique.iter().map(|&v| domains.size(v)).collect();
    let mut soft = Soft::default();
    let mut values: Vec<f64> = Vec::with_capacity(sizes[1..].iter().product());
    sum_by_blocks(&sizes, &views, |theta| {
        soft.values(theta, sizes[0], rule, &mut values);
        true
    });
    drop(views);
    for item in items {
        if let Item::Message(m) = *item {
            messages[m as usize] = None;
        }
    }
    let largest = values.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
    if largest == f64::NEG_INFINITY {
        return Ok(None);
    }
    values.iter_mut().for_each(|v| *v -= largest);
    let rounding = f64::EPSILON * (sum_roundings(items.len()) + 3.0) * size;
    let error_up = error + rounding + soft.error_up(sizes[0], rule, size) + f64::EPSILON * magnitude(&values);
    if !error_up.is_finite() {
        return Err(Error::Certificate("rounding errors are out of the range of floating point".into()));
    }
    let magnitude = magnitude(&values);
    Ok(Some((largest, Table { scope: clique[1..].to_vec(), values, error_up, magnitude })))
}

/// A plain elimination: one mini-bucket a variable, every factor and message where its first variable is.
impl WeightedElimination {
    /// Exact summation of `model` along `order`: the special case with one mini-bucket a variable.
    ///
    /// # Errors
    /// [`Error::Certificate`] when `order` is not a permutation of the variables.
    ///
    /// ```
    /// use zbound::FactorModel;
    /// use zbound::certify::{Certificate, Component, Form, WeightedElimination};
    /// let mut model = FactorModel::with_cardinalities(&[3, 2])?;
    /// model.push(&[0, 1], &[0.0, 1.0, 2.0, f64::NEG_INFINITY, 0.5, 0.0])?;
    /// let form = Form::Tables(WeightedElimination::exact(&model, &[1, 0])?);
    /// let components = vec![Component { weight: 1.0, form }];
    /// let certificate = Certificate { eps: 1.0, slack: Default::default(), components, witness: None };
    /// let log_z = certificate.verify_tables(&model)?.log_z();
    /// let exact = (1.0 + 1f64.exp() + 2f64.exp() + 0.5f64.exp() + 1.0).ln();
    /// assert!(log_z >= exact && log_z - exact < 1e-11);
    /// # Ok::<(), zbound::Error>(())
    /// ```
    pub fn exact(model: &FactorModel, order: &[u32]) -> Result<Self> {
        let place = super::super::elimination::positions(order, model.d())?;
        let first = |scope: &[u32]| scope.iter().map(|&v| place[v as usize] as u32).min();
        let mut met: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        let mut factor_home = Vec::with_capacity(model.len());
        for factor in model.factors() {
            let home = first(factor.scope).unwrap_or(0);
            factor_home.push(home);
            if let Some(list) = met.get_mut(home as usize) {
                list.extend(factor.scope.iter().map(|&v| place[v as usize] as u32));
            }
        }
        let mut mini_buckets = Vec::with_capacity(order.len());
        for position in 0..order.len() {
            let mut list = std::mem::take(&mut met[position]);
            list.retain(|&p| p as usize != position && model.cardinalities()[order[p as usize] as usize] > 1);
            list.sort_unstable();
            list.dedup();
            let message_home = list.first().copied();
            mini_buckets.push(MiniBucket { position: position as u32, weight: 1.0, message_home });
            if let Some(home) = message_home {
                met[home as usize].extend(list);
            }
        }
        Ok(WeightedElimination { order: order.to_vec(), mini_buckets, factor_home, ..Self::default() })
    }
}
