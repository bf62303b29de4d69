//! The numbers of one side: weights, shifts, messages and the marginals that come back.

use super::structure::Structure;

/// Weight below which no mini-bucket falls, relative to its equal share: a hotter start is easy to leave, a
/// frozen one is not.
pub(super) const LEAST_WEIGHT: f64 = 1e-3;

/// Which side of log Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Upper,
    Lower,
}

/// What a proof needs besides the structure: small next to the messages, so the best is kept as a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    /// By mini-bucket. Upper: positive, one in sum. Lower: the first of a bucket positive, the others negative.
    pub(super) weights: Vec<f64>,
    /// By mini-bucket over what its bucket shares; they add up to nothing in every bucket.
    pub(super) shifts: Vec<f64>,
}

/// One side at work.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub(super) sense: Sense,
    pub(super) now: Parameters,
    /// Messages of the last forward pass.
    pub(super) messages: Vec<f64>,
    /// By message: the law that the rest of the model gives its variables, from the last backward pass.
    pub(super) above: Vec<f32>,
    /// Whether something has come back yet.
    pub(super) has_laws: bool,
    /// Whether the messages have been replaced in vain since: then `above` still belongs to the best numbers.
    pub(super) is_stale: bool,
    /// By mini-bucket: entropy of the eliminated variable given the others, where a bucket is split.
    pub(super) entropies: Vec<f32>,
    /// The laws over what shifts speak of, where they are asked for before a backward pass.
    pub(super) shift_laws: Option<Vec<f64>>,
    /// By position: the law of each variable, flat, from the first mini-bucket.
    pub(super) marginals: Vec<f64>,
}

impl Side {
    /// Equal weights, no shifts.
    pub(super) fn new(sense: Sense, structure: &Structure, sizes: &[u32]) -> Self {
        let mut weights = vec![1.0; structure.len()];
        for p in 0..sizes.len() {
            let bucket = structure.bucket(p);
            let count = bucket.len() as f64;
            if bucket.len() == 1 {
                continue;
            }
            match sense {
                Sense::Upper => weights[bucket].fill(1.0 / count),
                Sense::Lower => {
                    let negative = -0.5 / (count - 1.0);
                    weights[bucket.start] = 1.5;
                    weights[bucket.start + 1..bucket.end].fill(negative);
                }
            }
        }
        Side {
            sense,
            now: Parameters { weights, shifts: vec![0.0; structure.shift_entries()] },
            messages: vec![0.0; structure.message_entries()],
            above: vec![0.0; structure.message_entries()],
            has_laws: false,
            is_stale: false,
            entropies: vec![0.0; structure.len()],
            shift_laws: None,
            marginals: vec![0.0; sizes.iter().map(|&k| k as usize).sum()],
        }
    }

    /// Moves the weights of split buckets along the entropies: multiplicative steps of length `step`.
    pub(super) fn step_weights(&mut self, structure: &Structure, sizes: &[u32], step: f64) {
        for p in (0..sizes.len()).filter(|&p| sizes[p] > 1) {
            let bucket = structure.bucket(p);
            if bucket.len() < 2 {
                continue;
            }
            let entropies = &self.entropies[bucket.clone()];
            let weights = &mut self.now.weights[bucket];
            match self.sense {
                Sense::Upper => step_upper(weights, entropies, step),
                Sense::Lower => step_lower(weights, entropies, step),
            }
        }
    }
}

/// The bound falls at rate H_c with w_c: weight moves to where the entropy is small.
fn step_upper(weights: &mut [f64], entropies: &[f32], step: f64) {
    let mean: f64 = weights.iter().zip(entropies).map(|(w, &h)| w * f64::from(h)).sum();
    let least = LEAST_WEIGHT / weights.len() as f64;
    for (w, &h) in weights.iter_mut().zip(entropies) {
        *w = (*w * (-step * (f64::from(h) - mean)).exp()).max(least);
    }
    let total: f64 = weights.iter().sum();
    // The sum must not round below one.
    let scale = (1.0 + 4.0 * weights.len() as f64 * f64::EPSILON) / total;
    weights.iter_mut().for_each(|w| *w *= scale);
}

/// The bound rises with -w_c at the rate by which the positive entropy exceeds that of c.
fn step_lower(weights: &mut [f64], entropies: &[f32], step: f64) {
    let positive = f64::from(entropies[0]);
    let count = (weights.len() - 1) as f64;
    for (w, &h) in weights.iter_mut().zip(entropies).skip(1) {
        let moved = *w * (step * (positive - f64::from(h))).exp();
        *w = moved.clamp(-MOST_NEGATIVE, -LEAST_WEIGHT / count);
    }
    weights[0] = 1.0 - weights[1..].iter().sum::<f64>();
}

/// Size of a negative weight beyond which the message is close to a plain sum of logs.
pub(super) const MOST_NEGATIVE: f64 = 20.0;
