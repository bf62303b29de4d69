//! `f_k = z^T F z`, z = (1, x), F hollow except `F_00`, bounded by the entropy of a Gaussian.
//!
//! Spins times a noise R of mean 1 have the second moments `X_00 = 1`, `X_ij = E z_i z_j`, `X_ii = E R^2`, and an entropy that a Gaussian exceeds
//! ([`Noise`]), so `Phi(f_k) <= sup_X tr F X + (eps/2) log det X + eps d ((1/2) log(2 pi e) - h(R) - log 2)` over X > 0 with this
//! diagonal, and any `M = diag(lambda) - F > 0` bounds the supremum by
//! `sum_i lambda_i X_ii - (eps/2) log det((2/eps) M) - eps n/2`. F must be hollow: its diagonal would be paid `E R^2` times.

use super::enclosure::spectrum_radius;
use super::interval::{Interval, add_up, mul_up, two_sum};
use super::noise::Noise;
use super::verify::Upper;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Square};

/// The closed form; at eps = 0, `f_k <= sum_i lambda_i` because M is positive semidefinite.
pub(crate) fn upper(noise: &Noise, lambda: &[f64], f: &Square, eigen: &Eigen, eps: f64) -> Result<Upper> {
    let n = f.n();
    let (square, per_spin) = noise.enclose()?;
    if n == 0 || lambda.len() != n || !lambda.iter().all(|v| v.is_finite()) {
        return Err(Error::Certificate(format!("expected {n} finite multipliers")));
    }
    if f.diagonal().skip(1).any(|v| v != 0.0) {
        return Err(Error::Certificate("a log-det matrix has a diagonal".into()));
    }
    let (m, corner_error) = shifted(lambda, f);
    let radius_up = add_up(spectrum_radius(&m, eigen)?, corner_error);
    if eps == 0.0 {
        let multipliers = lambda.iter().fold(Interval::ZERO, |sum, l| sum + Interval::point(*l));
        let least = eigen.values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let negative = mul_up(n as f64, add_up(radius_up, -least).max(0.0));
        return Ok(Upper { value: add_up(multipliers.hi, negative), scale: absolute_sum(lambda) + negative });
    }
    let mut log_det = Interval::ZERO;
    let mut log_scale = 0.0;
    for value in &eigen.values {
        let least = Interval::point(*value) - Interval::point(radius_up);
        if !(least.lo > 0.0) {
            return Err(Error::Certificate("a log-det matrix is not positive definite".into()));
        }
        let term = (Interval::point(2.0 * least.lo) / Interval::point(eps)).log();
        log_det = log_det + term;
        log_scale += term.magnitude();
    }
    let dimension = Interval::point((n - 1) as f64);
    let entropy = dimension * per_spin - Interval::point(0.5) * (log_det + Interval::point(n as f64));
    let spins = lambda[1..].iter().fold(Interval::ZERO, |sum, l| sum + Interval::point(*l));
    let value = Interval::point(lambda[0]) + square * spins + Interval::point(eps) * entropy;
    let scale = (1.0 + square.hi) * absolute_sum(lambda)
        + eps * ((3.0 + per_spin.magnitude()) * n as f64 + log_scale);
    Ok(Upper { value: value.hi, scale })
}

fn absolute_sum(x: &[f64]) -> f64 {
    x.iter().map(|v| v.abs()).sum()
}

/// `diag(lambda) - F` and the rounding error of its corner, the only entry that rounds.
fn shifted(lambda: &[f64], f: &Square) -> (Square, f64) {
    let n = f.n();
    let mut m = f.clone();
    m.data_mut().iter_mut().for_each(|v| *v = -*v);
    for (i, &l) in lambda.iter().enumerate().skip(1) {
        m.data_mut()[i * (n + 1)] = l;
    }
    let (corner, error) = two_sum(lambda[0], -f.at(0, 0));
    m.data_mut()[0] = corner;
    (m, error.abs())
}
