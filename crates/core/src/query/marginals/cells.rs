//! The laws that are wanted, and what is proved about them so far.

use super::MarginalsRequest;
use crate::certify::Interval;
use crate::exact::{Shares, shares, tightened};
use crate::model::Model;

/// A variable or a pair, and the intervals of its joint states, the second variable fastest.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// One or two variables of the file.
    pub(super) variables: Vec<usize>,
    /// Joint states: states of each variable.
    pub(super) states: Vec<Vec<u32>>,
    /// Proved intervals around their probabilities.
    pub(super) law: Vec<[f64; 2]>,
    /// Brackets of `eps log Z` with the variables fixed, by joint state.
    pub(super) parts: Vec<Interval>,
}

/// Ends that say nothing.
const UNKNOWN: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

/// A law this narrow needs no more work.
const CLOSED: f64 = 1e-9;

impl Cell {
    fn new(model: &Model, variables: Vec<usize>) -> Self {
        let mut states: Vec<Vec<u32>> = vec![Vec::new()];
        for &i in &variables {
            let more = |s: &Vec<u32>| (0..model.cardinality(i)).map(|t| [&s[..], &[t]].concat()).collect();
            states = states.iter().flat_map(|s| -> Vec<Vec<u32>> { more(s) }).collect();
        }
        let agrees = |s: &Vec<u32>| {
            variables.iter().zip(s).all(|(&i, &state)| model.fixed()[i].is_none_or(|fixed| fixed == state))
        };
        let possible: Vec<bool> = states.iter().map(agrees).collect();
        let law = possible.iter().map(|&p| if p { [0.0, 1.0] } else { [0.0, 0.0] }).collect();
        let impossible = Interval::point(f64::NEG_INFINITY);
        let parts = possible.iter().map(|&p| if p { UNKNOWN } else { impossible }).collect();
        Cell { law: tightened(law), variables, states, parts }
    }

    /// The joint states that are not ruled out, with their numbers, as evidence.
    pub(super) fn open_states(&self) -> impl Iterator<Item = (usize, Vec<(usize, u32)>)> + '_ {
        let possible = |k: &usize| self.parts[*k].hi > f64::NEG_INFINITY;
        (0..self.states.len())
            .filter(possible)
            .map(|k| (k, self.variables.iter().copied().zip(self.states[k].iter().copied()).collect()))
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
        let known = &mut self.parts[k];
        known.lo = known.lo.max(bracket.lo);
        known.hi = known.hi.min(bracket.hi);
    }

    /// Draws the conclusions from all brackets; intervals never widen.
    pub(super) fn conclude(&mut self, whole: Interval, eps: f64) {
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
        let singles = variables.into_iter().map(|i| Cell::new(model, vec![i])).collect();
        let pairs = request.pairs.iter().map(|&(i, j)| Cell::new(model, vec![i, j])).collect();
        Cells { model, singles, pairs }
    }

    /// Every cell, in the order in which they are worked on.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Cell> {
        self.singles.iter_mut().chain(&mut self.pairs)
    }

    /// Every cell.
    pub(super) fn all(&self) -> impl Iterator<Item = &Cell> {
        self.singles.iter().chain(&self.pairs)
    }
}
