//! The sweep back from the roots: marginals of every variable, moments of pairs, entropy.

use super::eliminate::{Elimination, Message, Upward, poll};
use super::vector::EXP_ULPS;
use crate::error::Result;
use crate::observer::Monitor;
use crate::tables::linear::{self, Given, Stop};
use crate::tables::log;
use crate::tables::order::interaction_graph;
use crate::tables::spare::Spare;
use crate::tables::table::{Domain, LOG_ROUNDINGS, Table};
use crate::tables::view::{Layout, fits_numbers, sum};
use std::collections::BTreeMap;

/// Logarithms between which numbers have full precision, with room for the scale of a table.
const RANGE: f64 = 690.0;

/// Whether every entry of a message that is not 0 is a number of full precision.
fn in_range(message: &Message) -> bool {
    let table = &message.table;
    table.domain == Domain::Log || table.is_impossible() || table.lowest > -RANGE
}

/// What the second sweep finds.
pub(crate) struct Marginals {
    /// `P(x_i = s)`.
    pub(crate) states: Vec<Vec<f64>>,
    /// `E x_i x_j` for pairs i < j of spins in a common factor.
    pub(crate) pairs: Vec<(u32, u32, f64)>,
    /// `-sum p log p`.
    pub(crate) entropy: f64,
    /// By variable: bound, in units of u, on the error of the logarithm of every `P(x_i = s)`, up to a factor common
    /// to all s; infinite where none is proved.
    pub(crate) roundings: Vec<f64>,
}

impl Elimination<'_> {
    /// `P(x_v, y) = P(x_v | y) P(y)` in every bucket, last eliminated first: `P(x_v | y)` is the product of
    /// the bucket's tables over its message, `P(y)` comes from the bucket the message went to.
    ///
    /// A message cancels: the law of a bucket's neighbours holds it as a factor, and it is divided out below. What a
    /// belief is off by is the error of every other table of the tree, once, and the roundings on the way down.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(crate) fn descend(&self, mut up: Upward, monitor: &mut Monitor<'_>) -> Result<Marginals> {
        let d = self.model.d();
        let mut above: Vec<Vec<f64>> = vec![Vec::new(); d];
        let mut states: Vec<Vec<f64>> = vec![Vec::new(); d];
        let mut spare = Spare::default();
        let mut roundings = vec![f64::INFINITY; d];
        let mut path = vec![0.0; d];
        let upward = if up.messages.iter().flatten().all(in_range) { up.roundings } else { f64::INFINITY };
        let mut moments =
            Moments { graph: interaction_graph(self.model), pairs: BTreeMap::new(), energy: 0.0 };
        for &p in self.plan.schedule.iter().rev() {
            let p = p as usize;
            let over = match self.plan.parent[p] {
                None => vec![1.0],
                Some(_) => std::mem::take(&mut above[p]),
            };
            let Some(message) = up.messages[p].take() else { continue };
            let children = &self.plan.children[p];
            let mut targets: Vec<Vec<u32>> =
                children.iter().map(|&c| self.plan.scopes[c as usize].clone()).collect();
            targets.extend(up.buckets.tables[p].iter().map(|t| t.scope.clone()));
            if targets.is_empty() {
                targets.push(vec![p as u32]);
            }
            let steps = path[p] + self.steps(p, &up, &message);
            let stop = &mut || monitor.interrupted().is_some();
            let mut beliefs = self.beliefs(p, &up, (&message, &over), &targets, &mut spare, stop);
            poll(monitor)?;
            spare.give(message.table.data);
            spare.give(over);
            normalise(&mut beliefs);
            let v = self.plan.order[p] as usize;
            let (law, source, more) = self.marginal(p as u32, &targets, &beliefs);
            states[v] = law;
            let shape = self.shape(p);
            for (k, scope) in targets.iter().enumerate() {
                // Two more for the normalisation.
                let added = steps + Layout::new(&shape, scope, &self.plan.states).additions(&shape) + 2.0;
                if let Some(&child) = children.get(k) {
                    path[child as usize] = added;
                }
                if k == source {
                    roundings[v] = upward + added + more;
                }
            }
            for (k, belief) in beliefs.into_iter().enumerate() {
                match children.get(k) {
                    Some(&child) => above[child as usize] = belief,
                    None if k - children.len() < up.buckets.tables[p].len() => {
                        moments.add(self, &up.buckets.tables[p][k - children.len()], &belief);
                    }
                    None => {}
                }
            }
        }
        let pairs = moments.pairs.into_iter().map(|((i, j), v)| (i, j, v)).collect();
        // log Z/eps - E f/eps, both relative to the factors' largest values.
        Ok(Marginals { states, pairs, entropy: (up.log_sum - moments.energy).max(0.0), roundings })
    }

    /// Roundings of an entry of the belief of the bucket at p, before entries are added up; infinite where products
    /// may leave the range of floating point.
    fn steps(&self, p: usize, up: &Upward, message: &Message) -> f64 {
        let tables = self.tables(p, &up.buckets, &up.messages);
        let count = tables.len() as f64;
        if fits_numbers(tables.iter().copied()) {
            let moved = message.exponent as f64 * std::f64::consts::LN_2;
            let above: f64 = tables.iter().map(|t| t.highest.max(0.0)).sum();
            let below: f64 = tables.iter().map(|t| t.lowest.min(0.0)).sum();
            let fits = above - moved < RANGE && below - moved > -RANGE;
            return if fits { count + 4.0 } else { f64::INFINITY };
        }
        let sizes: f64 = tables.iter().map(|t| t.magnitude()).sum();
        let message = message.table.magnitude() + message.offset.abs();
        let conversions = LOG_ROUNDINGS * (count + 1.0 + sizes + message);
        (count + 3.0) * (sizes + message + 1.0) + conversions + EXP_ULPS + 2.0
    }

    fn beliefs(
        &self,
        p: usize,
        up: &Upward,
        (message, over): (&Message, &[f64]),
        targets: &[Vec<u32>],
        spare: &mut Spare,
        stop: Stop<'_>,
    ) -> Vec<Vec<f64>> {
        let (shape, states) = (self.shape(p), &self.plan.states);
        let tables = self.tables(p, &up.buckets, &up.messages);
        if fits_numbers(tables.iter().copied()) {
            let message = Given { message: &message.table.data, exponent: -message.exponent, above: over };
            return linear::beliefs(&shape, &tables, message, targets, states, spare, stop);
        }
        let logs: Vec<Table> = tables.iter().map(|t| t.logs().0).collect();
        let tables: Vec<&Table> = logs.iter().collect();
        let mut sums = message.table.logs().0.data;
        sums.iter_mut().for_each(|x| *x += message.offset);
        log::beliefs(&shape, &tables, (&sums, over), targets, states, stop)
    }

    /// The marginal of the variable at p from the smallest table that has it, the number of that table, and the roundings
    /// on the way.
    fn marginal(&self, p: u32, targets: &[Vec<u32>], beliefs: &[Vec<f64>]) -> (Vec<f64>, usize, f64) {
        let has = targets.iter().zip(beliefs).enumerate().filter(|(_, (scope, _))| scope.contains(&p));
        let Some((source, (scope, belief))) = has.min_by_key(|(_, t)| t.1.len()) else {
            return (Vec::new(), usize::MAX, f64::INFINITY);
        };
        let mut out = vec![0.0; self.plan.states[p as usize] as usize];
        let (stride, count) = self.axis(scope, p);
        for (k, block) in belief.chunks_exact(stride).enumerate() {
            out[k % count] += sum(block);
        }
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|x| *x = (*x / total).clamp(0.0, 1.0));
        // Sums in eight lanes, over blocks, over states, and the quotient.
        let steps = stride / 8 + 16 + belief.len() / (stride * count) + 2 * count + 2;
        (out, source, steps as f64)
    }

    /// Stride and states of the variable at q in a table over `scope`.
    fn axis(&self, scope: &[u32], q: u32) -> (usize, usize) {
        let states = |&r: &u32| self.plan.states[r as usize] as usize;
        (scope.iter().take_while(|&&r| r != q).map(states).product(), states(&q))
    }
}

/// Entries up to which a table is made to sum to one: larger ones do so up to rounding, and another two passes over
/// them would cost as much as a tenth of the sweep.
const NORMALISED: usize = 4096;

/// Makes every small table sum to one.
fn normalise(beliefs: &mut [Vec<f64>]) {
    for belief in beliefs.iter_mut().filter(|b| b.len() <= NORMALISED) {
        let inverse = 1.0 / sum(belief);
        belief.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// What factors' marginals add up to.
struct Moments {
    graph: Vec<Vec<u32>>,
    pairs: BTreeMap<(u32, u32), f64>,
    /// `E (f - offset)/eps`.
    energy: f64,
}

impl Moments {
    fn add(&mut self, elimination: &Elimination<'_>, table: &Table, belief: &[f64]) {
        for (&x, &p) in table.data.iter().zip(belief).filter(|(_, p)| **p > 0.0) {
            self.energy += p * if table.domain == Domain::Log { x } else { libm::log(x) };
        }
        let plan = elimination.plan;
        for (k, &a) in table.scope.iter().enumerate() {
            for &b in &table.scope[k + 1..] {
                let (i, j) = (plan.order[a as usize], plan.order[b as usize]);
                let spins = plan.states[a as usize] == 2 && plan.states[b as usize] == 2;
                if !spins || self.graph[i as usize].binary_search(&j).is_err() {
                    continue;
                }
                let (stride_a, _) = elimination.axis(&table.scope, a);
                let (stride_b, _) = elimination.axis(&table.scope, b);
                let sign = |n: usize| if (n / stride_a % 2) == (n / stride_b % 2) { 1.0 } else { -1.0 };
                let moment: f64 = belief.iter().enumerate().map(|(n, p)| sign(n) * p).sum();
                self.pairs.entry((i.min(j), i.max(j))).or_insert(moment.clamp(-1.0, 1.0));
            }
        }
    }
}
