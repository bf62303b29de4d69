//! The Newton system of larger models: conjugate gradients, preconditioned by an exact inverse of
//! everything but the light pairwise constraints.
//!
//! On hollow matrices the constraint matrix of a cut is `(1/2) v v^T`, `v = e_0 + a e_i + b e_j`, up
//! to a diagonal, and the diagonal is held at zero by n more rank-one conditions `e_i e_i^T`. So
//! `K + sum w v v^T v v^T / 4` restricted to hollow matrices is inverted by Woodbury's identity
//! around K, whose inverse is known, with one dense factorisation of n + (number of heavy cuts).

use super::cuts::Cuts;
use super::kronecker::{Kronecker, Sparse};
use crate::linalg::Square;
use crate::linalg::symmetric::{cholesky, cholesky_solve, clear_diagonal, plus};
use crate::relax::cuts::quad::{Quad, SIGNS};

/// `Y -> K Y + A^T diag(w) A Y` on hollow symmetric matrices.
pub(super) struct StructuredSystem<'a> {
    kronecker: Kronecker,
    cuts: &'a Cuts,
    weights: &'a [Quad],
    vectors: Vec<Sparse>,
    factor: Square,
}

/// A cut enters the preconditioner when it adds at least this much to the curvature along it.
const HEAVY: f64 = 0.3;

/// Most cuts in the preconditioner, as a multiple of n: its factorisation stays below 50 n^3.
const MAX_HEAVY_PER_FEATURE: usize = 4;

/// Iterations after which the direction is used as it is: the step length keeps it safe.
const MAX_CG: usize = 150;

/// Iterations without a smaller residual that end the solve: rounding has taken over.
const CG_PATIENCE: usize = 25;

impl<'a> StructuredSystem<'a> {
    /// `None` when the preconditioner is not numerically positive definite.
    pub(super) fn new(kronecker: Kronecker, n: usize, cuts: &'a Cuts, weights: &'a [Quad]) -> Option<Self> {
        let mut heavy = Vec::new();
        for (&[i, j], w) in cuts.pairs.iter().zip(weights) {
            for ([a, b, _], w) in SIGNS.into_iter().zip(w) {
                let v = Sparse::cut(i, a, j, b);
                if 0.25 * w * kronecker.diagonal_bound(&v) <= HEAVY {
                    continue;
                }
                let gain = 0.25 * w * kronecker.diagonal(&v);
                if gain > HEAVY {
                    heavy.push((gain, 0.25 * w, v));
                }
            }
        }
        heavy.sort_by(|x, y| y.0.total_cmp(&x.0));
        heavy.truncate(MAX_HEAVY_PER_FEATURE * n);
        let mut vectors: Vec<Sparse> = (0..n as u32).map(Sparse::unit).collect();
        vectors.extend(heavy.iter().map(|h| h.2));
        let mut factor = kronecker.gram(&vectors);
        let size = vectors.len();
        for (k, h) in heavy.iter().enumerate() {
            factor.data_mut()[(n + k) * (size + 1)] += 1.0 / h.1;
        }
        // Conditions that nearly coincide (two cuts of one pair) must not break the factorisation.
        factor.data_mut().iter_mut().step_by(size + 1).for_each(|v| *v *= 1.0 + 1e-12);
        cholesky(&mut factor).then_some(StructuredSystem { kronecker, cuts, weights, vectors, factor })
    }

    /// Solves until `|G^T residual G|^2 <= tolerance`, the size of the residual relative to T1.
    ///
    /// `interrupted` is polled at every iteration and ends the iteration early.
    pub(super) fn solve(
        &self,
        rhs: &Square,
        tolerance: f64,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Square {
        let mut y = Square::zeros(rhs.n());
        let mut residual = rhs.clone();
        let (mut z, mut size) = self.precondition(&residual);
        let mut p = z.clone();
        let mut rz = residual.dot(&z);
        let (mut smallest, mut since) = (size, 0);
        for iteration in 0..MAX_CG {
            if size <= tolerance || since >= CG_PATIENCE || (iteration > 0 && interrupted()) {
                break;
            }
            let hp = self.apply(&p);
            let curvature = p.dot(&hp);
            let definite = rz > 0.0 && curvature > 0.0;
            if !definite {
                break;
            }
            let alpha = rz / curvature;
            y = plus(&y, alpha, &p);
            residual = plus(&residual, -alpha, &hp);
            (z, size) = self.precondition(&residual);
            let previous = rz;
            rz = residual.dot(&z);
            p = plus(&z, rz / previous, &p);
            since += 1;
            if size < smallest {
                (smallest, since) = (size, 0);
            }
        }
        y
    }

    fn apply(&self, y: &Square) -> Square {
        let mut out = self.kronecker.apply(y);
        let mut slopes = self.cuts.values(y, 0.0);
        for (s, w) in slopes.iter_mut().flatten().zip(self.weights.iter().flatten()) {
            *s *= w;
        }
        self.cuts.add_adjoint(&slopes, &mut out);
        clear_diagonal(&mut out);
        out
    }

    /// The preconditioned residual and the residual's size relative to T1.
    fn precondition(&self, residual: &Square) -> (Square, f64) {
        let (mut z, size) = self.kronecker.solve(residual);
        let mut multipliers: Vec<f64> = self.vectors.iter().map(|v| v.form(&z)).collect();
        cholesky_solve(&self.factor, &mut multipliers);
        let mut correction = Square::zeros(z.n());
        for (v, m) in self.vectors.iter().zip(&multipliers) {
            v.add_square(*m, &mut correction);
        }
        z = plus(&z, -1.0, &self.kronecker.solve(&correction).0);
        clear_diagonal(&mut z);
        (z, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::EigenWork;
    use crate::linalg::symmetric::{lower_inverse, multiply};
    use crate::model::Ising;
    use crate::relax::logdet::dense::DenseSystem;
    use crate::settings::Pairwise;

    fn wave(k: usize) -> f64 {
        ((k * k + 3 * k) as f64 * 12.9898).sin()
    }

    /// A lower triangular matrix with a dominant diagonal.
    fn triangular(n: usize, seed: usize) -> Square {
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0 + wave(i + seed).abs(),
            std::cmp::Ordering::Greater => 0.2 * wave(i * n + j + seed),
        };
        Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect())
    }

    #[test]
    fn structured_and_dense_systems_have_the_same_solution() {
        let n = 9;
        let (g_inv, other) = (triangular(n, 1), triangular(n, 77));
        let (mut t1, mut t2) = (Square::zeros(n), Square::zeros(n));
        multiply(&mut t1, g_inv.view().transpose(), g_inv.view());
        multiply(&mut t2, other.view().transpose(), other.view());
        let cuts = Cuts::new(&Ising::new(n - 1, &[0.0; 8], &[]).unwrap(), Pairwise::All);
        let weight = |p: usize| std::array::from_fn(|k| (8.0 * wave(4 * p + k)).exp());
        let weights: Vec<Quad> = (0..cuts.pairs.len()).map(weight).collect();
        let mut rhs = Square::from_column_major(n, (0..n * n).map(wave).collect());
        rhs.symmetrize();
        clear_diagonal(&mut rhs);

        let dense = DenseSystem::new([&t1, &t2], &cuts, &weights).unwrap().solve(&rhs);
        let g = lower_inverse(&g_inv);
        let kronecker = Kronecker::new(&g, &g_inv, &t2, &mut EigenWork::default()).unwrap();
        let system = StructuredSystem::new(kronecker, n, &cuts, &weights).unwrap();
        let structured = system.solve(&rhs, 1e-28, &mut || false);
        let difference = plus(&dense, -1.0, &structured);
        assert!(difference.dot(&difference) < 1e-18 * dense.dot(&dense));
    }
}
