//! Laws of the noise behind Gaussian entropy bounds.
//!
//! Let every spin be multiplied by an independent R > 0 of mean 1: `Y_i = R_i x_i` has the sign of `x_i`, so
//! `H(x) = h(Y) - d h(R)`, and a Gaussian of the same moments, `E Y_i Y_j = E x_i x_j` and `E Y_i^2 = E R^2`, has the larger h. Uniform R on [0, 2]
//! is the classical choice. The best one at a given variance is a normal law cut off at zero: at its centre zero Y is Gaussian where spins are
//! independent, and nothing is lost there.

use super::interval::Interval;
use crate::error::{Error, Result};

/// A law on the positive numbers, constant on the intervals [k, k + 1]: only its shape matters, since R is scaled to mean 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Weights of the intervals, in any unit.
    pub weights: Vec<f64>,
}

/// Intervals of a normal law.
const BINS: usize = 256;
/// Standard deviations beyond its centre where it is cut off.
const REACH: f64 = 6.0;
/// Intervals that a proof may have.
pub(super) const MOST_BINS: usize = 1 << 16;

impl Default for Noise {
    /// Uniform on [0, 2], once scaled.
    fn default() -> Self {
        Noise { weights: vec![1.0] }
    }
}

impl Noise {
    /// A normal law, cut off at zero, whose centre lies `centre >= 0` standard deviations above zero.
    #[must_use]
    pub fn normal(centre: f64) -> Self {
        let width = (centre + REACH) / BINS as f64;
        let weight = |k: usize| (-0.5 * ((k as f64 + 0.5) * width - centre).powi(2)).exp();
        Noise { weights: (0..BINS).map(weight).collect() }
    }

    /// Whether it is the uniform law.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.weights.len() == 1
    }

    /// `E R^2`, about.
    #[must_use]
    pub fn square(&self) -> f64 {
        self.enclose().map_or(f64::NAN, |law| law.0.center_radius().0)
    }

    /// `(1/2) log(2 pi e) - h(R) - log 2`, about: what a spin adds to half the log-determinant for the Gaussian's entropy relative
    /// to the uniform law.
    #[must_use]
    pub fn entropy(&self) -> f64 {
        self.enclose().map_or(f64::NAN, |law| law.1.center_radius().0)
    }

    /// Enclosures of the two.
    ///
    /// # Errors
    /// Weights that are no law.
    pub(crate) fn enclose(&self) -> Result<(Interval, Interval)> {
        let is_law = self.weights.iter().all(|w| *w >= 0.0 && w.is_finite());
        if !is_law || self.weights.len() > MOST_BINS {
            return Err(Error::Certificate("a noise is no law".into()));
        }
        let [mut total, mut mean, mut square, mut logs] = [Interval::ZERO; 4];
        let third = Interval::ONE / Interval::point(3.0);
        for (k, &w) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            let (k, w) = (k as f64, Interval::point(w));
            total = total + w;
            mean = mean + w * Interval::point(k + 0.5);
            square = square + w * (Interval::point(k * (k + 1.0)) + third);
            logs = logs + w * w.log();
        }
        if !(total.lo > 0.0) {
            return Err(Error::Certificate("a noise is no law".into()));
        }
        // h of the weights over unit intervals, less the logarithm of the mean that R is divided by.
        let entropy = total.log() - logs / total - (mean / total).log();
        let per_spin = Interval::point(0.5) * (Interval::PI.log() + Interval::ONE - Interval::LN_2) - entropy;
        let square = square * total / (mean * mean);
        if square.hi.is_finite() && per_spin.magnitude().is_finite() {
            Ok((square, per_spin))
        } else {
            Err(Error::Certificate("a noise is out of range".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{LN_2, PI};

    #[test]
    fn the_uniform_law_is_the_classical_one() {
        let (square, entropy) = Noise::default().enclose().unwrap();
        let classical = 0.5 * (PI.ln() + 1.0 - LN_2) - LN_2;
        assert!(square.lo <= 4.0 / 3.0 && square.hi >= 4.0 / 3.0 && square.hi - square.lo < 1e-14);
        assert!(entropy.lo <= classical && entropy.hi >= classical && entropy.hi - entropy.lo < 1e-14);
    }

    #[test]
    fn half_a_normal_law_loses_nothing_where_spins_are_independent() {
        let noise = Noise::normal(0.0);
        // E R^2 = pi/2 when E R = 1; the entropies of a spin and of a normal law differ by the constant.
        assert!((noise.square() - 0.5 * PI).abs() < 1e-3);
        let loss = 0.5 * noise.square().ln() + noise.entropy();
        assert!((0.0..1e-4).contains(&loss), "{loss}");
    }

    #[test]
    fn normal_laws_are_better_than_the_uniform_one() {
        // The centre whose law has about the uniform law's variance.
        let found =
            (0..400).map(|k| Noise::normal(0.01 * k as f64)).find(|law| law.square() <= 4.0 / 3.0).unwrap();
        assert!(found.entropy() < Noise::default().entropy() - 0.11);
    }

    #[test]
    fn what_is_no_law_is_refused() {
        for weights in
            [vec![], vec![0.0], vec![1.0, -1.0], vec![f64::NAN], vec![f64::INFINITY], vec![f64::MAX; 9]]
        {
            assert!(Noise { weights: weights.clone() }.enclose().is_err(), "{weights:?}");
        }
    }
}
