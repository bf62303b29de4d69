//! Derivatives of `tr W h(Sigma)`, `h(t) = t log t - t + 1` (paper, appendix D).

use crate::linalg::multiply::{square_by_transpose, square_transposed_times, squares};
use crate::linalg::{Eigen, Square};

/// h at an eigenvalue.
pub(super) fn h(t: f64) -> f64 {
    t * t.ln() - t + 1.0
}

/// Divided difference `h[a, b]`, `h[a, a] = log a`; a, b > 0.
pub(super) fn first_difference(a: f64, b: f64) -> f64 {
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    let y = (large - small) / small;
    let ratio = if y < 1e-8 { 1.0 - 0.5 * y } else { y.ln_1p() / y };
    large.ln() - 1.0 + ratio
}

/// Divided difference `h[a, b, c]`, `h[a, a, a] = 1/(2a)`; a, b, c > 0.
pub(super) fn second_difference(a: f64, b: f64, c: f64) -> f64 {
    let (low, high) = (a.min(b).min(c), a.max(b).max(c));
    let middle = (a.max(b)).min(a.min(b).max(c));
    if high - low < 1e-3 * high {
        // h'' = 1/t: expand around the mean; the next term is of relative order 1e-6 squared.
        let mean = (a + b + c) / 3.0;
        let spread = (a - mean).powi(2) + (b - mean).powi(2) + (c - mean).powi(2);
        return 0.5 / mean * (1.0 + spread / (12.0 * mean * mean));
    }
    (first_difference(high, middle) - first_difference(middle, low)) / (high - low)
}

/// `grad tr W h(Sigma) = U (h[1] o U^T W U) U^T` for W = diag(weights), Sigma = U diag(values) U^T.
///
/// **Cost** three matrix products.
pub(super) fn gradient(eigen: &Eigen, weights: &[f64]) -> Square {
    let mut inner = rotated_weights(eigen, weights);
    let n = weights.len();
    for (k, v) in inner.data_mut().iter_mut().enumerate() {
        *v *= first_difference(eigen.values[k % n], eigen.values[k / n]);
    }
    rotate_back(eigen, &inner)
}

/// `U^T W U`.
pub(super) fn rotated_weights(eigen: &Eigen, weights: &[f64]) -> Square {
    let n = weights.len();
    let mut scaled = eigen.vectors.clone();
    scaled.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= weights[k % n]);
    let mut out = Square::zeros(n);
    square_transposed_times(&eigen.vectors, scaled.data(), n, out.data_mut());
    out.symmetrize();
    out
}

/// `U M U^T`, symmetrised.
pub(super) fn rotate_back(eigen: &Eigen, m: &Square) -> Square {
    let n = m.n();
    let (mut product, mut out) = (Square::zeros(n), Square::zeros(n));
    squares(&eigen.vectors, m, &mut product);
    square_by_transpose(&product, &eigen.vectors, &mut out);
    out.symmetrize();
    out
}

/// All `h[i, k, j]`, at `i + n (k + n j)`.
pub(super) fn second_differences(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut out = vec![0.0; n * n * n];
    for j in 0..n {
        for k in 0..n {
            for i in 0..n {
                out[i + n * (k + n * j)] = second_difference(values[i], values[k], values[j]);
            }
        }
    }
    out
}

/// `Q_kj = 2 sum_i h[i, k, j] W_ij V_ik`, for which the second derivative along V and V' is `<Q, V'>`, everything
/// in the eigenbasis.
pub(super) fn curvature(second: &[f64], weights: &Square, v: &Square) -> Square {
    let n = v.n();
    let mut out = Square::zeros(n);
    for j in 0..n {
        let w = weights.column(j);
        for k in 0..n {
            let differences = &second[n * (k + n * j)..n * (k + n * j) + n];
            let sum: f64 = differences.iter().zip(w).zip(v.column(k)).map(|((h, w), v)| h * w * v).sum();
            out.data_mut()[k + n * j] = 2.0 * sum;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{EigenWork, eigh};

    fn symmetric(n: usize, seed: f64, shift: f64) -> Square {
        let entry = |k: usize| ((k % n * (k / n) + k % n + k / n) as f64 * seed).sin() / n as f64;
        let mut m = Square::from_column_major(n, (0..n * n).map(entry).collect());
        m.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v += shift);
        m.symmetrize();
        m
    }

    fn decompose(m: &Square) -> Eigen {
        let mut eigen = Eigen::default();
        assert!(eigh(m, &mut eigen, &mut EigenWork::default()));
        eigen
    }

    fn moved(m: &Square, t: f64, v: &Square) -> Square {
        let data = m.data().iter().zip(v.data()).map(|(a, b)| a + t * b).collect();
        Square::from_column_major(m.n(), data)
    }

    /// `tr W h(M)`.
    fn value(m: &Square, weights: &[f64]) -> f64 {
        let eigen = decompose(m);
        let rotated = rotated_weights(&eigen, weights);
        rotated.diagonal().zip(&eigen.values).map(|(w, t)| w * h(*t)).sum()
    }

    #[test]
    fn gradient_agrees_with_finite_differences() {
        for n in [1, 2, 5, 9] {
            let (sigma, direction) = (symmetric(n, 12.9898, 1.5), symmetric(n, 4.1414, 0.0));
            let weights: Vec<f64> = (0..n).map(|i| 0.1 + (i as f64).cos().abs()).collect();
            let step = 1e-5;
            let difference = (value(&moved(&sigma, step, &direction), &weights)
                - value(&moved(&sigma, -step, &direction), &weights))
                / (2.0 * step);
            let exact = gradient(&decompose(&sigma), &weights).dot(&direction);
            assert!((difference - exact).abs() < 1e-8, "n = {n}: {difference} against {exact}");
        }
    }

    #[test]
    fn curvature_agrees_with_differences_of_gradients() {
        for n in [2, 5, 9] {
            let (sigma, v, w) =
                (symmetric(n, 12.9898, 1.5), symmetric(n, 4.1414, 0.0), symmetric(n, 7.7, 0.1));
            let weights: Vec<f64> = (0..n).map(|i| 0.1 + (i as f64).cos().abs()).collect();
            let eigen = decompose(&sigma);
            let mut rotated = Square::zeros(n);
            let mut product = Square::zeros(n);
            squares(&v, &eigen.vectors, &mut product);
            square_transposed_times(&eigen.vectors, product.data(), n, rotated.data_mut());
            let second = second_differences(&eigen.values);
            let q = curvature(&second, &rotated_weights(&eigen, &weights), &rotated);
            let exact = rotate_back(&eigen, &q).dot(&w);
            let slope = |t: f64| gradient(&decompose(&moved(&sigma, t, &v)), &weights).dot(&w);
            let difference = (slope(1e-5) - slope(-1e-5)) / 2e-5;
            assert!((difference - exact).abs() < 1e-7, "n = {n}: {difference} against {exact}");
        }
    }

    #[test]
    fn divided_differences_are_continuous_at_ties() {
        assert!((first_difference(2.0, 2.0) - 2f64.ln()).abs() < 1e-15);
        assert!((second_difference(2.0, 2.0, 2.0) - 0.25).abs() < 1e-15);
        let near = second_difference(2.0, 2.0019, 2.0005);
        let far = second_difference(2.0, 2.0021, 2.0005);
        assert!((near - far).abs() < 1e-5, "{near} {far}");
    }
}
