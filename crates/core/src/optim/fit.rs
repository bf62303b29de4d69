//! Newton systems in the space of moments.
//!
//! `H m = b`, `H_CD = <A_C, L^{-1} A_D>`, L the derivative of exp at the state (docs/theory.md,
//! eq. 10): the weighted least-squares fit of `Sigma(m) = sum_C m_C A_C`. Since every `A_C` is a
//! partial permutation, its rows `U^T A_C U` cost O(n^2) per entry and no product.

use super::general::{spectral_sum, transposed_vectors};
use crate::features::Classes;
use crate::spectral::{Cholesky, Gibbs, Square, multiply};
use faer::Par;

/// The least-squares problem with its workspace.
pub(super) struct Fit {
    /// `A_C` as lists of entries (i <= j), one per class.
    entries: Vec<Vec<(u32, u32)>>,
    rows: Vec<f64>,
    cholesky: Cholesky,
    scratch: [Square; 2],
    par: Par,
}

/// Weights are raised to this in the inverse kernel: directions below carry nothing to the bound,
/// and the normal equations stay solvable.
const WEIGHT_FLOOR: f64 = 1e-11;
/// Relative ridge of the scaled normal equations.
const RIDGE: f64 = 1e-14;

impl Fit {
    pub(super) fn new(classes: &Classes, par: Par) -> Self {
        let n = classes.n();
        Fit {
            entries: class_entries(classes),
            rows: Vec::new(),
            cholesky: Cholesky::default(),
            scratch: [Square::zeros(n), Square::zeros(n)],
            par,
        }
    }

    /// Writes the Newton direction and returns the fitted moments.
    ///
    /// **Cost** N^2 n^2 / 2 + N^3 / 3 flops for N classes.
    pub(super) fn solve(
        &mut self,
        classes: &Classes,
        gibbs: &Gibbs,
        tilt: f64,
        out: &mut [f64],
    ) -> Option<Vec<f64>> {
        let (n, count) = (gibbs.n(), classes.len());
        let mean = gibbs.mean_value();
        let raised = |k: usize| gibbs.weights[k].max(WEIGHT_FLOOR);
        let tilted = |k: usize| gibbs.weights[k] * (1.0 + tilt * (gibbs.eigen.values[k] - mean));
        let length = self.fill_rows(gibbs);
        if !self.cholesky.factor_gram(&self.rows, length, count, RIDGE, self.par) {
            return None;
        }
        let [first, second] = &mut self.scratch;
        spectral_sum(gibbs, |k| gibbs.weights[k] / raised(k), n, first, second);
        let mut rhs = classes.sums(second.data());
        spectral_sum(gibbs, |k| tilted(k) / raised(k), n, first, second);
        rhs.extend(classes.sums(second.data()));
        self.cholesky.solve(&mut rhs);
        let (h, g) = rhs.split_at(count);
        let s = (1.0 / n as f64 - g[0]) / h[0];
        let moments: Vec<f64> = h.iter().zip(g).map(|(h, g)| s * h + g).collect();
        self.step_to(classes, gibbs, &moments, |k| (tilted(k) + s * gibbs.weights[k]) / raised(k), out);
        Some(moments.iter().map(|m| m * n as f64).collect())
    }

    /// Rows `sqrt(K_kl) (U^T A_C U)_kl`, one column per class.
    fn fill_rows(&mut self, gibbs: &Gibbs) -> usize {
        let n = gibbs.n();
        let length = n * (n + 1) / 2;
        self.rows.resize(length * self.entries.len(), 0.0);
        let transposed = transposed_vectors(gibbs);
        let mut roots = Vec::with_capacity(length);
        for l in 0..n {
            for k in 0..=l {
                let both = if k == l { 1.0 } else { 2.0 };
                roots.push((both * gibbs.log_kernel(k, l, WEIGHT_FLOOR)).sqrt());
            }
        }
        for (column, entries) in self.rows.chunks_exact_mut(length).zip(&self.entries) {
            column.fill(0.0);
            for &(i, j) in entries {
                add_symmetric_outer(
                    column,
                    transposed.column(i as usize),
                    transposed.column(j as usize),
                    i == j,
                );
            }
            column.iter_mut().zip(&roots).for_each(|(v, r)| *v *= r);
        }
        length
    }

    /// `out <- proj_perp( U (diag(w) - K o (U^T Sigma(m) U)) U^T )`.
    fn step_to(
        &mut self,
        classes: &Classes,
        gibbs: &Gibbs,
        moments: &[f64],
        w: impl Fn(usize) -> f64,
        out: &mut [f64],
    ) {
        let n = gibbs.n();
        let vectors = &gibbs.eigen.vectors;
        let [first, second] = &mut self.scratch;
        classes.fill(moments, first.data_mut());
        multiply::squares(first, vectors, second);
        multiply::square_transposed_times(vectors, second.data(), n, first.data_mut());
        for l in 0..n {
            for k in 0..n {
                let fitted = gibbs.log_kernel(k, l, WEIGHT_FLOOR) * first.data()[k + n * l];
                first.data_mut()[k + n * l] = if k == l { w(k) - fitted } else { -fitted };
            }
        }
        multiply::squares(vectors, first, second);
        multiply::square_by_transpose(second, vectors, first);
        first.symmetrize();
        classes.project_perp(first.data_mut());
        out.copy_from_slice(first.data());
    }
}

/// Entries (i <= j) of every class.
pub(super) fn class_entries(classes: &Classes) -> Vec<Vec<(u32, u32)>> {
    let n = classes.n();
    let mut entries = vec![Vec::new(); classes.len()];
    for j in 0..n {
        for i in 0..=j {
            entries[classes.of()[i + n * j] as usize].push((i as u32, j as u32));
        }
    }
    entries
}

/// Adds the upper triangle of `u v^T + v u^T` (or `u u^T`), packed by columns.
fn add_symmetric_outer(packed: &mut [f64], u: &[f64], v: &[f64], same: bool) {
    let mut start = 0;
    for l in 0..u.len() {
        let target = &mut packed[start..=start + l];
        if same {
            target.iter_mut().zip(u).for_each(|(t, a)| *t += a * u[l]);
        } else {
            target.iter_mut().zip(u).zip(v).for_each(|((t, a), b)| *t += a * v[l] + b * u[l]);
        }
        start += l + 1;
    }
}
