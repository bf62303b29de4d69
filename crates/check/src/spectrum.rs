//! How far true eigenvalues can be from stored ones, by plain loops.
//!
//! With `R = A V - V Lambda`, `G = V^T V - I`, `g >= |G|`, `rho >= |R|`, g < 1, k = g / (1 + sqrt(1 - g)):
//! `|lambda_i - Lambda_i| <= (rho + k (max Lambda - min Lambda)) / sqrt(1 - g)`, both sorted. The proof is half a page
//! (polar decomposition of V, then Weyl) and is in docs/certificate-format.md.

use crate::cert::{Matrix, Pairs};
use crate::interval::{ONE, at};
use crate::require;

/// Unit roundoff; `n` additions and products in any order err by at most (n + 2) U times the absolute values.
pub(crate) const U: f64 = f64::EPSILON / 2.0;
/// Least normal number, for underflow.
pub(crate) const TINY: f64 = f64::MIN_POSITIVE;

/// g, k and a lower bound on sqrt(1 - g).
pub(crate) fn orthogonality(v: &Matrix) -> Result<[f64; 3], String> {
    let n = v.n;
    let sums = row_sums(v);
    let mut rows = vec![0.0; n];
    for j in 0..n {
        for i in 0..=j {
            let product = dot(v.column(i), v.column(j), |x| x);
            let entry = if i == j { (product - 1.0).abs() + 2.0 * U } else { product.abs() };
            rows[i] += entry;
            rows[j] += if i == j { 0.0 } else { entry };
        }
    }
    for (j, row) in rows.iter_mut().enumerate() {
        *row += (n as f64 + 2.0) * U * dot(v.column(j), &sums, f64::abs) + 2.0 * (n * n) as f64 * TINY;
    }
    let g = (at(largest(&rows)) * at(inflation(n))).hi;
    let root = (ONE - at(g)).sqrt();
    require(g < 1.0 && root.lo > 0.0, "eigenvectors are too far from orthonormal")?;
    Ok([g, (at(g) / (ONE + root)).hi, root.lo])
}

/// Upper bound on the distance between the sorted spectra.
pub(crate) fn radius(matrix: &Matrix, pairs: &Pairs) -> Result<f64, String> {
    let n = matrix.n;
    let top = largest(&matrix.data);
    let finite = top.is_finite() && largest(&pairs.values).is_finite();
    require(finite, "a matrix or an eigenvalue is not finite")?;
    if top == 0.0 {
        return Ok(largest(&pairs.values));
    }
    // Powers of two are exact, up to TINY.
    let exponent = -(top.log2().floor() as i32);
    let a = Matrix { n, data: matrix.data.iter().map(|v| shift(*v, exponent)).collect() };
    let values: Vec<f64> = pairs.values.iter().map(|v| shift(*v, exponent)).collect();
    let v = &pairs.vectors;
    let [_, k, root] = orthogonality(v)?;
    let (mut rows, mut columns) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        let product = times_vector(&a, v.column(j));
        for i in 0..n {
            let shifted = v.at(i, j) * values[j];
            let entry = (product[i] - shifted).abs() + U * shifted.abs();
            rows[i] += entry;
            columns[j] += entry;
        }
    }
    let (a_sums, v_sums) = (row_sums(&a), row_sums(v));
    for j in 0..n {
        let under = 4.0 * ((n + 1) * (n + 1)) as f64 * TINY;
        rows[j] += (n as f64 + 2.0) * U * dot(a.column(j), &v_sums, f64::abs) + under;
        columns[j] += (n as f64 + 2.0) * U * dot(v.column(j), &a_sums, f64::abs) + under;
    }
    let norms = (at(largest(&rows)) * at(inflation(n))) * (at(largest(&columns)) * at(inflation(n)));
    let spread = at(maximum(&values)) - at(minimum(&values));
    let radius = (norms.sqrt() + at(k) * spread) / at(root);
    let back = shift(radius.hi, -exponent).next_up();
    if back.is_finite() { Ok(back) } else { Err("eigenpairs do not fit their matrix".into()) }
}

/// Covers the rounding of sums of sums of n nonnegative floats.
fn inflation(n: usize) -> f64 {
    1.0 + 8.0 * (n as f64 + 16.0) * U
}

fn shift(x: f64, exponent: i32) -> f64 {
    x * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

pub(crate) fn maximum(x: &[f64]) -> f64 {
    x.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v))
}

pub(crate) fn minimum(x: &[f64]) -> f64 {
    x.iter().fold(f64::INFINITY, |m, v| m.min(*v))
}

/// Largest absolute value, NaN if any is.
pub(crate) fn largest(x: &[f64]) -> f64 {
    if x.iter().any(|v| v.is_nan()) { f64::NAN } else { x.iter().fold(0.0, |m, v| m.max(v.abs())) }
}

fn row_sums(m: &Matrix) -> Vec<f64> {
    (0..m.n).fold(vec![0.0; m.n], |mut sums, j| {
        sums.iter_mut().zip(m.column(j)).for_each(|(s, x)| *s += x.abs());
        sums
    })
}

/// `sum g(a_i) b_i` in four lanes.
fn dot(a: &[f64], b: &[f64], g: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; 4];
    for (x, y) in a.chunks(4).zip(b.chunks(4)) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += g(*x) * y;
        }
    }
    lanes.iter().sum()
}

/// `A x`, column by column.
fn times_vector(a: &Matrix, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.n];
    for (j, &c) in x.iter().enumerate() {
        out.iter_mut().zip(a.column(j)).for_each(|(o, v)| *o += v * c);
    }
    out
}

/// `A B`.
pub(crate) fn times(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix { n: a.n, data: (0..a.n).flat_map(|j| times_vector(a, b.column(j))).collect() }
}

pub(crate) fn transposed(a: &Matrix) -> Matrix {
    Matrix { n: a.n, data: (0..a.n * a.n).map(|k| a.at(k / a.n, k % a.n)).collect() }
}

pub(crate) fn frobenius(m: &Matrix) -> f64 {
    (m.data.iter().map(|v| v * v).sum::<f64>() + m.data.len() as f64 * TINY).sqrt()
}
