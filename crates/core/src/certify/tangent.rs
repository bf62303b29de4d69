//! The tangent of the metric-learning objective.
//!
//! For weights eta >= 0 with sum at most 1, W = diag(eta) and `h(t) = t log t - t + 1 >= 0`, the paper's
//! divergence gives `D(q || uniform) >= tr W h(Sigma)`, `Sigma = E_q phi phi^T`. The right side is convex, so for any
//! `Sigma_0 > 0` with gradient `N = U (h^[1] o U^T W U) U^T` (divided differences of h),
//! `Phi(f) <= sup_q E_q[f - eps phi^T N phi] + eps (tr W Sigma_0 - tr W)`,
//! and `phi^T K phi <= n lambda_max(K)`. Here `Sigma_0 = Q diag(values) Q^T` with Q the polar factor of the stored vectors:
//! exactly orthogonal, and within k of them. The error of N in the Frobenius norm is paid n times.

use super::enclosure::{Orthogonality, orthogonality_defect, spectrum_radius};
use super::interval::{Interval, add_up, div_down, mul_up};
use super::verify::Upper;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Square};
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// N as computed, and what it is worth.
pub(crate) struct Tangent {
    /// The computed gradient, symmetric.
    pub(crate) gradient: Square,
    /// A temperature at most eps times max(1, sum eta)^-1.
    pub(crate) eps: f64,
    /// Upper bound on the Frobenius norm of the error of `gradient`.
    error_up: f64,
    /// Upper bound on `tr W Sigma_0 - tr W`.
    offset_up: f64,
}

/// `Phi(f_k)` for `f_k = phi^T (K + eps N) phi`; `tangent` is `None` at eps = 0.
pub(crate) fn upper(k: &Square, eigen: &Eigen, tangent: Option<&Tangent>) -> Result<Upper> {
    let n = Interval::point(k.n() as f64);
    let top = eigen.values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let quadratic = n * (Interval::point(top) + Interval::point(spectrum_radius(k, eigen)?));
    let Some(t) = tangent else {
        return Ok(Upper { value: quadratic.hi, scale: quadratic.magnitude() });
    };
    let paid = Interval::point(t.eps) * (Interval::point(t.offset_up) + n * Interval::point(t.error_up));
    Ok(Upper {
        value: add_up(quadratic.hi, paid.hi),
        scale: quadratic.magnitude() + paid.magnitude() + t.eps * n.hi,
    })
}

/// The gradient at `Sigma_0` with its error.
///
/// **Cost** four matrix products and n^2 logarithms.
pub(crate) fn tangent(eta: &[f64], point: &Eigen, eps: f64) -> Result<Tangent> {
    let n = eta.len();
    if n == 0 || point.values.len() != n || point.vectors.n() != n {
        return Err(Error::Certificate("the tangent point does not have the size of its weights".into()));
    }
    if !eta.iter().all(|v| *v >= 0.0 && v.is_finite())
        || !point.values.iter().all(|v| *v > 0.0 && v.is_finite())
    {
        return Err(Error::Certificate("the tangent point is not positive".into()));
    }
    let total = eta.iter().fold(Interval::ZERO, |sum, v| sum + Interval::point(*v));
    // Any temperature from 0 to eps / max(1, sum eta) will do; a quotient that underflows must not turn negative.
    let eps = if total.hi > 1.0 { div_down(eps, total.hi).max(0.0) } else { eps };
    let mut buffer = Square::zeros(n);
    let orthogonality = orthogonality_defect(&point.vectors, &mut buffer)?;
    let differences = Differences::new(&point.values);
    let (gradient, error_up) = gradient(eta, point, &differences, orthogonality, buffer);
    let offset = Interval::point(trace_up(eta, point, orthogonality, total.hi)) - total;
    if !(error_up.is_finite() && offset.hi.is_finite()) {
        return Err(Error::Certificate("the tangent point is out of the range of floating point".into()));
    }
    Ok(Tangent { gradient, eps, error_up, offset_up: offset.hi })
}

/// `N = U (L o U^T W U) U^T` in floats and its distance to the exact gradient.
///
/// With s >= |U|, |Q - U| <= k, everything in the Frobenius norm: a product errs by `(n + 2) u` times the
/// norms of its factors; replacing Q by U on both sides of C costs `k (1 + s) |C|`; a factor L that errs
/// by `radius` and is at most `largest` costs `radius |B|` and lets errors of B through times `largest`.
fn gradient(
    eta: &[f64],
    point: &Eigen,
    l: &Differences,
    orthogonality: Orthogonality,
    mut buffer: Square,
) -> (Square, f64) {
    let n = eta.len();
    let u = &point.vectors;
    let rounding = (n as f64 + 4.0) * U;
    let (s, swap) =
        ((1.0 + orthogonality.g_up).sqrt(), orthogonality.k_up * (1.0 + (1.0 + orthogonality.g_up).sqrt()));
    let u_norm = frobenius(u);
    let mut scaled = u.clone();
    for j in 0..n {
        scaled.data_mut()[n * j..n * (j + 1)].iter_mut().zip(eta).for_each(|(x, w)| *x *= w);
    }
    matmul(buffer.view_mut(), Accum::Replace, u.view().transpose(), scaled.view(), 1.0, Par::Seq);
    let w_norm = (eta.iter().map(|w| w * w).sum::<f64>() + n as f64 * f64::MIN_POSITIVE).sqrt();
    let b_error = rounding * u_norm * frobenius(&scaled) + swap * w_norm;
    let b_norm = frobenius(&buffer);
    let mut c = buffer;
    c.data_mut().iter_mut().zip(l.center.data()).for_each(|(b, l)| *b *= l);
    let c_error = (l.radius_up + 2.0 * U * l.largest_up) * b_norm + l.largest_up * b_error;
    let c_norm = frobenius(&c);
    matmul(scaled.view_mut(), Accum::Replace, u.view(), c.view(), 1.0, Par::Seq);
    let p_error = rounding * u_norm * c_norm;
    let mut out = c;
    matmul(out.view_mut(), Accum::Replace, scaled.view(), u.view().transpose(), 1.0, Par::Seq);
    let product_error = rounding * u_norm * frobenius(&scaled) + s * p_error;
    out.symmetrize();
    let last = 2.0 * U * frobenius(&out);
    let underflow = 16.0 * (n * n * n) as f64 * f64::MIN_POSITIVE * (1.0 + l.largest_up);
    // c_error passes through Q . Q^T unchanged. An eighth covers the rounding of this sum and another order of it.
    let error = c_error + swap * c_norm + product_error + last + underflow;
    (out, mul_up(error, 1.125))
}

/// `tr W Sigma_0 <= sum_ij eta_i U_ij^2 values_j + tr W k (1 + s) max values`.
fn trace_up(eta: &[f64], point: &Eigen, orthogonality: Orthogonality, total_up: f64) -> f64 {
    let n = eta.len();
    let mut trace = 0.0;
    for j in 0..n {
        let column: f64 = point.vectors.column(j).iter().zip(eta).map(|(x, w)| w * x * x).sum();
        trace += column * point.values[j];
    }
    let largest = point.values.iter().fold(0.0, |m: f64, v| m.max(*v));
    let turned = total_up * orthogonality.k_up * (1.0 + (1.0 + orthogonality.g_up).sqrt()) * largest;
    // What underflows in eta U^2 is multiplied by a value, which may be large; `turned` may underflow altogether.
    let underflow = (n * n) as f64 * f64::MIN_POSITIVE * (1.0 + largest);
    add_up(mul_up(trace, 1.0 + (4.0 * n as f64 + 16.0) * f64::EPSILON), mul_up(turned + underflow, 1.125))
}

/// Plain floating point, but never too small by underflow: squares lose at most the least normal number each.
fn frobenius(m: &Square) -> f64 {
    let underflow = (m.n() * m.n()) as f64 * f64::MIN_POSITIVE;
    (m.data().iter().map(|v| v * v).sum::<f64>() + underflow).sqrt()
}

/// Divided differences `h[a, b] = (h(a) - h(b)) / (a - b)`, `h[a, a] = log a`.
struct Differences {
    center: Square,
    radius_up: f64,
    largest_up: f64,
}

impl Differences {
    fn new(values: &[f64]) -> Self {
        let n = values.len();
        let logs: Vec<Interval> = values.iter().map(|v| Interval::point(*v).log()).collect();
        let mut out = Differences { center: Square::zeros(n), radius_up: 0.0, largest_up: 0.0 };
        for j in 0..n {
            for i in 0..=j {
                let (large, small) = if values[i] >= values[j] { (i, j) } else { (j, i) };
                // With y = a/b - 1 >= 0: h[a, b] = log a - 1 + log(1 + y) / y.
                let y = (Interval::point(values[large]) - Interval::point(values[small]))
                    / Interval::point(values[small]);
                let ratio = log_ratio(y, logs[large] - logs[small]);
                let (center, radius) = (logs[large] - Interval::ONE + ratio).center_radius();
                out.center.data_mut()[i + n * j] = center;
                out.center.data_mut()[j + n * i] = center;
                // Adding NaN first, because `max` drops it.
                out.radius_up = out.radius_up.max(radius) + 0.0 * radius;
                out.largest_up = out.largest_up.max(add_up(center.abs(), radius)) + 0.0 * center;
            }
        }
        out
    }
}

/// `log(1 + y) / y` for y >= 0, given the logarithm.
fn log_ratio(y: Interval, log: Interval) -> Interval {
    if y.hi > 1e-3 {
        return log / y;
    }
    // The alternating series lies between its partial sums: the last term, y^6/7 < 2e-19, is the error.
    let series =
        (1..=6).rev().fold(Interval::ZERO, |sum, j| Interval::ONE / Interval::point(f64::from(j)) - y * sum);
    series + Interval { lo: -1e-18, hi: 1e-18 }
}
