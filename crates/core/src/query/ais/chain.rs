//! One annealed chain of Gibbs sampling over tables.

use crate::model::FactorModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Hard zeros are this many temperatures below the lowest finite entry of their table while a chain anneals; the last
/// step takes them to zero, which removes the chains that end in one.
const ZERO_DEPTH: f64 = 20.0;

/// The tables of a model by variable, in units of eps.
pub(super) struct Gibbs<'a> {
    model: &'a FactorModel,
    /// All tables, divided by eps, hard zeros lowered to finite values.
    tables: Vec<Vec<f64>>,
    /// By variable: the factors it is in and its stride in each.
    start: Vec<usize>,
    places: Vec<(u32, u32)>,
    most_states: usize,
}

impl<'a> Gibbs<'a> {
    pub(super) fn new(model: &'a FactorModel, eps: f64) -> Self {
        let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); model.d()];
        let mut tables = Vec::with_capacity(model.len());
        for (k, factor) in model.factors().enumerate() {
            let mut stride = 1u32;
            for &i in factor.scope {
                lists[i as usize].push((k as u32, stride));
                stride *= model.cardinalities()[i as usize];
            }
            let lowest = factor.table.iter().copied().filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min);
            let floor = if lowest.is_finite() { lowest / eps - ZERO_DEPTH } else { -ZERO_DEPTH };
            tables.push(factor.table.iter().map(|v| if v.is_finite() { v / eps } else { floor }).collect());
        }
        let mut start = vec![0];
        for list in &lists {
            start.push(start[start.len() - 1] + list.len());
        }
        let most_states = model.cardinalities().iter().copied().max().unwrap_or(1) as usize;
        Gibbs { model, tables, start, places: lists.concat(), most_states }
    }

    /// Table entries that one sweep looks at.
    pub(super) fn sweep_work(&self) -> usize {
        (0..self.model.d()).map(|i| self.of(i).len() * self.model.cardinalities()[i] as usize).sum()
    }

    fn of(&self, i: usize) -> &[(u32, u32)] {
        &self.places[self.start[i]..self.start[i + 1]]
    }
}

/// A state on its way from the uniform law to the model's.
pub(super) struct Chain {
    random: ChaCha8Rng,
    states: Vec<u32>,
    /// Per factor: index of the entry that `states` select.
    index: Vec<u32>,
    /// f/eps with lowered zeros, without the constant.
    value: f64,
    log_weight: f64,
    has_ended_in_a_zero: bool,
    scratch: Vec<f64>,
}

impl Chain {
    /// The `k`-th chain of a seed: streams do not depend on how chains are spread over threads.
    pub(super) fn new(gibbs: &Gibbs<'_>, seed: u64, k: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(k);
        let cardinalities = gibbs.model.cardinalities();
        let states: Vec<u32> =
            cardinalities.iter().map(|&q| ((unit(&mut random) * f64::from(q)) as u32).min(q - 1)).collect();
        let index: Vec<u32> =
            gibbs.model.factors().map(|f| f.index_of(&states, cardinalities) as u32).collect();
        let value = index.iter().zip(&gibbs.tables).map(|(&at, table)| table[at as usize]).sum();
        let scratch = vec![0.0; gibbs.most_states];
        Chain { random, states, index, value, log_weight: 0.0, has_ended_in_a_zero: false, scratch }
    }

    /// Steps `steps` of `total`: the weight moves to the next temperature, then one sweep at it.
    pub(super) fn anneal(&mut self, gibbs: &Gibbs<'_>, steps: std::ops::Range<usize>, total: usize) {
        for step in steps {
            self.log_weight += self.value / total as f64;
            if step + 1 < total {
                self.sweep(gibbs, (step + 1) as f64 / total as f64);
            } else {
                self.finish(gibbs);
            }
        }
    }

    fn sweep(&mut self, gibbs: &Gibbs<'_>, inverse_temperature: f64) {
        for i in 0..self.states.len() {
            let q = gibbs.model.cardinalities()[i] as usize;
            if q == 1 {
                continue;
            }
            let local = &mut self.scratch[..q];
            local.fill(0.0);
            let state = self.states[i];
            for &(k, stride) in gibbs.of(i) {
                let base = self.index[k as usize] - state * stride;
                let table = &gibbs.tables[k as usize];
                for (s, sum) in local.iter_mut().enumerate() {
                    *sum += table[base as usize + s * stride as usize];
                }
            }
            let chosen = draw(&mut self.random, local, inverse_temperature);
            if chosen != state {
                self.value += local[chosen as usize] - local[state as usize];
                self.states[i] = chosen;
                for &(k, stride) in gibbs.of(i) {
                    let at = &mut self.index[k as usize];
                    *at = *at - state * stride + chosen * stride;
                }
            }
        }
        // The running value drifts by roundings; one fresh sum a sweep costs little.
        let entries = self.index.iter().zip(&gibbs.tables);
        self.value = entries.map(|(&at, table)| table[at as usize]).sum();
    }

    /// The last step takes lowered zeros to zero.
    fn finish(&mut self, gibbs: &Gibbs<'_>) {
        let mut entries = gibbs.model.factors().zip(&self.index);
        self.has_ended_in_a_zero = entries.any(|(f, &at)| f.table[at as usize] == f64::NEG_INFINITY);
    }

    /// Sweeps at the last temperature, and the state they end in; `None` when hard zeros forbid it.
    pub(super) fn settle(&mut self, gibbs: &Gibbs<'_>, sweeps: usize) -> Option<Vec<u32>> {
        (0..sweeps).for_each(|_| self.sweep(gibbs, 1.0));
        self.finish(gibbs);
        (!self.has_ended_in_a_zero).then(|| self.states.clone())
    }

    pub(super) fn log_weight(&self) -> f64 {
        if self.has_ended_in_a_zero { f64::NEG_INFINITY } else { self.log_weight }
    }
}

/// A state with probability proportional to `exp(b value)`.
fn draw(random: &mut ChaCha8Rng, values: &[f64], b: f64) -> u32 {
    let u = unit(random);
    if let [low, high] = *values {
        return u32::from(u * (1.0 + (b * (low - high)).exp()) < 1.0);
    }
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = values.iter().map(|v| (b * (v - top)).exp()).sum();
    let mut left = u * total;
    for (s, v) in values.iter().enumerate() {
        left -= (b * (v - top)).exp();
        if left < 0.0 {
            return s as u32;
        }
    }
    values.len() as u32 - 1
}

/// Uniform on [0, 1).
fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
