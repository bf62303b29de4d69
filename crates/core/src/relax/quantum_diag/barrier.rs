//! Newton steps on the barrier problem
//! `min -<F, Sigma> + t - mu sum_i log(t - [h(Sigma)]_ii) - mu log det Sigma` over the moments of Sigma and t, at eps = 1.
//!
//! Far from the end the multipliers are `eta_i = mu / (t - [h(Sigma)]_ii)`. Near it that difference has lost its digits, so
//! there the multipliers are variables of their own (a primal-dual step) and the gradient stays accurate.

use super::derivatives::{curvature, first_difference, h, rotate_back, rotated_weights, second_differences};
use super::moments::Moments;
use crate::linalg::symmetric::{cholesky, cholesky_solve};
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use crate::model::VarSet;

/// A strictly feasible point with its decomposition.
#[derive(Clone)]
pub(super) struct Barrier {
    /// Moments by class; the diagonal is 1.
    values: Vec<f64>,
    t: f64,
    /// Eigenpairs of Sigma.
    pub(super) eigen: Eigen,
    /// `[h(Sigma)]_ii`.
    heights: Vec<f64>,
    /// Multipliers of `t > [h(Sigma)]_ii`, the weights of the metric.
    pub(super) eta: Vec<f64>,
}

/// What one Newton step did.
pub(super) struct Progress {
    /// Eigendecompositions spent.
    pub(super) evaluations: usize,
    /// Squared Newton decrement relative to mu: how far the minimum for this mu was before the step.
    pub(super) decrement: f64,
    /// No step decreases the objective.
    pub(super) is_stuck: bool,
}

impl Barrier {
    /// Independent fair spins: Sigma = I.
    pub(super) fn start(moments: &Moments) -> Self {
        let n = moments.n();
        let mut values = vec![0.0; moments.classes.len()];
        values[0] = 1.0;
        let eigen = Eigen { values: vec![1.0; n], vectors: Square::identity(n) };
        Barrier { values, t: 1.0, eigen, heights: vec![0.0; n], eta: vec![1.0 / n as f64; n] }
    }

    /// `tr Sigma F - max_i [h(Sigma)]_ii`.
    pub(super) fn primal(&self, moments: &Moments) -> f64 {
        let linear: f64 = self.values.iter().zip(&moments.theta).map(|(m, f)| m * f).sum();
        linear - self.heights.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v))
    }

    /// `mu / (t - [h(Sigma)]_ii)`.
    fn central_multipliers(&self, mu: f64) -> Vec<f64> {
        self.heights.iter().map(|g| mu / (self.t - g)).collect()
    }

    /// `Sigma^-1`.
    pub(super) fn inverse(&self) -> Square {
        let mut inner = Square::zeros(self.heights.len());
        let n = inner.n();
        inner.data_mut().iter_mut().step_by(n + 1).zip(&self.eigen.values).for_each(|(v, s)| *v = 1.0 / s);
        rotate_back(&self.eigen, &inner)
    }

    /// `E x^A`, 0 when no pair of features holds it.
    pub(super) fn moment(&self, moments: &Moments, set: &VarSet) -> f64 {
        moments.classes.find(set).map_or(0.0, |c| self.values[c].clamp(-1.0, 1.0))
    }

    /// The barrier objective.
    fn objective(&self, moments: &Moments, mu: f64) -> f64 {
        let linear: f64 = self.values.iter().zip(&moments.theta).map(|(m, f)| m * f).sum();
        let slacks: f64 = self.heights.iter().map(|g| (self.t - g).ln()).sum();
        let log_det: f64 = self.eigen.values.iter().map(|s| s.ln()).sum();
        self.t - linear - mu * (slacks + log_det)
    }

    /// The point with other moments and t, or `None` when it is not strictly feasible.
    fn moved(&self, moments: &Moments, step: f64, direction: &[f64], work: &mut EigenWork) -> Option<Self> {
        let count = self.values.len();
        let mut values = self.values.clone();
        values[1..].iter_mut().zip(direction).for_each(|(v, d)| *v += step * d);
        let mut eigen = Eigen::default();
        if !eigh(&moments.assemble(&values), &mut eigen, work) || !(eigen.values[0] > 0.0) {
            return None;
        }
        let n = eigen.values.len();
        let of: Vec<f64> = eigen.values.iter().map(|s| h(*s)).collect();
        let height = |i: usize| (0..n).map(|k| of[k] * eigen.vectors.at(i, k).powi(2)).sum::<f64>();
        let heights: Vec<f64> = (0..n).map(height).collect();
        let t = self.t + step * direction[count - 1];
        let eta = self.eta.clone();
        heights.iter().all(|g| t > *g).then_some(Barrier { values, t, eigen, heights, eta })
    }

    /// One damped Newton step on the objective, given up when `stop` says so.
    pub(super) fn newton(&mut self, moments: &Moments, mu: f64, stop: &mut dyn FnMut() -> bool) -> Progress {
        self.eta = self.central_multipliers(mu);
        let slopes = self.slopes(moments);
        let gradient = self.gradient(moments, &slopes, &self.eta, mu);
        let mut progress = Progress { evaluations: 0, decrement: f64::INFINITY, is_stuck: true };
        let Some(direction) = self.solve(moments, &slopes, &gradient, mu, stop) else { return progress };
        let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
        progress.decrement = -slope / mu;
        let (before, mut work) = (self.objective(moments, mu), EigenWork::default());
        let noise = 1e-14 * before.abs();
        let mut step = 1.0;
        for _ in 0..40 {
            progress.evaluations += 1;
            if let Some(mut next) = self.moved(moments, step, &direction, &mut work)
                && next.objective(moments, mu) <= before + 0.1 * step * slope + noise
            {
                next.eta = next.central_multipliers(mu);
                *self = next;
                progress.is_stuck = false;
                return progress;
            }
            step *= 0.5;
        }
        progress
    }

    /// One primal-dual step towards the centre for `mu`; `false` when there is none or `stop` says so. To be used near
    /// the central path.
    pub(super) fn refine(&mut self, moments: &Moments, mu: f64, stop: &mut dyn FnMut() -> bool) -> bool {
        let slopes = self.slopes(moments);
        let central = self.central_multipliers(mu);
        let gradient = self.gradient(moments, &slopes, &central, mu);
        let Some(direction) = self.solve(moments, &slopes, &gradient, mu, stop) else { return false };
        let last = direction.len() - 1;
        let change = |i: usize| {
            let along: f64 = slopes[i].iter().zip(&direction).map(|(s, d)| s * d).sum();
            let ratio = self.eta[i] / (self.t - self.heights[i]);
            central[i] - self.eta[i] - ratio * (direction[last] - along)
        };
        let changes: Vec<f64> = (0..self.eta.len()).map(change).collect();
        let falling = self.eta.iter().zip(&changes).filter(|(_, c)| **c < 0.0);
        let mut step = falling.fold(1.0f64, |t, (e, c)| t.min(-0.95 * e / c));
        let mut work = EigenWork::default();
        for _ in 0..30 {
            if let Some(mut next) = self.moved(moments, step, &direction, &mut work) {
                next.eta.iter_mut().zip(&changes).for_each(|(e, c)| *e += step * c);
                *self = next;
                return true;
            }
            step *= 0.7;
        }
        false
    }

    /// What is left of stationarity: the norm, as a matrix, of the gradient in the moments at the current multipliers.
    pub(super) fn residual(&self, moments: &Moments, mu: f64) -> f64 {
        let gradient = self.gradient(moments, &self.slopes(moments), &self.eta, mu);
        let sizes = moments.classes.sizes()[1..].iter().map(|&s| f64::from(s));
        gradient.iter().zip(sizes).map(|(g, s)| g * g / s).sum::<f64>().sqrt()
    }

    /// Slopes of every height in every moment.
    fn slopes(&self, moments: &Moments) -> Vec<Vec<f64>> {
        (0..self.heights.len()).map(|i| self.height_slopes(moments, i)).collect()
    }

    /// Gradient of the Lagrangian with multipliers `eta` over (moments without the diagonal, t).
    fn gradient(&self, moments: &Moments, slopes: &[Vec<f64>], eta: &[f64], mu: f64) -> Vec<f64> {
        let count = moments.classes.len();
        let inverse = moments.classes.sums(self.inverse().data());
        let mut gradient: Vec<f64> = (1..count).map(|c| -moments.theta[c] - mu * inverse[c]).collect();
        for (slope, weight) in slopes.iter().zip(eta) {
            gradient.iter_mut().zip(slope).for_each(|(g, s)| *g += weight * s);
        }
        gradient.push(1.0 - eta.iter().sum::<f64>());
        gradient
    }

    /// The Newton direction over (moments without the diagonal, t); `stop` is asked between its parts.
    ///
    /// **Cost** O(N n^3 + N^3) for N classes.
    fn solve(
        &self,
        moments: &Moments,
        slopes: &[Vec<f64>],
        gradient: &[f64],
        mu: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Vec<f64>> {
        let count = moments.classes.len();
        let mut hessian = self.curvatures(moments, mu, stop)?;
        for (i, slope) in slopes.iter().enumerate() {
            let factor = self.eta[i] / (self.t - self.heights[i]);
            // The slope of the constraint t - height is -1 in t, in these signs.
            let entry = |k: usize| if k + 1 == count { -1.0 } else { slope[k] };
            for j in 0..count {
                let scaled = factor * entry(j);
                let column = &mut hessian.data_mut()[count * j..count * (j + 1)];
                column.iter_mut().enumerate().for_each(|(k, v)| *v += scaled * entry(k));
            }
            if stop() {
                return None;
            }
        }
        if !cholesky(&mut hessian) {
            return None;
        }
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        cholesky_solve(&hessian, &mut direction);
        direction.iter().all(|v| v.is_finite()).then_some(direction)
    }

    /// Slopes of `[h(Sigma)]_ii` in every moment.
    fn height_slopes(&self, moments: &Moments, i: usize) -> Vec<f64> {
        let n = moments.n();
        let row: Vec<f64> = (0..n).map(|k| self.eigen.vectors.at(i, k)).collect();
        let values = &self.eigen.values;
        let entry = |c: usize| row[c % n] * row[c / n] * first_difference(values[c % n], values[c / n]);
        let inner = Square::from_column_major(n, (0..n * n).map(entry).collect());
        let mut sums = moments.classes.sums(rotate_back(&self.eigen, &inner).data());
        sums.remove(0);
        sums
    }

    /// `sum_i eta_i D^2 [h(Sigma)]_ii - mu D^2 log det Sigma`, with a zero row for t; `None` once `stop` says so.
    fn curvatures(&self, moments: &Moments, mu: f64, stop: &mut dyn FnMut() -> bool) -> Option<Square> {
        let (n, count) = (moments.n(), moments.classes.len());
        let second = second_differences(&self.eigen.values);
        let rotated = rotated_weights(&self.eigen, &self.eta);
        let mut out = Square::zeros(count);
        for class in 1..count {
            if stop() {
                return None;
            }
            let v = moments.rotated(class, &self.eigen);
            let mut q = curvature(&second, &rotated, &v);
            for (k, (q, v)) in q.data_mut().iter_mut().zip(v.data()).enumerate() {
                *q += mu * v / (self.eigen.values[k % n] * self.eigen.values[k / n]);
            }
            let sums = moments.classes.sums(rotate_back(&self.eigen, &q).data());
            out.data_mut()[count * (class - 1)..count * class - 1].copy_from_slice(&sums[1..]);
        }
        Some(out)
    }
}
