//! Seeded random numbers for starting points and hyperplanes.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Standard normal numbers, the same on every platform for the same seed.
pub(super) struct Normal(ChaCha8Rng);

impl Normal {
    pub(super) fn new(seed: u64) -> Self {
        Normal(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform on [0, 1).
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn draw(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// `n` numbers.
    pub(super) fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.draw()).collect()
    }
}
