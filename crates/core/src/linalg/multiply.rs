//! Products of dense matrices held in flat column-major slices, on one thread.

use super::square::Square;
use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};

/// Makes the linear algebra look at the machine's caches, which it otherwise does, for a millisecond,
/// in the first solve. A program that has something else to do first can call this on a thread.
///
/// ```
/// let thread = std::thread::spawn(zbound::linalg::prepare);
/// thread.join().unwrap();
/// ```
pub fn prepare() {
    const SIZE: usize = 32;
    let (m, mut out) = (Square::identity(SIZE), Square::zeros(SIZE));
    squares(&m, &m, &mut out);
}

/// `out <- scale M X`, X of `columns` columns.
pub(crate) fn square_times(m: &Square, x: &[f64], columns: usize, scale: f64, out: &mut [f64]) {
    let n = m.n();
    let x = MatRef::from_column_major_slice(x, n, columns);
    let out = MatMut::from_column_major_slice_mut(out, n, columns);
    matmul(out, Accum::Replace, m.view(), x, scale, Par::Seq);
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
    square_times(m, other.data(), n, 1.0, out.data_mut());
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

/// `out <- out - X Y_1^T` for two matrices of n rows, `Y_1` the first rows of Y: as many as `out` has columns.
pub(crate) fn subtract_outer(x: &[f64], y: &[f64], n: usize, out: &mut [f64]) {
    let (r, columns) = (x.len() / n.max(1), out.len() / n.max(1));
    let x = MatRef::from_column_major_slice(x, n, r);
    let y = MatRef::from_column_major_slice(y, n, r).subrows(0, columns);
    matmul(
        MatMut::from_column_major_slice_mut(out, n, columns),
        Accum::Add,
        x,
        y.transpose(),
        -1.0,
        Par::Seq,
    );
}

/// Lower triangle of `X X^T` for an n x r matrix.
pub(crate) fn outer_lower(x: &[f64], n: usize, r: usize, out: &mut [f64]) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let x = MatRef::from_column_major_slice(x, n, r);
    let out = MatMut::from_column_major_slice_mut(out, n, n);
    let (replace, right) = (Accum::Replace, x.transpose());
    triangular::matmul(out, TriangularLower, replace, x, Rectangular, right, Rectangular, 1.0, Par::Seq);
}

/// `out <- X_low Y_low^T` for two n x r matrices, each without its first rows (`(matrix, rows)`).
pub(crate) fn lower_rows_outer(x: (&[f64], usize), y: (&[f64], usize), n: usize, r: usize, out: &mut [f64]) {
    let low = |(m, skip): (_, usize)| MatRef::from_column_major_slice(m, n, r).subrows(skip, n - skip);
    let out = MatMut::from_column_major_slice_mut(out, n - x.1, n - y.1);
    matmul(out, Accum::Replace, low(x), low(y).transpose(), 1.0, Par::Seq);
}

/// Lower triangle of `rows^T rows`, rows being `length x size`.
pub(crate) fn gram_lower(rows: &[f64], length: usize, size: usize, out: &mut [f64], par: Par) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let view = MatRef::from_column_major_slice(rows, length, size);
    let out = MatMut::from_column_major_slice_mut(out, size, size);
    let (left, right) = (view.transpose(), view);
    triangular::matmul(out, TriangularLower, Accum::Replace, left, Rectangular, right, Rectangular, 1.0, par);
}
