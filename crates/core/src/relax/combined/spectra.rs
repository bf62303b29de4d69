//! Matrix functions behind the spectral entropies.

use super::gaussian::Gaussian;
use super::space::Block;
use crate::linalg::{Eigen, EigenWork, Square, eigh, multiply};

/// Step of the trapezoid rule for the second derivative of `x log x`, in the logarithm of its
/// variable; the relative error is at most `(8 pi^2 / step) exp(-2 pi^2 / step)`, two thousandths.
const QUADRATURE: f64 = 2.0;

/// How far beyond the spectrum the rule goes, likewise; what is cut off is `exp(-tail)`.
const TAIL: f64 = 8.0;

/// `Sigma + s diag(0, I)`.
pub(super) fn raised(block: &Block, gaussian: &Gaussian, m: &[f64]) -> Square {
    let n = block.n();
    let mut out = block.fill(m, 1.0);
    out.data_mut().iter_mut().step_by(n + 1).skip(1).for_each(|v| *v += gaussian.variance);
    out
}

/// `U g(values) U^T`.
pub(super) fn function(eigen: &Eigen, g: impl Fn(f64) -> f64) -> Square {
    let n = eigen.values.len();
    let mut scaled = eigen.vectors.clone();
    for (column, &v) in scaled.data_mut().chunks_exact_mut(n).zip(&eigen.values) {
        let factor = g(v);
        column.iter_mut().for_each(|u| *u *= factor);
    }
    let mut out = Square::zeros(n);
    multiply::square_by_transpose(&scaled, &eigen.vectors, &mut out);
    out.symmetrize();
    out
}

/// Eigenpairs of a positive definite matrix.
pub(super) fn decompose(a: &Square, work: &mut EigenWork) -> Option<Eigen> {
    let mut eigen = Eigen::default();
    (eigh(a, &mut eigen, work) && eigen.values[0] > 0.0).then_some(eigen)
}

/// Matrices t with `sum t D t` the derivative of `weight log Sigma` along D, from
/// `log' = int_0^inf (Sigma + s)^-1 D (Sigma + s)^-1 ds` by the trapezoid rule in log s.
pub(super) fn logarithm(eigen: &Eigen, weight: f64) -> Vec<Square> {
    let (low, high) = (eigen.values[0].ln() - TAIL, eigen.values[eigen.values.len() - 1].ln() + TAIL);
    let nodes = ((high - low) / QUADRATURE).ceil() as usize + 1;
    let node = |k: usize| {
        let s = (low + QUADRATURE * k as f64).exp();
        let root = (weight * QUADRATURE * s).sqrt();
        function(eigen, |v| root / (v + s))
    };
    (0..nodes).map(node).collect()
}
