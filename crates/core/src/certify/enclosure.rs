//! How far the spectrum of a symmetric matrix can be from approximate eigenvalues.
//!
//! Let V, Lambda be any floats, `R = A V - V Lambda`, `G = V^T V - I`, `rho >= |R|_2`, `g >= |G|_2`. If
//! g < 1 then V = Q H (polar) with `|H - I| <= k = g / (1 + sqrt(1 - g))`, `|H^-1| <= 1 / sqrt(1 - g)`, and
//! `X = Q^T A Q - Lambda` obeys `X H = Q^T R + (H - I) Lambda - Lambda (H - I)`. With c the middle of
//! Lambda's range the last two terms are those of `Lambda - c`, so by Weyl, multiplicities counted,
//! `|lambda_i - Lambda_i| <= r = (rho + k (max Lambda - min Lambda)) / sqrt(1 - g)`.
//! Nothing is asked of the eigensolver: a wrong answer makes r large, or is rejected.

use super::interval::{Interval, mul_up};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Square};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Par};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;
/// Covers gradual underflow and flush-to-zero.
const ETA: f64 = f64::MIN_POSITIVE;
/// Entries of this magnitude or less are far from overflow and underflow in every product below.
const UNSCALED: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// How far the columns of V are from an orthonormal basis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orthogonality {
    /// `g >= |V^T V - I|_2`, below 1.
    pub(crate) g_up: f64,
    /// `k >= |V - Q|_2`, Q the polar factor of V.
    pub(crate) k_up: f64,
    /// At most `sqrt(1 - g)`.
    pub(crate) root_down: f64,
}

/// Bounds `max_i |lambda_i - Lambda_i|`, both sorted, for the symmetric `matrix`.
///
/// The radius returned is an eighth wider than proved here, so that a checker that sums in
/// another order still confirms bounds made from it.
///
/// **Cost** 3 n^3 flops in two matrix products, one n x n buffer.
///
/// # Errors
/// [`Error::Certificate`] for a matrix that is not symmetric or finite, eigenpairs of another size,
/// or vectors too far from orthonormal.
pub(crate) fn spectrum_radius(matrix: &Square, eigen: &Eigen) -> Result<f64> {
    let n = matrix.n();
    check_shapes(matrix, eigen)?;
    let largest = largest_entry(matrix);
    if !largest.is_finite() || !eigen.values.iter().all(|v| v.is_finite()) {
        return Err(Error::Certificate("a matrix or an eigenvalue is not finite".into()));
    }
    if largest == 0.0 {
        // The spectrum is zero whatever V is.
        return Ok(eigen.values.iter().fold(0.0, |m, v| v.abs().max(m)));
    }
    let exponent = if UNSCALED.contains(&largest) { 0 } else { -(libm::log2(largest).floor() as i32) };
    let scaled_matrix;
    let (a, values): (&Square, Vec<f64>) = if exponent == 0 {
        (matrix, eigen.values.clone())
    } else {
        // Exact, except where an entry falls below 2^-1022: the terms in ETA cover that.
        let mut copy = matrix.clone();
        copy.data_mut().iter_mut().for_each(|v| *v = scale(*v, exponent));
        scaled_matrix = copy;
        (&scaled_matrix, eigen.values.iter().map(|v| scale(*v, exponent)).collect())
    };
    let mut buffer = Square::zeros(n);
    let orthogonality = orthogonality_defect(&eigen.vectors, &mut buffer)?;
    let rho_up = residual_norm(a, &eigen.vectors, &values, &mut buffer);
    let spread = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v))
        - values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    let rotation = Interval::point(orthogonality.k_up) * Interval::point(spread.next_up());
    let radius = (Interval::point(rho_up) + rotation) / Interval::point(orthogonality.root_down);
    let published_up = scale(mul_up(radius.hi, 1.125), -exponent).next_up();
    if !published_up.is_finite() {
        return Err(Error::Certificate("the eigenpairs do not fit the matrix at all".into()));
    }
    Ok(published_up)
}

/// Shows that V is close to orthonormal; `buffer` is overwritten.
///
/// # Errors
/// [`Error::Certificate`] when `|V^T V - I| < 1` cannot be shown.
pub(crate) fn orthogonality_defect(v: &Square, buffer: &mut Square) -> Result<Orthogonality> {
    let n = v.n();
    let lower = BlockStructure::TriangularLower;
    let full = BlockStructure::Rectangular;
    triangular::matmul(
        buffer.view_mut(),
        lower,
        Accum::Replace,
        v.view().transpose(),
        full,
        v.view(),
        full,
        1.0,
        Par::Seq,
    );
    let mut rows = vec![0.0; n];
    for j in 0..n {
        let column = &buffer.data()[n * j..n * (j + 1)];
        rows[j] += (column[j] - 1.0).abs() + 2.0 * U;
        let mut sum = 0.0;
        for (row, g) in rows[j + 1..].iter_mut().zip(&column[j + 1..]) {
            *row += g.abs();
            sum += g.abs();
        }
        rows[j] += sum;
    }
    // |V^T| |V| e bounds the rounding of the product row by row.
    let row_sums = absolute_row_sums(v);
    let rounding = (n as f64 + 2.0) * U;
    for (j, row) in rows.iter_mut().enumerate() {
        *row += rounding * absolute_dot(v.column(j), &row_sums) + 2.0 * (n * n) as f64 * ETA;
    }
    let g_up = mul_up(largest_or_nan(&rows), inflation(n));
    // Written so that NaN is rejected.
    if !(g_up < 1.0) {
        return Err(Error::Certificate("the eigenvectors are too far from orthonormal".into()));
    }
    let root = (Interval::ONE - Interval::point(g_up)).sqrt();
    let k = Interval::point(g_up) / (Interval::ONE + root);
    if !(root.lo > 0.0) {
        return Err(Error::Certificate("the eigenvectors are too far from orthonormal".into()));
    }
    Ok(Orthogonality { g_up, k_up: k.hi, root_down: root.lo })
}

/// Upper bound on `|A V - V diag(values)|_2 <= sqrt(|.|_1 |.|_inf)`.
fn residual_norm(a: &Square, v: &Square, values: &[f64], buffer: &mut Square) -> f64 {
    let n = a.n();
    matmul(buffer.view_mut(), Accum::Replace, a.view(), v.view(), 1.0, Par::Seq);
    let (mut rows, mut columns) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        let lambda = values[j];
        let mut column = 0.0;
        for ((row, p), x) in rows.iter_mut().zip(buffer.column(j)).zip(v.column(j)) {
            let shifted = x * lambda;
            // The product x lambda and the difference round once each.
            let entry = (p - shifted).abs() + U * shifted.abs();
            *row += entry;
            column += entry;
        }
        columns[j] = column;
    }
    // |A| |V| bounds the rounding of the product: its row sums are |A| (|V| e), its column sums (e^T |A|) |V|.
    let (v_rows, a_rows) = (absolute_row_sums(v), absolute_row_sums(a));
    let rounding = (n as f64 + 2.0) * U;
    let underflow = 4.0 * ((n + 1) * (n + 1)) as f64 * ETA;
    for j in 0..n {
        rows[j] += rounding * absolute_dot(a.column(j), &v_rows) + underflow;
        columns[j] += rounding * absolute_dot(v.column(j), &a_rows) + underflow;
    }
    let norms = Interval::point(mul_up(largest_or_nan(&rows), inflation(n)))
        * Interval::point(mul_up(largest_or_nan(&columns), inflation(n)));
    norms.sqrt().hi
}

/// Covers the rounding of a few nested sums of n nonnegative floats: they err by less than 4 (n + 8) u.
fn inflation(n: usize) -> f64 {
    1.0 + 8.0 * (n as f64 + 16.0) * U
}

fn scale(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * f64::powi(2.0, half) * f64::powi(2.0, exponent - half)
}

/// `|M| e`, in plain floating point.
pub(crate) fn absolute_row_sums(m: &Square) -> Vec<f64> {
    let mut rows = vec![0.0; m.n()];
    for j in 0..m.n() {
        rows.iter_mut().zip(m.column(j)).for_each(|(row, x)| *row += x.abs());
    }
    rows
}

/// `sum |a_i| b_i` in eight lanes, in plain floating point.
fn absolute_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (mut left, mut right) = (a.chunks_exact(8), b.chunks_exact(8));
    for (x, y) in (&mut left).zip(&mut right) {
        for p in 0..8 {
            lanes[p] += x[p].abs() * y[p];
        }
    }
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x.abs() * y).sum();
    lanes.iter().sum::<f64>() + rest
}

/// Largest entry, NaN when any is (`f64::max` drops NaN).
pub(crate) fn largest_or_nan(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.is_nan() || m.is_nan() { f64::NAN } else { m.max(*v) })
}

fn largest_entry(m: &Square) -> f64 {
    let absolute = |s: &[f64]| s.iter().fold(0.0, |m: f64, v| m.max(v.abs()) + 0.0 * v);
    absolute(m.data())
}

fn check_shapes(matrix: &Square, eigen: &Eigen) -> Result<()> {
    let n = matrix.n();
    if n == 0 || eigen.values.len() != n || eigen.vectors.n() != n {
        return Err(Error::Certificate(format!("the eigenpairs do not have the size {n} of the matrix")));
    }
    if !is_symmetric(matrix) {
        return Err(Error::Certificate("a matrix is not exactly symmetric".into()));
    }
    Ok(())
}

/// Whether `M = M^T` bit for bit (zeros of either sign are equal), by blocks that stay in cache.
pub(crate) fn is_symmetric(m: &Square) -> bool {
    const BLOCK: usize = 32;
    let n = m.n();
    let data = m.data();
    (0..n).step_by(BLOCK).all(|j0| {
        (0..=j0).step_by(BLOCK).all(|i0| {
            (j0..(j0 + BLOCK).min(n))
                .all(|j| (i0..(i0 + BLOCK).min(j)).all(|i| data[i + n * j] == data[j + n * i]))
        })
    })
}
