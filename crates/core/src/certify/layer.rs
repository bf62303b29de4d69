//! Independent spins for one layer, the other summed out.
//!
//! With `g = log cosh`, `t = tanh c` and `s = 1 - t^2`, Taylor's theorem gives for every x and c
//! `g(c + x) >= g(c) + t x + s x^2/2 - t s x^3/3 - x^4/12`, because `g'''' = (1 - tanh^2)(6 tanh^2 - 2) >= -2`; and `E g >= g(E)`
//! because g is convex. The better of the two is taken for every spin that is summed out.

use super::interval::Interval;
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// Encloses the bound on phi; `means` are those of the spins that are not in `summed`, in order.
pub(super) fn enclose(means: &[f64], summed: &[u32], f: &Polynomial, eps: f64) -> Result<Interval> {
    let wrong = |why: &str| Error::Certificate(format!("a layer {why}"));
    let Some(ising) = f.as_ising().filter(|_| eps > 0.0) else {
        return Err(wrong("needs a pairwise model and eps > 0"));
    };
    let d = f.d();
    if !summed.windows(2).all(|w| w[0] < w[1]) || summed.last().is_some_and(|&i| i as usize >= d) {
        return Err(wrong("is not a list of spins in increasing order"));
    }
    if means.len() + summed.len() != d || !means.iter().all(|m| m.abs() <= 1.0) {
        return Err(wrong("does not have one mean in [-1, 1] for each other spin"));
    }
    let mut mean: Vec<Option<f64>> = vec![Some(0.0); d];
    summed.iter().for_each(|&i| mean[i as usize] = None);
    mean.iter_mut().flatten().zip(means).for_each(|(slot, m)| *slot = *m);
    let point = Interval::point;
    let mut value = point(ising.constant());
    let mut laws: Vec<Field> = ising.fields().iter().map(|h| Field::new(point(*h) / point(eps))).collect();
    for (i, &h) in ising.fields().iter().enumerate() {
        if let Some(m) = mean[i] {
            let part = |p: Interval| if p.hi <= 0.0 { Interval::ZERO } else { p * p.log() };
            let divergence = part(Interval::ONE + point(m)) + part(Interval::ONE - point(m));
            value = value + point(h) * point(m) - point(0.5) * point(eps) * divergence;
        }
    }
    for (i, j, v) in ising.triples().filter(|t| t.2 != 0.0) {
        match (mean[i], mean[j]) {
            (Some(a), Some(b)) => value = value + point(v) * point(a) * point(b),
            (Some(m), None) => laws[j].add(point(v) / point(eps), m),
            (None, Some(m)) => laws[i].add(point(v) / point(eps), m),
            (None, None) => return Err(wrong("has couplings among the spins that are summed out")),
        }
    }
    let sums = summed.iter().fold(Interval::ZERO, |sum, &j| sum + laws[j as usize].log_cosh());
    Ok(value + point(eps) * sums)
}

/// Moments of the field on a spin, about its mean.
#[derive(Clone, Copy)]
struct Field {
    mean: Interval,
    second: Interval,
    third: Interval,
    /// The fourth moment less three times the square of the second.
    cumulant: Interval,
}

impl Field {
    fn new(mean: Interval) -> Self {
        Field { mean, second: Interval::ZERO, third: Interval::ZERO, cumulant: Interval::ZERO }
    }

    /// Adds `w x` for a spin x of mean m.
    fn add(&mut self, w: Interval, m: f64) {
        let point = Interval::point;
        let (m, square) = (point(m), point(m) * point(m));
        let (variance, w2) = (Interval::ONE - square, w * w);
        self.mean = self.mean + w * m;
        self.second = self.second + w2 * variance;
        self.third = self.third - point(2.0) * w2 * w * m * variance;
        self.cumulant = self.cumulant + w2 * w2 * variance * (point(6.0) * square - point(2.0));
    }

    /// From below, the expectation of the log cosh of the field.
    fn log_cosh(&self) -> Interval {
        let point = Interval::point;
        // The mean's sign matters to the third moment only; log cosh is even.
        let size = if self.mean.lo >= 0.0 { self.mean } else { -self.mean };
        let e = (point(-2.0) * size).exp();
        let (up, down) = (Interval::ONE + e, Interval::ONE - e);
        let jensen = size + (point(0.5) * up).log();
        let t = if self.mean.lo >= 0.0 { down / up } else { -(down / up) };
        let s = point(4.0) * e / (up * up);
        let fourth = self.cumulant + point(3.0) * self.second * self.second;
        let more = point(0.5) * s * self.second - t * s * self.third / point(3.0) - fourth / point(12.0);
        // NaN, from fields beyond the range of floats, is not above 0.
        if more.lo > 0.0 { jensen + more } else { jensen }
    }
}
