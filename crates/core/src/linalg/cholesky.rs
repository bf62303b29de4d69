//! Cholesky factorisation of dense symmetric positive matrices held in flat slices.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, MatMut, MatRef, Par};

/// A factored positive matrix, diagonally scaled to unit diagonal first.
#[derive(Default)]
pub(crate) struct Cholesky {
    size: usize,
    factor: Vec<f64>,
    scale: Vec<f64>,
}

/// Pivots of the scaled matrix below this are rounding and are raised to it.
const PIVOT_FLOOR: f64 = 1e-15;

impl Cholesky {
    /// Factors `rows^T rows + ridge I` (scaled), rows being `length x size` column-major.
    /// Returns `false` when the matrix is not finite.
    ///
    /// **Cost** `length size^2 + size^3 / 3` flops.
    #[must_use]
    pub(crate) fn factor_gram(
        &mut self,
        rows: &[f64],
        length: usize,
        size: usize,
        ridge: f64,
        par: Par,
    ) -> bool {
        self.size = size;
        self.factor.resize(size * size, 0.0);
        let view = MatRef::from_column_major_slice(rows, length, size);
        matmul(
            MatMut::from_column_major_slice_mut(&mut self.factor, size, size),
            BlockStructure::TriangularLower,
            Accum::Replace,
            view.transpose(),
            BlockStructure::Rectangular,
            view,
            BlockStructure::Rectangular,
            1.0,
            par,
        );
        self.scale_and_factor(ridge, par)
    }

    /// Factors the matrix whose lower triangle is given by columns (scaled, plus `ridge I`).
    #[must_use]
    pub(crate) fn factor(&mut self, lower: Vec<f64>, size: usize, ridge: f64, par: Par) -> bool {
        self.size = size;
        self.factor = lower;
        self.scale_and_factor(ridge, par)
    }

    /// Gives back the memory of the factor, for the next matrix.
    pub(crate) fn take_storage(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.factor)
    }

    fn scale_and_factor(&mut self, ridge: f64, par: Par) -> bool {
        let size = self.size;
        let root = |k: usize| 1.0 / self.factor[k * (size + 1)].max(f64::MIN_POSITIVE).sqrt();
        self.scale = (0..size).map(root).collect();
        for j in 0..size {
            for i in j..size {
                self.factor[i + size * j] *= self.scale[i] * self.scale[j];
            }
            self.factor[j * (size + 1)] = 1.0 + ridge;
        }
        if !self.factor.iter().step_by(size + 1).all(|v| v.is_finite())
            || !self.scale.iter().all(|v| v.is_finite())
        {
            return false;
        }
        let mut memory =
            MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(size, par, Default::default()));
        let regularization = llt::factor::LltRegularization {
            dynamic_regularization_delta: PIVOT_FLOOR,
            dynamic_regularization_epsilon: PIVOT_FLOOR,
        };
        let view = MatMut::from_column_major_slice_mut(&mut self.factor, size, size);
        llt::factor::cholesky_in_place(
            view,
            regularization,
            par,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .is_ok()
    }

    /// Solves in place for the columns of `rhs`.
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        let (size, columns) = (self.size, rhs.len() / self.size.max(1));
        let rescale = |rhs: &mut [f64]| {
            for column in rhs.chunks_exact_mut(size) {
                column.iter_mut().zip(&self.scale).for_each(|(v, s)| *v *= s);
            }
        };
        rescale(rhs);
        let factor = MatRef::from_column_major_slice(&self.factor, size, size);
        let view = MatMut::from_column_major_slice_mut(rhs, size, columns);
        llt::solve::solve_in_place(factor, view, Par::Seq, MemStack::new(&mut []));
        rescale(rhs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_normal_equations_of_badly_scaled_rows() {
        let (length, size) = (9, 4);
        let entry = |k: usize| ((k * k + 3 * k) as f64).sin() * 10f64.powi((k / length) as i32 * 4 - 6);
        let rows: Vec<f64> = (0..length * size).map(entry).collect();
        let mut cholesky = Cholesky::default();
        assert!(cholesky.factor_gram(&rows, length, size, 0.0, Par::Seq));
        let expected: Vec<f64> = (0..size).map(|k| 10f64.powi(6 - 4 * k as i32) * (k as f64 + 1.0)).collect();
        let image: Vec<f64> =
            (0..length).map(|i| (0..size).map(|k| rows[i + length * k] * expected[k]).sum()).collect();
        let mut x: Vec<f64> =
            (0..size).map(|k| (0..length).map(|i| rows[i + length * k] * image[i]).sum()).collect();
        cholesky.solve(&mut x);
        assert!(x.iter().zip(&expected).all(|(x, e)| (x / e - 1.0).abs() < 1e-10), "{x:?}");
    }
}
