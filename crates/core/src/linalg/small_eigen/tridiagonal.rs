//! Householder reflections to tridiagonal form, and their product.

use super::{SmallWork, TINY_SQUARE};

impl SmallWork {
    /// `Q^T A Q = T`; reflector i is left in column i, zero from row i on.
    #[inline(always)]
    pub(super) fn tridiagonalise(&mut self) {
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
    pub(super) fn accumulate(&mut self) {
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
