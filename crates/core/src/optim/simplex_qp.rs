//! Convex quadratic programs over the simplex, by an active-set method.

/// Minimises `1/2 w^T H w - g^T w` over `w >= 0, sum w = 1`, starting from the feasible `w`.
///
/// H is symmetric positive semidefinite, row-major, k x k. The set of positive weights grows by
/// the most violated multiplier and shrinks by a step to the boundary (Wolfe, 1976).
///
/// **Cost** O(k^3) per change of the active set.
pub(crate) fn minimise_on_simplex(hessian: &[f64], linear: &[f64], w: &mut [f64]) {
    let k = w.len();
    let trace: f64 = (0..k).map(|i| hessian[i * k + i]).sum();
    let ridge = (1e-13 * trace / k as f64).max(f64::MIN_POSITIVE);
    let mut active: Vec<usize> = (0..k).filter(|&i| w[i] > 0.0).collect();
    for _ in 0..10 * k + 50 {
        settle(hessian, linear, ridge, &mut active, w);
        let gradient: Vec<f64> = (0..k)
            .map(|i| active.iter().map(|&j| hessian[i * k + j] * w[j]).sum::<f64>() - linear[i])
            .collect();
        let level: f64 = active.iter().map(|&i| w[i] * gradient[i]).sum();
        let size = gradient.iter().fold(0.0f64, |top, g| top.max(g.abs()));
        let entering = (0..k)
            .filter(|&i| w[i] == 0.0 && gradient[i] < level - 1e-13 * size)
            .min_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
        let Some(entering) = entering else { return };
        active.push(entering);
        let others: Vec<usize> = active[..active.len() - 1].to_vec();
        if !take_step(hessian, linear, ridge, &mut active, w) || active == others {
            return;
        }
    }
}

/// Minimises over the weights of `active`, dropping those that reach zero.
fn settle(hessian: &[f64], linear: &[f64], ridge: f64, active: &mut Vec<usize>, w: &mut [f64]) {
    loop {
        let before = active.len();
        if !take_step(hessian, linear, ridge, active, w) || active.len() == before {
            return;
        }
    }
}

/// One step towards the minimiser on the face of `active`, as far as feasible; false when the
/// system could not be solved.
fn take_step(hessian: &[f64], linear: &[f64], ridge: f64, active: &mut Vec<usize>, w: &mut [f64]) -> bool {
    let Some(target) = face_minimiser(hessian, linear, ridge, active, w.len()) else { return false };
    let blocking = active
        .iter()
        .zip(&target)
        .filter(|(_, t)| **t <= 0.0)
        .map(|(&i, &t)| (w[i] / (w[i] - t).max(f64::MIN_POSITIVE), i))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let step = blocking.map_or(1.0, |(step, _)| step.min(1.0));
    for (&i, &t) in active.iter().zip(&target) {
        w[i] = (w[i] + step * (t - w[i])).max(0.0);
    }
    if let Some((_, i)) = blocking {
        w[i] = 0.0;
    }
    active.retain(|&i| w[i] > 0.0);
    let total: f64 = w.iter().sum();
    w.iter_mut().for_each(|w| *w /= total);
    true
}

/// Solves `H_aa t = g_a - nu 1, sum t = 1`.
fn face_minimiser(
    hessian: &[f64],
    linear: &[f64],
    ridge: f64,
    active: &[usize],
    k: usize,
) -> Option<Vec<f64>> {
    let n = active.len();
    let mut factor = vec![0.0; n * n];
    for (r, &i) in active.iter().enumerate() {
        for (c, &j) in active[..=r].iter().enumerate() {
            factor[r * n + c] = hessian[i * k + j];
        }
        factor[r * n + r] += ridge;
    }
    cholesky(&mut factor, n)?;
    let mut from_linear: Vec<f64> = active.iter().map(|&i| linear[i]).collect();
    let mut from_ones = vec![1.0; n];
    solve_cholesky(&factor, &mut from_linear);
    solve_cholesky(&factor, &mut from_ones);
    let nu = (from_linear.iter().sum::<f64>() - 1.0) / from_ones.iter().sum::<f64>();
    let target: Vec<f64> = from_linear.iter().zip(&from_ones).map(|(g, o)| g - nu * o).collect();
    target.iter().all(|t| t.is_finite()).then_some(target)
}

/// Lower Cholesky factor in place, row-major; `None` when a pivot is not positive.
fn cholesky(a: &mut [f64], n: usize) -> Option<()> {
    for i in 0..n {
        let (done, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &done[j * n..j * n + j + 1];
            let overlap: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - overlap) / other[j];
        }
        let pivot = row[i] - row[..i].iter().map(|x| x * x).sum::<f64>();
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(())
}

fn solve_cholesky(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &factor[i * n..];
        let overlap: f64 = row[..i].iter().zip(&x[..i]).map(|(l, x)| l * x).sum();
        x[i] = (x[i] - overlap) / row[i];
    }
    for i in (0..n).rev() {
        x[i] /= factor[i * n + i];
        let xi = x[i];
        (0..i).for_each(|j| x[j] -= factor[i * n + j] * xi);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimiser_satisfies_the_optimality_conditions() {
        let k = 6;
        for seed in 0..50usize {
            let value = |i: usize, j: usize| {
                (((i * 7 + j * 13 + seed * 31) * 2654435761) % 1000) as f64 / 500.0 - 1.0
            };
            let mut hessian = vec![0.0; k * k];
            for i in 0..k {
                for j in 0..k {
                    hessian[i * k + j] = (0..4).map(|l| value(i, l) * value(j, l)).sum();
                }
            }
            let linear: Vec<f64> = (0..k).map(|i| value(i, 9)).collect();
            let mut w = vec![1.0 / k as f64; k];
            minimise_on_simplex(&hessian, &linear, &mut w);
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|&x| x >= 0.0));
            let gradient: Vec<f64> =
                (0..k).map(|i| (0..k).map(|j| hessian[i * k + j] * w[j]).sum::<f64>() - linear[i]).collect();
            let level: f64 = (0..k).map(|i| w[i] * gradient[i]).sum();
            assert!(gradient.iter().all(|&g| g > level - 1e-8), "seed {seed}: {gradient:?} {level}");
        }
    }
}
