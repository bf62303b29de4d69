//! The few dense kernels the solver needs, on one thread so that results never depend on load.

use super::Square;
use super::lanczos::smallest;
use crate::deadline::Deadline;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::linalg::{matmul, triangular_inverse};
use faer::{Accum, MatMut, MatRef, Par};

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

/// Solves `L L^T X = B` in place for the columns of B, given the lower factor `L`.
pub(crate) fn cholesky_solve_columns(factor: &Square, b: &mut [f64]) {
    let n = factor.n();
    if n == 0 {
        return;
    }
    let columns = b.len() / n;
    let mut b = MatMut::from_column_major_slice_mut(b, n, columns);
    solve_lower_triangular_in_place(factor.view(), b.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.view().transpose(), b, Par::Seq);
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

/// Lanczos steps for the eigenvalue that limits a step: more than enough for one percent.
const LANCZOS_STEPS: usize = 75;
/// Error of that eigenvalue, which is below -1 whenever it limits anything.
const LANCZOS_TOL: f64 = 0.01;

/// The largest `t <= 1`, up to a percent, for which `a + t b` is positive definite; `a` must be.
///
/// With `a = L L^T` it is `-1 / lambda_min(L^-1 b L^-T)`. **Cost** one to three Cholesky factorisations.
pub(crate) fn step_to_boundary(a: &Square, b: &Square) -> f64 {
    let feasible = |t: f64| cholesky(&mut plus(a, t, b));
    if feasible(1.0) {
        return 1.0;
    }
    let mut factor = a.clone();
    if !cholesky(&mut factor) {
        return 0.0;
    }
    let n = a.n();
    let lower = factor.view();
    let mut image = vec![0.0; n];
    let mut scaled = |x: &[f64], out: &mut [f64]| {
        image.copy_from_slice(x);
        let column = MatMut::from_column_major_slice_mut(&mut image, n, 1);
        solve_upper_triangular_in_place(lower.transpose(), column, Par::Seq);
        super::multiply::square_times(b, &image, 1, 1.0, out);
        solve_lower_triangular_in_place(lower, MatMut::from_column_major_slice_mut(out, n, 1), Par::Seq);
    };
    let start = (0..n).map(|k| 1.0 + 0.5 * (k as f64).sin()).collect();
    let unlimited = Deadline::default();
    let Some(pair) = smallest(&mut scaled, start, LANCZOS_TOL, LANCZOS_STEPS, &unlimited) else { return 0.0 };
    // A start without a part along the eigenvector would overlook it: the step is tried.
    let mut t = (1.0 / (pair.residual - pair.value).max(1.0)) * (1.0 - LANCZOS_TOL);
    for _ in 0..60 {
        if feasible(t) {
            return t;
        }
        t *= 0.75;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_just_inside_the_cone() {
        for (n, seed) in [(1, 1), (2, 2), (9, 3), (40, 4), (120, 5)] {
            let wave = |k: usize| ((k * k + seed * k) as f64 * 12.9898).sin();
            let mut b = Square::from_column_major(n, (0..n * n).map(wave).collect());
            b.symmetrize();
            b.data_mut()[0] -= 3.0;
            let mut a = Square::identity(n);
            a.data_mut().iter_mut().step_by(n + 1).enumerate().for_each(|(k, v)| *v += k as f64);
            let t = step_to_boundary(&a, &b);
            assert!(t < 1.0 && cholesky(&mut plus(&a, t, &b)), "n = {n}: {t} is outside");
            assert!(!cholesky(&mut plus(&a, 1.05 * t, &b)), "n = {n}: {t} is not the boundary");
        }
    }

    #[test]
    fn steps_that_stay_inside_are_full() {
        let a = Square::identity(5);
        assert_eq!(step_to_boundary(&a, &a), 1.0);
    }
}
