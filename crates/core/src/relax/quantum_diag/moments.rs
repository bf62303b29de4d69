//! The linear part of the problem over the moments of Sigma, one per class of products of features.

use crate::error::Result;
use crate::features::Classes;
use crate::linalg::{Eigen, Square};
use crate::problem::Problem;

/// The linear part of the problem: `f / eps = constant + sum_c theta_c m_c`.
pub(super) struct Moments {
    pub(super) classes: Classes,
    /// Coefficient of every class but the diagonal, divided by eps.
    pub(super) theta: Vec<f64>,
    /// The constant of f itself.
    pub(super) constant: f64,
    /// Entries of each class, as columns of pairs.
    entries: Vec<Vec<(u32, u32)>>,
}

impl Moments {
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let classes = problem.features().classes();
        let f = problem.polynomial();
        let spread = classes.represent(f)?;
        let sizes = classes.sizes().iter().map(|&s| f64::from(s));
        let mut theta: Vec<f64> = spread.iter().zip(sizes).map(|(v, s)| v * s / problem.eps()).collect();
        theta[0] = 0.0;
        let n = classes.n();
        let mut entries = vec![Vec::new(); classes.len()];
        for (k, &class) in classes.of().iter().enumerate() {
            entries[class as usize].push(((k % n) as u32, (k / n) as u32));
        }
        Ok(Moments { constant: f.pairwise_part().constant(), classes, theta, entries })
    }

    pub(super) fn n(&self) -> usize {
        self.classes.n()
    }

    /// `sum |theta|`.
    pub(super) fn scale(&self) -> f64 {
        self.theta.iter().map(|v| v.abs()).sum()
    }

    /// F / eps spread over its classes.
    pub(super) fn matrix(&self) -> Square {
        let sizes = self.classes.sizes().iter().map(|&s| f64::from(s));
        let values: Vec<f64> = self.theta.iter().zip(sizes).map(|(v, s)| v / s).collect();
        self.assemble(&values)
    }

    /// Sigma from its moments by class.
    pub(super) fn assemble(&self, values: &[f64]) -> Square {
        let mut sigma = Square::zeros(self.n());
        self.classes.fill(values, sigma.data_mut());
        sigma
    }

    /// `U^T A_c U`.
    pub(super) fn rotated(&self, class: usize, eigen: &Eigen) -> Square {
        let n = self.n();
        let mut out = Square::zeros(n);
        let u = eigen.vectors.data();
        for &(a, b) in &self.entries[class] {
            for j in 0..n {
                let factor = u[b as usize + n * j];
                let column = &mut out.data_mut()[n * j..n * (j + 1)];
                column.iter_mut().enumerate().for_each(|(i, v)| *v += u[a as usize + n * i] * factor);
            }
        }
        out
    }
}
