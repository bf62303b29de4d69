//! `f_k = phi^T F' phi` in a diagonal metric V = diag(eta), sum eta = 1: data processing for the
//! states `V^(1/2) phi phi^T V^(1/2)` gives `Phi(f_k) <= eps log tr exp(B / eps)`, `B = eps log V + V^(-1/2) F' V^(-1/2)`.

use super::enclosure::{is_symmetric, largest_or_nan, spectrum_radius};
use super::interval::{Interval, add_up, mul_up, sum_up};
use super::verify::Upper;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Square};

/// The closed form; at eps = 0 its limit `lambda_max(V^(-1/2) F' V^(-1/2))`.
pub(crate) fn upper(eta: &[f64], matrix: &Square, eigen: &Eigen, eps: f64) -> Result<Upper> {
    let (b, rounding_up) = metric_matrix(eta, matrix, eps)?;
    let radius_up = add_up(spectrum_radius(&b, eigen)?, rounding_up);
    let top = eigen.values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let shifted = Interval::point(top) + Interval::point(radius_up);
    let entropy_up = if eps == 0.0 {
        0.0
    } else {
        let weight = |v: &f64| ((Interval::point(*v) - Interval::point(top)) / Interval::point(eps)).exp().hi;
        mul_up(eps, Interval::point(sum_up(eigen.values.iter().map(weight))).log().hi)
    };
    let scale = shifted.magnitude() + entropy_up.abs() + eps;
    Ok(Upper { value: add_up(shifted.hi, entropy_up), scale })
}

/// B in floats, and an upper bound on the spectral norm of what rounding it lost.
pub(crate) fn metric_matrix(eta: &[f64], matrix: &Square, eps: f64) -> Result<(Square, f64)> {
    let n = matrix.n();
    if eta.len() != n || !eta.iter().all(|v| *v > 0.0 && v.is_finite()) {
        return Err(Error::Certificate(format!("expected {n} positive weights of features")));
    }
    if !is_symmetric(matrix) {
        return Err(Error::Certificate("a matrix is not exactly symmetric".into()));
    }
    let total = eta.iter().fold(Interval::ZERO, |sum, v| sum + Interval::point(*v));
    let weight: Vec<Interval> = eta.iter().map(|v| Interval::point(*v) / total).collect();
    let root: Vec<Interval> = weight.iter().map(|w| w.sqrt()).collect();
    let mut b = Square::zeros(n);
    let mut row_radius = vec![0.0; n];
    for j in 0..n {
        for i in 0..=j {
            let mut entry = Interval::point(matrix.at(i, j)) / (root[i] * root[j]);
            if i == j {
                entry = Interval::point(matrix.at(i, i)) / weight[i] + Interval::point(eps) * weight[i].log();
            }
            let (center, radius) = entry.center_radius();
            b.data_mut()[i + n * j] = center;
            b.data_mut()[j + n * i] = center;
            row_radius[i] += radius;
            row_radius[j] += if i == j { 0.0 } else { radius };
        }
    }
    // A symmetric matrix of radii has spectral norm at most its largest row sum.
    let rounding_up = mul_up(largest_or_nan(&row_radius), 1.0 + (n as f64 + 4.0) * f64::EPSILON);
    if !rounding_up.is_finite() {
        return Err(Error::Certificate("the metric is out of the range of floating point".into()));
    }
    // Doubled, so that a checker whose square roots are a float wider still confirms the bound.
    Ok((b, mul_up(rounding_up, 2.0)))
}
