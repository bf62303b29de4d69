//! The only file that names the backend's eigensolver, because it needs care:
//! input far from unit scale gives wrong eigenvalues, one NaN costs seconds, n = 0 underflows.

use super::small_eigen::{self, SMALL, SmallWork};
use super::square::Square;
use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{SelfAdjointEvdParams, tridiag, tridiagonal_self_adjoint_evd};
use faer::linalg::{householder, qr, temp_mat_scratch};
use faer::{Conj, MatMut, Par, Spec};

/// `A = U diag(values) U^T`, values increasing, columns of `vectors` orthonormal up to rounding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Eigen {
    /// Eigenvalues in increasing order.
    pub values: Vec<f64>,
    /// Eigenvectors as columns.
    pub vectors: Square,
}

/// Scratch memory reused between decompositions of one size.
#[derive(Default)]
pub struct EigenWork {
    n: usize,
    scaled: Square,
    reflectors: Vec<f64>,
    buffer: Option<MemBuffer>,
    small: SmallWork,
}

/// From this size on the backend's scratch is not kept: it is large, and cheap next to its use.
const KEEP_SCRATCH: usize = 300;

/// Decomposes the symmetric matrix `a` (its lower triangle is read) into `out`, on one thread.
///
/// The input is scaled by an exact power of two first. Returns `false`, leaving `out` without
/// meaning, when an entry is not finite or the iteration did not converge.
///
/// **Cost** about 9 n^3 flops, one n x n copy.
#[must_use]
pub fn eigh(a: &Square, out: &mut Eigen, work: &mut EigenWork) -> bool {
    let mut scaled = std::mem::take(&mut work.scaled);
    scaled.reset(a.n());
    scaled.data_mut().copy_from_slice(a.data());
    if out.vectors.n() != a.n() || out.values.len() != a.n() {
        *out = Eigen { values: vec![0.0; a.n()], vectors: Square::zeros(a.n()) };
    }
    let done = decompose(&mut scaled, &mut out.values, Some(&mut out.vectors), work);
    work.scaled = scaled;
    done
}

/// As [`eigh`] without the copy: the lower triangle and the diagonal are the workspace, and are put
/// back afterwards, the triangle from the upper one.
#[must_use]
pub(crate) fn eigh_in_place(a: &mut Square, out: &mut Eigen, work: &mut EigenWork) -> bool {
    let n = a.n();
    if out.vectors.n() != n || out.values.len() != n {
        *out = Eigen { values: vec![0.0; n], vectors: Square::zeros(n) };
    }
    let diagonal: Vec<f64> = a.diagonal().collect();
    let done = decompose(a, &mut out.values, Some(&mut out.vectors), work);
    a.mirror_upper();
    a.data_mut().iter_mut().step_by(n + 1).zip(diagonal).for_each(|(v, own)| *v = own);
    done
}

/// The eigenvalues alone, in increasing order, as in [`eigh`]; about a third of its cost.
#[must_use]
pub(crate) fn eigenvalues(a: &Square, out: &mut Vec<f64>, work: &mut EigenWork) -> bool {
    let mut scaled = std::mem::take(&mut work.scaled);
    scaled.reset(a.n());
    scaled.data_mut().copy_from_slice(a.data());
    let done = eigenvalues_of(&mut scaled, out, work);
    work.scaled = scaled;
    done
}

/// As [`eigenvalues`] without the copy; `a` has no meaning afterwards.
#[must_use]
pub(crate) fn eigenvalues_of(a: &mut Square, out: &mut Vec<f64>, work: &mut EigenWork) -> bool {
    out.resize(a.n(), 0.0);
    decompose(a, out, None, work)
}

/// Destroys the lower triangle and the diagonal of `a`; the upper triangle is not read, and stays.
fn decompose(a: &mut Square, values: &mut [f64], vectors: Option<&mut Square>, work: &mut EigenWork) -> bool {
    let n = a.n();
    let Some(largest) = largest_finite(a.data()) else { return false };
    if largest == 0.0 || n <= 1 {
        values.copy_from_slice(&a.diagonal().collect::<Vec<_>>());
        if let Some(vectors) = vectors {
            *vectors = Square::identity(n);
        }
        return true;
    }
    let exponent = -(largest.log2().floor() as i32);
    a.scale_by(power_of_two(exponent));
    let done = if n <= SMALL {
        small_eigen::decompose(a.data(), values, vectors.map(Square::data_mut), &mut work.small)
    } else {
        blocked(a, values, vectors, work)
    };
    let back = power_of_two(-exponent);
    a.scale_by(back);
    values.iter_mut().for_each(|v| *v = *v * back.0 * back.1);
    done && values.iter().all(|v| v.is_finite())
}

/// The largest magnitude, `None` when an entry is not finite; in lanes, which the compiler can vectorise.
fn largest_finite(data: &[f64]) -> Option<f64> {
    const LANES: usize = 8;
    let (mut largest, mut zeros) = ([0.0f64; LANES], [0.0f64; LANES]);
    let (whole, rest) = data.split_at(data.len() / LANES * LANES);
    let mut last = [0.0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for lanes in whole.chunks_exact(LANES).chain([&last[..]]) {
        for ((m, z), v) in largest.iter_mut().zip(&mut zeros).zip(lanes) {
            *m = if v.abs() > *m { v.abs() } else { *m };
            // Zero times a number that is not finite is none.
            *z += 0.0 * v;
        }
    }
    zeros.iter().all(|z| *z == 0.0).then(|| largest.iter().fold(0.0, |m, v| v.max(m)))
}

/// The backend's decomposition of a matrix of unit scale: its `self_adjoint_evd` step by step, which
/// would take a copy of `a`.
fn blocked(a: &mut Square, values: &mut [f64], vectors: Option<&mut Square>, work: &mut EigenWork) -> bool {
    let n = a.n();
    let params = Spec::<SelfAdjointEvdParams, f64>::default();
    let block = qr::no_pivoting::factor::recommended_block_size::<f64>(n, n);
    let kept = work.buffer.take().filter(|_| work.n == n);
    let mut buffer = kept.unwrap_or_else(|| MemBuffer::new(scratch(n, block, vectors.is_some())));
    work.reflectors.resize(block * (n - 1), 0.0);
    let mut reflectors = MatMut::from_column_major_slice_mut(&mut work.reflectors, block, n - 1);
    let stack = MemStack::new(&mut buffer);
    tridiag::tridiag_in_place(a.view_mut(), reflectors.as_mut(), Par::Seq, stack, params.tridiag.into());
    let diagonal: Vec<f64> = a.diagonal().collect();
    let mut below: Vec<f64> = a.data()[1..].iter().step_by(n + 1).copied().collect();
    below.resize(n, 0.0);
    let (diagonal, below) = (DiagRef::from_slice(&diagonal), DiagRef::from_slice(&below));
    let out = DiagMut::from_slice_mut(values);
    let with_vectors = vectors.is_some();
    let mut vectors = vectors.map(Square::view_mut);
    let basis = vectors.as_mut().map(|v| v.as_mut());
    let done = tridiagonal_self_adjoint_evd(diagonal, below, out, basis, Par::Seq, stack, params).is_ok();
    if let Some(vectors) = vectors {
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            a.view().submatrix(1, 0, n - 1, n - 1),
            reflectors.as_ref(),
            Conj::No,
            vectors.subrows_mut(1, n - 1),
            Par::Seq,
            stack,
        );
    }
    work.n = n;
    work.buffer = (n < KEEP_SCRATCH && with_vectors).then_some(buffer);
    done
}

/// What the three steps need, one after the other; divide and conquer takes two n x n matrices.
fn scratch(n: usize, block: usize, vectors: bool) -> StackReq {
    let column = temp_mat_scratch::<f64>(n, 1);
    let reduce = tridiag::tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    let apply = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>;
    let columns = StackReq::all_of(&[column.array(8), StackReq::new::<usize>(n).array(4)]);
    let squares = temp_mat_scratch::<f64>(n, n).array(if vectors { 2 } else { 0 });
    StackReq::any_of(&[reduce, columns.and(squares), apply(n - 1, block, n)])
}

/// `2^e` as a product of two representable powers, for |e| up to 2000.
fn power_of_two(e: i32) -> (f64, f64) {
    let half = e / 2;
    (f64::powi(2.0, half), f64::powi(2.0, e - half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_matrix(n: usize, scale: f64) -> Square {
        let entry = |i: usize, j: usize| ((i * j + i + j) as f64 * 12.9898).sin() * scale;
        Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect())
    }

    #[test]
    fn decomposition_reproduces_the_matrix_at_any_scale() {
        for n in [1, 2, 7, 48, 150] {
            for scale in [1e-300, 1e-12, 1.0, 1e12, 1e300] {
                let a = test_matrix(n, scale);
                let (mut e, mut work) = (Eigen::default(), EigenWork::default());
                assert!(eigh(&a, &mut e, &mut work));
                let (mut f, mut own) = (Eigen::default(), a.clone());
                assert!(eigh_in_place(&mut own, &mut f, &mut work) && f == e && own == a);
                for (i, j) in [(0, 0), (n / 2, n - 1), (n - 1, n / 3)] {
                    let sum: f64 =
                        (0..n).map(|k| e.vectors.at(i, k) * (e.values[k] / scale) * e.vectors.at(j, k)).sum();
                    assert!((sum - a.at(i, j) / scale).abs() < 1e-11, "n={n} scale={scale:e}");
                }
            }
        }
    }

    #[test]
    fn eigenvalues_alone_are_the_same() {
        for n in [1, 2, 12, 90] {
            let a = test_matrix(n, 3.0);
            let (mut e, mut alone, mut work) = (Eigen::default(), Vec::new(), EigenWork::default());
            assert!(eigh(&a, &mut e, &mut work) && eigenvalues(&a, &mut alone, &mut work));
            assert!(e.values.iter().zip(&alone).all(|(x, y)| (x - y).abs() < 1e-12 * n as f64));
        }
    }

    #[test]
    fn only_the_lower_triangle_is_read() {
        for n in [2, 5, 48, 60] {
            let a = test_matrix(n, 1.0);
            let mut lower = a.clone();
            (0..n).for_each(|j| lower.data_mut()[n * j..n * j + j].fill(7.0));
            let (mut e, mut f, mut work) = (Eigen::default(), Eigen::default(), EigenWork::default());
            assert!(eigh(&a, &mut e, &mut work) && eigh(&lower, &mut f, &mut work));
            assert!(e.values.iter().zip(&f.values).all(|(x, y)| (x - y).abs() < 1e-12), "n = {n}");
        }
    }

    #[test]
    fn bad_input_is_refused_at_once_and_empty_is_fine() {
        let (mut e, mut work) = (Eigen::default(), EigenWork::default());
        let mut a = test_matrix(5, 1.0);
        a.data_mut()[7] = f64::NAN;
        assert!(!eigh(&a, &mut e, &mut work));
        assert!(eigh(&Square::zeros(0), &mut e, &mut work));
        assert!(eigh(&Square::zeros(3), &mut e, &mut work) && e.values == [0.0; 3]);
    }
}
