//! The matrix of a Newton step: curvature of everything that depends on the moments.

use crate::spectral::Cholesky;
use faer::Par;

/// A symmetric matrix over the moments, built entry by entry, then factored.
pub(super) struct Curvature {
    count: usize,
    /// Lower triangle by columns.
    lower: Vec<f64>,
    cholesky: Cholesky,
    par: Par,
}

impl Curvature {
    pub(super) fn new(count: usize, par: Par) -> Self {
        Curvature { count, lower: Vec::new(), cholesky: Cholesky::default(), par }
    }

    /// Starts from zero.
    pub(super) fn clear(&mut self) {
        self.lower = self.cholesky.take_storage();
        self.lower.clear();
        self.lower.resize(self.count * self.count, 0.0);
    }

    /// Adds `v` at (a, b) and, being symmetric, at (b, a).
    pub(super) fn add(&mut self, a: usize, b: usize, v: f64) {
        self.lower[a.max(b) + self.count * a.min(b)] += v;
    }

    #[cfg(test)]
    pub(super) fn at(&self, a: usize, b: usize) -> f64 {
        self.lower[a.max(b) + self.count * a.min(b)]
    }

    /// Adds the entries of a block between its position `at` and every position from there on.
    pub(super) fn add_column(&mut self, numbers: &[u32], at: usize, values: &[f64]) {
        let column = numbers[at] as usize;
        self.lower[column * (self.count + 1)] += values[at];
        for (&number, v) in numbers[at + 1..].iter().zip(&values[at + 1..]) {
            let row = number as usize;
            // Two entries of one moment meet twice.
            let twice = if row == column { 2.0 } else { 1.0 };
            self.lower[row.max(column) + self.count * row.min(column)] += twice * v;
        }
    }

    /// Factors; `false` when the matrix is not positive definite.
    pub(super) fn factor(&mut self) -> bool {
        let lower = std::mem::take(&mut self.lower);
        self.cholesky.factor(lower, self.count, 0.0, self.par)
    }

    /// Solves in place for the columns of `rhs`.
    pub(super) fn solve(&self, rhs: &mut [f64]) {
        self.cholesky.solve(rhs);
    }
}
