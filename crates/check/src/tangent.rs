//! Diagonal metrics: the matrix of the weighted spectral form and the tangent of the metric objective.

use crate::cert::{Matrix, Pairs};
use crate::interval::{Interval, ONE, ZERO, at, sum_up};
use crate::require;
use crate::spectrum::{TINY, U, frobenius, largest, maximum, orthogonality, times, transposed};

/// `B = eps log V + V^(-1/2) F V^(-1/2)`, V = diag(eta / sum eta), and a bound on the norm of its rounding.
pub(crate) fn metric_matrix(eta: &[f64], f: &Matrix, eps: f64) -> Result<(Matrix, f64), String> {
    let n = f.n;
    require(eta.iter().all(|w| *w > 0.0 && w.is_finite()), "a weight of a feature is not positive")?;
    let total = eta.iter().fold(ZERO, |sum, w| sum + at(*w));
    let weights: Vec<Interval> = eta.iter().map(|w| at(*w) / total).collect();
    let roots: Vec<Interval> = weights.iter().map(|w| w.sqrt()).collect();
    let mut b = Matrix { n, data: vec![0.0; n * n] };
    let mut reach = vec![0.0; n * n];
    for (k, reach) in reach.iter_mut().enumerate() {
        let (i, j) = (k % n, k / n);
        let entry = if i == j {
            at(f.at(i, i)) / weights[i] + at(eps) * weights[i].log()
        } else {
            at(f.at(i, j)) / (roots[i.min(j)] * roots[i.max(j)])
        };
        (b.data[k], *reach) = entry.middle();
    }
    let rows: Vec<f64> = reach.chunks(n).map(|column| sum_up(column.iter().copied())).collect();
    Ok((b, largest(&rows)))
}

/// The gradient N of `tr W h(Sigma)` at `Sigma_0` and what the bound pays for it.
pub(crate) struct Tangent {
    pub(crate) gradient: Matrix,
    pub(crate) eps: f64,
    /// At least the Frobenius norm of the error of `gradient`.
    pub(crate) error: f64,
    /// At least `tr W Sigma_0 - tr W`.
    pub(crate) offset: f64,
}

/// `N = U (L o U^T W U) U^T`, L the divided differences of `t log t - t + 1`; `Sigma_0 = Q diag(values) Q^T` with Q the
/// orthogonal polar factor of U, at most k away. Errors add up in the Frobenius norm.
pub(crate) fn tangent(eta: &[f64], point: &Pairs, eps: f64) -> Result<Tangent, String> {
    let n = eta.len();
    if !eta.iter().all(|w| *w >= 0.0 && w.is_finite())
        || !point.values.iter().all(|v| *v > 0.0 && v.is_finite())
    {
        return Err("a tangent point is not positive".into());
    }
    let total = eta.iter().fold(ZERO, |sum, w| sum + at(*w));
    // Anything from 0 to eps / max(1, sum eta) will do; an underflow must not make it negative.
    let eps = if total.hi > 1.0 { (at(eps) / at(total.hi)).lo.max(0.0) } else { eps };
    let [g, k, _] = orthogonality(&point.vectors)?;
    let (u, turned) = (&point.vectors, transposed(&point.vectors));
    let (norm, gemm) = ((1.0 + g).sqrt(), (n as f64 + 4.0) * U);
    let swap = k * (1.0 + norm);
    let (l, l_error, l_size) = differences(&point.values);
    let weighted = Matrix { n, data: (0..n * n).map(|k| eta[k % n] * u.data[k]).collect() };
    let b = times(&turned, &weighted);
    let w_norm = (eta.iter().map(|w| w * w).sum::<f64>() + n as f64 * f64::MIN_POSITIVE).sqrt();
    let b_error = gemm * frobenius(u) * frobenius(&weighted) + swap * w_norm;
    let c = Matrix { n, data: b.data.iter().zip(&l.data).map(|(b, l)| b * l).collect() };
    let c_error = (l_error + 2.0 * U * l_size) * frobenius(&b) + l_size * b_error;
    let p = times(u, &c);
    let raw = times(&p, &turned);
    let gradient =
        Matrix { n, data: (0..n * n).map(|k| 0.5 * (raw.at(k % n, k / n) + raw.at(k / n, k % n))).collect() };
    let products = gemm * frobenius(u) * frobenius(&p) + norm * gemm * frobenius(u) * frobenius(&c);
    let under = 16.0 * (n * n * n) as f64 * TINY * (1.0 + l_size);
    let sum = c_error + swap * frobenius(&c) + products + 2.0 * U * frobenius(&gradient) + under;
    let error = sum * (1.0 + 8.0 * (n * n + 64) as f64 * f64::EPSILON);
    let trace: f64 = (0..n * n).map(|k| eta[k % n] * u.data[k] * u.data[k] * point.values[k / n]).sum();
    let top = maximum(&point.values);
    // What underflows in eta u u is multiplied by a value, which may be large.
    let lost = at((n * n) as f64 * TINY) * (ONE + at(top));
    let trace = at(trace) * at(1.0 + (n * n + 16) as f64 * f64::EPSILON) + lost;
    let moved = total * at(swap * (1.0 + 1e-9)) * at(top);
    let offset = trace + moved - total;
    require(error.is_finite() && offset.hi.is_finite(), "a tangent point is out of range")?;
    Ok(Tangent { gradient, eps, error, offset: offset.hi })
}

/// `h[a, b] = log a - 1 + log(1 + y) / y`, y = a/b - 1 >= 0, with the largest error and size.
fn differences(values: &[f64]) -> (Matrix, f64, f64) {
    let n = values.len();
    let logs: Vec<Interval> = values.iter().map(|v| at(*v).log()).collect();
    let mut l = Matrix { n, data: vec![0.0; n * n] };
    let (mut errors, mut sizes) = (vec![0.0; n * n], vec![0.0; n * n]);
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        let (a, b) = if values[i] >= values[j] { (i, j) } else { (j, i) };
        let y = (at(values[a]) - at(values[b])) / at(values[b]);
        let ratio = if y.hi > 1e-3 {
            (logs[a] - logs[b]) / y
        } else {
            // Alternating series; the first term left out is below 2e-19.
            let series = (1..=6).rev().fold(ZERO, |sum, m| ONE / at(f64::from(m)) - y * sum);
            series + Interval { lo: -1e-18, hi: 1e-18 }
        };
        let entry = logs[a] - ONE + ratio;
        (l.data[k], errors[k]) = entry.middle();
        sizes[k] = entry.size();
    }
    (l, largest(&errors), largest(&sizes))
}
