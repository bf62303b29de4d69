//! The softened state of a symmetric matrix: a Gibbs state whose eigenvalues do not vanish.
//!
//! `Sigma = argmax <B, Sigma> - tr Sigma log Sigma + mu log det Sigma` with trace n has the eigenvectors
//! of B and eigenvalues `log s_k - mu/s_k = lambda_k - c`, that is `s_k = mu / omega(log mu - lambda_k + c)` with the
//! Wright omega function: `e^(lambda_k - c)` where that exceeds mu, else about `mu / |lambda_k - c|`.

use super::general::spectral_sum;
use crate::linalg::{Gibbs, Square, wright_omega};

/// Eigenvalues of the softened state, and the maximum that it attains.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftState {
    /// `s_k`, increasing, with sum n.
    pub(super) sigma: Vec<f64>,
    /// `(<B, Sigma> - tr Sigma log Sigma + mu log det Sigma) / n`, to be minimised over B.
    pub(super) value: f64,
}

/// Newton steps for the multiplier c of the trace; it converges from below in a few.
const STEPS: usize = 60;

impl SoftState {
    /// The state of the decomposed matrix B at `mu > 0`.
    pub(super) fn new(b: &Gibbs, mu: f64) -> Self {
        let n = b.n() as f64;
        // sigma exceeds the Gibbs weights, so c is at least theirs.
        let mut c = b.log_mean;
        let mut sigma = vec![0.0; b.n()];
        for _ in 0..STEPS {
            fill(&b.eigen.values, c, mu, &mut sigma);
            let excess = sigma.iter().sum::<f64>() - n;
            let slope: f64 = sigma.iter().map(|s| s * s / (s + mu)).sum();
            let next = c + excess / slope;
            if !(excess > 1e-14 * n) || next == c {
                break;
            }
            c = next;
        }
        let values = sigma.iter().zip(&b.eigen.values);
        let total: f64 = values.map(|(s, l)| s * (l - s.ln()) + mu * s.ln()).sum();
        SoftState { sigma, value: total / n }
    }

    /// `|Sigma^{-1/2} (S - Sigma) Sigma^{-1/2}|` for S in the eigenbasis of Sigma: below 1, S is positive.
    pub(super) fn distance(&self, s: &Square) -> f64 {
        let (n, sigma) = (self.sigma.len(), &self.sigma);
        let relative = |(at, v): (usize, &f64)| {
            let (k, l) = (at % n, at / n);
            let change = if k == l { v - sigma[k] } else { *v };
            change * change / (sigma[k] * sigma[l])
        };
        s.data().iter().enumerate().map(relative).sum::<f64>().sqrt()
    }

    /// `<Sigma, D> / n`: decrease of the value per unit step of B along -D.
    pub(super) fn slope(&self, b: &Gibbs, d: &[f64], scratch: &mut Square, out: &mut Square) -> f64 {
        let n = self.sigma.len();
        spectral_sum(&b.eigen.vectors, |k| self.sigma[k], n, scratch, out);
        out.data().iter().zip(d).map(|(s, d)| s * d).sum::<f64>() / n as f64
    }
}

fn fill(values: &[f64], c: f64, mu: f64, sigma: &mut [f64]) {
    let log = mu.ln();
    sigma.iter_mut().zip(values).for_each(|(s, l)| *s = mu / wright_omega(log - l + c));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::EigenWork;

    #[test]
    fn eigenvalues_solve_their_equation_at_any_scale() {
        for (scale, mu) in [(1.0, 1e-12), (1.0, 1e3), (1e4, 1e-3), (1e9, 1.0)] {
            let mut b = Square::zeros(4);
            b.data_mut().iter_mut().step_by(5).zip([-1.0, 0.2, 0.9, 1.0]).for_each(|(d, v)| *d = scale * v);
            let mut gibbs = Gibbs::default();
            assert!(gibbs.decompose(&b, &mut EigenWork::default()));
            let state = SoftState::new(&gibbs, mu);
            assert!((state.sigma.iter().sum::<f64>() - 4.0).abs() < 1e-6);
            let shift = |k: usize| gibbs.eigen.values[k] - state.sigma[k].ln() + mu / state.sigma[k];
            for k in 0..3 {
                assert!((shift(k) - shift(3)).abs() <= 1e-9 * scale.max(mu), "{scale} {mu}");
            }
        }
    }
}
