//! `f_k = phi^T F' phi`: by Jensen on the spectral measure of the unit vector `phi / sqrt(n)`,
//! `Phi(f_k) <= eps log((1/n) sum_i exp(n lambda_i(F') / eps))`.

use super::enclosure::spectrum_radius;
use super::interval::{Interval, add_up, mul_up, sum_up};
use super::verify::Upper;
use crate::error::Result;
use crate::linalg::{Eigen, Square};

/// The closed form with the spectrum enclosed; at eps = 0 its limit `n lambda_max`.
pub(crate) fn upper(matrix: &Square, eigen: &Eigen, eps: f64) -> Result<Upper> {
    let radius_up = spectrum_radius(matrix, eigen)?;
    let n = Interval::point(matrix.n() as f64);
    let top = eigen.values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let shifted = n * (Interval::point(top) + Interval::point(radius_up));
    let entropy_up = soft_count(eigen, top, n, eps);
    Ok(Upper { value: add_up(shifted.hi, entropy_up), scale: shifted.magnitude() + entropy_up.abs() + eps })
}

/// `eps log((1/n) sum_i exp(n (Lambda_i - top) / eps))`, rounded up.
fn soft_count(eigen: &Eigen, top: f64, n: Interval, eps: f64) -> f64 {
    if eps == 0.0 {
        return 0.0;
    }
    let weight = |value: &f64| {
        let exponent = n * (Interval::point(*value) - Interval::point(top)) / Interval::point(eps);
        exponent.exp().hi
    };
    let mean = Interval::point(sum_up(eigen.values.iter().map(weight))) / n;
    mul_up(eps, mean.log().hi)
}
