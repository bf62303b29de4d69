//! Large sparse pairwise `f_k = c + z^T P z`, z = (1, x): `f_k <= c + sum y` when `A = diag(y) - P` is positive semidefinite.
//!
//! A floating-point Cholesky factorisation that runs to completion is a proof up to rounding: its factor
//! obeys `R^T R = A + E` with `|E| <= gamma |R^T| |R|`, gamma = t u / (1 - t u) for inner products of at most t terms
//! in any order, and `| |R^T| |R| |_2 <= |R|_F^2 = tr(A + E)`. Hence `lambda_min(A) >= -gamma tr(A) / (1 - gamma)`
//! and no n x n matrix is ever stored.

use super::certificate::Form;
use super::elimination::positions;
use super::interval::{Interval, add_up, mul_up, sum_up};
use super::verify::Upper;
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::linalg::symmetric::cholesky;
use crate::model::{Ising, Polynomial};
use std::collections::BTreeSet;

/// Factors with more entries are refused: 1 GiB.
const MAX_FACTOR_ENTRIES: usize = 1 << 26;

/// `Phi(f_k) <= max f_k <= c + sum y + n gamma tr(A) / (1 - gamma)`.
pub(crate) fn upper(polynomial: &Polynomial, diagonal: &[f64], order: &[u32]) -> Result<Upper> {
    let Some(ising) = polynomial.as_ising() else {
        return Err(Error::Certificate("a sparse dual component is not pairwise".into()));
    };
    let n = ising.d() + 1;
    if diagonal.len() != n || !diagonal.iter().all(|y| *y >= 0.0 && y.is_finite()) {
        return Err(Error::Certificate(format!("expected {n} finite multipliers of at least 0")));
    }
    let place = positions(order, n)?;
    let Some(terms) = factor_terms(ising, diagonal, order, &place)? else {
        return Err(Error::Certificate("diag(y) - P is not positive definite".into()));
    };
    let trace_up = sum_up(diagonal.iter().copied());
    let t_u = Interval::point(terms as f64 + 4.0) * Interval::point(f64::EPSILON / 2.0);
    let gamma = t_u / (Interval::ONE - t_u - t_u);
    let underflow = 8.0 * (n as f64) * (n as f64) * f64::MIN_POSITIVE * (1.0 + trace_up);
    let short = gamma * Interval::point(trace_up) + Interval::point(underflow);
    let total = diagonal.iter().fold(Interval::point(ising.constant()), |sum, y| sum + Interval::point(*y));
    let value = add_up(total.hi, mul_up(n as f64, short.hi));
    Ok(Upper { value, scale: trace_up + ising.constant().abs() })
}

impl Form {
    /// The sparse dual form of the pairwise `f` with `diagonal` lifted evenly, as little as makes
    /// the factorisation pass, and an elimination order of small degree.
    ///
    /// **Cost** a few sparse Cholesky factorisations.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when f is not pairwise, [`Error::Certificate`] when no lift below the
    /// model's own scale is enough.
    pub fn sparse_dual(f: &Polynomial, diagonal: &[f64]) -> Result<Form> {
        Form::sparse_dual_near(f, diagonal, 0.0)
    }

    /// As [`Form::sparse_dual`] when `diagonal` is known to be feasible up to about `first`, the first
    /// lift that is tried after none at all: fewer factorisations.
    pub(crate) fn sparse_dual_near(f: &Polynomial, diagonal: &[f64], first: f64) -> Result<Form> {
        let Some(ising) = f.as_ising() else {
            return Err(Error::NotApplicable("sparse dual certificates are for pairwise models".into()));
        };
        let n = ising.d() + 1;
        if diagonal.len() != n {
            return Err(Error::Certificate(format!("expected {n} multipliers")));
        }
        let order = minimum_degree(ising);
        let place = positions(&order, n)?;
        let largest = diagonal.iter().fold(f.l1_norm() / n as f64, |m, y| m.max(y.abs()));
        let lifted = |lift: f64| diagonal.iter().map(|y| (y + lift).max(0.0)).collect::<Vec<f64>>();
        // The search may take a short cut: what it finds is verified like any other certificate.
        let is_dense = is_dense(ising);
        let passes = |lift: f64| match is_dense {
            true => Ok(is_positive(ising, &lifted(lift))),
            false => Ok(factor_terms(ising, &lifted(lift), &order, &place)?.is_some()),
        };
        let smallest = first.max(largest * f64::EPSILON);
        let (mut failed, mut lift) = (0.0, 0.0);
        for step in 0..60 {
            if passes(lift)? {
                let mut refinements = if lift > smallest { 3 } else { 0 };
                while refinements > 0 {
                    let middle = 0.5 * (failed + lift);
                    *if passes(middle)? { &mut lift } else { &mut failed } = middle;
                    refinements -= 1;
                }
                // A little more than what passed: another order of summation must pass as well.
                let margin = if lift > 0.0 { lift / 16.0 + 64.0 * largest * f64::EPSILON } else { 0.0 };
                return Ok(Form::SparseDual {
                    polynomial: f.clone(),
                    diagonal: lifted(lift + margin),
                    order,
                });
            }
            failed = lift;
            lift = smallest * f64::powi(2.0, step);
        }
        Err(Error::Certificate("the dual diagonal is far from feasible".into()))
    }
}

/// Entries of A, as a share of all, from which on a dense factorisation is faster, and the numbers of rows for which it is tried.
const DENSE: f64 = 0.1;
const DENSE_ROWS: std::ops::Range<usize> = 200..4000;

fn is_dense(ising: &Ising) -> bool {
    let n = ising.d() as f64 + 1.0;
    DENSE_ROWS.contains(&ising.d()) && 2.0 * ising.edges().len() as f64 > DENSE * n * n
}

/// Whether `A = diag(y) - P` has a dense factorisation: fast, and no proof.
fn is_positive(ising: &Ising, y: &[f64]) -> bool {
    let n = y.len();
    let places: Vec<usize> = (0..n).collect();
    let mut a = Square::zeros(n);
    for (i, row) in lower_rows(ising, &places).iter().enumerate() {
        for &(j, v) in row {
            a.data_mut()[i + n * j] += v;
            a.data_mut()[j + n * i] += v;
        }
    }
    for (i, &y) in y.iter().enumerate() {
        // A row of zeros needs no positive pivot.
        let is_isolated = y == 0.0 && a.column(i).iter().all(|v| *v == 0.0);
        a.data_mut()[i + n * i] = if is_isolated { 1.0 } else { y };
    }
    cholesky(&mut a)
}

/// Factorises `A = diag(y) - P` along `order`; the length of the longest inner product, or `None`
/// when a pivot is not positive.
fn factor_terms(ising: &Ising, y: &[f64], order: &[u32], place: &[usize]) -> Result<Option<usize>> {
    let rows = lower_rows(ising, place);
    let parent = elimination_tree(&rows);
    let n = rows.len();
    let mut isolated = vec![true; n];
    for (k, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        isolated[k] = false;
        row.iter().for_each(|&(i, _)| isolated[i] = false);
    }
    let mut columns: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
    let (mut pivots, mut x, mut mark) = (vec![0.0; n], vec![0.0; n], vec![usize::MAX; n]);
    let (mut longest, mut entries) = (0, 0);
    for k in 0..n {
        let pattern = reach(k, &rows[k], &parent, &mut mark);
        rows[k].iter().for_each(|&(i, v)| x[i] = v);
        let mut pivot = y[order[k] as usize];
        for &i in &pattern {
            let l = x[i] / pivots[i];
            x[i] = 0.0;
            columns[i].iter().for_each(|&(r, v)| x[r as usize] -= v * l);
            pivot -= l * l;
            columns[i].push((k as u32, l));
        }
        longest = longest.max(pattern.len());
        entries += pattern.len();
        if entries > MAX_FACTOR_ENTRIES {
            return Err(Error::Certificate("the sparse factor does not fit in memory".into()));
        }
        // A row of zeros needs no positive pivot. Written so that NaN fails.
        if !(pivot > 0.0 || (isolated[k] && pivot == 0.0)) {
            return Ok(None);
        }
        pivots[k] = pivot.sqrt();
    }
    Ok(Some(longest))
}

/// Strictly lower rows of A in elimination order: `A_ij = -P_ij`, half of a coefficient of f.
fn lower_rows(ising: &Ising, place: &[usize]) -> Vec<Vec<(usize, f64)>> {
    let mut rows = vec![Vec::new(); ising.d() + 1];
    let fields = ising.fields().iter().enumerate().map(|(i, &h)| (0, i + 1, h));
    let couplings = ising.triples().map(|(i, j, v)| (i + 1, j + 1, v));
    for (a, b, v) in fields.chain(couplings).filter(|e| e.2 != 0.0) {
        let (p, q) = (place[a].min(place[b]), place[a].max(place[b]));
        rows[q].push((p, -0.5 * v));
    }
    rows
}

/// Parent of each column: the first row below the diagonal where its factor has an entry (Liu).
fn elimination_tree(rows: &[Vec<(usize, f64)>]) -> Vec<usize> {
    let n = rows.len();
    let (mut parent, mut ancestor) = (vec![usize::MAX; n], vec![usize::MAX; n]);
    for (k, row) in rows.iter().enumerate() {
        for &(mut i, _) in row {
            while i != usize::MAX && i < k {
                let next = ancestor[i];
                ancestor[i] = k;
                if next == usize::MAX {
                    parent[i] = k;
                }
                i = next;
            }
        }
    }
    parent
}

/// Columns with an entry in row k of the factor, in increasing order, which is a valid order of solution.
fn reach(k: usize, row: &[(usize, f64)], parent: &[usize], mark: &mut [usize]) -> Vec<usize> {
    let mut pattern = Vec::new();
    for &(mut i, _) in row {
        while i != usize::MAX && i < k && mark[i] != k {
            mark[i] = k;
            pattern.push(i);
            i = parent[i];
        }
    }
    pattern.sort_unstable();
    pattern
}

/// Greedy minimum degree: the vertex with fewest neighbours goes first, its neighbours become a clique.
fn minimum_degree(ising: &Ising) -> Vec<u32> {
    let n = ising.d() + 1;
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
    let fields = ising.fields().iter().enumerate().filter(|(_, h)| **h != 0.0).map(|(i, _)| (0, i + 1));
    let couplings = ising.triples().filter(|e| e.2 != 0.0).map(|(i, j, _)| (i + 1, j + 1));
    for (a, b) in fields.chain(couplings) {
        neighbours[a].push(b as u32);
        neighbours[b].push(a as u32);
    }
    neighbours.iter_mut().for_each(|list| list.sort_unstable());
    let mut queue: BTreeSet<(usize, u32)> = (0..n).map(|i| (neighbours[i].len(), i as u32)).collect();
    let mut order = Vec::with_capacity(n);
    while let Some((degree, i)) = queue.pop_first() {
        order.push(i);
        if degree == queue.len() {
            // What is left is a clique: any order will do.
            order.extend(queue.iter().map(|&(_, j)| j));
            break;
        }
        let around = std::mem::take(&mut neighbours[i as usize]);
        for &a in &around {
            let list = &mut neighbours[a as usize];
            queue.remove(&(list.len(), a));
            *list = merged(list, &around, [a, i]);
            queue.insert((list.len(), a));
        }
    }
    order
}

/// The union of two increasing lists without two of its members.
fn merged(left: &[u32], right: &[u32], without: [u32; 2]) -> Vec<u32> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut p, mut q) = (0, 0);
    while p < left.len() || q < right.len() {
        let (x, y) = (left.get(p).copied(), right.get(q).copied());
        let next = x.unwrap_or(u32::MAX).min(y.unwrap_or(u32::MAX));
        p += usize::from(x == Some(next));
        q += usize::from(y == Some(next));
        if !without.contains(&next) {
            out.push(next);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_factorisations_tell_a_positive_matrix() {
        for d in [3, 12, 40] {
            let edges: Vec<(usize, usize, f64)> =
                (0..d).flat_map(|j| (0..j).map(move |i| (i, j, (1.3 * (i * d + j) as f64).sin()))).collect();
            let fields: Vec<f64> = (0..d).map(|i| (i as f64).cos()).collect();
            let ising = Ising::new(d, &fields, &edges).unwrap();
            let order: Vec<u32> = (0..=d as u32).collect();
            let place: Vec<usize> = (0..=d).collect();
            let mut answers = [0; 2];
            for k in 0..40 {
                let y = vec![0.05 * f64::from(k) * (d as f64).sqrt(); d + 1];
                let slow = factor_terms(&ising, &y, &order, &place).unwrap().is_some();
                assert_eq!(is_positive(&ising, &y), slow, "{d} {k}");
                answers[usize::from(slow)] += 1;
            }
            assert!(answers.iter().all(|count| *count > 0), "{answers:?}");
        }
        // Two spins that nothing acts on, and two that need no more than half of a coupling.
        let ising = Ising::new(4, &[0.0; 4], &[(1, 2, 1.0)]).unwrap();
        assert!(is_positive(&ising, &[0.0, 0.0, 0.6, 0.6, 0.0]));
        assert!(!is_positive(&ising, &[0.0, 0.0, 0.4, 0.6, 0.0]));
    }
}
