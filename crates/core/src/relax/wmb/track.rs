//! One side on its way: pass after pass, the best numbers kept.

use super::pass::{Poll, Scratch, Sweep};
use super::reduced::Reduced;
use super::side::{Parameters, Sense, Side};
use super::structure::Structure;
use crate::solution::StopReason;
use std::sync::Arc;

/// Length of the first multiplicative steps of the weights, per unit of entropy.
const WEIGHT_STEP: f64 = 3.0;

/// Damping of the first shifts: none.
const SHIFT_STEP: f64 = 1.0;

/// Passes without gain after which the best numbers are taken up again with shorter steps.
const PATIENCE: usize = 2;

/// A model along an order and its mini-buckets.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) model: Reduced,
    pub(super) structure: Structure,
    /// The states summed over, per variable, when they are fewer than those that were not removed.
    pub(super) allowed: Option<Vec<Vec<u32>>>,
}

impl Layout {
    /// Whether no bucket is split, so that one pass is the exact sum.
    pub(super) fn is_exact(&self) -> bool {
        self.structure.len() == self.model.d()
    }
}

/// The best of a side: enough for a proof.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub(super) value: f64,
    pub(super) layout: Arc<Layout>,
    pub(super) parameters: Parameters,
}

impl Best {
    /// Whether `self` is better than `other` for `sense`.
    pub(super) fn beats(&self, other: Option<&Best>, sense: Sense) -> bool {
        other.is_none_or(|other| is_better(sense, self.value, other.value))
    }
}

/// Whether `new` is the better bound.
pub(super) fn is_better(sense: Sense, new: f64, old: f64) -> bool {
    match sense {
        Sense::Upper => new < old,
        Sense::Lower => new > old,
    }
}

/// One side at work on one layout.
pub(super) struct Track {
    pub(super) layout: Arc<Layout>,
    pub(super) side: Side,
    /// The best of this track.
    pub(super) best: Option<Best>,
    /// Gain of the last pass that improved.
    pub(super) gain: f64,
    shift_step: f64,
    weight_step: f64,
    misses: usize,
    must_settle: bool,
    scratch: Scratch,
}

impl Track {
    pub(super) fn new(sense: Sense, layout: Arc<Layout>) -> Self {
        let side = Side::new(sense, &layout.structure, &layout.model.sizes);
        Track {
            layout,
            side,
            best: None,
            gain: f64::INFINITY,
            shift_step: SHIFT_STEP,
            weight_step: WEIGHT_STEP,
            misses: 0,
            must_settle: false,
            scratch: Scratch::default(),
        }
    }

    /// One pass forward and back. An interrupted pass leaves the best as it was.
    pub(super) fn pass(&mut self, eps: f64, poll: &mut Poll<'_, '_>) -> Result<(), StopReason> {
        let layout = self.layout.clone();
        let mut sweep = Sweep::new(&layout.model, &layout.structure, eps);
        std::mem::swap(&mut sweep.scratch, &mut self.scratch);
        let outcome = self.sweep(&mut sweep, poll);
        std::mem::swap(&mut sweep.scratch, &mut self.scratch);
        outcome
    }

    fn sweep(&mut self, sweep: &mut Sweep<'_>, poll: &mut Poll<'_, '_>) -> Result<(), StopReason> {
        let is_split = !self.layout.is_exact();
        let step = (is_split && !std::mem::take(&mut self.must_settle)).then_some(self.shift_step);
        let value = sweep.forward(&mut self.side, step, poll)?;
        self.judge(value);
        sweep.backward(&mut self.side, poll)?;
        if is_split {
            let (structure, sizes) = (&self.layout.structure, &self.layout.model.sizes);
            self.side.step_weights(structure, sizes, self.weight_step);
        }
        Ok(())
    }

    /// Keeps the numbers if they are the best; takes up the best again after passes in vain.
    fn judge(&mut self, value: f64) {
        let sense = self.side.sense;
        let old = self.best.as_ref().map(|b| b.value);
        if value.is_finite() && old.is_none_or(|old| is_better(sense, value, old)) {
            self.gain = old.map_or(f64::INFINITY, |old| (value - old).abs());
            let parameters = self.side.now.clone();
            self.best = Some(Best { value, layout: self.layout.clone(), parameters });
            self.misses = 0;
            return;
        }
        self.gain = 0.0;
        self.misses += 1;
        if self.misses >= PATIENCE
            && let Some(best) = &self.best
        {
            self.side.now.clone_from(&best.parameters);
            self.shift_step *= 0.5;
            self.weight_step *= 0.5;
            self.misses = 0;
            self.must_settle = true;
        }
    }
}
