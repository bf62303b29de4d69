//! Newton systems in the space of moments.
//!
//! At `Sigma = U diag(s) U^T` the function `tr Sigma log Sigma - mu log det Sigma` has the Hessian
//! `H_CD = <A_C, U (K o (U^T A_D U)) U^T>` in the moments of `Sigma(m) = sum_C m_C A_C`, with
//! `K_kl = (log s_k - log s_l)/(s_k - s_l) + mu/(s_k s_l)`. K spans many decades, so the factored
//! normal matrix only preconditions conjugate gradients whose products are taken in the eigenbasis:
//! the solution is then as accurate as that of the least-squares problem by QR.

use super::normal_matrix::NormalMatrix;
use crate::features::Classes;
use crate::linalg::{Cholesky, Square, dot, multiply};
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
/// Conjugate gradient steps from one residual.
const STEPS: usize = 10;
/// Residuals taken anew.
const RESTARTS: usize = 3;
/// A step that leaves more of the error than this is the last.
const STAGNANT: f64 = 0.9;

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
        let count = self.classes.len();
        fill_log_kernel(sigma, 1.0, mu, &mut self.kernel);
        let mut lower = self.normal.lower(self.classes, vectors, sigma, mu, &self.kernel);
        // The first moment is E 1 and does not move.
        lower[..count].fill(0.0);
        lower[0] = 1.0;
        self.cholesky.factor(lower, count, RIDGE, self.par)
    }

    /// Moves `moments`, the first of them fixed, to where
    /// `<A_C, U (diag(target) - K o (U^T Sigma(m) U)) U^T> = 0` for every other class, up to an error
    /// e with `<e, H e>` about `accuracy`.
    ///
    /// **Cost** a few n^3 + N^2 flops per conjugate gradient step.
    pub(super) fn solve(&mut self, vectors: &Square, target: &[f64], accuracy: f64, moments: &mut [f64]) {
        let zero = vec![0.0; target.len()];
        for _ in 0..RESTARTS {
            let mut residual = self.sums_of_misfit(vectors, moments, target);
            let mut z = residual.clone();
            self.cholesky.solve(&mut z);
            let mut p = z.clone();
            let mut energy = dot(&residual, &z);
            for _ in 0..STEPS {
                if !(energy > accuracy) {
                    return;
                }
                let image = self.sums_of_misfit(vectors, &p, &zero);
                let length = energy / -dot(&p, &image);
                if !length.is_finite() {
                    return;
                }
                moments.iter_mut().zip(&p).for_each(|(m, p)| *m += length * p);
                residual.iter_mut().zip(&image).for_each(|(r, h)| *r += length * h);
                z.copy_from_slice(&residual);
                self.cholesky.solve(&mut z);
                let next = dot(&residual, &z);
                if next > STAGNANT * energy {
                    // Rounding: the preconditioner is too good for slow convergence.
                    return;
                }
                p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / energy * *p);
                energy = next;
            }
        }
    }

    fn sums_of_misfit(&mut self, vectors: &Square, moments: &[f64], target: &[f64]) -> Vec<f64> {
        let classes = self.classes;
        let mut sums = classes.sums(self.misfit(vectors, moments, target).data());
        sums[0] = 0.0;
        sums
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
}

/// `out_kl <- weight (log s_k - log s_l) / (s_k - s_l) + mu / (s_k s_l)` for increasing s > 0: the second derivative of
/// `weight tr Sigma log Sigma - mu log det Sigma` in the eigenbasis.
pub(crate) fn fill_log_kernel(sigma: &[f64], weight: f64, mu: f64, out: &mut Square) {
    let n = sigma.len();
    let logs: Vec<f64> = sigma.iter().map(|s| s.ln()).collect();
    for l in 0..n {
        for k in 0..=l {
            let (a, b) = (sigma[l], sigma[k]);
            let value = weight * log_difference(a, logs[l] - logs[k]) + mu / (a * b);
            out.data_mut()[k + n * l] = value;
            out.data_mut()[l + n * k] = value;
        }
    }
}

/// `(log a - log b) / (a - b)` from the larger, a, and the difference of the logarithms.
fn log_difference(a: f64, x: f64) -> f64 {
    let ratio = if x < 1e-8 { 1.0 - 0.5 * x } else { -(-x).exp_m1() / x };
    1.0 / (a * ratio)
}
