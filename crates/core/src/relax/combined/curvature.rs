//! The matrix of a Newton step: curvature of everything that depends on the moments.

use crate::deadline::Deadline;
use crate::error::Result;
use crate::linalg::Tiled;

/// A symmetric matrix over the moments, built entry by entry, then factored.
pub(super) struct Curvature(Tiled);

impl Curvature {
    /// # Errors
    /// When threads cannot be started.
    pub(super) fn new(count: usize, threads: usize) -> Result<Self> {
        Tiled::new(count, threads).map(Curvature)
    }

    /// Gives factorisations up at `deadline`.
    pub(super) fn until(self, deadline: &Deadline) -> Self {
        Curvature(self.0.until(deadline))
    }

    /// Starts from zero.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds `v` at (a, b) and, being symmetric, at (b, a).
    pub(super) fn add(&mut self, a: usize, b: usize, v: f64) {
        self.0.add(a, b, v);
    }

    #[cfg(test)]
    pub(super) fn at(&self, a: usize, b: usize) -> f64 {
        self.0.at(a, b)
    }

    /// Adds the entries of a block between its position `at` and every position from there on.
    pub(super) fn add_column(&mut self, numbers: &[u32], at: usize, values: &[f64]) {
        let column = numbers[at] as usize;
        self.0.add(column, column, values[at]);
        for (&number, v) in numbers[at + 1..].iter().zip(&values[at + 1..]) {
            let row = number as usize;
            // Two entries of one moment meet twice.
            let twice = if row == column { 2.0 } else { 1.0 };
            self.0.add(row, column, twice * v);
        }
    }

    /// Factors; `false` when the matrix is not positive definite.
    pub(super) fn factor(&mut self) -> bool {
        self.0.factor()
    }

    /// `rhs <- L^{-1} rhs` for its columns, `L L^T` being the matrix.
    pub(super) fn solve_lower(&self, rhs: &mut [f64]) {
        self.0.solve_lower(rhs);
    }

    /// `rhs <- L^{-T} rhs` for its columns.
    pub(super) fn solve_upper(&self, rhs: &mut [f64]) {
        self.0.solve_upper(rhs);
    }
}
