//! Newton systems in the space of moments.
//!
//! `H m = b`, `H_CD = <A_C, L^{-1} A_D>`, L the derivative of exp at the state (docs/theory.md,
//! eq. 10): the weighted least-squares fit of `Sigma(m) = sum_C m_C A_C` to the state. The weights
//! span many decades, so the factored normal matrix only preconditions a refinement whose
//! residuals are taken in the eigenbasis: the fit is then as accurate as one by QR.

use super::general::spectral_sum;
use super::normal_matrix::NormalMatrix;
use crate::features::Classes;
use crate::spectral::{Cholesky, Gibbs, Square, multiply};
use faer::Par;

/// The least-squares problem with its workspace.
pub(super) struct Fit {
    normal: NormalMatrix,
    cholesky: Cholesky,
    /// Weights of the state, raised by [`WEIGHT_FLOOR`].
    raised: Vec<f64>,
    /// Divided differences of log at the raised weights: `L^{-1}` in the eigenbasis.
    kernel: Square,
    scratch: [Square; 2],
    par: Par,
}

/// Added to the weights in the inverse kernel: directions below carry nothing to the bound,
/// and the normal equations stay solvable.
const WEIGHT_FLOOR: f64 = 1e-11;
/// Relative ridge of the scaled normal equations.
const RIDGE: f64 = 1e-14;
/// Corrections of a solution, and the relative size below which one is the last.
const REFINEMENTS: usize = 4;
const REFINED: f64 = 1e-12;

impl Fit {
    pub(super) fn new(classes: &Classes, par: Par) -> Self {
        let n = classes.n();
        Fit {
            normal: NormalMatrix::new(classes, par),
            cholesky: Cholesky::default(),
            raised: Vec::new(),
            kernel: Square::zeros(n),
            scratch: [Square::zeros(n), Square::zeros(n)],
            par,
        }
    }

    /// Writes the Newton direction and returns the fitted moments.
    ///
    /// **Cost** one normal matrix and N^3 / 3 flops for N classes.
    pub(super) fn solve(
        &mut self,
        classes: &Classes,
        gibbs: &Gibbs,
        tilt: f64,
        out: &mut [f64],
    ) -> Option<Vec<f64>> {
        let (n, count) = (gibbs.n(), classes.len());
        self.raise(gibbs);
        let lower = self.normal.lower(classes, gibbs, &self.raised, &self.kernel);
        if !self.cholesky.factor(lower, count, RIDGE, self.par) {
            return None;
        }
        let mean = gibbs.mean_value();
        let plain: Vec<f64> = gibbs.weights.iter().zip(&self.raised).map(|(p, s)| p / s).collect();
        let tilted: Vec<f64> =
            plain.iter().zip(&gibbs.eigen.values).map(|(w, l)| w * (1.0 + tilt * (l - mean))).collect();
        let h = self.refined(classes, gibbs, &plain);
        let g = if tilt == 0.0 { h.clone() } else { self.refined(classes, gibbs, &tilted) };
        let s = (1.0 / n as f64 - g[0]) / h[0];
        let moments: Vec<f64> = h.iter().zip(&g).map(|(h, g)| s * h + g).collect();
        let target: Vec<f64> = tilted.iter().zip(&plain).map(|(t, p)| t + s * p).collect();
        self.misfit(classes, gibbs, &moments, &target);
        let step = &mut self.scratch[0];
        step.symmetrize();
        classes.project_perp(step.data_mut());
        out.copy_from_slice(step.data());
        Some(moments.iter().map(|m| m * n as f64).collect())
    }

    fn raise(&mut self, gibbs: &Gibbs) {
        let n = gibbs.n();
        self.raised.clear();
        self.raised.extend(gibbs.weights.iter().map(|p| p + WEIGHT_FLOOR));
        let logs: Vec<f64> = self.raised.iter().map(|s| s.ln()).collect();
        for l in 0..n {
            for k in 0..=l {
                let value = log_difference(self.raised[l], logs[l] - logs[k]);
                self.kernel.data_mut()[k + n * l] = value;
                self.kernel.data_mut()[l + n * k] = value;
            }
        }
    }

    /// Moments m with `<A_C, U (diag(target) - K o (U^T Sigma(m) U)) U^T> = 0` for every class.
    fn refined(&mut self, classes: &Classes, gibbs: &Gibbs, target: &[f64]) -> Vec<f64> {
        let [scratch, sum] = &mut self.scratch;
        spectral_sum(gibbs, |k| target[k], gibbs.n(), scratch, sum);
        let mut moments = classes.sums(sum.data());
        self.cholesky.solve(&mut moments);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            self.misfit(classes, gibbs, &moments, target);
            let mut correction = classes.sums(self.scratch[0].data());
            self.cholesky.solve(&mut correction);
            let size = largest(&correction) / largest(&moments);
            if !(size < 0.5 * last) {
                break;
            }
            moments.iter_mut().zip(&correction).for_each(|(m, c)| *m += c);
            if size < REFINED {
                break;
            }
            last = size;
        }
        moments
    }

    /// `scratch[0] <- U (diag(target) - K o (U^T Sigma(m) U)) U^T`.
    fn misfit(&mut self, classes: &Classes, gibbs: &Gibbs, moments: &[f64], target: &[f64]) {
        let n = gibbs.n();
        let vectors = &gibbs.eigen.vectors;
        let [first, second] = &mut self.scratch;
        classes.fill(moments, first.data_mut());
        multiply::squares(first, vectors, second);
        multiply::square_transposed_times(vectors, second.data(), n, first.data_mut());
        first.data_mut().iter_mut().zip(self.kernel.data()).for_each(|(v, k)| *v *= -k);
        first.data_mut().iter_mut().step_by(n + 1).zip(target).for_each(|(v, t)| *v += t);
        multiply::squares(vectors, first, second);
        multiply::square_by_transpose(second, vectors, first);
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
