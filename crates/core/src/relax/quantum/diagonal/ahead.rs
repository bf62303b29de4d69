//! The moment matrix one Newton step ahead of a state.

use super::hessian::{BLOCK, DiagonalHessian};
use crate::linalg::{Gibbs, dot};

/// `n (rho (1 + <rho, D>) - L[D])` for a step D, in factors: its error is quadratic in the residual
/// of the state.
pub(crate) struct Ahead {
    rank: usize,
    /// Per vertex u_k and half of `(1 + <rho, D>) p_k u_k - U (G o (U^T D U_top))` over the weighty k, rows
    /// contiguous: an entry is `<half_i, top_j> + <top_i, half_j>`.
    top: Vec<f64>,
    half: Vec<f64>,
    scale: Vec<f64>,
}

impl Ahead {
    /// For the step `step`, along which g falls by `slope`.
    pub(super) fn new(gibbs: &Gibbs, hessian: &mut DiagonalHessian, step: &[f64], slope: f64) -> Self {
        let (n, r) = (gibbs.n(), gibbs.rank);
        let (mut top, mut half) = (vec![0.0; n * r], vec![0.0; n * r]);
        let mut block = Vec::new();
        for first in (0..r).step_by(BLOCK) {
            block.resize(n * BLOCK.min(r - first), 0.0);
            hessian.moved(gibbs, r, step, n - r + first, &mut block);
            for (q, column) in (first..).zip(block.chunks_exact(n)) {
                let u = gibbs.eigen.vectors.column(n - r + q);
                let weight = 0.5 * (1.0 + slope) * gibbs.weights[n - r + q];
                for i in 0..n {
                    top[q + r * i] = u[i];
                    half[q + r * i] = weight * u[i] - 0.5 * column[i];
                }
            }
        }
        let mut out = Ahead { rank: r, top, half, scale: Vec::new() };
        out.scale = (0..n).map(|i| 1.0 / out.entry(i, i).max(f64::MIN_POSITIVE).sqrt()).collect();
        out
    }

    /// `E z_i z_j` for z = (1, x), scaled to unit diagonal.
    pub(crate) fn correlation(&self, i: usize, j: usize) -> f64 {
        (self.entry(i, j) * self.scale[i] * self.scale[j]).clamp(-1.0, 1.0)
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let of = |i: usize| self.rank * i..self.rank * (i + 1);
        dot(&self.half[of(i)], &self.top[of(j)]) + dot(&self.top[of(i)], &self.half[of(j)])
    }
}
