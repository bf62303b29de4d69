//! Products of dense matrices held in flat column-major slices, on one thread.

use super::square::Square;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// `out <- M X`, X of `columns` columns.
pub(crate) fn square_times(m: &Square, x: &[f64], columns: usize, out: &mut [f64]) {
    let n = m.n();
    let x = MatRef::from_column_major_slice(x, n, columns);
    matmul(MatMut::from_column_major_slice_mut(out, n, columns), Accum::Replace, m.view(), x, 1.0, Par::Seq);
}

/// `out <- M^T X`, X of `columns` columns.
pub(crate) fn square_transposed_times(m: &Square, x: &[f64], columns: usize, out: &mut [f64]) {
    let n = m.n();
    let x = MatRef::from_column_major_slice(x, n, columns);
    let out = MatMut::from_column_major_slice_mut(out, n, columns);
    matmul(out, Accum::Replace, m.view().transpose(), x, 1.0, Par::Seq);
}

/// `out <- X^T Y` for two n x r matrices.
pub(crate) fn transposed_left(x: &[f64], y: &[f64], n: usize, r: usize, out: &mut [f64]) {
    let (x, y) = (MatRef::from_column_major_slice(x, n, r), MatRef::from_column_major_slice(y, n, r));
    let out = MatMut::from_column_major_slice_mut(out, r, r);
    matmul(out, Accum::Replace, x.transpose(), y, 1.0, Par::Seq);
}

/// `out <- X Q`, or `out += X Q` when `add`, for X of n rows and Q of `columns` columns.
pub(crate) fn tall_times(x: &[f64], n: usize, q: &[f64], columns: usize, out: &mut [f64], add: bool) {
    let inner = x.len() / n.max(1);
    let x = MatRef::from_column_major_slice(x, n, inner);
    let q = MatRef::from_column_major_slice(q, inner, columns);
    let accum = if add { Accum::Add } else { Accum::Replace };
    matmul(MatMut::from_column_major_slice_mut(out, n, columns), accum, x, q, 1.0, Par::Seq);
}

/// `out <- X^T Y` for matrices of n rows.
pub(crate) fn tall_transposed_tall(x: &[f64], y: &[f64], n: usize, out: &mut [f64]) {
    let (a, b) = (x.len() / n.max(1), y.len() / n.max(1));
    let (x, y) = (MatRef::from_column_major_slice(x, n, a), MatRef::from_column_major_slice(y, n, b));
    let out = MatMut::from_column_major_slice_mut(out, a, b);
    matmul(out, Accum::Replace, x.transpose(), y, 1.0, Par::Seq);
}

/// `out <- M N`.
pub(crate) fn squares(m: &Square, other: &Square, out: &mut Square) {
    let n = m.n();
    square_times(m, other.data(), n, out.data_mut());
}

/// `out <- M N^T`.
pub(crate) fn square_by_transpose(m: &Square, other: &Square, out: &mut Square) {
    matmul(out.view_mut(), Accum::Replace, m.view(), other.view().transpose(), 1.0, Par::Seq);
}

/// `out <- X Y^T` for two n x r matrices.
pub(crate) fn outer(x: &[f64], y: &[f64], n: usize, r: usize, out: &mut [f64]) {
    let (x, y) = (MatRef::from_column_major_slice(x, n, r), MatRef::from_column_major_slice(y, n, r));
    matmul(MatMut::from_column_major_slice_mut(out, n, n), Accum::Replace, x, y.transpose(), 1.0, Par::Seq);
}

/// `out = x^T y` for `rows x k` matrices x, y.
pub(crate) fn transposed_rectangles(x: &[f64], y: &[f64], rows: usize, out: &mut [f64]) {
    let k = x.len() / rows.max(1);
    let (x, y) = (MatRef::from_column_major_slice(x, rows, k), MatRef::from_column_major_slice(y, rows, k));
    let out = MatMut::from_column_major_slice_mut(out, k, k);
    matmul(out, Accum::Replace, x.transpose(), y, 1.0, Par::Seq);
}
