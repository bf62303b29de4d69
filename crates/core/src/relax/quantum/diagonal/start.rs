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
/// First temperature, as a part of the norm: where the residual allows no more, and at most.
const COLD: f64 = 0.08;
const HOTTEST: f64 = 0.2;
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

    /// The temperature at which [`Start::at`] leaves a residual of about 0.2: rho_ii then varies as a mean of some fifty
    /// squares, as many as there are eigenvalues within reach of the top of the semicircle, `n (t / norm)^(3/2)` up
    /// to a factor.
    pub(super) fn hottest(&self) -> f64 {
        let eigenvalues = COLD * self.squared_rows.len() as f64;
        HOTTEST.min(eigenvalues.powf(-2.0 / 3.0)) * self.norm
    }

    /// The frozen solution, or that of a matrix of independent entries of given variances, to first order in
    /// the differences between rows: `y_i = 3 I_3(x) / (e I_2(x)) (A^2)_ii`, `x = e/t`, e the edge of the semicircle;
    /// this is `(A^2)_ii / 2t` at high temperatures (docs/theory.md, section 2).
    pub(super) fn at(&self, t: f64, y: &mut [f64]) {
        match self.frozen(t) {
            Some(frozen) => y.copy_from_slice(&frozen),
            None => {
                let edge = edge_of(&self.squared_rows);
                let slope = if edge > 0.0 { 3.0 / edge * bessel_ratio(edge / t) } else { 0.0 };
                y.iter_mut().zip(&self.squared_rows).for_each(|(y, s)| *y = slope * s);
                center(y);
            }
        }
    }
}

/// `I_3(x) / I_2(x)`, modified Bessel functions, by their continued fraction.
fn bessel_ratio(x: f64) -> f64 {
    let terms = 30 + x.min(1e4) as usize;
    (3..terms).rev().fold(0.0, |ratio, k| 1.0 / (2.0 * k as f64 / x + ratio))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The values at 1 are sums of the power series.
    #[test]
    fn ratios_of_bessel_functions_are_those_of_their_series() {
        assert!((bessel_ratio(1.0) - 0.022_168_424_92 / 0.135_747_669_77).abs() < 1e-9);
        assert!((bessel_ratio(1e-9) - 1e-9 / 6.0).abs() < 1e-20);
        assert!((bessel_ratio(1e6) - 1.0).abs() < 1e-2);
    }

    #[test]
    fn a_matrix_without_entries_starts_at_zero() {
        let start = Start::new(&Square::zeros(5), 1.0);
        let mut y = vec![7.0; 5];
        start.at(1.0, &mut y);
        assert!(start.hottest() == 0.0 && y.iter().all(|v| *v == 0.0));
    }
}
