//! Triangular systems with the factor, a few right-hand sides at a time.

use super::{SIDE, Tiled, place, view};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of a right-hand side that one thread solves for at a time.
const COLUMNS: usize = 32;

impl Tiled {
    /// `rhs <- L^{-1} rhs` for its columns, `L L^T` being the matrix.
    pub(crate) fn solve_lower(&self, rhs: &mut [f64]) {
        self.over_columns(rhs, |columns| {
            self.rescale(columns);
            let rows = self.size.div_ceil(SIDE);
            for j in 0..rows {
                let (mut top, mut rest) = self.split(columns, j);
                let pivot = self.tile(j, j);
                if let Some(pivot) = pivot {
                    solve_lower_triangular_in_place(pivot, top.as_mut(), Par::Seq);
                }
                for i in j + 1..rows {
                    let Some(tile) = self.tile(i, j) else { continue };
                    let below = rest.as_mut().subrows_mut(SIDE * (i - j - 1), tile.nrows());
                    matmul(below, Accum::Add, tile, top.as_ref(), -1.0, Par::Seq);
                }
            }
        });
    }

    /// `rhs <- L^{-T} rhs` for its columns.
    pub(crate) fn solve_upper(&self, rhs: &mut [f64]) {
        self.over_columns(rhs, |columns| {
            let rows = self.size.div_ceil(SIDE);
            for j in (0..rows).rev() {
                let (mut top, rest) = self.split(columns, j);
                for i in j + 1..rows {
                    let Some(tile) = self.tile(i, j) else { continue };
                    let below = rest.as_ref().subrows(SIDE * (i - j - 1), tile.nrows());
                    matmul(top.as_mut(), Accum::Add, tile.transpose(), below, -1.0, Par::Seq);
                }
                if let Some(pivot) = self.tile(j, j) {
                    solve_upper_triangular_in_place(pivot.transpose(), top.as_mut(), Par::Seq);
                }
            }
            self.rescale(columns);
        });
    }

    /// Runs `work` on groups of columns, whose size does not depend on the number of threads.
    fn over_columns(&self, rhs: &mut [f64], work: impl Fn(&mut [f64]) + Sync) {
        let group = COLUMNS * self.size.max(1);
        match &self.pool {
            Some(pool) if rhs.len() > group => {
                pool.install(|| rhs.par_chunks_mut(group).for_each(&work));
            }
            _ => rhs.chunks_mut(group).for_each(work),
        }
    }

    /// The rows of tile row j, and those below.
    fn split<'a>(&self, columns: &'a mut [f64], j: usize) -> (MatMut<'a, f64>, MatMut<'a, f64>) {
        let count = columns.len() / self.size;
        let all = MatMut::from_column_major_slice_mut(columns, self.size, count);
        let (_, from_j) = all.split_at_row_mut(SIDE * j);
        let height = SIDE.min(self.size - SIDE * j);
        from_j.split_at_row_mut(height)
    }

    /// Tile (i, j) of the factor, without rows and columns beyond the last.
    fn tile(&self, i: usize, j: usize) -> Option<MatRef<'_, f64>> {
        let tile = self.tiles[place(i, j)].as_ref()?;
        let length = |k: usize| SIDE.min(self.size - SIDE * k);
        Some(view(tile).submatrix(0, 0, length(i), length(j)))
    }

    fn rescale(&self, columns: &mut [f64]) {
        for column in columns.chunks_exact_mut(self.size) {
            column.iter_mut().zip(&self.scale).for_each(|(v, s)| *v *= s);
        }
    }
}
