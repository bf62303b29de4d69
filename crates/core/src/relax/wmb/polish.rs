//! Shifts and weights by L-BFGS, where matching has done what it can.
//!
//! The derivative of the bound by a shift is the law of its mini-bucket over what the shift speaks of, by a weight the
//! conditional entropy: one pass forward and one back give all of them. Weights move through logarithms, so that they
//! keep their signs and the upper ones of a bucket their sum.

use super::pass::{Poll, Sweep};
use super::side::{LEAST_WEIGHT, MOST_NEGATIVE, Parameters, Sense, Side};
use super::structure::Structure;
use super::track::{Track, is_better};
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::solution::StopReason;

/// Steps over which the bound must move by this share of itself to go on.
const PATIENCE: usize = 10;
const LEAST_GAIN: f64 = 1e-6;
/// Numbers in all vectors that L-BFGS keeps: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 26;

impl Track {
    /// At most `steps` steps from the best numbers; the best are kept.
    ///
    /// # Errors
    /// Why it was interrupted; what was found until then is kept too.
    pub(super) fn polish(
        &mut self,
        eps: f64,
        steps: usize,
        poll: &mut Poll<'_, '_>,
    ) -> Result<(), StopReason> {
        let layout = self.layout.clone();
        let (structure, sense) = (&layout.structure, self.side.sense);
        let Some(best) = &self.best else { return Ok(()) };
        let options = LbfgsOptions { max_iterations: steps, ..LbfgsOptions::default() };
        let x = Coordinates::new(structure, &layout.model.sizes, sense);
        if layout.is_exact() || 2 * (options.memory + 4) * x.len() > MOST_NUMBERS {
            return Ok(());
        }
        let mut sweep = Sweep::new(&layout.model, structure, eps);
        std::mem::swap(&mut sweep.scratch, &mut self.scratch);
        let mut point = x.of(&best.parameters);
        let (mut stop, mut values) = (None, vec![best.value]);
        let sign = if sense == Sense::Upper { 1.0 } else { -1.0 };
        let side = &mut self.side;
        let start = best.parameters.clone();
        let _ = minimise(
            &mut |point, gradient| {
                if stop.is_some() {
                    return f64::INFINITY;
                }
                x.set(point, &mut side.now);
                let value = sweep.forward(side, None, poll).and_then(|value| {
                    side.shift_laws = Some(vec![0.0; structure.shift_entries()]);
                    sweep.backward(side, poll).map(|()| value)
                });
                let laws = side.shift_laws.take();
                match value {
                    Ok(value) => {
                        x.derivative(laws.as_deref().unwrap_or(&[]), side, (eps, sign), gradient);
                        sign * value
                    }
                    Err(reason) => {
                        stop = Some(reason);
                        f64::INFINITY
                    }
                }
            },
            &mut point,
            None,
            options,
            &mut |value, _| {
                values.push(sign * value);
                let before = values.len().checked_sub(PATIENCE + 1).map(|k| values[k]);
                let small = LEAST_GAIN * value.abs().max(eps);
                before.is_some_and(|before| sign * before - value < small)
            },
        );
        std::mem::swap(&mut sweep.scratch, &mut self.scratch);
        let value = values[values.len() - 1];
        self.side.now = start;
        if values.len() > 1 && value.is_finite() && is_better(sense, value, values[0]) {
            x.set(&point, &mut self.side.now);
            self.keep(value);
        }
        // Messages and laws are those of the last trial.
        self.side.is_stale = true;
        stop.map_or(Ok(()), Err)
    }
}

/// Shifts, then one number a mini-bucket of a split bucket.
struct Coordinates<'a> {
    structure: &'a Structure,
    sense: Sense,
    /// Split buckets with a shift.
    buckets: Vec<std::ops::Range<usize>>,
}

impl<'a> Coordinates<'a> {
    fn new(structure: &'a Structure, sizes: &[u32], sense: Sense) -> Self {
        let buckets = (0..sizes.len()).map(|p| structure.bucket(p));
        let buckets = buckets.zip(sizes).filter(|(b, q)| b.len() > 1 && **q > 1).map(|(b, _)| b).collect();
        Coordinates { structure, sense, buckets }
    }

    fn len(&self) -> usize {
        self.structure.shift_entries() + self.buckets.iter().map(ExactSizeIterator::len).sum::<usize>()
    }

    fn of(&self, at: &Parameters) -> Vec<f64> {
        let mut x = at.shifts.clone();
        for bucket in &self.buckets {
            x.extend(at.weights[bucket.clone()].iter().map(|w| w.abs().ln()));
        }
        x
    }

    fn set(&self, x: &[f64], to: &mut Parameters) {
        let (shifts, mut logs) = x.split_at(self.structure.shift_entries());
        to.shifts.copy_from_slice(shifts);
        for bucket in &self.buckets {
            let (own, rest) = logs.split_at(bucket.len());
            logs = rest;
            let weights = &mut to.weights[bucket.clone()];
            match self.sense {
                Sense::Upper => {
                    let top = own.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
                    let least = LEAST_WEIGHT / own.len() as f64;
                    weights.iter_mut().zip(own).for_each(|(w, z)| *w = (z - top).exp().max(least));
                    let total: f64 = weights.iter().sum();
                    // The sum must not round below one.
                    let scale = (1.0 + 4.0 * own.len() as f64 * f64::EPSILON) / total;
                    weights.iter_mut().for_each(|w| *w *= scale);
                }
                Sense::Lower => {
                    let negative = weights.iter_mut().zip(own).skip(1);
                    negative.for_each(|(w, z)| *w = -z.exp().clamp(LEAST_WEIGHT, MOST_NEGATIVE));
                    weights[0] = 1.0 - weights[1..].iter().sum::<f64>();
                }
            }
        }
    }

    /// Derivative of `sign` times the bound, along shifts that add up to nothing in every bucket.
    fn derivative(&self, laws: &[f64], side: &Side, (eps, sign): (f64, f64), gradient: &mut [f64]) {
        let (shifts, mut logs) = gradient.split_at_mut(self.structure.shift_entries());
        for bucket in &self.buckets {
            let places: Vec<_> = bucket.clone().map(|c| self.structure.shift(c)).collect();
            for k in 0..places[0].len() {
                let mean = places.iter().map(|p| laws[p.start + k]).sum::<f64>() / places.len() as f64;
                places.iter().for_each(|p| shifts[p.start + k] = sign * (laws[p.start + k] - mean));
            }
            let (own, rest) = logs.split_at_mut(bucket.len());
            logs = rest;
            let weights = &side.now.weights[bucket.clone()];
            let entropies = &side.entropies[bucket.clone()];
            let mean: f64 = weights.iter().zip(entropies).map(|(w, &h)| w * f64::from(h)).sum();
            let positive = f64::from(entropies[0]);
            let base = if self.sense == Sense::Upper { mean } else { positive };
            for ((g, w), &h) in own.iter_mut().zip(weights).zip(entropies) {
                *g = sign * eps * w * (f64::from(h) - base);
            }
            if self.sense == Sense::Lower {
                own[0] = 0.0;
            }
        }
    }
}
