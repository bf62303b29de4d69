//! The Hessian on diagonals, formed and factored.

use super::hessian::center;
use crate::linalg::{Cholesky, Gibbs};
use faer::Par;

/// A Gram matrix, `M_ij = sum_kl G_kl U_ik U_il U_jk U_jl`.
///
/// The Hessian of g is `M - rho rho^T` with `M 1 = rho`, so on zero-sum right-hand sides
/// `M^{-1}` solves it.
#[derive(Default)]
pub(super) struct Direct {
    rows: Vec<f64>,
    cholesky: Cholesky,
}

impl Direct {
    /// Solves the Newton system; `false` when M is singular to rounding.
    pub(super) fn solve(&mut self, gibbs: &Gibbs, rhs: &[f64], out: &mut [f64]) -> bool {
        let (n, r) = (gibbs.n(), gibbs.rank);
        let length = n * r - r * (r - 1) / 2;
        self.rows.resize(length * n, 0.0);
        let mut row = 0;
        for l in n - r..n {
            for k in 0..=l {
                let both = if k == l { 1.0 } else { 2.0 };
                let root = (both * gibbs.exp_kernel(k, l)).sqrt();
                let (u, v) = (gibbs.eigen.vectors.column(k), gibbs.eigen.vectors.column(l));
                for i in 0..n {
                    self.rows[row + length * i] = root * u[i] * v[i];
                }
                row += 1;
            }
        }
        if !self.cholesky.factor_gram(&self.rows, length, n, 0.0, Par::Seq) {
            return false;
        }
        out.copy_from_slice(rhs);
        self.cholesky.solve(out);
        center(out);
        true
    }
}
