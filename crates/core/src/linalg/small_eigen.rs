//! Eigenpairs of small symmetric matrices, where the blocked routines of the backend have overhead.
//!
//! Householder reflections from the last column to the first, then the implicit QL iteration; the
//! rotations of a sweep are applied together, a few rows at a time. Columns are padded to whole
//! vectors of four and every loop is elementwise, so results do not depend on the width of the
//! processor's vectors.

use faer::traits::pulp::Arch;

/// Up to this size the routines here win.
pub(super) const SMALL: usize = 48;
/// Squares below this are zero next to a matrix of size 1: roots of what underflows are inaccurate.
const TINY_SQUARE: f64 = 1e-100;
/// Off-diagonal entries below this do not couple.
const UNCOUPLED: f64 = 1e-18;
/// QL sweeps for one eigenvalue; two or three are usual.
const MAX_SWEEPS: usize = 60;

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

    /// `Q^T A Q = T`; reflector i is left in column i, zero from row i on.
    #[inline(always)]
    fn tridiagonalise(&mut self) {
        let (n, stride) = (self.n, self.stride);
        for i in (1..n).rev() {
            let (left, rest) = self.a.split_at_mut(stride * i);
            let v = &mut rest[..stride];
            self.diagonal[i] = v[i];
            v[i..].fill(0.0);
            let padded = i.next_multiple_of(4);
            let v = &mut v[..padded];
            let last = v[i - 1];
            v[i - 1] = 0.0;
            let others = dot(v, v);
            if others < TINY_SQUARE {
                self.beta[i] = 0.0;
                self.coupling[i - 1] = last;
                continue;
            }
            let norm = (others + last * last).sqrt();
            self.coupling[i - 1] = -norm.copysign(last);
            v[i - 1] = last + norm.copysign(last);
            let beta = 1.0 / (norm * (norm + last.abs()));
            self.beta[i] = beta;
            // A <- A - v w^T - w v^T with w = p - (beta/2) <p, v> v, p = beta A v.
            let image = &mut self.image[..padded];
            times(left, stride, v, i, image);
            let half = 0.5 * beta * beta * dot(image, v);
            image.iter_mut().zip(v.iter()).for_each(|(p, v)| *p = beta * *p - half * v);
            for j in 0..i {
                let (vj, wj) = (v[j], image[j]);
                let column = &mut left[stride * j..][..padded];
                column
                    .iter_mut()
                    .zip(v.iter())
                    .zip(image.iter())
                    .for_each(|((a, v), w)| *a -= v * wj + w * vj);
            }
        }
        self.diagonal[0] = self.a[0];
    }

    /// `z <- Q`, from the reflectors.
    #[inline(always)]
    fn accumulate(&mut self) {
        let (n, stride) = (self.n, self.stride);
        // Q^T <- Q^T H_i block by block, then transposed.
        for i in 1..n {
            let (block, rest) = self.a.split_at_mut(stride * i);
            let column = &mut block[stride * (i - 1)..];
            column.fill(0.0);
            column[i - 1] = 1.0;
            let beta = self.beta[i];
            if beta == 0.0 {
                continue;
            }
            let padded = i.next_multiple_of(4);
            let v = &rest[..padded];
            let image = &mut self.image[..padded];
            times(block, stride, v, i, image);
            for j in 0..i {
                let factor = beta * v[j];
                let column = &mut block[stride * j..][..padded];
                column.iter_mut().zip(image.iter()).for_each(|(z, p)| *z -= factor * p);
            }
        }
        let column = &mut self.a[stride * (n - 1)..];
        column.fill(0.0);
        column[n - 1] = 1.0;
        for j in 0..n {
            for (i, value) in self.a[stride * j..][..n].iter().enumerate() {
                self.z[j + stride * i] = *value;
            }
        }
    }

    /// Implicit QL on the tridiagonal matrix; rotates the columns of z along.
    #[inline(always)]
    fn iterate(&mut self, rotate: bool) -> bool {
        let n = self.n;
        self.coupling[n - 1] = 0.0;
        for l in 0..n {
            let mut sweeps = 0;
            loop {
                let m = self.end_of_block(l);
                if m == l {
                    break;
                }
                sweeps += 1;
                if sweeps > MAX_SWEEPS {
                    return false;
                }
                let first = self.sweep(l, m);
                if rotate {
                    self.rotate_columns(first, m);
                }
            }
        }
        true
    }

    /// The first index from `l` on that is not coupled to the next.
    #[inline(always)]
    fn end_of_block(&self, l: usize) -> usize {
        let (d, e) = (&self.diagonal[..self.n], &self.coupling[..self.n]);
        let last = self.n - 1;
        let small = |m: usize| e[m].abs() <= 0.5 * f64::EPSILON * (d[m].abs() + d[m + 1].abs()) + UNCOUPLED;
        (l..last).find(|&m| small(m)).unwrap_or(last)
    }

    /// One sweep with Wilkinson's shift over l..=m; returns the column it ended at.
    #[inline(always)]
    fn sweep(&mut self, l: usize, m: usize) -> usize {
        let (d, e) = (&mut self.diagonal[..], &mut self.coupling[..]);
        let half = (d[l + 1] - d[l]) / (2.0 * e[l]);
        let root = (half * half + 1.0).sqrt();
        let mut g = d[m] - d[l] + e[l] / (half + root.copysign(half));
        let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
        for i in (l..m).rev() {
            let (f, b) = (s * e[i], c * e[i]);
            let square = f * f + g * g;
            if square < TINY_SQUARE {
                d[i + 1] -= p;
                e[i + 1] = 0.0;
                e[m] = 0.0;
                return i + 1;
            }
            let r = square.sqrt();
            e[i + 1] = r;
            let inverse = r * (1.0 / square);
            s = f * inverse;
            c = g * inverse;
            g = d[i + 1] - p;
            let t = (d[i] - g) * s + 2.0 * c * b;
            p = s * t;
            d[i + 1] = g + p;
            g = c * t - b;
            self.rotations[i] = (c, s);
        }
        d[l] -= p;
        e[l] = g;
        e[m] = 0.0;
        l
    }

    #[inline(always)]
    fn rotate_columns(&mut self, first: usize, last: usize) {
        let stride = self.stride;
        let rotations = &self.rotations[first..last];
        let z = &mut self.z[stride * first..stride * (last + 1)];
        let mut row = 0;
        while row + 16 <= stride {
            rotate_rows::<16>(z, stride, row, rotations);
            row += 16;
        }
        if row + 8 <= stride {
            rotate_rows::<8>(z, stride, row, rotations);
            row += 8;
        }
        if row + 4 <= stride {
            rotate_rows::<4>(z, stride, row, rotations);
        }
    }
}

/// Rotates columns k and k + 1 for k from the last to the first, in `L` rows from `row` on.
#[inline(always)]
fn rotate_rows<const L: usize>(z: &mut [f64], stride: usize, row: usize, rotations: &[(f64, f64)]) {
    let mut carry = [0.0; L];
    let end = stride * rotations.len();
    carry.copy_from_slice(&z[end + row..][..L]);
    let mut pairs = z.chunks_exact_mut(stride).rev();
    let Some(mut upper) = pairs.next() else { return };
    for (lower, &(c, s)) in pairs.zip(rotations.iter().rev()) {
        let (target, x) = (&mut upper[row..row + L], &lower[row..row + L]);
        for k in 0..L {
            let (below, above) = (x[k], carry[k]);
            target[k] = s * below + c * above;
            carry[k] = c * below - s * above;
        }
        upper = lower;
    }
    upper[row..row + L].copy_from_slice(&carry);
}

/// `out <- sum_j v_j column_j` over the first `count` columns, four at a time.
#[inline(always)]
fn times(columns: &[f64], stride: usize, v: &[f64], count: usize, out: &mut [f64]) {
    let len = out.len();
    out.fill(0.0);
    let whole = count - count % 4;
    for j in (0..whole).step_by(4) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| &columns[stride * (j + k)..][..len]);
        let [w, x, y, z] = [v[j], v[j + 1], v[j + 2], v[j + 3]];
        for k in 0..len {
            out[k] += (w * a[k] + x * b[k]) + (y * c[k] + z * d[k]);
        }
    }
    for j in whole..count {
        let (x, column) = (v[j], &columns[stride * j..][..len]);
        out.iter_mut().zip(column).for_each(|(o, a)| *o += x * a);
    }
}

/// Four partial sums, whatever the width of the vectors.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (x, y) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
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
