//! The smallest eigenvalue of a large symmetric matrix by Lanczos' method.

use super::{Eigen, EigenWork, Square, dot, eigh, norm};
use crate::deadline::Deadline;

/// An approximate smallest eigenpair.
pub(crate) struct Smallest {
    /// Ritz value: at least the smallest eigenvalue.
    pub(crate) value: f64,
    /// Norm of `A u - value u`.
    pub(crate) residual: f64,
    /// Unit vector u.
    pub(crate) vector: Vec<f64>,
}

/// Steps between two looks at the Ritz pair.
const STRIDE: usize = 25;

/// Smallest Ritz pair of the symmetric `apply(x, out)` from the unit vector along `start`, until its
/// residual is below `tol`, `max_steps` are done or the deadline has passed. `None` when the start is zero or a value is not finite.
///
/// **Cost** per step one product and O(n k) for keeping all k vectors orthogonal.
pub(crate) fn smallest(
    apply: &mut dyn FnMut(&[f64], &mut [f64]),
    mut start: Vec<f64>,
    tol: f64,
    max_steps: usize,
    deadline: &Deadline,
) -> Option<Smallest> {
    let n = start.len();
    let length = norm(&start);
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    start.iter_mut().for_each(|v| *v /= length);
    let (mut basis, mut alpha, mut beta) = (vec![start], Vec::new(), Vec::<f64>::new());
    let mut next = vec![0.0; n];
    let steps = max_steps.min(n);
    for step in 1..=steps {
        let last = &basis[step - 1];
        apply(last, &mut next);
        alpha.push(dot(last, &next));
        // Twice is enough: after the second pass what is left is orthogonal to rounding.
        for _ in 0..2 {
            for q in &basis {
                let c = dot(q, &next);
                next.iter_mut().zip(q).for_each(|(v, q)| *v -= c * q);
            }
        }
        let length = norm(&next);
        let exhausted = !(length > 1e-14 * alpha[0].abs().max(length)) || step == n;
        let last = step == steps || deadline.stop().is_some();
        if step % STRIDE == 0 || last || exhausted {
            let ritz = ritz(&alpha, &beta)?;
            let residual = if exhausted { 0.0 } else { length * ritz.1[step - 1].abs() };
            if residual <= tol || last || exhausted {
                let mut vector = vec![0.0; n];
                for (q, c) in basis.iter().zip(&ritz.1) {
                    vector.iter_mut().zip(q).for_each(|(v, q)| *v += c * q);
                }
                return Some(Smallest { value: ritz.0, residual, vector });
            }
        }
        beta.push(length);
        basis.push(next.iter().map(|v| v / length).collect());
    }
    None
}

/// Smallest eigenpair of the tridiagonal matrix.
fn ritz(alpha: &[f64], beta: &[f64]) -> Option<(f64, Vec<f64>)> {
    let k = alpha.len();
    let mut t = Square::zeros(k);
    t.data_mut().iter_mut().step_by(k + 1).zip(alpha).for_each(|(t, a)| *t = *a);
    for i in 1..k {
        t.data_mut()[i + k * (i - 1)] = beta[i - 1];
        t.data_mut()[i - 1 + k * i] = beta[i - 1];
    }
    let mut eigen = Eigen::default();
    eigh(&t, &mut eigen, &mut EigenWork::default())
        .then(|| (eigen.values[0], eigen.vectors.column(0).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_eigenvalue_of_a_path_is_found() {
        let n = 300;
        let mut apply = |x: &[f64], out: &mut [f64]| {
            for i in 0..n {
                out[i] =
                    2.0 * x[i] - if i > 0 { x[i - 1] } else { 0.0 } - if i + 1 < n { x[i + 1] } else { 0.0 };
            }
        };
        let start = (0..n).map(|i| 1.0 + 0.1 * (i as f64).sin()).collect();
        let pair = smallest(&mut apply, start, 1e-10, n, &Deadline::default()).unwrap();
        let expected = 2.0 - 2.0 * (std::f64::consts::PI / (n + 1) as f64).cos();
        assert!((pair.value - expected).abs() < 1e-9 && pair.residual <= 1e-10);
    }
}
