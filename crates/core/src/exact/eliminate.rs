//! Variable elimination in the log domain: log Z, the maximum, and marginals by a second sweep.
//!
//! Spins leave one after another. When spin v goes, the factors and messages that mention it are
//! added up over its clique and v is summed (or maximised) out; the message that remains goes to
//! the next of its spins to leave. Everything stays in the log domain, so hard zeros are `-inf`
//! and no range of values underflows.

use super::clique::{CHUNK_BITS, Table, View, bits_in, project};
use super::moments::signed_sums;
use super::order::Plan;
use super::rounding::{CompensatedSum, Enclosure, U};
use super::sweep::{self, Message};
use super::vector::LOG_ADD_ULPS;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::Monitor;

/// Factors of one clique are added up beforehand while their union has at most this many spins.
const MERGE_BITS: usize = 8;

/// What sum-product finds, in units of eps and without the constant.
pub(crate) struct SumProduct {
    /// `log sum_x exp(f/eps)`, `-inf` when every state is forbidden.
    pub(crate) log_sum: f64,
    pub(crate) bounds: Enclosure,
    /// `E x_i`.
    pub(crate) means: Vec<f64>,
    /// `E x_i x_j` for pairs i < j of a common factor.
    pub(crate) pairs: Vec<(u32, u32, f64)>,
    /// `-sum p log p`.
    pub(crate) entropy: f64,
}

/// Elimination of one model along one plan.
pub(crate) struct Elimination<'a, 'o> {
    model: &'a FactorModel,
    plan: &'a Plan,
    pool: Option<rayon::ThreadPool>,
    monitor: &'a mut Monitor<'o>,
    children: Vec<Vec<u32>>,
}

/// The model's own factors in one clique.
#[derive(Default)]
struct Local {
    tables: Vec<Table>,
    factors: usize,
    /// Sum over factors of the largest magnitude of a finite entry.
    magnitude: f64,
}

impl<'a, 'o> Elimination<'a, 'o> {
    pub(crate) fn new(
        model: &'a FactorModel,
        plan: &'a Plan,
        threads: usize,
        monitor: &'a mut Monitor<'o>,
    ) -> Result<Self> {
        let mut children = vec![Vec::new(); model.d()];
        for (p, up) in plan.parent.iter().enumerate() {
            if let Some(up) = up {
                children[*up as usize].push(p as u32);
            }
        }
        Ok(Elimination { model, plan, pool: super::workers::pool(threads)?, monitor, children })
    }

    /// A state of largest f, by max-product and traceback: going from the last spin eliminated
    /// to the first, each takes its better value, -1 when both are equal.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn maximise(&mut self) -> Result<Vec<i8>> {
        let local = self.local_tables(1.0);
        let d = self.model.d();
        let mut messages: Vec<Option<Message>> = (0..d).map(|_| None).collect();
        let mut choices: Vec<Vec<u64>> = Vec::with_capacity(d);
        for p in 0..d {
            self.poll()?;
            let views = self.views(p, &local[p], &messages);
            let (message, choice) = sweep::maximise_out(&views, self.plan.scopes[p].len(), &self.pool);
            drop(views);
            for &child in &self.children[p] {
                messages[child as usize] = None;
            }
            messages[p] = Some(message);
            choices.push(choice);
        }
        let mut spins = vec![-1i8; d];
        for p in (0..d).rev() {
            let scope = self.plan.scopes[p].iter().enumerate();
            let at: usize =
                scope.map(|(b, &q)| usize::from(spins[self.plan.order[q as usize] as usize] > 0) << b).sum();
            if choices[p][at / 64] >> (at % 64) & 1 == 1 {
                spins[self.plan.order[p] as usize] = 1;
            }
        }
        Ok(spins)
    }

    /// log Z and all marginals at temperature eps.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub(crate) fn sum(&mut self, eps: f64) -> Result<SumProduct> {
        let d = self.model.d();
        if self.model.constant() == f64::NEG_INFINITY {
            return Ok(SumProduct::impossible(d));
        }
        let local = self.local_tables(1.0 / eps);
        let mut messages: Vec<Option<Message>> = (0..d).map(|_| None).collect();
        let mut log_sum = CompensatedSum::default();
        let mut roundings = 0.0;
        for p in 0..d {
            self.poll()?;
            let views = self.views(p, &local[p], &messages);
            let message = sweep::sum_out(&views, self.plan.scopes[p].len(), &self.pool);
            roundings += self.roundings(p, &local[p], &messages);
            if message.offset == f64::NEG_INFINITY {
                return Ok(SumProduct::impossible(d));
            }
            log_sum.add(message.offset);
            messages[p] = Some(message);
        }
        let log_sum = log_sum.value();
        // The compensated sum of the offsets adds a few roundings of its value.
        let radius = 1.01 * U * (roundings + 6.0 * log_sum.abs());
        let mut out = SumProduct {
            log_sum,
            bounds: Enclosure::point(log_sum).widened(radius),
            means: vec![0.0; d],
            pairs: Vec::new(),
            entropy: 0.0,
        };
        self.descend(&local, messages, &mut out)?;
        Ok(out)
    }

    /// Second sweep, last eliminated first: `P(x_v, y) = P(x_v | y) P(y)` over each clique, where
    /// `P(x_v | y)` is the clique's table over its message and `P(y)` comes from the parent.
    fn descend(
        &mut self,
        local: &[Local],
        mut messages: Vec<Option<Message>>,
        out: &mut SumProduct,
    ) -> Result<()> {
        let d = self.model.d();
        let mut marginals: Vec<Vec<f64>> = vec![Vec::new(); d];
        let graph = super::order::interaction_graph(self.model);
        for p in (0..d).rev() {
            self.poll()?;
            let above = match self.plan.parent[p] {
                None => vec![1.0],
                Some(_) => std::mem::take(&mut marginals[p]),
            };
            let Some(message) = messages[p].take() else { continue };
            let views = self.views(p, &local[p], &messages);
            let (mut belief, entropy) = sweep::belief(&views, &message, &above, &self.pool);
            drop((views, message, above));
            let total: f64 = belief.iter().sum();
            out.entropy += entropy / total;
            let clique = self.clique(p);
            for &child in &self.children[p] {
                let scope = &self.plan.scopes[child as usize];
                let mut table = vec![0.0; 1 << scope.len()];
                project(&belief, &bits_in(scope, &clique), &mut table);
                table.iter_mut().for_each(|x| *x /= total);
                marginals[child as usize] = table;
            }
            let v = self.plan.order[p];
            let (minus, plus) = belief.split_at_mut(1 << (clique.len() - 1));
            plus.iter_mut().zip(minus).for_each(|(plus, minus)| *plus -= *minus);
            let mut sums = vec![0.0; clique.len() - 1];
            out.means[v as usize] = (signed_sums(plus, &mut sums) / total).clamp(-1.0, 1.0);
            for (&q, sum) in self.plan.scopes[p].iter().zip(sums) {
                let w = self.plan.order[q as usize];
                if graph[v as usize].binary_search(&w).is_ok() {
                    out.pairs.push((v.min(w), v.max(w), (sum / total).clamp(-1.0, 1.0)));
                }
            }
        }
        out.pairs.sort_unstable_by_key(|&(i, j, _)| (i, j));
        Ok(())
    }

    fn poll(&mut self) -> Result<()> {
        self.monitor.interrupted().map_or(Ok(()), |stop| Err(Error::Interrupted(stop)))
    }

    /// Positions of the clique of the spin at position p, last eliminated first.
    fn clique(&self, p: usize) -> Vec<u32> {
        let mut clique = self.plan.scopes[p].clone();
        clique.push(p as u32);
        clique
    }

    /// The model's factors by the position of the first of their spins to go.
    fn local_tables(&self, scale: f64) -> Vec<Local> {
        let mut local: Vec<Local> = (0..self.model.d()).map(|_| Local::default()).collect();
        for factor in self.model.factors() {
            let positions: Vec<u32> = factor.scope.iter().map(|&i| self.plan.position[i as usize]).collect();
            if let Some(&first) = positions.iter().min() {
                local[first as usize].push(Table::from_factor(&positions, factor.table, scale));
            }
        }
        local
    }

    /// All tables of the clique at p.
    fn views<'t>(&self, p: usize, local: &'t Local, messages: &'t [Option<Message>]) -> Vec<View<'t>> {
        let clique = self.clique(p);
        let chunk_bits = (clique.len() - 1).min(CHUNK_BITS);
        let own = local.tables.iter().map(|t| View::new(&t.data, &t.bits_in(&clique), chunk_bits));
        let received = self.children[p].iter().filter_map(|&c| {
            let bits = bits_in(&self.plan.scopes[c as usize], &clique);
            messages[c as usize].as_ref().map(|m| View::new(&m.data, &bits, chunk_bits))
        });
        own.chain(received).collect()
    }

    /// Roundings at p in units of u, so that the log of the message is within `u` times them of
    /// the exact function of its inputs (log-sum-exp moves by at most the change of its inputs).
    ///
    /// Scaling by 1/eps and merging round numbers at most the sum of the factors' magnitudes, 2
    /// times and once per factor. Adding up the tables, the end of log_add and the shift by the
    /// offset round numbers at most s + 1, s the sum of all magnitudes, once per table and twice.
    /// The correction inside log_add comes on top.
    fn roundings(&self, p: usize, local: &Local, messages: &[Option<Message>]) -> f64 {
        let received = self.children[p].iter().filter_map(|&c| messages[c as usize].as_ref());
        let s = local.magnitude + received.map(|m| m.magnitude).sum::<f64>();
        let tables = local.tables.len() + self.children[p].len();
        (local.factors + 2) as f64 * local.magnitude + (tables + 2) as f64 * (s + 1.0) + LOG_ADD_ULPS
    }
}

impl Local {
    /// Adds a factor, merging it into a table when the union stays small.
    fn push(&mut self, table: Table) {
        self.factors += 1;
        let finite = table.data.iter().filter(|v| v.is_finite());
        self.magnitude += finite.fold(0.0f64, |m, v| m.max(v.abs()));
        let fits = |other: &Table| {
            let largest = table.scope.len().max(other.scope.len()).max(MERGE_BITS);
            table.union(other).len() <= largest
        };
        match self.tables.iter().position(fits) {
            Some(k) => self.tables[k] = self.tables[k].sum(&table),
            None => self.tables.push(table),
        }
    }
}

impl SumProduct {
    /// The answer when no state is allowed: no distribution, so no moments.
    fn impossible(d: usize) -> Self {
        SumProduct {
            log_sum: f64::NEG_INFINITY,
            bounds: Enclosure::point(f64::NEG_INFINITY),
            means: vec![f64::NAN; d],
            pairs: Vec::new(),
            entropy: f64::NAN,
        }
    }
}
