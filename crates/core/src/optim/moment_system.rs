//! Newton systems in the space of moments.
//!
//! At `Sigma = U diag(s) U^T` the function `tr Sigma log Sigma - mu log det Sigma` has the Hessian
//! `H_CD = <A_C, U (K o (U^T A_D U)) U^T>` in the moments of `Sigma(m) = sum_C m_C A_C`, with
//! `K_kl = (log s_k - log s_l)/(s_k - s_l) + mu/(s_k s_l)`. K spans many decades, so the factored
//! normal matrix only preconditions a refinement whose residuals are taken in the eigenbasis: the
//! solution is then as accurate as that of the least-squares problem by QR.

use super::normal_matrix::NormalMatrix;
use crate::features::Classes;
use crate::spectral::{Cholesky, Square, multiply};
use faer::Par;

/// A factored system with its workspace.
pub(super) struct MomentSystem<'a> {
    classes: &'a Classes,
    normal: NormalMatrix,
    cholesky: Cholesky,
    kernel: Square,
    scratch: [Square; 2],
    par: Par,
}

/// Relative ridge of the scaled normal matrix.
const RIDGE: f64 = 1e-14;
/// Corrections of a solution, and the relative size below which one is the last.
const REFINEMENTS: usize = 5;
const REFINED: f64 = 1e-10;

impl<'a> MomentSystem<'a> {
    pub(super) fn new(classes: &'a Classes, par: Par) -> Self {
        let n = classes.n();
        MomentSystem {
            classes,
            normal: NormalMatrix::new(classes, par),
            cholesky: Cholesky::default(),
            kernel: Square::zeros(n),
            scratch: [Square::zeros(n), Square::zeros(n)],
            par,
        }
    }

    /// Factors H at eigenvalues `sigma > 0`, increasing; `false` when that fails.
    ///
    /// **Cost** one normal matrix and N^3 / 3 flops for N classes.
    #[must_use]
    pub(super) fn factor(&mut self, vectors: &Square, sigma: &[f64], mu: f64) -> bool {
        let (n, count) = (self.classes.n(), self.classes.len());
        let logs: Vec<f64> = sigma.iter().map(|s| s.ln()).collect();
        for l in 0..n {
            for k in 0..=l {
                let (a, b) = (sigma[l], sigma[k]);
                let value = log_difference(a, logs[l] - logs[k]) + mu / (a * b);
                self.kernel.data_mut()[k + n * l] = value;
                self.kernel.data_mut()[l + n * k] = value;
            }
        }
        let mut lower = self.normal.lower(self.classes, vectors, sigma, mu, &self.kernel);
        // The first moment is E 1 and does not move.
        lower[..count].fill(0.0);
        lower[0] = 1.0;
        self.cholesky.factor(lower, count, RIDGE, self.par)
    }

    /// Moments m, `m_0 = 0`, with `<A_C, U (diag(target) - K o (U^T Sigma(m) U)) U^T> = 0`
    /// for every class but the first.
    pub(super) fn solve(&mut self, vectors: &Square, target: &[f64]) -> Vec<f64> {
        let mut moments = vec![0.0; self.classes.len()];
        let mut last = f64::INFINITY;
        for _ in 0..=REFINEMENTS {
            self.misfit(vectors, &moments, target);
            let mut correction = self.classes.sums(self.scratch[0].data());
            correction[0] = 0.0;
            self.cholesky.solve(&mut correction);
            let size = largest(&correction);
            if !(size < 0.5 * last) {
                break;
            }
            last = size;
            moments.iter_mut().zip(&correction).for_each(|(m, c)| *m += c);
            if size <= REFINED * largest(&moments) {
                break;
            }
        }
        moments
    }

    /// `U (diag(target) - K o (U^T Sigma(m) U)) U^T`.
    pub(super) fn misfit(&mut self, vectors: &Square, moments: &[f64], target: &[f64]) -> &Square {
        let n = target.len();
        self.in_eigenbasis(vectors, moments);
        let [first, second] = &mut self.scratch;
        first.data_mut().iter_mut().zip(self.kernel.data()).for_each(|(v, k)| *v *= -k);
        first.data_mut().iter_mut().step_by(n + 1).zip(target).for_each(|(v, t)| *v += t);
        multiply::squares(vectors, first, second);
        multiply::square_by_transpose(second, vectors, first);
        first
    }

    /// `U^T Sigma(m) U`.
    pub(super) fn in_eigenbasis(&mut self, vectors: &Square, moments: &[f64]) -> &Square {
        let [first, second] = &mut self.scratch;
        self.classes.fill(moments, first.data_mut());
        multiply::squares(first, vectors, second);
        multiply::square_transposed_times(vectors, second.data(), second.n(), first.data_mut());
        first
    }

    /// `K_kk`.
    pub(super) fn kernel_diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        self.kernel.diagonal()
    }
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// `(log a - log b) / (a - b)` from the larger, a, and the difference of the logarithms.
fn log_difference(a: f64, x: f64) -> f64 {
    let ratio = if x < 1e-8 { 1.0 - 0.5 * x } else { -(-x).exp_m1() / x };
    1.0 / (a * ratio)
}
