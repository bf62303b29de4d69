//! The laws that are wanted, and what is proved about them so far.

use super::MarginalsRequest;
use crate::certify::Interval;
use crate::exact::{Shares, shares, tightened};
use crate::model::Model;

/// A variable or a pair, and the intervals of its joint states, the second variable fastest.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// The variable of the file, or the first of a pair.
    pub(super) first: usize,
    /// The second of a pair, with its number of states.
    pub(super) second: Option<(usize, u32)>,
    /// Proved intervals around the probabilities of the joint states.
    pub(super) law: Vec<[f64; 2]>,
    /// Brackets of `eps log Z` with the variables fixed, by joint state; empty as long as nothing is known.
    parts: Vec<Interval>,
}

/// Ends that say nothing.
pub(super) const UNKNOWN: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

/// What is known of a joint state that evidence rules out.
const IMPOSSIBLE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::NEG_INFINITY };

/// A law this narrow needs no more work.
const CLOSED: f64 = 1e-9;

impl Cell {
    fn new(model: &Model, first: usize, second: Option<usize>) -> Self {
        let second = second.map(|j| (j, model.cardinality(j)));
        let count = model.cardinality(first) as usize * second.map_or(1, |(_, q)| q as usize);
        let mut cell = Cell { first, second, law: vec![[0.0, 1.0]; count], parts: Vec::new() };
        let is_fixed = |i: usize| model.fixed()[i].is_some();
        if is_fixed(first) || second.is_some_and(|(j, _)| is_fixed(j)) {
            let agrees = |&(i, state): &(usize, u32)| model.fixed()[i].is_none_or(|fixed| fixed == state);
            let is_possible: Vec<bool> =
                (0..count).map(|k| cell.evidence(k).all(|fact| agrees(&fact))).collect();
            cell.law = is_possible.iter().map(|&p| [0.0, f64::from(u8::from(p))]).collect();
            cell.parts = is_possible.iter().map(|&p| if p { UNKNOWN } else { IMPOSSIBLE }).collect();
        }
        if count == 1 || !cell.parts.is_empty() {
            cell.law = tightened(cell.law);
        }
        cell
    }

    /// Joint state `k` as evidence.
    fn evidence(&self, k: usize) -> impl Iterator<Item = (usize, u32)> + use<> {
        let row = self.second.map_or(1, |(_, q)| q as usize).max(1);
        let second = self.second.map(|(j, _)| (j, (k % row) as u32));
        std::iter::once((self.first, (k / row) as u32)).chain(second)
    }

    /// The joint states that are not ruled out, with their numbers, as evidence.
    pub(super) fn open_states(&self) -> impl Iterator<Item = (usize, Vec<(usize, u32)>)> + '_ {
        let is_possible = |k: &usize| self.parts.get(*k).is_none_or(|part| part.hi > f64::NEG_INFINITY);
        (0..self.law.len()).filter(is_possible).map(|k| (k, self.evidence(k).collect()))
    }

    /// Whether every interval is narrow.
    pub(super) fn is_closed(&self) -> bool {
        self.width() <= CLOSED
    }

    /// The widest interval.
    pub(super) fn width(&self) -> f64 {
        self.law.iter().map(|[low, high]| high - low).fold(0.0, f64::max)
    }

    /// Narrows the bracket of one joint state.
    pub(super) fn learn(&mut self, k: usize, bracket: Interval) {
        self.parts.resize(self.law.len(), UNKNOWN);
        let known = &mut self.parts[k];
        known.lo = known.lo.max(bracket.lo);
        known.hi = known.hi.min(bracket.hi);
    }

    /// Draws the conclusions from all brackets; intervals never widen.
    pub(super) fn conclude(&mut self, whole: Interval, eps: f64) {
        self.parts.resize(self.law.len(), UNKNOWN);
        self.cut(shares(&Shares { parts: &self.parts, whole, eps }));
    }

    /// Cuts the law by another set of proved intervals.
    pub(super) fn cut(&mut self, law: Vec<[f64; 2]>) {
        for (old, new) in self.law.iter_mut().zip(law) {
            *old = [old[0].max(new[0]), old[1].min(new[1])];
        }
    }
}

/// All laws that are wanted.
pub(super) struct Cells<'m> {
    pub(super) model: &'m Model,
    /// One per variable asked for.
    pub(super) singles: Vec<Cell>,
    /// One per pair asked for.
    pub(super) pairs: Vec<Cell>,
}

impl<'m> Cells<'m> {
    pub(super) fn new(model: &'m Model, request: &MarginalsRequest, variables: Vec<usize>) -> Self {
        let singles = variables.into_iter().map(|i| Cell::new(model, i, None)).collect();
        let pairs = request.pairs.iter().map(|&(i, j)| Cell::new(model, i, Some(j))).collect();
        Cells { model, singles, pairs }
    }

    /// Cell `k`, singles before pairs.
    pub(super) fn get_mut(&mut self, k: usize) -> &mut Cell {
        let singles = self.singles.len();
        if k < singles { &mut self.singles[k] } else { &mut self.pairs[k - singles] }
    }

    /// Every cell, in the order in which they are worked on.
    pub(super) fn all(&self) -> impl Iterator<Item = &Cell> {
        self.singles.iter().chain(&self.pairs)
    }
}
