//! Square matrices in one flat column-major array.

use faer::{MatMut, MatRef};

/// A dense n x n matrix, column-major and without padding.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Square {
    n: usize,
    data: Vec<f64>,
}

impl Square {
    /// The zero matrix.
    pub fn zeros(n: usize) -> Self {
        Square { n, data: vec![0.0; n * n] }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        let mut out = Self::zeros(n);
        out.data.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        out
    }

    /// Takes `n * n` column-major entries.
    ///
    /// # Panics
    /// When the length is not `n * n`.
    pub fn from_column_major(n: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), n * n, "a {n} x {n} matrix has {} entries", n * n);
        Square { n, data }
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// All entries, column-major.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, column-major.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Changes the size, keeping the memory; entries have no meaning after it.
    pub(crate) fn reset(&mut self, n: usize) {
        self.n = n;
        self.data.resize(n * n, 0.0);
    }

    /// Multiplies every entry by both factors, one after the other.
    pub(crate) fn scale_by(&mut self, factors: (f64, f64)) {
        self.data.iter_mut().for_each(|v| *v = *v * factors.0 * factors.1);
    }

    /// Entry in row `i`, column `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i + self.n * j]
    }

    /// Column `j`.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.data[self.n * j..self.n * (j + 1)]
    }

    /// The diagonal.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        self.data.iter().step_by(self.n + 1).copied()
    }

    /// Replaces the matrix by `(M + M^T) / 2`: eigensolvers read one triangle only.
    pub fn symmetrize(&mut self) {
        let n = self.n;
        for j in 0..n {
            for i in 0..j {
                let mean = 0.5 * (self.data[i + n * j] + self.data[j + n * i]);
                self.data[i + n * j] = mean;
                self.data[j + n * i] = mean;
            }
        }
    }

    /// Copies the upper triangle to the lower one.
    pub(crate) fn mirror_upper(&mut self) {
        // In blocks, for both sides of the copy to stay in cache.
        const BLOCK: usize = 32;
        let n = self.n;
        for first in (0..n).step_by(BLOCK) {
            for j in first..n {
                for i in first..(first + BLOCK).min(j) {
                    self.data[j + n * i] = self.data[i + n * j];
                }
            }
        }
    }

    /// `<A, B> = tr A^T B`.
    pub fn dot(&self, other: &Square) -> f64 {
        self.data.iter().zip(&other.data).map(|(a, b)| a * b).sum()
    }

    /// View for the linear algebra backend.
    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, self.n, self.n)
    }

    /// Mutable view for the linear algebra backend.
    pub(crate) fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.data, self.n, self.n)
    }
}
