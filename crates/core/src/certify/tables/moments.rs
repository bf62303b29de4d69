//! Marginals of `q ~ exp(g/eps)` over tables by elimination there and back, in the log domain, with a bound on their error.
//!
//! Up: each variable sums its clique into a message, as in [`super::weighted`] with one mini-bucket. Down: with B the
//! log belief of the receiving clique, the sender gets `log-sum of B over what it does not share, less its own message`. Every
//! step is nonexpansive, so absolute errors add up; a belief that errs by E gives probabilities that err by a factor
//! of at most `exp(2 E/eps)`.

use super::domain::Domains;
use super::soft::{Rule, Soft};
use super::table::{Table, View, magnitude, sum_by_blocks, sum_roundings};
use crate::certify::defect::ExactSum;
use crate::certify::exp_log::exp_near_all;
use crate::certify::interval::Interval;
use crate::error::{Error, Result};

/// A table of g: a scope and log values over all states of the model's variables.
pub(super) struct Piece<'a> {
    pub(super) scope: Vec<u32>,
    /// Empty for a table of zeros, which only makes variables meet.
    pub(super) values: &'a [f64],
}

/// A block eliminated up and down.
pub(super) struct Law<'a> {
    log_z: Interval,
    /// What messages were lowered by.
    tops: ExactSum,
    beliefs: Vec<Belief>,
    /// Clique in which each variable of the block is summed out.
    home: std::collections::HashMap<u32, usize>,
    domains: &'a Domains,
}

struct Belief {
    clique: Vec<u32>,
    values: Vec<f64>,
    error_up: f64,
}

/// The cliques of a plain elimination: the variable summed out first, then the others in order.
///
/// # Errors
/// More variables in a clique than any table can hold.
pub(super) fn cliques(order: &[u32], scopes: impl Iterator<Item = Vec<u32>>) -> Result<Vec<Vec<u32>>> {
    let place: std::collections::HashMap<u32, usize> =
        order.iter().enumerate().map(|(k, &v)| (v, k)).collect();
    let mut met: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
    for scope in scopes {
        let mut places: Vec<usize> = scope.iter().map(|v| place[v]).collect();
        places.sort_unstable();
        if let Some(&first) = places.first() {
            met[first].extend(places);
        }
    }
    let mut out = Vec::with_capacity(order.len());
    for k in 0..order.len() {
        let mut list = std::mem::take(&mut met[k]);
        list.push(k);
        list.sort_unstable();
        list.dedup();
        if list.len() > 60 {
            return Err(Error::Certificate(format!("a clique has {} variables", list.len())));
        }
        if let Some(&parent) = list.get(1) {
            met[parent].extend(&list[1..]);
        }
        out.push(list.into_iter().map(|p| order[p]).collect());
    }
    Ok(out)
}

impl<'a> Law<'a> {
    /// **Cost** a few passes over the cliques of `order`.
    ///
    /// # Errors
    /// [`Error::Certificate`] for a law without states or numbers out of range.
    pub(super) fn new(order: &[u32], pieces: &[Piece<'_>], domains: &'a Domains, eps: f64) -> Result<Self> {
        let cliques = cliques(order, pieces.iter().map(|p| p.scope.clone()))?;
        let home: std::collections::HashMap<u32, usize> =
            order.iter().enumerate().map(|(k, &v)| (v, k)).collect();
        let first = |scope: &[u32]| scope.iter().map(|v| home[v]).min();
        let mut items: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        let mut log_z = Interval::ZERO;
        for (k, piece) in pieces.iter().enumerate().filter(|(_, p)| !p.values.is_empty()) {
            match first(&piece.scope) {
                Some(at) => items[at].push(k),
                None => log_z = log_z + Interval::point(piece.values[0]),
            }
        }
        let mut law =
            Law { log_z, tops: ExactSum::default(), beliefs: Vec::with_capacity(order.len()), home, domains };
        let messages = law.up(&cliques, &items, pieces, eps)?;
        law.down(&messages, eps)?;
        Ok(law)
    }

    /// `eps log Z` of the block.
    pub(super) fn log_z(&self) -> Interval {
        self.log_z + self.tops.total()
    }

    /// Fills `beliefs` with what each clique holds before anything comes down; returns the messages sent.
    fn up(
        &mut self,
        cliques: &[Vec<u32>],
        items: &[Vec<usize>],
        pieces: &[Piece<'_>],
        eps: f64,
    ) -> Result<Vec<Table>> {
        let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); cliques.len()];
        let mut messages: Vec<Table> = Vec::with_capacity(cliques.len());
        for (c, clique) in cliques.iter().enumerate() {
            let domains = self.domains;
            let (mut error, mut size) = (0.0, 0.0);
            let mut views = Vec::new();
            for &k in &items[c] {
                views.push(View::of_table(&pieces[k].scope, pieces[k].values, false, clique, domains));
                size += magnitude(pieces[k].values);
            }
            for &m in &incoming[c] {
                let message = &messages[m];
                views.push(View::of_table(&message.scope, &message.values, false, clique, domains));
                error += message.error_up;
                size += message.magnitude;
            }
            if !(size <= 1e290) {
                return Err(Error::Certificate("table values are out of the range of floating point".into()));
            }
            let sizes: Vec<usize> = clique.iter().map(|&v| domains.size(v)).collect();
            let mut theta: Vec<f64> = Vec::with_capacity(sizes.iter().product());
            sum_by_blocks(&sizes, &views, |block| {
                theta.extend_from_slice(block);
                true
            });
            error += f64::EPSILON * (sum_roundings(views.len()) + 3.0) * size;
            let mut soft = Soft::default();
            let mut values: Vec<f64> = Vec::with_capacity(theta.len() / sizes[0]);
            soft.values(&theta, sizes[0], Rule::Soft(eps), &mut values);
            let top = values.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
            if top == f64::NEG_INFINITY {
                return Err(Error::Certificate("a block has no state of positive weight".into()));
            }
            values.iter_mut().for_each(|v| *v -= top);
            let own = soft.error_up(sizes[0], Rule::Soft(eps), size);
            let error_up = error + own + f64::EPSILON * magnitude(&values);
            self.tops.add(top);
            match clique.get(1) {
                Some(parent) => incoming[self.home[parent]].push(c),
                None => self.log_z = self.log_z + Interval { lo: -2.0 * error_up, hi: 2.0 * error_up },
            }
            self.beliefs.push(Belief { clique: clique.clone(), values: theta, error_up: error });
            let magnitude = magnitude(&values);
            messages.push(Table { scope: clique[1..].to_vec(), values, error_up, magnitude });
        }
        Ok(messages)
    }

    /// Adds to every clique what the rest of the block knows, receivers before senders.
    fn down(&mut self, messages: &[Table], eps: f64) -> Result<()> {
        for c in (0..self.beliefs.len()).rev() {
            let Some(parent) = self.beliefs[c].clique.get(1).map(|v| self.home[v]) else { continue };
            let shared = &self.beliefs[c].clique[1..];
            let (mut sent, mut error) = self.log_sum(parent, shared, eps)?;
            for (value, own) in sent.iter_mut().zip(&messages[c].values) {
                // Where the message is zero so is the belief: what comes down does not matter there.
                *value = if *own == f64::NEG_INFINITY { 0.0 } else { *value - own };
            }
            // Beliefs matter up to a constant: without it they do not grow with the depth of the elimination.
            let top = sent.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
            error += 2.0 * f64::EPSILON * magnitude(&sent);
            sent.iter_mut().for_each(|v| *v -= top);
            error += messages[c].error_up + f64::EPSILON * (magnitude(&sent) + messages[c].magnitude);
            let belief = &self.beliefs[c];
            let sizes: Vec<usize> = belief.clique.iter().map(|&v| self.domains.size(v)).collect();
            let own = View::of_table(&belief.clique, &belief.values, false, &belief.clique, self.domains);
            let above = View::of_table(&belief.clique[1..], &sent, false, &belief.clique, self.domains);
            let mut values = Vec::with_capacity(belief.values.len());
            sum_by_blocks(&sizes, &[own, above], |block| {
                values.extend_from_slice(block);
                true
            });
            let error_up =
                belief.error_up + error + 4.0 * f64::EPSILON * (magnitude(&values) + magnitude(&sent));
            self.beliefs[c].values = values;
            self.beliefs[c].error_up = error_up;
        }
        Ok(())
    }

    /// `eps log sum exp(B/eps)` of a clique's belief over all variables outside `kept`, and its error.
    fn log_sum(&self, c: usize, kept: &[u32], eps: f64) -> Result<(Vec<f64>, f64)> {
        let belief = &self.beliefs[c];
        let sizes: Vec<usize> = belief.clique.iter().map(|&v| self.domains.size(v)).collect();
        let length: usize = kept.iter().map(|&v| self.domains.size(v)).product();
        let places: Vec<f64> = (0..length).map(|k| k as f64).collect();
        let target = View::of_table(kept, &places, false, &belief.clique, self.domains);
        let mut at: Vec<u32> = Vec::with_capacity(belief.values.len());
        sum_by_blocks(&sizes, &[target], |block| {
            at.extend(block.iter().map(|p| *p as u32));
            true
        });
        let mut top = vec![f64::NEG_INFINITY; length];
        for (v, &k) in belief.values.iter().zip(&at) {
            let slot = &mut top[k as usize];
            *slot = if *v > *slot { *v } else { *slot };
        }
        let mut sums = vec![0.0; length];
        // Where even the largest is zero the exponent is no number: it counts as zero.
        let exponent = |(v, &k): (&f64, &u32)| {
            if *v == f64::NEG_INFINITY { *v } else { (v - top[k as usize]) / eps }
        };
        let mut exponentials: Vec<f64> = belief.values.iter().zip(&at).map(exponent).collect();
        exp_near_all(&mut exponentials);
        exponentials.iter().zip(&at).for_each(|(e, &k)| sums[k as usize] += e);
        let mut soft = Soft::default();
        let value = |(m, s): (f64, f64)| if s == 0.0 { m } else { m + eps * soft.log(s) };
        let values: Vec<f64> = top.into_iter().zip(sums).map(value).collect();
        let terms = belief.values.len() / length;
        let own = soft.error_up(terms.max(2), Rule::Soft(eps), magnitude(&belief.values));
        let error = belief.error_up + own;
        if !error.is_finite() {
            return Err(Error::Certificate("rounding errors are out of the range of floating point".into()));
        }
        Ok((values, error))
    }

    /// The law of `scope`, which must lie in one clique: enclosed probabilities, first variable fastest, exact where 0.
    ///
    /// # Errors
    /// [`Error::Certificate`] when the errors are too large to say anything.
    pub(super) fn marginal(&self, scope: &[u32], eps: f64) -> Result<Vec<Interval>> {
        let Some(c) = scope.iter().map(|v| self.home[v]).min() else { return Ok(vec![Interval::ONE]) };
        let (values, error) = self.log_sum(c, scope, eps)?;
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| if *v > m { *v } else { m });
        let weight = |v: &f64| ((Interval::point(*v) - Interval::point(top)) / Interval::point(eps)).exp();
        let zero = |v: &f64| *v == f64::NEG_INFINITY;
        let total = values.iter().filter(|v| !zero(v)).fold(Interval::ZERO, |sum, v| sum + weight(v));
        // exp(2 E / eps) <= 1 + 3 E / eps for E / eps below a tenth.
        // Half of that is accepted: another checker may sum in another order.
        let relative = (Interval::point(3.0 * error) / Interval::point(eps)).hi;
        if !(relative < 0.15) {
            return Err(Error::Certificate("the marginals of a block are lost in rounding".into()));
        }
        let factor = Interval { lo: 1.0 - relative, hi: 1.0 + relative };
        let share = |v: &f64| {
            if zero(v) { Interval::ZERO } else { super::states::nonnegative(weight(v) / total * factor) }
        };
        Ok(values.iter().map(share).collect())
    }
}
