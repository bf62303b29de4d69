//! What a certificate tells besides its bound: the dual point and the moments behind it.
//!
//! Warm starts, gradients and other methods read them here; no bound rests on them, and no other module looks into the
//! forms of a proof to get at them.

use super::certificate::{Certificate, Form};
use crate::features::Features;
use crate::linalg::{Eigen, Square};

/// The dual point of the quantum relaxation: `F' = F - Y` with its eigenpairs.
#[derive(Clone, Debug)]
pub(crate) struct QuantumPoint<M, E> {
    pub(crate) matrix: M,
    pub(crate) eigen: E,
}

/// A moment matrix `S = W U diag(values) U^T W` over features, with W diagonal.
pub(crate) struct MomentMatrix<'a> {
    pub(crate) features: &'a Features,
    pub(crate) eigen: &'a Eigen,
    pub(crate) values: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

impl Certificate {
    /// The quantum relaxation's dual point, when its first component is one.
    pub(crate) fn quantum_point(&self) -> Option<QuantumPoint<&Square, &Eigen>> {
        match &self.components.first()?.form {
            Form::Spectral { matrix, eigen, .. } => Some(QuantumPoint { matrix, eigen }),
            _ => None,
        }
    }

    /// The same, for one that is used up.
    pub(crate) fn into_quantum_point(self) -> Option<QuantumPoint<Square, Eigen>> {
        match self.components.into_iter().next()?.form {
            Form::Spectral { matrix, eigen, .. } => Some(QuantumPoint { matrix, eigen }),
            _ => None,
        }
    }

    /// The edges of every graph of a mixture; `None` when a component is no graph.
    pub(crate) fn graphs(&self) -> Option<Vec<Vec<[u32; 2]>>> {
        let edges = |form: &Form| match form {
            Form::Elimination { polynomial, .. } => Some(polynomial.pairwise_part().edges().to_vec()),
            _ => None,
        };
        self.components.iter().map(|c| edges(&c.form)).collect()
    }

    /// The moments at which the bound was found, of the first component that has a matrix of them.
    pub(crate) fn moment_matrix(&self) -> Option<MomentMatrix<'_>> {
        let eps = self.eps;
        self.components.iter().find_map(|component| match &component.form {
            Form::Spectral { features, eigen, .. } => {
                let n = features.len() as f64;
                let values = gibbs(&eigen.values, n / eps).map(|w| n * w).collect();
                Some(MomentMatrix { features, eigen, values, scale: vec![1.0; features.len()] })
            }
            Form::WeightedSpectral { features, eta, eigen, .. } => {
                let total: f64 = eta.iter().sum();
                let scale = eta.iter().map(|v| (v / total).powf(-0.5)).collect();
                let values = gibbs(&eigen.values, 1.0 / eps).collect();
                Some(MomentMatrix { features, eigen, values, scale })
            }
            Form::Tangent { features, point, .. } => {
                let (values, scale) = (point.values.clone(), vec![1.0; features.len()]);
                Some(MomentMatrix { features, eigen: point, values, scale })
            }
            _ => None,
        })
    }
}

/// `exp(t lambda) / sum exp(t lambda)`.
fn gibbs(lambda: &[f64], t: f64) -> impl Iterator<Item = f64> {
    let top = lambda.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
    let weight = move |l: &f64| (t * (l - top)).exp();
    let total: f64 = lambda.iter().map(weight).sum();
    lambda.iter().map(move |l| weight(l) / total)
}
