//! Shifts between the mini-buckets of a bucket, moved until they agree on what they share.
//!
//! With laws `mu_c` over the shared variables the shift `w_c (log mean - log mu_c)`, `log mean = sum w_c log mu_c`, is
//! where the laws would meet if each answered to its own weight alone; it is damped. How the rest of
//! the model answers to a changed message is estimated at the weight of the mini-bucket above.

use super::pass::{Poll, Sweep};
use super::side::Side;
use super::structure::NONE;
use crate::solution::StopReason;
use crate::tables::layout::{Blocks, Broadcast};
use crate::tables::weighted::add_log;

/// Probabilities below this count as this.
const LEAST_PROBABILITY: f64 = 1e-12;

/// Largest shift of one pass in units of the weight: probabilities that underflowed cannot matter after it.
const MOST_SHIFT: f64 = 30.0;

/// Largest change, in units of the weight above, of a law's logarithm that is believed in one pass.
const MOST_CHANGE: f64 = 20.0;

impl Sweep<'_> {
    /// Messages of a split bucket after one step of matching.
    pub(super) fn match_bucket(
        &mut self,
        side: &mut Side,
        p: usize,
        step: f64,
        poll: &mut Poll<'_, '_>,
    ) -> Result<(), StopReason> {
        let bucket = self.structure.bucket(p);
        let mut shared = self.structure.share(p).to_vec();
        shared.push(p as u32);
        let mut cuts = Vec::with_capacity(bucket.len());
        let mut logs: Vec<Vec<f64>> = Vec::with_capacity(bucket.len());
        for (slot, c) in bucket.clone().enumerate() {
            let blocks = self.conditional(side, (c, p, slot), poll)?;
            let mut place = Broadcast::default();
            place.place(self.structure.scope(c), p as u32, &shared, &self.model.sizes, blocks);
            logs.push(self.shared_law(side, c, slot, blocks, &place));
            cuts.push((blocks, place));
        }
        let weights = &side.now.weights[bucket.clone()];
        let total: f64 = weights.iter().sum();
        let mean: Vec<f64> = (0..logs[0].len())
            .map(|y| weights.iter().zip(&logs).map(|(w, log)| w * log[y]).sum::<f64>() / total)
            .collect();
        let apart = |log: &Vec<f64>| mean.iter().zip(log).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        let largest = logs.iter().map(apart).fold(0.0, f64::max);
        let step = step.min(MOST_SHIFT / largest.max(f64::MIN_POSITIVE));
        for (slot, c) in bucket.enumerate() {
            let weight = side.now.weights[c];
            let change: Vec<f64> = mean.iter().zip(&logs[slot]).map(|(m, l)| step * (m - l)).collect();
            let kept = &mut side.now.shifts[self.structure.shift(c)];
            kept.iter_mut().zip(&change).for_each(|(s, d)| *s += weight * self.eps * d);
            let factor: Vec<f64> = change.iter().map(|d| d.exp()).collect();
            let (blocks, place) = &cuts[slot];
            self.resend(side, c, slot, *blocks, place, &factor);
        }
        Ok(())
    }

    /// Logarithm of the law of `c` over the shared variables.
    fn shared_law(&self, side: &Side, c: usize, slot: usize, blocks: Blocks, place: &Broadcast) -> Vec<f64> {
        let range = self.structure.message(c);
        let (laws, fresh) = (&self.scratch.laws[slot], &self.scratch.fresh[slot]);
        let above = self.law_above(side, c, &side.messages[range.clone()], fresh, &side.above[range]);
        let mut out = vec![0.0; place.entries()];
        let states = laws.len() / fresh.len();
        let mut run = Vec::with_capacity(blocks.size);
        for block in 0..blocks.count {
            let q = &above[block * blocks.size..(block + 1) * blocks.size];
            for state in 0..states {
                let from = (block * states + state) * blocks.size;
                run.clear();
                run.extend(laws[from..from + blocks.size].iter().zip(q).map(|(l, q)| l * q));
                place.fold(&run, &mut out[place.base(block, state)..]);
            }
        }
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|x| *x = (*x / total).max(LEAST_PROBABILITY).ln());
        out
    }

    /// The law above the message of `c`, corrected for how the message has changed since it was computed.
    fn law_above(&self, side: &Side, c: usize, old: &[f64], fresh: &[f64], above: &[f32]) -> Vec<f64> {
        if !side.has_laws {
            // Nothing has come back yet: as if the message were the end.
            let inverse = 1.0 / (side.now.weights[c] * self.eps);
            let scaled = |m: f64| if m.is_finite() { m * inverse } else { f64::NEG_INFINITY };
            let top = fresh.iter().fold(f64::MIN, |t, &m| t.max(scaled(m)));
            return fresh.iter().map(|&m| (scaled(m) - top).exp()).collect();
        }
        let home = self.structure.home[c];
        if home == NONE {
            return vec![1.0; fresh.len()];
        }
        if side.is_stale {
            return above.iter().map(|&q| f64::from(q)).collect();
        }
        let inverse = 1.0 / (side.now.weights[home as usize] * self.eps);
        let change = |k: usize| {
            let x = fresh[k] - old[k];
            if x.is_finite() { x } else { 0.0 }
        };
        let centre: f64 = (0..fresh.len()).map(|k| f64::from(above[k]) * change(k)).sum();
        let moved = |k: usize| ((change(k) - centre) * inverse).clamp(-MOST_CHANGE, MOST_CHANGE).exp();
        (0..fresh.len()).map(|k| f64::from(above[k]) * moved(k)).collect()
    }

    /// The message of `c` once its table has gained `weight * log factor`.
    fn resend(
        &mut self,
        side: &mut Side,
        c: usize,
        slot: usize,
        blocks: Blocks,
        place: &Broadcast,
        factor: &[f64],
    ) {
        let weight = side.now.weights[c] * self.eps;
        let laws = &mut self.scratch.laws[slot];
        let fresh = &mut self.scratch.fresh[slot];
        let states = laws.len() / fresh.len();
        let mut total = vec![0.0; blocks.size];
        for (block, message) in fresh.chunks_exact_mut(blocks.size).enumerate() {
            total.fill(0.0);
            for state in 0..states {
                let from = (block * states + state) * blocks.size;
                let run = &mut laws[from..from + blocks.size];
                place.multiply(run, &factor[place.base(block, state)..]);
                total.iter_mut().zip(&*run).for_each(|(s, x)| *s += x);
            }
            add_log(message, &total, weight);
        }
        side.messages[self.structure.message(c)].copy_from_slice(fresh);
    }
}
