//! Where a spectral bound was found, as data of its own.
//!
//! Warm starts, greedy selection, roundings and gradients read it from the solution. No bound rests on it: what is proved stands in the
//! certificate, into which nobody has to look for it.

use crate::linalg::{Eigen, Square};

/// The matrices at which a spectral bound was found, over the features of its solution.
#[derive(Clone, Debug)]
pub(crate) enum SpectralPoint {
    /// Of the quantum relaxation.
    Dual(DualPoint),
    /// Of `quantum-diag`: the moment matrix, by its eigenpairs.
    Moments(Eigen),
}

/// `F' = F - Y` with its eigenpairs.
#[derive(Clone, Debug)]
pub(crate) struct DualPoint {
    pub(crate) matrix: Square,
    pub(crate) eigen: Eigen,
}

impl SpectralPoint {
    /// The point of the quantum relaxation, if it is one.
    pub(crate) fn dual(&self) -> Option<&DualPoint> {
        match self {
            SpectralPoint::Dual(point) => Some(point),
            SpectralPoint::Moments(_) => None,
        }
    }

    /// The same, for one that is used up.
    pub(crate) fn into_dual(self) -> Option<DualPoint> {
        match self {
            SpectralPoint::Dual(point) => Some(point),
            SpectralPoint::Moments(_) => None,
        }
    }

    /// Eigenvalues and eigenvectors of the moment matrix at temperature `eps`: the Gibbs state of a dual point.
    pub(crate) fn moments(&self, eps: f64) -> (Vec<f64>, &Square) {
        match self {
            SpectralPoint::Dual(DualPoint { eigen, .. }) => {
                let n = eigen.values.len() as f64;
                (gibbs(&eigen.values, n / eps).map(|w| n * w).collect(), &eigen.vectors)
            }
            SpectralPoint::Moments(eigen) => (eigen.values.clone(), &eigen.vectors),
        }
    }
}

/// `exp(t lambda) / sum exp(t lambda)`.
fn gibbs(lambda: &[f64], t: f64) -> impl Iterator<Item = f64> {
    let top = lambda.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
    let weight = move |l: &f64| (t * (l - top)).exp();
    let total: f64 = lambda.iter().map(weight).sum();
    lambda.iter().map(move |l| weight(l) / total)
}
