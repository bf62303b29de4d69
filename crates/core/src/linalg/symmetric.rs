//! The few dense kernels the solver needs, on one thread so that results never depend on load.

use super::Square;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::{matmul, triangular_inverse};
use faer::{Accum, MatRef, Par};

/// `out = a b`; transposes are made with the views.
pub(crate) fn multiply(out: &mut Square, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(out.view_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
}

/// `a^T m a`, symmetrised.
pub(crate) fn congruence(a: MatRef<'_, f64>, m: &Square, scratch: &mut Square) -> Square {
    let mut out = Square::zeros(m.n());
    multiply(scratch, m.view(), a);
    multiply(&mut out, a.transpose(), scratch.view());
    out.symmetrize();
    out
}

/// Replaces the symmetric `a` by its lower Cholesky factor; `false` when `a` is not positive definite.
pub(crate) fn cholesky(a: &mut Square) -> bool {
    let n = a.n();
    if n == 0 {
        return true;
    }
    let bytes = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    let mut buffer = MemBuffer::new(bytes);
    let stack = MemStack::new(&mut buffer);
    let done =
        llt::factor::cholesky_in_place(a.view_mut(), Default::default(), Par::Seq, stack, Default::default());
    for j in 1..n {
        a.data_mut()[n * j..n * j + j].fill(0.0);
    }
    done.is_ok() && a.diagonal().all(|v| v > 0.0 && v.is_finite())
}

/// Solves `L L^T x = b` in place, given the lower factor `L`.
pub(crate) fn cholesky_solve(factor: &Square, b: &mut [f64]) {
    let n = factor.n();
    for j in 0..n {
        let column = factor.column(j);
        let x = b[j] / column[j];
        b[j] = x;
        b[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(v, l)| *v -= x * l);
    }
    for j in (0..n).rev() {
        let column = factor.column(j);
        let dot: f64 = b[j + 1..].iter().zip(&column[j + 1..]).map(|(v, l)| v * l).sum();
        b[j] = (b[j] - dot) / column[j];
    }
}

/// The inverse of a lower triangular matrix.
pub(crate) fn lower_inverse(factor: &Square) -> Square {
    let mut out = Square::zeros(factor.n());
    triangular_inverse::invert_lower_triangular(out.view_mut(), factor.view(), Par::Seq);
    out
}

/// `log det a`, or `None` when `a` is not positive definite.
pub(crate) fn log_det(a: &Square) -> Option<f64> {
    let mut factor = a.clone();
    cholesky(&mut factor).then(|| 2.0 * factor.diagonal().map(f64::ln).sum::<f64>())
}

/// `a + t b`.
pub(crate) fn plus(a: &Square, t: f64, b: &Square) -> Square {
    let data = a.data().iter().zip(b.data()).map(|(x, y)| x + t * y).collect();
    Square::from_column_major(a.n(), data)
}

/// Sets the diagonal to zero.
pub(crate) fn clear_diagonal(a: &mut Square) {
    let n = a.n();
    a.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = 0.0);
}

/// The largest `t <= 1`, up to a factor, for which `a + t b` is positive definite; `a` must be.
pub(crate) fn step_to_boundary(a: &Square, b: &Square) -> f64 {
    let feasible = |t: f64| cholesky(&mut plus(a, t, b));
    if feasible(1.0) {
        return 1.0;
    }
    let (mut inside, mut outside) = (0.0, 1.0);
    // Seven halvings fix the step to 1 % of the longest; later ones only run while nothing fits.
    for round in 0..60 {
        let middle = 0.5 * (inside + outside);
        if feasible(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
        if round >= 6 && inside > 0.0 {
            break;
        }
    }
    inside
}
