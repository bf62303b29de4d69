//! Where to begin on the diagonals: two limits in which the state's diagonal is constant.

use super::hessian::center;
use crate::linalg::{Square, dominant, norm};

/// What the limits are made of.
pub(super) struct Start {
    /// `|A|_2`, or the edge of the bulk of its spectrum when a few eigenvalues lie outside: those
    /// are frozen out by then.
    pub(super) norm: f64,
    /// `(A^2)_ii` without an eigenvalue far below the bulk, which has no weight at any temperature of interest.
    squared_rows: Vec<f64>,
    outlier: Option<Outlier>,
}

/// An eigenvalue far above the bulk, whose state is `s s^T / n` for signs s.
struct Outlier {
    /// How far above.
    distance: f64,
    /// `s_i (A s)_i`: without this diagonal A has the eigenvector s.
    diagonal: Vec<f64>,
}

/// Outliers are this many times beyond the edge of the bulk.
const OUTSIDE: f64 = 2.0;
/// Exponent, beyond log n, from which the bulk has no weight.
const FROZEN: f64 = 5.0;

impl Start {
    /// For `A = ratio * f`.
    pub(super) fn new(f: &Square, ratio: f64) -> Self {
        let n = f.n();
        let square = |j: usize| f.column(j).iter().map(|v| (ratio * v) * (ratio * v)).sum();
        let mut squared_rows: Vec<f64> = (0..n).map(square).collect();
        let (top, vector) = dominant(f);
        if -ratio * top > OUTSIDE * edge_of(&squared_rows) && is_eigenvector(f, top, &vector) {
            let scale = ratio * top / norm(&vector);
            let without = |(s, v): (&mut f64, &f64)| *s = (*s - (scale * v) * (scale * v)).max(0.0);
            squared_rows.iter_mut().zip(&vector).for_each(without);
        }
        let top = ratio * top;
        let edge = edge_of(&squared_rows);
        let outlier = (top > OUTSIDE * edge).then(|| Outlier {
            distance: top - edge,
            diagonal: balanced_rows(f, &vector).into_iter().map(|v| ratio * v).collect(),
        });
        Start { norm: top.abs().min(edge), squared_rows, outlier }
    }

    /// The solution when the outlier has all the weight at temperature `t`.
    pub(super) fn frozen(&self, t: f64) -> Option<Vec<f64>> {
        let least = t * ((self.squared_rows.len() as f64).ln() + FROZEN);
        let outlier = self.outlier.as_ref().filter(|o| o.distance > least)?;
        let mut y = outlier.diagonal.clone();
        center(&mut y);
        Some(y)
    }

    /// The frozen solution, or that to second order in A/t: `y_i = (A^2)_ii / 2t`.
    pub(super) fn at(&self, t: f64, y: &mut [f64]) {
        match self.frozen(t) {
            Some(frozen) => y.copy_from_slice(&frozen),
            None => {
                y.iter_mut().zip(&self.squared_rows).for_each(|(y, s)| *y = s / (2.0 * t));
                center(y);
            }
        }
    }
}

/// The edge of a semicircle of this variance.
fn edge_of(squared_rows: &[f64]) -> f64 {
    2.0 * (squared_rows.iter().sum::<f64>() / squared_rows.len() as f64).sqrt()
}

/// Whether `F v` is nearly `value v`: where eigenvalues come in pairs of opposite sign, as on bipartite graphs, v is a
/// mixture, and the other one is not far below anything.
fn is_eigenvector(f: &Square, value: f64, v: &[f64]) -> bool {
    let mut rest: Vec<f64> = v.iter().map(|x| -value * x).collect();
    for (column, x) in f.data().chunks_exact(f.n()).zip(v) {
        rest.iter_mut().zip(column).for_each(|(o, c)| *o += c * x);
    }
    norm(&rest) <= 0.1 * value.abs() * norm(v)
}

/// `s_i (F s)_i` for the signs of `vector`, single ones flipped until none of these is negative.
fn balanced_rows(f: &Square, vector: &[f64]) -> Vec<f64> {
    let n = f.n();
    let mut signs: Vec<f64> = vector.iter().map(|v| if *v < 0.0 { -1.0 } else { 1.0 }).collect();
    let mut image = vec![0.0; n];
    for (column, s) in f.data().chunks_exact(n).zip(&signs) {
        image.iter_mut().zip(column).for_each(|(o, c)| *o += s * c);
    }
    for _ in 0..n {
        let Some(i) = (0..n).find(|&i| signs[i] * image[i] < 0.0) else { break };
        signs[i] = -signs[i];
        let twice = 2.0 * signs[i];
        image.iter_mut().zip(f.column(i)).for_each(|(o, c)| *o += twice * c);
    }
    signs.iter().zip(&image).map(|(s, v)| s * v).collect()
}
