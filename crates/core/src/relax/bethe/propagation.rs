//! Belief propagation on a model whose couplings are all at least zero.

use super::point::{ROOM, best_correlation, entropy, pair_entropy};
use crate::model::Ising;
use crate::relax::forest::message;

/// A point of the local polytope.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// Bethe value of `f/eps` under the counting measure, without the constant.
    pub(super) value: f64,
    pub(super) means: Vec<f64>,
}

/// `f/eps` by rows, with one message a direction of every edge.
pub(super) struct Propagation {
    fields: Vec<f64>,
    start: Vec<usize>,
    neighbour: Vec<u32>,
    coupling: Vec<f64>,
    /// Where the other direction of an edge is.
    twin: Vec<u32>,
    /// Half log-odds sent along each direction: entry k of row i goes from i to its neighbour.
    sent: Vec<f64>,
    /// Field plus everything received.
    total: Vec<f64>,
}

impl Propagation {
    /// **Cost** O(d + m).
    pub(super) fn new(ising: &Ising, eps: f64) -> Self {
        let d = ising.d();
        let edges = || ising.triples().filter(|t| t.2 != 0.0);
        let mut start = vec![0usize; d + 1];
        edges().for_each(|(i, j, _)| {
            start[i + 1] += 1;
            start[j + 1] += 1;
        });
        (0..d).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let (mut neighbour, mut coupling) = (vec![0; start[d]], vec![0.0; start[d]]);
        let mut twin = vec![0; start[d]];
        for (i, j, v) in edges() {
            let (a, b) = (next[i], next[j]);
            (next[i], next[j]) = (a + 1, b + 1);
            (neighbour[a], neighbour[b]) = (j as u32, i as u32);
            (coupling[a], coupling[b]) = (v / eps, v / eps);
            (twin[a], twin[b]) = (b as u32, a as u32);
        }
        let fields: Vec<f64> = ising.fields().iter().map(|h| h / eps).collect();
        let (sent, total) = (vec![0.0; start[d]], fields.clone());
        Propagation { fields, start, neighbour, coupling, twin, sent, total }
    }

    /// Number of spins.
    pub(super) fn d(&self) -> usize {
        self.fields.len()
    }

    /// Number of messages.
    pub(super) fn messages(&self) -> usize {
        self.sent.len()
    }

    /// Fields divided by eps.
    pub(super) fn fields(&self) -> &[f64] {
        &self.fields
    }

    /// The messages now, to go on from later.
    pub(super) fn messages_now(&self) -> Vec<f64> {
        self.sent.clone()
    }

    /// Goes on from messages of before.
    pub(super) fn resume(&mut self, messages: Vec<f64>) {
        self.sent = messages;
        self.refresh();
    }

    /// Messages as from spins with the given half log-odds.
    pub(super) fn restart(&mut self, odds: impl Fn(usize) -> f64) {
        self.total.copy_from_slice(&self.fields);
        for i in 0..self.d() {
            let own = odds(i);
            for k in self.start[i]..self.start[i + 1] {
                self.sent[k] = message(self.coupling[k], own);
                self.total[self.neighbour[k] as usize] += self.sent[k];
            }
        }
    }

    /// Updates all messages out of the given spins in turn; returns the largest change of a half log-odds.
    pub(super) fn sweep(&mut self, spins: impl Iterator<Item = usize>) -> f64 {
        let mut change = 0.0f64;
        for i in spins {
            let total = self.total[i];
            for k in self.start[i]..self.start[i + 1] {
                let cavity = total - self.sent[self.twin[k] as usize];
                let new = message(self.coupling[k], cavity);
                let step = new - self.sent[k];
                self.sent[k] = new;
                self.total[self.neighbour[k] as usize] += step;
                change = change.max(step.abs());
            }
        }
        change
    }

    /// Sums the messages afresh: running totals carry the roundings of all sweeps.
    pub(super) fn refresh(&mut self) {
        self.total.copy_from_slice(&self.fields);
        for k in 0..self.sent.len() {
            self.total[self.neighbour[k] as usize] += self.sent[k];
        }
    }

    /// The means now, and the value of the best point with these means.
    pub(super) fn point(&self) -> Point {
        let means: Vec<f64> = self.total.iter().map(|u| u.tanh().clamp(ROOM - 1.0, 1.0 - ROOM)).collect();
        Point { value: self.value(&means), means }
    }

    /// The Bethe value of `means` with the best correlations.
    ///
    /// **Cost** O(d + m).
    pub(super) fn value(&self, means: &[f64]) -> f64 {
        let mut value = 0.0;
        for i in 0..self.d() {
            let degree = self.start[i + 1] - self.start[i];
            value += self.fields[i] * means[i] + (1.0 - degree as f64) * entropy(means[i]);
            for k in self.start[i]..self.start[i + 1] {
                let j = self.neighbour[k] as usize;
                if i < j {
                    let c = best_correlation(self.coupling[k], means[i], means[j]);
                    value += self.coupling[k] * c + pair_entropy(means[i], means[j], c);
                }
            }
        }
        value
    }
}
