//! The implicit QL iteration on a tridiagonal matrix, with the rotations of its vectors.

use super::{SmallWork, TINY_SQUARE};

/// Off-diagonal entries below this do not couple.
const UNCOUPLED: f64 = 1e-18;
/// QL sweeps for one eigenvalue; two or three are usual.
const MAX_SWEEPS: usize = 60;

impl SmallWork {
    /// Implicit QL on the tridiagonal matrix; rotates the columns of z along.
    #[inline(always)]
    pub(super) fn iterate(&mut self, rotate: bool) -> bool {
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
