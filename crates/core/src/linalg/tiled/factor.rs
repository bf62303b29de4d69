//! The factorisation: scaling to unit diagonal, then column of tiles by column of tiles.

use super::{SIDE, Tile, Tiled, place, view, view_mut};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Par};
use rayon::prelude::*;

/// Pivots of the scaled matrix below this are rounding and are raised to it.
const PIVOT_FLOOR: f64 = 1e-15;

impl Tiled {
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
