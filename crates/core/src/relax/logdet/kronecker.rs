//! The inverse of `Y -> T1 Y T1 + T2 Y T2` on all symmetric matrices, in closed form.

use crate::linalg::symmetric::{congruence, multiply};
use crate::linalg::{Eigen, EigenWork, Square, eigh};

/// V with `T1 = V V^T`, `T2 = V diag(ratios) V^T`, and `R = V^-T`.
///
/// In that basis the map multiplies entry kl by `1 + ratio_k ratio_l`.
pub(super) struct Kronecker {
    v: Square,
    r: Square,
    ratios: Vec<f64>,
    /// `R R^T`, the inverse of T1.
    t1_inv: Square,
    kernel: Kernel,
}

/// `1 / (1 + ratio_k ratio_l) = sum_t sign_t u_t u_t^T`: a smooth kernel of numerically low rank.
struct Kernel {
    signs: Vec<f64>,
    /// `C_t = R diag(u_t) R^T`.
    products: Vec<Square>,
}

/// Kernel eigenvalues below this fraction of the largest are dropped; the result only
/// preconditions, and the exact map corrects it.
const KERNEL_CUTOFF: f64 = 1e-13;

impl Kronecker {
    /// From `T1 = G^-T G^-1` with both factors, and T2; `None` when a decomposition fails.
    ///
    /// **Cost** two eigendecompositions and about 15 to 30 products of n x n matrices.
    pub(super) fn new(g: &Square, g_inv: &Square, t2: &Square, work: &mut EigenWork) -> Option<Self> {
        let n = t2.n();
        let (mut v, mut r) = (Square::zeros(n), Square::zeros(n));
        let inner = congruence(g.view(), t2, &mut v);
        let mut eigen = Eigen::default();
        if !eigh(&inner, &mut eigen, work) {
            return None;
        }
        multiply(&mut v, g_inv.view().transpose(), eigen.vectors.view());
        multiply(&mut r, g.view(), eigen.vectors.view());
        let ratios: Vec<f64> = eigen.values.iter().map(|s| s.max(0.0)).collect();
        let mut t1_inv = Square::zeros(n);
        multiply(&mut t1_inv, r.view(), r.view().transpose());
        let kernel = Kernel::new(&ratios, &r, work)?;
        Some(Kronecker { v, r, ratios, t1_inv, kernel })
    }

    /// `T1 Y T1 + T2 Y T2`.
    pub(super) fn apply(&self, y: &Square) -> Square {
        let mut scratch = Square::zeros(y.n());
        let mut inner = congruence(self.v.view(), y, &mut scratch);
        self.weigh(&mut inner, |w| w);
        congruence(self.v.view().transpose(), &inner, &mut scratch)
    }

    /// The solution Y of `T1 Y T1 + T2 Y T2 = z`, and `|R^T z R|^2`, the size of z relative to T1.
    pub(super) fn solve(&self, z: &Square) -> (Square, f64) {
        let mut scratch = Square::zeros(z.n());
        let mut inner = congruence(self.r.view(), z, &mut scratch);
        let size = inner.dot(&inner);
        self.weigh(&mut inner, |w| 1.0 / w);
        (congruence(self.r.view().transpose(), &inner, &mut scratch), size)
    }

    fn weigh(&self, inner: &mut Square, f: impl Fn(f64) -> f64) {
        let n = inner.n();
        for (column, s) in inner.data_mut().chunks_mut(n).zip(&self.ratios) {
            column.iter_mut().zip(&self.ratios).for_each(|(v, t)| *v *= f(1.0 + s * t));
        }
    }

    /// `<a a^T, K^-1 (b b^T)>` for every pair of the given sparse vectors, lower triangle.
    ///
    /// **Cost** O(rank k^2) for k vectors with O(1) entries.
    pub(super) fn gram(&self, vectors: &[Sparse]) -> Square {
        let k = vectors.len();
        let mut out = Square::zeros(k);
        let mut row = vec![0.0; self.v.n()];
        for (sign, c) in self.kernel.signs.iter().zip(&self.kernel.products) {
            for (q, b) in vectors.iter().enumerate() {
                row.fill(0.0);
                for &(i, value) in b.entries() {
                    row.iter_mut().zip(c.column(i as usize)).for_each(|(x, y)| *x += value * y);
                }
                let column = &mut out.data_mut()[k * q + q..k * (q + 1)];
                for (target, a) in column.iter_mut().zip(&vectors[q..]) {
                    let product = a.dot(&row);
                    *target += sign * product * product;
                }
            }
        }
        out
    }

    /// A cheap upper bound on [`Kronecker::diagonal`]: `K >= T1 . T1`.
    pub(super) fn diagonal_bound(&self, a: &Sparse) -> f64 {
        a.form(&self.t1_inv).powi(2)
    }

    /// `<a a^T, K^-1 (a a^T)>`.
    pub(super) fn diagonal(&self, a: &Sparse) -> f64 {
        let entry = |c: &Square, &(i, x): &(u32, f64)| x * a.dot(c.column(i as usize));
        let terms = self.kernel.signs.iter().zip(&self.kernel.products);
        terms.map(|(s, c)| s * a.entries().iter().map(|e| entry(c, e)).sum::<f64>().powi(2)).sum()
    }
}

impl Kernel {
    fn new(ratios: &[f64], r: &Square, work: &mut EigenWork) -> Option<Self> {
        let n = ratios.len();
        let entry = |k: usize| 1.0 / (1.0 + ratios[k % n] * ratios[k / n]);
        let matrix = Square::from_column_major(n, (0..n * n).map(entry).collect());
        let mut eigen = Eigen::default();
        if !eigh(&matrix, &mut eigen, work) {
            return None;
        }
        let largest = eigen.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let mut kernel = Kernel { signs: Vec::new(), products: Vec::new() };
        for (t, value) in eigen.values.iter().enumerate().filter(|(_, v)| v.abs() > KERNEL_CUTOFF * largest) {
            let mut left = r.clone();
            for (column, u) in left.data_mut().chunks_mut(n).zip(eigen.vectors.column(t)) {
                column.iter_mut().for_each(|x| *x *= u * value.abs().sqrt());
            }
            let mut product = Square::zeros(n);
            multiply(&mut product, left.view(), r.view().transpose());
            kernel.signs.push(value.signum());
            kernel.products.push(product);
        }
        Some(kernel)
    }
}

/// A vector with at most three entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sparse {
    len: usize,
    entries: [(u32, f64); 3],
}

impl Sparse {
    /// The unit vector e_i.
    pub(super) fn unit(i: u32) -> Self {
        Sparse { len: 1, entries: [(i, 1.0); 3] }
    }

    /// `e_0 + a e_i + b e_j`.
    pub(super) fn cut(i: u32, a: i8, j: u32, b: i8) -> Self {
        Sparse { len: 3, entries: [(0, 1.0), (i, f64::from(a)), (j, f64::from(b))] }
    }

    fn entries(&self) -> &[(u32, f64)] {
        &self.entries[..self.len]
    }

    /// Inner product with a dense vector.
    fn dot(&self, dense: &[f64]) -> f64 {
        self.entries().iter().map(|&(i, v)| v * dense[i as usize]).sum()
    }

    /// `a^T Y a`.
    pub(super) fn form(&self, y: &Square) -> f64 {
        self.entries().iter().map(|&(i, v)| v * self.dot(y.column(i as usize))).sum()
    }

    /// `out += weight a a^T`.
    pub(super) fn add_square(&self, weight: f64, out: &mut Square) {
        let n = out.n();
        for &(i, x) in self.entries() {
            for &(j, y) in self.entries() {
                out.data_mut()[i as usize + n * j as usize] += weight * x * y;
            }
        }
    }
}
