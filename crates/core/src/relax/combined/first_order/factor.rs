//! The moment matrix `Sigma = A A^T` of z = (1, x) in factored form: n unit rows of r numbers, the first (1, 0, ..., 0).
//!
//! Whatever the rows are, Sigma is positive semidefinite with unit diagonal, and the first column of A holds the means.
//! At a stationary point that is no maximum the multiplier S of positivity has negative eigenvalues; their eigenvectors,
//! as further columns, lead away from it (Burer and Monteiro).

use crate::linalg::{Eigen, EigenWork, Square, dot, eigenvalues_of, eigh, multiply};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// A, by rows.
#[derive(Clone)]
pub(super) struct Factor {
    pub(super) n: usize,
    pub(super) rank: usize,
    pub(super) rows: Vec<f64>,
}

/// Columns whose squared norm is below this share of n are not needed.
const NEGLIGIBLE: f64 = 1e-7;
/// Norm of the longest new column, relative to sqrt(n).
const ESCAPE: f64 = 0.1;
/// Columns kept beyond those in use.
const SPARE: usize = 2;

impl Factor {
    /// Random rows.
    pub(super) fn random(n: usize, rank: usize, random: &mut ChaCha8Rng) -> Self {
        let uniform = |random: &mut ChaCha8Rng| random.next_u64() as f64 / u64::MAX as f64 - 0.5;
        // Means begin near zero whatever the rank: one column in many, and a small one.
        let rows = (0..n * rank).map(|_| uniform(random)).collect();
        let mut factor = Factor { n, rank, rows };
        factor.normalize();
        factor
    }

    /// Row k.
    pub(super) fn row(&self, k: usize) -> &[f64] {
        &self.rows[self.rank * k..self.rank * (k + 1)]
    }

    /// The rows of the spins without their means.
    pub(super) fn tail(&self) -> Vec<f64> {
        self.rows.chunks_exact(self.rank).skip(1).flat_map(|row| &row[1..]).copied().collect()
    }

    /// The eigenvalues of `W^T W`, W the rows of the spins without their means; `None` when a decomposition fails.
    pub(super) fn spectrum(&self, work: &mut EigenWork) -> Option<Vec<f64>> {
        let r = self.rank - 1;
        let mut gram = Square::zeros(r);
        let tail = self.tail();
        multiply::outer(&tail, &tail, r, self.n - 1, gram.data_mut());
        gram.symmetrize();
        let mut values = Vec::new();
        eigenvalues_of(&mut gram, &mut values, work).then_some(values)
    }

    /// The moment of two vertices.
    pub(super) fn moment(&self, [k, l]: [u32; 2]) -> f64 {
        dot(self.row(k as usize), self.row(l as usize))
    }

    /// Makes rows unit vectors and the first the first unit vector.
    pub(super) fn normalize(&mut self) {
        for row in self.rows.chunks_exact_mut(self.rank) {
            let norm = dot(row, row).sqrt();
            if norm > 0.0 && norm.is_finite() {
                row.iter_mut().for_each(|v| *v /= norm);
            } else {
                row.fill(0.0);
                row[self.rank - 1] = 1.0;
            }
        }
        self.rows[..self.rank].fill(0.0);
        self.rows[0] = 1.0;
    }

    /// Sigma.
    ///
    /// **Cost** a product of n^2 r multiplications.
    pub(super) fn moments(&self) -> Square {
        let mut out = Square::zeros(self.n);
        multiply::transposed_left(&self.rows, &self.rows, self.rank, self.n, out.data_mut());
        out
    }

    /// The same matrix with as few columns as it needs, and new ones along the eigenvectors of `s` with eigenvalues
    /// below `-least`; `None` when a decomposition fails.
    pub(super) fn escape(&self, s: &Eigen, least: f64, work: &mut EigenWork) -> Option<Self> {
        let (n, r) = (self.n, self.rank);
        let tail: Vec<f64> = self.rows.chunks_exact(r).flat_map(|row| &row[1..]).copied().collect();
        let mut gram = Square::zeros(r - 1);
        multiply::outer(&tail, &tail, r - 1, n, gram.data_mut());
        gram.symmetrize();
        let mut own = Eigen::default();
        if !eigh(&gram, &mut own, work) {
            return None;
        }
        let used = own.values.iter().filter(|v| **v > NEGLIGIBLE * n as f64).count();
        let negative = s.values.iter().filter(|v| **v < -least).count();
        let rank = (1 + used + negative + SPARE).min(n + 1).max(2);
        let negative = negative.min(rank - 1);
        let used = used.min(rank - 1 - negative);
        let mut rows = vec![0.0; n * rank];
        let directions: Vec<&[f64]> = (0..used).map(|q| own.vectors.column(r - 2 - q)).collect();
        for (k, row) in rows.chunks_exact_mut(rank).enumerate() {
            let old = &tail[(r - 1) * k..(r - 1) * (k + 1)];
            row[0] = self.rows[r * k];
            row[1..].iter_mut().zip(&directions).for_each(|(v, u)| *v = dot(old, u));
            for q in 0..negative {
                let share = (s.values[q] / s.values[0]).sqrt();
                row[1 + used + q] = ESCAPE * share * (n as f64).sqrt() * s.vectors.column(q)[k];
            }
        }
        let mut out = Factor { n, rank, rows };
        out.normalize();
        Some(out)
    }
}
