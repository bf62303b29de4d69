//! Exact samples: each variable from its law given those eliminated after it.

use super::eliminate::{Elimination, Upward};
use super::vector::exp;
use crate::error::Result;
use crate::observer::Monitor;
use crate::tables::table::{Domain, Table};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Samples between two questions to the observer.
const POLL_SAMPLES: usize = 64;

impl Elimination<'_> {
    /// `count` independent samples; rows of states by variable.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub(crate) fn sample(
        &self,
        up: &Upward,
        count: usize,
        seed: u64,
        monitor: &mut Monitor<'_>,
    ) -> Result<Vec<Vec<u32>>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let buckets: Vec<Vec<&Table>> =
            (0..self.model.d()).map(|p| self.tables(p, &up.buckets, &up.messages)).collect();
        let mut samples = Vec::with_capacity(count);
        for number in 0..count {
            if number % POLL_SAMPLES == 0 {
                super::eliminate::poll(monitor)?;
            }
            let mut by_position = vec![0u32; self.model.d()];
            for &p in self.plan.schedule.iter().rev() {
                let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                by_position[p as usize] = self.draw(p, &buckets[p as usize], &mut by_position, unit);
            }
            let mut states = vec![0; self.model.d()];
            by_position.iter().zip(&self.plan.order).for_each(|(&s, &v)| states[v as usize] = s);
            samples.push(states);
        }
        Ok(samples)
    }

    /// The state of p that the number `unit` in [0, 1) picks, given the states of later positions.
    fn draw(&self, p: u32, tables: &[&Table], states: &mut [u32], unit: f64) -> u32 {
        let count = self.plan.states[p as usize];
        let mut logs = Vec::with_capacity(count as usize);
        for state in 0..count {
            states[p as usize] = state;
            let entry = |t: &&Table| {
                let x = t.data[self.index(&t.scope, states)];
                if t.domain == Domain::Log { x } else { libm::log(x) }
            };
            logs.push(tables.iter().map(entry).sum::<f64>());
        }
        let top = super::vector::max_of(&logs);
        let weight = |l: f64| if l > f64::NEG_INFINITY { exp(l - top) } else { 0.0 };
        let total: f64 = logs.iter().map(|&l| weight(l)).sum();
        let mut left = unit * total;
        let mut last = 0;
        for (state, &l) in logs.iter().enumerate().filter(|(_, l)| **l > f64::NEG_INFINITY) {
            last = state as u32;
            left -= weight(l);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}
