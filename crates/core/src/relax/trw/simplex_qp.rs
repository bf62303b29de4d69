//! Convex quadratic programs over the simplex, by an active-set method on a factor that is updated.

use crate::linalg::dot;

/// `1/2 w^T H w - g^T w` over `w >= 0, sum w = 1`, for a problem that grows by columns.
///
/// H is symmetric positive semidefinite. The set of positive weights grows by the most violated
/// multiplier and shrinks by a step to the boundary (Wolfe, 1976).
///
/// **Cost** O(k^2) per column and per change of the active set.
#[derive(Clone, Debug)]
pub(crate) struct SimplexQp {
    hessian: Vec<Vec<f64>>,
    linear: Vec<f64>,
    weights: Vec<f64>,
    /// Columns that may have weight, in the order of the factor's rows.
    active: Vec<usize>,
    /// Rows of the lower Cholesky factor of the active block plus `ridge`.
    factor: Vec<Vec<f64>>,
    /// Added to the diagonal so that dependent columns do no harm.
    ridge: f64,
}

impl SimplexQp {
    /// The empty program; `size` is the order of magnitude of H.
    pub(crate) fn new(size: f64) -> Self {
        SimplexQp {
            hessian: Vec::new(),
            linear: Vec::new(),
            weights: Vec::new(),
            active: Vec::new(),
            factor: Vec::new(),
            ridge: (1e-13 * size).max(f64::MIN_POSITIVE),
        }
    }

    /// Adds a column: `row` is its row of H up to and including the diagonal. The weights must sum to
    /// one when the program is solved.
    pub(crate) fn push(&mut self, row: Vec<f64>, linear: f64, weight: f64) {
        let k = self.hessian.len();
        self.hessian.iter_mut().zip(&row).for_each(|(other, v)| other.push(*v));
        self.hessian.push(row);
        self.linear.push(linear);
        self.weights.push(weight);
        if weight > 0.0 {
            self.activate(k);
        }
    }

    /// The weights, one per column.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Minimises from the weights at hand.
    pub(crate) fn minimise(&mut self) {
        let k = self.weights.len();
        for _ in 0..10 * k + 50 {
            self.settle();
            let gradient: Vec<f64> =
                (0..k).map(|i| dot(&self.hessian[i], &self.weights) - self.linear[i]).collect();
            let level = dot(&gradient, &self.weights);
            let size = gradient.iter().fold(0.0f64, |top, g| top.max(g.abs()));
            let entering = (0..k)
                .filter(|&i| self.weights[i] == 0.0 && gradient[i] < level - 1e-13 * size)
                .min_by(|&i, &j| gradient[i].total_cmp(&gradient[j]));
            let Some(entering) = entering else { return };
            let before = self.active.clone();
            self.activate(entering);
            if !self.take_step() || self.active == before {
                return;
            }
        }
    }

    /// Minimises over the weights of the active columns, dropping those that reach zero.
    fn settle(&mut self) {
        loop {
            let before = self.active.len();
            if !self.take_step() || self.active.len() == before {
                return;
            }
        }
    }

    /// One step towards the minimiser on the active face, as far as feasible; false when the system
    /// could not be solved.
    fn take_step(&mut self) -> bool {
        let Some(target) = self.face_minimiser() else { return false };
        let w = &mut self.weights;
        let blocking = self
            .active
            .iter()
            .zip(&target)
            .filter(|(_, t)| **t <= 0.0)
            .map(|(&i, &t)| (w[i] / (w[i] - t).max(f64::MIN_POSITIVE), i))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let step = blocking.map_or(1.0, |(step, _)| step.min(1.0));
        for (&i, &t) in self.active.iter().zip(&target) {
            w[i] = (w[i] + step * (t - w[i])).max(0.0);
        }
        if let Some((_, i)) = blocking {
            w[i] = 0.0;
        }
        let total: f64 = w.iter().sum();
        w.iter_mut().for_each(|w| *w /= total);
        for place in (0..self.active.len()).rev() {
            if self.weights[self.active[place]] == 0.0 {
                self.deactivate(place);
            }
        }
        true
    }

    /// Solves `H_aa t = g_a - nu 1, sum t = 1`.
    fn face_minimiser(&self) -> Option<Vec<f64>> {
        let mut from_linear: Vec<f64> = self.active.iter().map(|&i| self.linear[i]).collect();
        let mut from_ones = vec![1.0; self.active.len()];
        self.solve(&mut from_linear);
        self.solve(&mut from_ones);
        let nu = (from_linear.iter().sum::<f64>() - 1.0) / from_ones.iter().sum::<f64>();
        let target: Vec<f64> = from_linear.iter().zip(&from_ones).map(|(g, o)| g - nu * o).collect();
        target.iter().all(|t| t.is_finite()).then_some(target)
    }

    /// Appends column `i` to the active block: one more row of the factor.
    fn activate(&mut self, i: usize) {
        let mut row: Vec<f64> = self.active.iter().map(|&j| self.hessian[i][j]).collect();
        for r in 0..row.len() {
            let (done, rest) = row.split_at_mut(r);
            rest[0] = (rest[0] - dot(&self.factor[r][..r], done)) / self.factor[r][r];
        }
        let pivot = self.hessian[i][i] + self.ridge - dot(&row, &row);
        // NaN and rounding below zero both become the ridge.
        row.push(if pivot > self.ridge { pivot } else { self.ridge }.sqrt());
        self.factor.push(row);
        self.active.push(i);
    }

    /// Removes the active column at `place`; rotations make the factor triangular again.
    fn deactivate(&mut self, place: usize) {
        self.active.remove(place);
        self.factor.remove(place);
        let mut rotations: Vec<(f64, f64)> = Vec::new();
        for row in &mut self.factor[place..] {
            for (k, &(c, s)) in (place..).zip(&rotations) {
                (row[k], row[k + 1]) = (c * row[k] + s * row[k + 1], c * row[k + 1] - s * row[k]);
            }
            let [.., a, b] = row[..] else { return };
            let length = a.hypot(b).max(f64::MIN_POSITIVE);
            rotations.push((a / length, b / length));
            row.pop();
            if let Some(last) = row.last_mut() {
                *last = length;
            }
        }
    }

    fn solve(&self, x: &mut [f64]) {
        for (i, row) in self.factor.iter().enumerate() {
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
        for (i, row) in self.factor.iter().enumerate().rev() {
            x[i] /= row[i];
            let xi = x[i];
            x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of a random Gram matrix of rank `rank`, pushed one at a time.
    fn value(seed: usize, i: usize, j: usize) -> f64 {
        (((i * 7 + j * 13 + seed * 31) * 2654435761) % 1000) as f64 / 500.0 - 1.0
    }

    #[test]
    fn the_minimiser_satisfies_the_optimality_conditions_while_columns_are_added() {
        for seed in 0..60usize {
            let (k, rank) = (4 + seed % 20, 4 + seed % 11);
            let entry = |i, j| (0..rank).map(|l| value(seed, i, l) * value(seed, j, l)).sum::<f64>();
            let mut program = SimplexQp::new(1.0);
            for i in 0..k {
                program.push(
                    (0..=i).map(|j| entry(i, j)).collect(),
                    value(seed, i, 99),
                    if i == 0 { 1.0 } else { 0.0 },
                );
                program.minimise();
                let w = program.weights();
                assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12 && w.iter().all(|&x| x >= 0.0));
                let gradient: Vec<f64> = (0..=i)
                    .map(|a| (0..=i).map(|b| entry(a, b) * w[b]).sum::<f64>() - value(seed, a, 99))
                    .collect();
                let level: f64 = gradient.iter().zip(w).map(|(g, w)| g * w).sum();
                assert!(gradient.iter().all(|&g| g > level - 1e-7), "seed {seed}: {gradient:?} {level}");
            }
        }
    }
}
