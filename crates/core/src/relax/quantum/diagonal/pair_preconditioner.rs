//! A preconditioner for the Hessian on diagonals: its largest terms exactly, the diagonal of the rest.
//!
//! `M = sum_kl G_kl w_kl w_kl^T`, `w_kl = u_k o u_l`. At low temperature the few pairs of weighty
//! eigenvectors have kernels far above all others; without them what is left is nearly diagonal.
//! `M ~ D + W W^T` is inverted by Woodbury with the p selected pairs as columns of W.

use super::LARGE;
use super::hessian::{BLOCK, center};
use crate::linalg::{Cholesky, Gibbs};
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};

/// Diagonal entries below this part of the largest are raised to it.
const FLOOR: f64 = 1e-3;
/// The same where pairs take part, which hold more digits.
const PAIR_FLOOR: f64 = 1e-7;

/// `D + W W^T`, factored.
#[derive(Default)]
pub(super) struct PairPreconditioner {
    n: usize,
    pairs: usize,
    /// `1 / sqrt(D)`.
    roots: Vec<f64>,
    /// `D^(-1/2) W`, n x p.
    scaled: Vec<f64>,
    cholesky: Cholesky,
    left: Vec<f64>,
}

impl PairPreconditioner {
    /// Builds it for the Hessian over the last `rank` eigenvectors, with up to `pairs` pairs.
    pub(super) fn prepare(&mut self, gibbs: &Gibbs, rank: usize, pairs: usize) {
        let n = gibbs.n();
        self.n = n;
        let chosen =
            if rank * (rank + 1) / 2 <= 2 * n { largest_pairs(gibbs, rank, pairs) } else { Vec::new() };
        let mut diagonal = full_diagonal(gibbs, rank);
        let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(*v));
        for &(g, k, l) in &chosen {
            let (u, v) = (gibbs.eigen.vectors.column(k), gibbs.eigen.vectors.column(l));
            for ((d, u), v) in diagonal.iter_mut().zip(u).zip(v) {
                let w = u * v;
                *d -= g * w * w;
            }
        }
        let floor = if chosen.is_empty() { FLOOR * largest } else { PAIR_FLOOR * largest };
        self.roots.clear();
        self.roots.extend(diagonal.iter().map(|d| 1.0 / d.max(floor).max(f64::MIN_POSITIVE).sqrt()));
        self.pairs = chosen.len();
        if !chosen.is_empty() && !self.factor(gibbs, &chosen) {
            self.pairs = 0;
        }
    }

    /// Gives back large workspaces.
    pub(super) fn release(&mut self) {
        if self.n >= LARGE {
            self.scaled = Vec::new();
            self.cholesky = Cholesky::default();
        }
    }

    /// Factors `I + W^T D^-1 W`.
    fn factor(&mut self, gibbs: &Gibbs, chosen: &[(f64, usize, usize)]) -> bool {
        let (n, p) = (self.n, chosen.len());
        self.scaled.resize(n * p, 0.0);
        for (column, &(g, k, l)) in self.scaled.chunks_exact_mut(n).zip(chosen) {
            let root = g.sqrt();
            let (u, v) = (gibbs.eigen.vectors.column(k), gibbs.eigen.vectors.column(l));
            for (((c, u), v), r) in column.iter_mut().zip(u).zip(v).zip(&self.roots) {
                *c = root * u * v * r;
            }
        }
        let mut lower = self.cholesky.take_storage();
        lower.resize(p * p, 0.0);
        let w = MatRef::from_column_major_slice(&self.scaled, n, p);
        let out = MatMut::from_column_major_slice_mut(&mut lower, p, p);
        let (part, full) =
            (triangular::BlockStructure::TriangularLower, triangular::BlockStructure::Rectangular);
        triangular::matmul(out, part, Accum::Replace, w.transpose(), full, w, full, 1.0, Par::Seq);
        lower.iter_mut().step_by(p + 1).for_each(|v| *v += 1.0);
        self.cholesky.factor(lower, p, 0.0, Par::Seq)
    }

    /// `z <- (D + W W^T)^-1 r`, centered.
    pub(super) fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        z.iter_mut().zip(r).zip(&self.roots).for_each(|((z, r), s)| *z = r * s);
        if self.pairs > 0 {
            let (n, p) = (self.n, self.pairs);
            self.left.resize(p, 0.0);
            let w = MatRef::from_column_major_slice(&self.scaled[..n * p], n, p);
            let column = MatMut::from_column_major_slice_mut(&mut self.left, p, 1);
            matmul(
                column,
                Accum::Replace,
                w.transpose(),
                MatRef::from_column_major_slice(z, n, 1),
                1.0,
                Par::Seq,
            );
            self.cholesky.solve(&mut self.left);
            let left = MatRef::from_column_major_slice(&self.left, p, 1);
            matmul(MatMut::from_column_major_slice_mut(z, n, 1), Accum::Add, w, left, -1.0, Par::Seq);
        }
        z.iter_mut().zip(&self.roots).for_each(|(z, s)| *z *= s);
        center(z);
    }
}

/// `M_ii = sum_kl G_kl U_ik^2 U_il^2` over the pairs with an l among the last `rank`.
///
/// At high rank by Gauss-Legendre quadrature of `int diag(e^sB) diag(e^(1-s)B) ds / Z`, in O(n^2).
fn full_diagonal(gibbs: &Gibbs, rank: usize) -> Vec<f64> {
    let n = gibbs.n();
    let mut out = vec![0.0; n];
    if 4 * rank > n {
        // Three nodes on [0, 1].
        let near = 0.5 - 0.15f64.sqrt();
        for (s, weight) in [(0.5, 8.0 / 18.0), (near, 10.0 / 18.0)] {
            let (a, b) = (power_diagonal(gibbs, s), power_diagonal(gibbs, 1.0 - s));
            out.iter_mut().zip(a.iter().zip(&b)).for_each(|(o, (a, b))| *o += weight * a * b);
        }
        return out;
    }
    let mut kernels = vec![0.0; n * rank];
    for (l, kernel) in (n - rank..n).zip(kernels.chunks_exact_mut(n)) {
        gibbs.exp_kernel_column(l, kernel);
        kernel[..n - rank].iter_mut().for_each(|g| *g *= 2.0);
    }
    // (U o U) G in blocks of columns: no square matrix for the squares of U.
    let kernels = MatRef::from_column_major_slice(&kernels, n, rank);
    let (mut squares, mut sums) = (Vec::new(), vec![0.0; n * rank]);
    for first in (0..n).step_by(BLOCK) {
        let columns = BLOCK.min(n - first);
        squares.clear();
        squares.extend(gibbs.eigen.vectors.data()[n * first..n * (first + columns)].iter().map(|u| u * u));
        let block = MatRef::from_column_major_slice(&squares, n, columns);
        let sums = MatMut::from_column_major_slice_mut(&mut sums, n, rank);
        matmul(sums, Accum::Add, block, kernels.subrows(first, columns), 1.0, Par::Seq);
    }
    for (l, sums) in (n - rank..n).zip(sums.chunks_exact(n)) {
        let column = gibbs.eigen.vectors.column(l);
        out.iter_mut().zip(sums).zip(column).for_each(|((o, s), u)| *o += s * u * u);
    }
    out
}

/// `diag(rho^s)`.
fn power_diagonal(gibbs: &Gibbs, s: f64) -> Vec<f64> {
    let mut out = vec![0.0; gibbs.n()];
    for (k, p) in gibbs.weights.iter().enumerate() {
        let q = p.powf(s);
        out.iter_mut().zip(gibbs.eigen.vectors.column(k)).for_each(|(o, u)| *o += q * u * u);
    }
    out
}

/// The `limit` pairs with the largest kernels, `(G doubled off the diagonal, k, l)` with k <= l.
fn largest_pairs(gibbs: &Gibbs, rank: usize, limit: usize) -> Vec<(f64, usize, usize)> {
    let n = gibbs.n();
    let mut kernel = vec![0.0; n];
    let mut all = Vec::with_capacity(n * rank);
    for l in n - rank..n {
        gibbs.exp_kernel_column(l, &mut kernel);
        all.extend((0..=l).map(|k| (if k == l { kernel[k] } else { 2.0 * kernel[k] }, k, l)));
    }
    if limit < all.len() {
        all.select_nth_unstable_by(limit, |a, b| b.0.total_cmp(&a.0));
        all.truncate(limit);
    }
    all
}
