//! The only file that names the backend's eigensolver, because it needs care:
//! input far from unit scale gives wrong eigenvalues, one NaN costs seconds, n = 0 underflows.

use super::small_eigen::{self, SMALL, SmallWork};
use super::square::Square;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::{Par, Spec};

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
    buffer: Option<MemBuffer>,
    small: SmallWork,
}

/// Decomposes the symmetric matrix `a` (its lower triangle is read) into `out`, on one thread.
///
/// The input is scaled by an exact power of two first. Returns `false`, leaving `out` without
/// meaning, when an entry is not finite or the iteration did not converge.
///
/// **Cost** about 9 n^3 flops, one n x n copy.
#[must_use]
pub fn eigh(a: &Square, out: &mut Eigen, work: &mut EigenWork) -> bool {
    let n = a.n();
    if out.vectors.n() != n || out.values.len() != n {
        *out = Eigen { values: vec![0.0; n], vectors: Square::zeros(n) };
    }
    decompose(a, &mut out.values, Some(&mut out.vectors), work)
}

/// The eigenvalues alone, in increasing order, as in [`eigh`]; about a third of its cost.
#[must_use]
pub(crate) fn eigenvalues(a: &Square, out: &mut Vec<f64>, work: &mut EigenWork) -> bool {
    out.resize(a.n(), 0.0);
    decompose(a, out, None, work)
}

fn decompose(a: &Square, values: &mut [f64], vectors: Option<&mut Square>, work: &mut EigenWork) -> bool {
    let n = a.n();
    let largest = a.data().iter().fold(0.0f64, |m, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) });
    if !largest.is_finite() || a.data().iter().any(|v| v.is_nan()) {
        return false;
    }
    if largest == 0.0 || n <= 1 {
        values.copy_from_slice(&a.diagonal().collect::<Vec<_>>());
        if let Some(vectors) = vectors {
            *vectors = Square::identity(n);
        }
        return true;
    }
    if work.n != n {
        work.n = n;
        work.scaled = Square::zeros(n);
        work.buffer = None;
    }
    let exponent = -(largest.log2().floor() as i32);
    let scale = power_of_two(exponent);
    work.scaled.data_mut().iter_mut().zip(a.data()).for_each(|(s, v)| *s = v * scale.0 * scale.1);
    let done = match n <= SMALL {
        true => {
            let vectors = vectors.map(Square::data_mut);
            small_eigen::decompose(work.scaled.data(), values, vectors, &mut work.small)
        }
        false => blocked(&work.scaled, values, vectors, &mut work.buffer),
    };
    let back = power_of_two(-exponent);
    values.iter_mut().for_each(|v| *v = *v * back.0 * back.1);
    done && values.iter().all(|v| v.is_finite())
}

/// The backend's decomposition of a matrix of unit scale.
fn blocked(
    a: &Square,
    values: &mut [f64],
    vectors: Option<&mut Square>,
    buffer: &mut Option<MemBuffer>,
) -> bool {
    let params = Spec::<SelfAdjointEvdParams, f64>::default();
    let bytes = || self_adjoint_evd_scratch::<f64>(a.n(), ComputeEigenvectors::Yes, Par::Seq, params);
    let buffer = buffer.get_or_insert_with(|| MemBuffer::new(bytes()));
    self_adjoint_evd(
        a.view(),
        faer::diag::DiagMut::from_slice_mut(values),
        vectors.map(Square::view_mut),
        Par::Seq,
        MemStack::new(buffer),
        params,
    )
    .is_ok()
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
    fn bad_input_is_refused_at_once_and_empty_is_fine() {
        let (mut e, mut work) = (Eigen::default(), EigenWork::default());
        let mut a = test_matrix(5, 1.0);
        a.data_mut()[7] = f64::NAN;
        assert!(!eigh(&a, &mut e, &mut work));
        assert!(eigh(&Square::zeros(0), &mut e, &mut work));
        assert!(eigh(&Square::zeros(3), &mut e, &mut work) && e.values == [0.0; 3]);
    }
}
