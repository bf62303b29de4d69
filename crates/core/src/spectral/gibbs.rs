//! The Gibbs state `rho = exp(B) / tr exp(B)` of a symmetric matrix, and its derivatives.

use super::eigen::{Eigen, EigenWork, eigh};
use super::square::Square;

/// Weights below this fraction carry nothing that a double can see next to 1.
const NEGLIGIBLE: f64 = 1e-17;

/// A decomposed matrix B with its Gibbs weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gibbs {
    /// Eigenpairs of B, values increasing.
    pub(crate) eigen: Eigen,
    /// `p_k = exp(lambda_k) / sum exp(lambda)`, increasing.
    pub(crate) weights: Vec<f64>,
    /// `log((1/n) tr exp(B))`.
    pub(crate) log_mean: f64,
    /// Number of weights that are not negligible; they are the last ones.
    pub(crate) rank: usize,
}

impl Gibbs {
    /// Decomposes `b`; `false` when that fails. Nothing overflows: the top eigenvalue is taken out.
    #[must_use]
    pub(crate) fn decompose(&mut self, b: &Square, work: &mut EigenWork) -> bool {
        if !eigh(b, &mut self.eigen, work) {
            return false;
        }
        let n = b.n();
        let top = self.eigen.values[n - 1];
        self.weights.clear();
        self.weights.extend(self.eigen.values.iter().map(|l| (l - top).exp()));
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|p| *p /= total);
        self.log_mean = top + (total / n as f64).ln();
        self.rank = self.weights.iter().filter(|&&p| p > NEGLIGIBLE).count().max(1);
        self.log_mean.is_finite()
    }

    /// Number of rows.
    pub(crate) fn n(&self) -> usize {
        self.weights.len()
    }

    /// `log((1/n) tr exp(t B))`.
    pub(crate) fn log_mean_at(&self, t: f64) -> f64 {
        let top = self.eigen.values[self.n() - 1];
        let total: f64 = self.eigen.values.iter().map(|l| (t * (l - top)).exp()).sum();
        t * top + (total / self.n() as f64).ln()
    }

    /// `sum_k p_k lambda_k`.
    pub(crate) fn mean_value(&self) -> f64 {
        self.weights.iter().zip(&self.eigen.values).map(|(p, l)| p * l).sum()
    }

    /// Divided difference `(p_k - p_l) / (lambda_k - lambda_l)` of exp, without cancellation.
    pub(crate) fn exp_kernel(&self, k: usize, l: usize) -> f64 {
        let x = (self.eigen.values[k] - self.eigen.values[l]).abs();
        self.weights[k].max(self.weights[l]) * relative_exprel(x)
    }
}

/// `(1 - exp(-x)) / x` for x >= 0.
fn relative_exprel(x: f64) -> f64 {
    if x < 1e-8 { 1.0 - 0.5 * x } else { -(-x).exp_m1() / x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_the_divided_difference_of_exp() {
        let b = Square::from_column_major(3, vec![1.0, 0.3, 0.0, 0.3, -2.0, 0.5, 0.0, 0.5, 0.7]);
        let mut gibbs = Gibbs::default();
        assert!(gibbs.decompose(&b, &mut EigenWork::default()));
        let (p, l) = (gibbs.weights.clone(), gibbs.eigen.values.clone());
        for j in 0..3 {
            for k in 0..3 {
                let expected = if j == k { p[j] } else { (p[j] - p[k]) / (l[j] - l[k]) };
                assert!((gibbs.exp_kernel(j, k) - expected).abs() < 1e-14);
            }
        }
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn huge_spectra_do_not_overflow() {
        let mut b = Square::zeros(2);
        b.data_mut().copy_from_slice(&[1e9, 0.0, 0.0, -1e9]);
        let mut gibbs = Gibbs::default();
        assert!(gibbs.decompose(&b, &mut EigenWork::default()));
        assert_eq!(gibbs.rank, 1);
        assert!((gibbs.log_mean - (1e9 - 2f64.ln())).abs() < 1e-6);
    }
}
