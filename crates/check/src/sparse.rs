//! Large sparse pairwise forms: a Cholesky factorisation that completes is a proof of definiteness.

use crate::cert::Polynomial;
use crate::interval::{ONE, ZERO, at, sum_up};
use crate::limits::{Cost, Limits, Stop};
use crate::require;
use crate::spectrum::{TINY, U};
use crate::sums::places;
use std::collections::BTreeMap;

/// What the factorisation takes: entries of the factor and products, counted along its elimination tree without making it.
fn cost(rows: &[Vec<usize>], limits: &Limits) -> Result<Cost, Stop> {
    let n = rows.len();
    let (mut parent, mut ancestor, mut mark) =
        (vec![usize::MAX; n], vec![usize::MAX; n], vec![usize::MAX; n]);
    let (mut counts, mut total) = (vec![0.0f64; n], Cost::default());
    for (k, row) in rows.iter().enumerate() {
        for &start in row {
            let mut i = start;
            while i != usize::MAX && i < k {
                let next = ancestor[i];
                ancestor[i] = k;
                if next == usize::MAX {
                    parent[i] = k;
                }
                i = next;
            }
        }
        for &start in row {
            let mut i = start;
            while i != usize::MAX && i < k && mark[i] != k {
                mark[i] = k;
                counts[i] += 1.0;
                // An entry of a tree map takes about fifty bytes.
                total.memory += 50.0;
                i = parent[i];
            }
        }
        // Counting itself takes as long as there are entries: stop as soon as it is too much.
        limits.allow(total)?;
    }
    total.work = counts.iter().map(|c| 20.0 * c * (c + 4.0)).sum();
    Ok(total)
}

/// `max (c + z^T P z) <= c + sum y` up to rounding when a Cholesky factorisation of `diag(y) - P` completes: the factor
/// errs by at most `gamma tr / (1 - gamma)`, gamma = t U / (1 - t U), in norm, t the longest inner product.
pub(crate) fn sparse_dual(
    p: &Polynomial,
    y: &[f64],
    order: &[usize],
    d: usize,
    limits: &Limits,
) -> Result<f64, Stop> {
    let (n, place) = (d + 1, places(order, d + 1)?);
    require(y.iter().all(|v| *v >= 0.0 && v.is_finite()), "a multiplier is negative or not finite")?;
    let mut columns: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); n];
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut total = y.iter().fold(ZERO, |sum, v| sum + at(*v));
    for (set, v) in p {
        let (a, b) = match set[..] {
            [] => {
                total = total + *v;
                continue;
            }
            [i] => (place[0], place[i + 1]),
            [i, j] => (place[i + 1], place[j + 1]),
            _ => return Err("a sparse dual component is not pairwise".into()),
        };
        rows[a.max(b)].push(a.min(b));
        columns[a.min(b)].insert(a.max(b), -0.5 * v.hi);
    }
    limits.allow(cost(&rows, limits)?)?;
    let mut pivots: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let mut lengths = vec![0usize; n];
    for k in 0..n {
        let column: Vec<(usize, f64)> = std::mem::take(&mut columns[k]).into_iter().collect();
        if column.is_empty() && lengths[k] == 0 && pivots[k] == 0.0 {
            continue;
        }
        require(pivots[k] > 0.0, "diag(y) - P is not positive definite")?;
        let root = pivots[k].sqrt();
        let column: Vec<(usize, f64)> = column.into_iter().map(|(i, v)| (i, v / root)).collect();
        for (at, &(j, v)) in column.iter().enumerate() {
            pivots[j] -= v * v;
            lengths[j] += 1;
            for &(i, w) in &column[at + 1..] {
                *columns[j].entry(i).or_insert(0.0) -= v * w;
            }
        }
    }
    let longest = lengths.iter().max().copied().unwrap_or(0) as f64;
    let trace = sum_up(y.iter().copied());
    let t_u = at(longest + 4.0) * at(U);
    let short =
        t_u / (ONE - t_u - t_u) * at(trace) + at(8.0 * (n as f64) * (n as f64) * TINY * (1.0 + trace));
    Ok((total + at(n as f64) * short).hi)
}
