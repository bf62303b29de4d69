//! A state of largest f, by max-product and traceback.

use super::eliminate::{Elimination, Message, poll};
use super::rounding::U;
use crate::certify::Interval;
use crate::error::Result;
use crate::observer::Monitor;
use crate::tables::buckets::Buckets;
use crate::tables::log::{Choices, maximise_out};
use crate::tables::spare::Spare;
use crate::tables::table::{Domain, Table};

/// A state of largest f.
pub(crate) struct Best {
    /// By variable.
    pub(crate) states: Vec<u32>,
    /// Proved bound on the largest value of f without its constant.
    pub(crate) upper: f64,
}

impl Elimination<'_> {
    /// Going from the last variable eliminated to the first, each takes the first of its best states.
    ///
    /// Every table is added once on the way to a root, and no partial sum exceeds the sum of the factors' largest
    /// magnitudes: that many roundings of that number are what the maximum can be off by.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(crate) fn maximise(&self, monitor: &mut Monitor<'_>) -> Result<Best> {
        let d = self.model.d();
        let buckets = Buckets::logs(self.model, self.plan);
        let mut messages: Vec<Option<Message>> = (0..d).map(|_| None).collect();
        let mut choices: Vec<Option<Choices>> = (0..d).map(|_| None).collect();
        let mut spare = Spare::default();
        for &p in &self.plan.schedule {
            let p = p as usize;
            let tables = self.tables(p, &buckets, &messages);
            let shape = self.shape(p);
            let stop = &mut || monitor.interrupted().is_some();
            let memory = spare.entries(shape.size());
            let (data, choice) = maximise_out(&shape, &tables, &self.plan.states, memory, self.pool, stop);
            poll(monitor)?;
            let used = self.plan.children[p].iter().filter_map(|&c| messages[c as usize].take());
            used.for_each(|m| spare.give(m.table.data));
            let table = Table { scope: shape.scope, data, domain: Domain::Log, highest: 0.0, lowest: 0.0 };
            messages[p] = Some(Message { table, exponent: 0, offset: 0.0 });
            choices[p] = Some(choice);
        }
        let roots = (0..d).filter(|&p| self.plan.parent[p].is_none());
        let peaks = roots.filter_map(|p| messages[p].as_ref().map(|m| m.table.data[0]));
        let highest = peaks.fold(Interval::ZERO, |sum, peak| sum + Interval::point(peak));
        let largest =
            |table: &[f64]| table.iter().filter(|v| v.is_finite()).fold(0.0f64, |most, v| most.max(v.abs()));
        let size: f64 = self.model.factors().map(|f| largest(f.table)).sum();
        let additions = 2 * self.model.len() + 2 * d + 4;
        let error = 1.01 * U * additions as f64 * size;
        let mut best = vec![0u32; d];
        for &p in self.plan.schedule.iter().rev() {
            let p = p as usize;
            let at = self.index(&self.plan.scopes[p], &best);
            best[p] = choices[p].as_ref().map_or(0, |c| c.get(at));
        }
        let mut states = vec![0; d];
        best.iter().zip(&self.plan.order).for_each(|(&s, &v)| states[v as usize] = s);
        Ok(Best { states, upper: (highest + Interval::point(error)).hi })
    }

    /// Index into a table over `scope` of states given by position.
    pub(crate) fn index(&self, scope: &[u32], states: &[u32]) -> usize {
        let inner = |index: usize, &q: &u32| {
            index * self.plan.states[q as usize] as usize + states[q as usize] as usize
        };
        scope.iter().rev().fold(0, inner)
    }
}
