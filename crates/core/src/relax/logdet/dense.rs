//! The Newton system of small models, assembled over the moments and factorised.

use super::cuts::Cuts;
use crate::linalg::Square;
use crate::linalg::symmetric::{cholesky, cholesky_solve};
use crate::relax::cuts::quad::{Quad, gram};

/// Cholesky factor of `Y -> sum_k T_k Y T_k + A^T diag(w) A Y` on hollow symmetric matrices, in the
/// coordinates `y_ij`, i < j, numbered `j (j - 1) / 2 + i`.
pub(super) struct DenseSystem {
    factor: Square,
}

impl DenseSystem {
    /// `None` when the matrix is not numerically positive definite.
    ///
    /// **Cost** N^3/3 flops and 8 N^2 bytes with `N = n (n - 1) / 2`.
    pub(super) fn new(scalings: [&Square; 2], cuts: &Cuts, weights: &[Quad]) -> Option<Self> {
        let n = scalings[0].n();
        let mut matrix = Square::zeros(n * (n - 1) / 2);
        for t in scalings {
            add_congruence(t, &mut matrix);
        }
        add_cuts(cuts, weights, &mut matrix);
        cholesky(&mut matrix).then_some(DenseSystem { factor: matrix })
    }

    /// Solves for Y given the hollow right-hand side.
    pub(super) fn solve(&self, rhs: &Square) -> Square {
        let n = rhs.n();
        let upper = (1..n).flat_map(|j| rhs.column(j)[..j].iter().copied());
        // Both triangles carry a coordinate, hence the factor 2 of the gradient.
        let mut y: Vec<f64> = upper.map(|v| 2.0 * v).collect();
        cholesky_solve(&self.factor, &mut y);
        let mut out = Square::zeros(n);
        let data = out.data_mut();
        for j in 1..n {
            for i in 0..j {
                let v = y[index(i, j)];
                data[i + n * j] = v;
                data[j + n * i] = v;
            }
        }
        out
    }
}

fn index(i: usize, j: usize) -> usize {
    j * (j - 1) / 2 + i
}

/// Adds `<E_ij + E_ji, T (E_kl + E_lk) T> = 2 (T_ik T_jl + T_il T_jk)` to the lower triangle.
fn add_congruence(t: &Square, matrix: &mut Square) {
    let (n, size) = (t.n(), matrix.n());
    for j in 1..n {
        for i in 0..j {
            let p = index(i, j);
            let column = &mut matrix.data_mut()[size * p..size * (p + 1)];
            let (ti, tj) = (t.column(i), t.column(j));
            for l in j..n {
                let first = if l == j { i } else { 0 };
                let (a, b) = (2.0 * tj[l], 2.0 * ti[l]);
                let target = &mut column[index(first, l)..index(0, l) + l];
                for ((v, x), y) in target.iter_mut().zip(&ti[first..l]).zip(&tj[first..l]) {
                    *v += a * x + b * y;
                }
            }
        }
    }
}

fn add_cuts(cuts: &Cuts, weights: &[Quad], matrix: &mut Square) {
    let size = matrix.n();
    let data = matrix.data_mut();
    for (&[i, j], w) in cuts.pairs.iter().zip(weights) {
        let (i, j) = (i as usize, j as usize);
        // Increasing because i < j, so every product lands in the lower triangle.
        let at = [index(0, i), index(0, j), index(i, j)];
        let block = gram(w);
        for p in 0..3 {
            (0..=p).for_each(|q| data[at[p] + size * at[q]] += block[p][q]);
        }
    }
}
