//! Nesterov-Todd scaling of a pair of positive definite matrices.

use super::symmetric::{cholesky, congruence, lower_inverse, multiply};
use super::{Eigen, EigenWork, Square, eigh};

/// G with `G^-1 P G^-T = G^T Q G = diag(values)` for a primal P and a dual Q.
pub(crate) struct Scaling {
    values: Vec<f64>,
    pub(crate) g: Square,
    pub(crate) g_inv: Square,
    /// `T = G^-T G^-1`, so that `T P T = Q`: the Hessian of the pair is `Y -> T Y T`.
    pub(crate) t: Square,
}

impl Scaling {
    /// `None` when a factorisation fails: the matrices are no longer numerically definite.
    ///
    /// **Cost** one eigendecomposition, six n^3 products.
    pub(crate) fn new(primal: &Square, dual: &Square, work: &mut EigenWork) -> Option<Self> {
        let n = primal.n();
        let mut factor = primal.clone();
        if !cholesky(&mut factor) {
            return None;
        }
        let mut scratch = Square::zeros(n);
        // On the central path L^T Q L is a multiple of the identity, so its eigenvalues are accurate.
        let inner = congruence(factor.view(), dual, &mut scratch);
        let mut eigen = Eigen::default();
        let definite = eigh(&inner, &mut eigen, work) && eigen.values[0] > 0.0;
        if !definite {
            return None;
        }
        let values: Vec<f64> = eigen.values.iter().map(|v| v.sqrt()).collect();
        for (column, v) in eigen.vectors.data_mut().chunks_mut(n).zip(&values) {
            let root = v.sqrt();
            column.iter_mut().for_each(|x| *x /= root);
        }
        let (mut g, mut g_inv) = (Square::zeros(n), Square::zeros(n));
        multiply(&mut g, factor.view(), eigen.vectors.view());
        for (column, v) in eigen.vectors.data_mut().chunks_mut(n).zip(&values) {
            column.iter_mut().for_each(|x| *x *= v);
        }
        multiply(&mut g_inv, eigen.vectors.view().transpose(), lower_inverse(&factor).view());
        let mut t = Square::zeros(n);
        multiply(&mut t, g_inv.view().transpose(), g_inv.view());
        t.symmetrize();
        Some(Scaling { values, g, g_inv, t })
    }

    /// The part of the dual step that does not depend on the primal step:
    /// `dQ = constant_part - T dP T` linearises `P Q = target I`, with Mehrotra's second-order
    /// term when the predictor's steps are given.
    pub(crate) fn constant_part(&self, target: f64, predictor: Option<(&Square, &Square)>) -> Square {
        let n = self.values.len();
        let mut scratch = Square::zeros(n);
        let mut e = Square::zeros(n);
        if let Some((dp, dq)) = predictor {
            let dp = congruence(self.g_inv.view().transpose(), dp, &mut scratch);
            let dq = congruence(self.g.view(), dq, &mut scratch);
            multiply(&mut e, dp.view(), dq.view());
            e.symmetrize();
        }
        for j in 0..n {
            for i in 0..n {
                let v = &mut e.data_mut()[i + n * j];
                *v = -2.0 * *v / (self.values[i] + self.values[j]);
                if i == j {
                    *v += target / self.values[i] - self.values[i];
                }
            }
        }
        congruence(self.g_inv.view(), &e, &mut scratch)
    }

    /// `T dP T`.
    pub(crate) fn apply(&self, dp: &Square) -> Square {
        congruence(self.t.view(), dp, &mut Square::zeros(dp.n()))
    }
}
