//! One side on its way: pass after pass, the best numbers kept.

use super::pass::{Poll, Scratch, Sweep};
use super::reduced::Reduced;
use super::side::{Parameters, Sense, Side};
use super::structure::Structure;
use crate::solution::StopReason;
use std::sync::Arc;

/// Length of the first multiplicative steps of the weights, per unit of entropy.
const WEIGHT_STEP: f64 = 2.0;

/// Change of the steps after a pass that gained, and its limit.
const LONGER: f64 = 1.3;
const MOST_STEP: f64 = 6.0;

/// Change of the steps after a pass in vain.
const SHORTER: f64 = 0.4;

/// Damping of the first shifts: none.
const SHIFT_STEP: f64 = 1.0;

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
    /// What the last pass gained, and half of it for every pass in vain since.
    pub(super) gain: f64,
    shift_step: f64,
    weight_step: f64,
    pub(super) scratch: Scratch,
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
        let value = sweep.forward(&mut self.side, is_split.then_some(self.shift_step), poll)?;
        if self.judge(value) {
            sweep.backward(&mut self.side, poll)?;
            self.weight_step = (self.weight_step * LONGER).min(MOST_STEP);
        } else if let Some(best) = &self.best {
            // The laws that came back last belong to the best numbers: step from there again, less far.
            self.side.now.clone_from(&best.parameters);
            self.side.is_stale = true;
            self.weight_step *= SHORTER;
            self.shift_step *= SHORTER.sqrt();
        }
        if is_split {
            let (structure, sizes) = (&self.layout.structure, &self.layout.model.sizes);
            self.side.step_weights(structure, sizes, self.weight_step);
        }
        Ok(())
    }

    /// Keeps the numbers if they are the best, and says so.
    fn judge(&mut self, value: f64) -> bool {
        let sense = self.side.sense;
        let old = self.best.as_ref().map(|b| b.value);
        let is_best = value.is_finite() && old.is_none_or(|old| is_better(sense, value, old));
        self.gain = match old {
            None => f64::INFINITY,
            Some(old) if is_best => (value - old).abs(),
            // A step that was too long says nothing about what a shorter one gains.
            Some(_) => 0.5 * self.gain,
        };
        if is_best {
            self.keep(value);
        }
        is_best
    }

    /// Makes the numbers at hand the best.
    pub(super) fn keep(&mut self, value: f64) {
        let parameters = self.side.now.clone();
        self.best = Some(Best { value, layout: self.layout.clone(), parameters });
    }
}
