//! Cholesky factorisation by square tiles, of which many may be zero.
//!
//! Every tile is computed by one thread in a fixed order, so that the factor does not depend on the
//! number of threads, as it does with a parallel dense factorisation.

mod factor;
mod solve;

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use faer::{MatMut, MatRef};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Rows of a tile: products of this size run at nearly full speed.
const SIDE: usize = 128;
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
