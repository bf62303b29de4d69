//! The Gibbs state `rho = exp(B) / tr exp(B)` of a symmetric matrix, and its derivatives.

use super::eigen::{Eigen, EigenWork, eigh, eigh_in_place};
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
    /// Whether only the top eigenpairs belong to B; the others then are those of a similar matrix.
    pub(crate) partial: bool,
}

impl Gibbs {
    /// Decomposes `b`; `false` when that fails. Nothing overflows: the top eigenvalue is taken out.
    #[must_use]
    pub(crate) fn decompose(&mut self, b: &Square, work: &mut EigenWork) -> bool {
        self.partial = false;
        eigh(b, &mut self.eigen, work) && self.weigh()
    }

    /// As [`Gibbs::decompose`], without a copy of `b`, which is left as it was.
    #[must_use]
    pub(crate) fn decompose_in_place(&mut self, b: &mut Square, work: &mut EigenWork) -> bool {
        self.partial = false;
        eigh_in_place(b, &mut self.eigen, work) && self.weigh()
    }

    /// Weights and value from the eigenvalues; `false` when they are not finite.
    #[must_use]
    pub(crate) fn weigh(&mut self) -> bool {
        let n = self.eigen.values.len();
        let top = self.eigen.values[n - 1];
        self.weights.clear();
        self.weights.extend(self.eigen.values.iter().map(|l| (l - top).exp()));
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|p| *p /= total);
        self.log_mean = top + (total / n as f64).ln();
        let negligible = self.weights.iter().take_while(|&&p| !(p > NEGLIGIBLE)).count();
        self.rank = (n - negligible).max(1);
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

    /// `exp_kernel(k, l)` for all k.
    pub(crate) fn exp_kernel_column(&self, l: usize, out: &mut [f64]) {
        let (value, weight) = (self.eigen.values[l], self.weights[l]);
        for ((o, v), p) in out.iter_mut().zip(&self.eigen.values).zip(&self.weights) {
            let x = (v - value).abs();
            // From x = 1/2 on, the difference of the weights has no cancellation to speak of. The
            // values are sorted, so the branch is well predicted.
            *o = if x > 0.5 { (p - weight).abs() / x } else { p.max(weight) * exprel_series(x) };
        }
    }
}

/// `(1 - exp(-x)) / x` for x >= 0.
fn relative_exprel(x: f64) -> f64 {
    if x < 1e-8 { 1.0 - 0.5 * x } else { -(-x).exp_m1() / x }
}

/// `(1 - exp(-x)) / x` for 0 <= x <= 1/2, to 1e-13.
fn exprel_series(x: f64) -> f64 {
    const TERMS: usize = 12;
    let mut sum = 1.0;
    for k in (2..=TERMS).rev() {
        sum = 1.0 - sum * x * (1.0 / k as f64);
    }
    sum
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
