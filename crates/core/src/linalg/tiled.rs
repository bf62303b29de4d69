//! Cholesky factorisation by square tiles, of which many may be zero.
//!
//! Every tile is computed by one thread in a fixed order, so that the factor does not depend on the
//! number of threads, as it does with a parallel dense factorisation.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Rows of a tile: products of this size run at nearly full speed.
const SIDE: usize = 128;
/// Columns of a right-hand side that one thread solves for at a time.
const COLUMNS: usize = 32;
/// Pivots of the scaled matrix below this are rounding and are raised to it.
const PIVOT_FLOOR: f64 = 1e-15;
/// Matrices smaller than this are not worth a second thread.
const SMALL: usize = 300;

/// A tile, column-major.
type Tile = Vec<f64>;

/// A symmetric positive matrix, then its lower Cholesky factor; scaled to unit diagonal first.
pub(crate) struct Tiled {
    size: usize,
    /// Lower tiles, row by row: (i, j) at `i (i + 1) / 2 + j`; `None` is zero.
    tiles: Vec<Option<Tile>>,
    scale: Vec<f64>,
    pool: Option<ThreadPool>,
    deadline: Deadline,
}

impl Tiled {
    /// The zero matrix.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub(crate) fn new(size: usize, threads: usize) -> Result<Self> {
        let rows = size.div_ceil(SIDE);
        let pool = if threads > 1 && size > SMALL {
            Some(
                ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .map_err(|e| Error::Setting(format!("threads could not be started: {e}")))?,
            )
        } else {
            None
        };
        let tiles = vec![None; rows * (rows + 1) / 2];
        Ok(Tiled { size, tiles, scale: Vec::new(), pool, deadline: Deadline::default() })
    }

    /// Gives factorisations up at `deadline`.
    pub(crate) fn until(mut self, deadline: &Deadline) -> Self {
        self.deadline = deadline.clone();
        self
    }

    /// Makes the matrix zero again.
    pub(crate) fn clear(&mut self) {
        // Tiles that were filled once will be filled again.
        self.tiles.iter_mut().flatten().for_each(|tile| tile.fill(0.0));
    }

    /// Adds `v` at (a, b) and (b, a).
    #[inline]
    pub(crate) fn add(&mut self, a: usize, b: usize, v: f64) {
        let (row, column) = (a.max(b), a.min(b));
        let at = place(row / SIDE, column / SIDE);
        let tile = self.tiles[at].get_or_insert_with(|| vec![0.0; SIDE * SIDE]);
        tile[row % SIDE + SIDE * (column % SIDE)] += v;
    }

    #[cfg(test)]
    pub(crate) fn at(&self, a: usize, b: usize) -> f64 {
        let (row, column) = (a.max(b), a.min(b));
        let tile = &self.tiles[place(row / SIDE, column / SIDE)];
        tile.as_ref().map_or(0.0, |tile| tile[row % SIDE + SIDE * (column % SIDE)])
    }

    /// Factors in place; `false` when the matrix is not finite or not positive, or the deadline has passed.
    ///
    /// **Cost** `2 SIDE^3` flops per triple of tiles that are not zero.
    #[must_use]
    pub(crate) fn factor(&mut self) -> bool {
        if !self.unit_diagonal() {
            return false;
        }
        let pool = self.pool.take();
        let done = match &pool {
            Some(pool) => pool.install(|| self.columns(true)),
            None => self.columns(false),
        };
        self.pool = pool;
        done
    }

    fn unit_diagonal(&mut self) -> bool {
        let size = self.size;
        let diagonal = |k: usize| {
            let tile = &self.tiles[place(k / SIDE, k / SIDE)];
            tile.as_ref().map_or(0.0, |tile| tile[(k % SIDE) * (SIDE + 1)])
        };
        let diagonal: Vec<f64> = (0..size).map(diagonal).collect();
        if !diagonal.iter().all(|v| v.is_finite()) {
            return false;
        }
        self.scale = diagonal.iter().map(|v| 1.0 / v.max(f64::MIN_POSITIVE).sqrt()).collect();
        let factor = |k: usize| if k < size { self.scale[k] } else { 1.0 };
        for i in 0..size.div_ceil(SIDE) {
            for j in 0..=i {
                let Some(tile) = &mut self.tiles[place(i, j)] else { continue };
                for (c, column) in tile.chunks_exact_mut(SIDE).enumerate() {
                    let by = factor(SIDE * j + c);
                    column.iter_mut().enumerate().for_each(|(r, v)| *v *= by * factor(SIDE * i + r));
                }
            }
        }
        // Rows beyond the last are those of the identity.
        let rows = size.div_ceil(SIDE);
        for k in 0..SIDE * rows {
            let tile = self.tiles[place(k / SIDE, k / SIDE)].get_or_insert_with(|| vec![0.0; SIDE * SIDE]);
            tile[(k % SIDE) * (SIDE + 1)] = 1.0;
        }
        true
    }

    /// Column of tiles by column of tiles, each finished before the next.
    fn columns(&mut self, parallel: bool) -> bool {
        let rows = self.size.div_ceil(SIDE);
        for j in 0..rows {
            if j > 0 && self.deadline.stop().is_some() {
                return false;
            }
            let mut column: Vec<Option<Tile>> = (j..rows).map(|i| self.tiles[place(i, j)].take()).collect();
            let tiles = &self.tiles;
            let update = |(below, tile): (usize, &mut Option<Tile>)| subtract(tiles, j + below, j, tile);
            if parallel {
                column.par_iter_mut().enumerate().for_each(update)
            } else {
                column.iter_mut().enumerate().for_each(update)
            }
            let (first, others) = column.split_at_mut(1);
            let Some(pivot) = &mut first[0] else { return false };
            if !factor_tile(pivot) {
                return false;
            }
            let solve = |tile: &mut Option<Tile>| {
                if let Some(tile) = tile {
                    solve_lower_triangular_in_place(view(pivot), view_mut(tile).transpose_mut(), Par::Seq);
                }
            };
            if parallel {
                others.par_iter_mut().for_each(solve)
            } else {
                others.iter_mut().for_each(solve)
            }
            (j..rows).zip(column).for_each(|(i, tile)| self.tiles[place(i, j)] = tile);
        }
        true
    }

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

/// `tile -= sum_{k < j} L_ik L_jk^T`.
fn subtract(tiles: &[Option<Tile>], i: usize, j: usize, tile: &mut Option<Tile>) {
    for k in 0..j {
        let (Some(left), Some(right)) = (&tiles[place(i, k)], &tiles[place(j, k)]) else { continue };
        let tile = tile.get_or_insert_with(|| vec![0.0; SIDE * SIDE]);
        matmul(view_mut(tile), Accum::Add, view(left), view(right).transpose(), -1.0, Par::Seq);
    }
}

fn factor_tile(tile: &mut Tile) -> bool {
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(SIDE, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let regularization = llt::factor::LltRegularization {
        dynamic_regularization_delta: PIVOT_FLOOR,
        dynamic_regularization_epsilon: PIVOT_FLOOR,
    };
    let stack = MemStack::new(&mut memory);
    llt::factor::cholesky_in_place(view_mut(tile), regularization, Par::Seq, stack, Default::default())
        .is_ok()
        && tile.iter().step_by(SIDE + 1).all(|v| v.is_finite())
}

fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

fn view(tile: &Tile) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(tile, SIDE, SIDE)
}

fn view_mut(tile: &mut Tile) -> MatMut<'_, f64> {
    MatMut::from_column_major_slice_mut(tile, SIDE, SIDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A band with an arrow, diagonally dominant, far from unit scale.
    fn entries(size: usize) -> Vec<(usize, usize, f64)> {
        let mut out = Vec::new();
        for a in 0..size {
            out.push((a, a, 40.0 * (1.0 + a as f64)));
            (1..5).filter(|k| a + k < size).for_each(|k| out.push((a + k, a, ((a * k) as f64).sin())));
            if a + 5 < size {
                out.push((size - 1, a, 0.1));
            }
        }
        out
    }

    #[test]
    fn solutions_have_small_residuals_and_do_not_depend_on_threads() {
        for size in [1, 7, SIDE, SIDE + 1, 700] {
            let solve = |threads: usize| {
                let mut matrix = Tiled::new(size, threads).unwrap();
                entries(size).iter().for_each(|&(a, b, v)| matrix.add(a, b, v));
                assert!(matrix.factor());
                let mut x: Vec<f64> = (0..40 * size).map(|k| (k as f64).cos()).collect();
                matrix.solve_lower(&mut x);
                matrix.solve_upper(&mut x);
                x
            };
            let x = solve(1);
            let mut image = vec![0.0; x.len()];
            for (a, b, v) in entries(size) {
                for (x, image) in x.chunks_exact(size).zip(image.chunks_exact_mut(size)) {
                    image[a] += v * x[b];
                    if a != b {
                        image[b] += v * x[a];
                    }
                }
            }
            let residual = image.iter().enumerate().map(|(k, v)| (v - (k as f64).cos()).abs());
            assert!(residual.fold(0.0, f64::max) < 1e-11, "size {size}");
            assert_eq!(x, solve(2));
        }
    }

    #[test]
    fn matrices_that_are_not_finite_are_refused() {
        let mut matrix = Tiled::new(3, 1).unwrap();
        (0..3).for_each(|k| matrix.add(k, k, f64::NAN));
        assert!(!matrix.factor());
    }
}
