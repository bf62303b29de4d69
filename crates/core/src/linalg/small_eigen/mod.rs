//! Eigenpairs of small symmetric matrices, where the blocked routines of the backend have overhead.
//!
//! Householder reflections from the last column to the first, then the implicit QL iteration; the
//! rotations of a sweep are applied together, a few rows at a time. Columns are padded to whole
//! vectors of four and every loop is elementwise, so results do not depend on the width of the
//! processor's vectors.

mod ql;
mod tridiagonal;

use faer::traits::pulp::Arch;

/// Rows up to which the routines here take less time than the blocked ones of the backend.
pub(super) const SMALL: usize = 48;
/// Squares below this are zero next to a matrix of size 1: roots of what underflows are inaccurate.
const TINY_SQUARE: f64 = 1e-100;

/// Workspace, reused between matrices.
#[derive(Default)]
pub(super) struct SmallWork {
    n: usize,
    /// Length of a column: n rounded up to whole vectors.
    stride: usize,
    /// The matrix, then its reflectors by columns.
    a: Vec<f64>,
    z: Vec<f64>,
    image: Vec<f64>,
    beta: Vec<f64>,
    diagonal: Vec<f64>,
    /// `coupling[i]` joins i and i + 1.
    coupling: Vec<f64>,
    rotations: Vec<(f64, f64)>,
    order: Vec<usize>,
}

/// Decomposes the n x n column-major matrix `a` of largest entry about 1, of which the lower triangle is
/// read; values increasing.
/// `false` when the iteration does not converge.
#[must_use]
pub(super) fn decompose(
    a: &[f64],
    values: &mut [f64],
    vectors: Option<&mut [f64]>,
    work: &mut SmallWork,
) -> bool {
    Arch::new().dispatch(|| work.decompose(a, values, vectors))
}

impl SmallWork {
    #[inline(always)]
    fn decompose(&mut self, a: &[f64], values: &mut [f64], vectors: Option<&mut [f64]>) -> bool {
        let n = values.len();
        self.load(a, n);
        self.tridiagonalise();
        if vectors.is_some() {
            self.accumulate();
        }
        if !self.iterate(vectors.is_some()) {
            return false;
        }
        let diagonal = &self.diagonal;
        self.order.clear();
        self.order.extend(0..n);
        self.order.sort_unstable_by(|&k, &l| diagonal[k].total_cmp(&diagonal[l]));
        values.iter_mut().zip(&self.order).for_each(|(v, &k)| *v = diagonal[k]);
        if let Some(vectors) = vectors {
            for (out, &k) in vectors.chunks_exact_mut(n).zip(&self.order) {
                out.copy_from_slice(&self.z[self.stride * k..][..n]);
            }
        }
        true
    }

    #[inline(always)]
    fn load(&mut self, a: &[f64], n: usize) {
        let stride = n.next_multiple_of(4);
        if self.n != n {
            *self = SmallWork {
                n,
                stride,
                a: vec![0.0; n * stride],
                z: vec![0.0; stride * stride],
                image: vec![0.0; stride],
                beta: vec![0.0; n],
                diagonal: vec![0.0; n],
                coupling: vec![0.0; n],
                rotations: vec![(1.0, 0.0); n],
                order: Vec::with_capacity(n),
            };
        }
        // The lower triangle is what counts, as for larger matrices.
        for (j, (own, given)) in self.a.chunks_exact_mut(stride).zip(a.chunks_exact(n)).enumerate() {
            own[j..n].copy_from_slice(&given[j..]);
            own[..j].iter_mut().enumerate().for_each(|(i, v)| *v = a[j + n * i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest entries of `U^T U - I` and `A U - U diag(values)`.
    fn errors(a: &[f64], values: &[f64], u: &[f64]) -> (f64, f64) {
        let n = values.len();
        let column = |k: usize| &u[n * k..n * (k + 1)];
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let (mut orthogonality, mut residual) = (0.0f64, 0.0f64);
        for k in 0..n {
            for l in 0..n {
                let unit = if k == l { 1.0 } else { 0.0 };
                orthogonality = orthogonality.max((dot(column(k), column(l)) - unit).abs());
                let image = dot(&a[n * l..n * (l + 1)], column(k));
                residual = residual.max((image - values[k] * u[l + n * k]).abs());
            }
        }
        (orthogonality, residual)
    }

    fn check(name: &str, n: usize, entry: impl Fn(usize, usize) -> f64) {
        let a: Vec<f64> = (0..n * n).map(|k| entry((k % n).min(k / n), (k % n).max(k / n))).collect();
        let (mut values, mut alone, mut u) = (vec![0.0; n], vec![0.0; n], vec![0.0; n * n]);
        let mut work = SmallWork::default();
        assert!(decompose(&a, &mut values, Some(&mut u), &mut work), "{name} {n}");
        assert!(decompose(&a, &mut alone, None, &mut work) && alone == values, "{name} {n}");
        assert!(values.windows(2).all(|w| w[0] <= w[1]));
        let (orthogonality, residual) = errors(&a, &values, &u);
        assert!(
            orthogonality < 3e-14 && residual < 3e-14 * n as f64,
            "{name} {n}: {orthogonality:e} {residual:e}"
        );
    }

    #[test]
    fn eigenvectors_are_orthonormal_for_dense_graded_and_degenerate_matrices() {
        for n in 2..=SMALL {
            check("dense", n, |i, j| ((i * j + 3 * (i + j)) as f64 * 12.9898).sin());
            check("graded", n, |i, j| 10f64.powi(-(8 * (i + j) as i32)) * (1.0 + (i * j) as f64).sin());
            check("graded upwards", n, |i, j| 10f64.powi(-(8 * (2 * n - i - j - 2) as i32)));
            check("ones", n, |_, _| 1.0);
            check("diagonal", n, |i, j| if i == j { ((7 * i) % 5) as f64 } else { 0.0 });
            check("path", n, |i, j| if j == i + 1 { 1.0 } else { 0.0 });
            check("far corner", n, |i, j| if (i, j) == (0, n - 1) { 1.0 } else { 0.0 });
            check("barely coupled", n, |i, j| if i == j { 1.0 } else { 1e-150 });
            check("parity", n, |i, j| f64::from((i ^ j).count_ones() % 2 == 0));
        }
    }
}
