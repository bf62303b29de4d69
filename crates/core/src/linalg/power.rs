//! The dominant eigenpair of a symmetric matrix, roughly.

use super::square::Square;

/// Power steps from a fixed start; they give the norm within a few percent.
const STEPS: usize = 12;

/// `|A|_2` within a few percent.
pub(crate) fn power_norm(a: &Square) -> f64 {
    dominant(a).0.abs()
}

/// The eigenvalue of largest magnitude within a few percent, and the vector of the last step.
///
/// **Cost** twelve products with A.
pub(crate) fn dominant(a: &Square) -> (f64, Vec<f64>) {
    let n = a.n();
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + ((i * 7919) % 31) as f64 / 31.0).collect();
    let mut estimate = 0.0f64;
    for _ in 0..STEPS {
        let length = norm(&v);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        v.iter_mut().for_each(|x| *x /= length);
        let mut next = vec![0.0; n];
        for (j, x) in v.iter().enumerate() {
            next.iter_mut().zip(a.column(j)).for_each(|(o, c)| *o += c * x);
        }
        let along: f64 = v.iter().zip(&next).map(|(x, y)| x * y).sum();
        estimate = norm(&next).max(estimate.abs()).copysign(along);
        v = next;
    }
    (estimate, v)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
