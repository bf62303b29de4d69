//! The semidefinite relaxation of small pairwise functions, with triangle cuts, by an interior-point method.
//!
//! `max <P, X>`, `diag X = 1`, `1 + <A_k, X> >= 0`, X PSD against `min sum y + sum gamma`, `Z = diag(y) - P - sum gamma_k A_k` PSD,
//! gamma >= 0, with the direction of Helmberg, Rendl, Vanderbei and Wolkowicz. Both sides stay strictly feasible,
//! so whatever iterate it stops at is a bound.

use super::quadratic::Quadratic;
use crate::linalg::symmetric::{cholesky, cholesky_solve, lower_inverse, multiply, plus, step_to_boundary};
use crate::linalg::{Square, longest_step};
use crate::observer::Monitor;
use crate::relax::cuts::Triangle;
use crate::solution::StopReason;

/// A strictly feasible pair, in the scaled units of [`Quadratic`].
pub(super) struct Iterate {
    /// X.
    pub(super) x: Square,
    /// Multipliers of the diagonal.
    pub(super) y: Vec<f64>,
    /// Multipliers of the cuts.
    pub(super) gamma: Vec<f64>,
    /// `<P, X>`.
    pub(super) primal: f64,
    /// Why it stopped.
    pub(super) stop: StopReason,
}

/// Fraction of the way to the boundary that a step may go.
const BACK_OFF: f64 = 0.95;

/// When to stop.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// Gap relative to the dual value.
    pub(super) tol: f64,
    /// A dual value, constant included, below which there is nothing more to prove.
    pub(super) enough: f64,
}

impl Pace {
    /// To a gap of `tol`.
    pub(super) fn to(tol: f64) -> Self {
        Pace { tol, enough: f64::NEG_INFINITY }
    }
}

/// Solves to a gap of `tol |dual + constant|`, or until the dual value is enough.
///
/// **Cost** per iteration some 8 n^3 + (n + k)^3 / 3 flops for k cuts; 10 to 25 iterations.
pub(super) fn solve(
    p: &Quadratic,
    cuts: &[Triangle],
    constant: f64,
    Pace { tol, enough }: Pace,
    monitor: &mut Monitor<'_>,
) -> Iterate {
    let mut state = State::new(p, cuts);
    let mut centring = 0.5;
    let stop = loop {
        let (primal, dual) = state.values();
        if let Some(stop) = monitor.iteration(constant + p.scale * primal, constant + p.scale * dual) {
            break stop;
        }
        let is_enough = constant + p.scale * dual < enough;
        if is_enough || dual - primal <= tol * (dual + constant / p.scale).abs() {
            break StopReason::Converged;
        }
        match state.step(centring) {
            // Short steps need more centring.
            Some(length) if length > 1e-8 => {
                centring = if length > 0.9 {
                    0.1
                } else if length > 0.6 {
                    0.3
                } else {
                    0.6
                };
            }
            _ => break StopReason::Stalled,
        }
    };
    let (primal, _) = state.values();
    Iterate { x: state.x, y: state.y, gamma: state.gamma, primal, stop }
}

struct State<'a> {
    cuts: &'a [Triangle],
    /// P, dense.
    matrix: Square,
    x: Square,
    z: Square,
    y: Vec<f64>,
    gamma: Vec<f64>,
    /// `1 + <A_k, X>`.
    slack: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(p: &Quadratic, cuts: &'a [Triangle]) -> Self {
        let n = p.n();
        let mut matrix = Square::zeros(n);
        for i in 0..n {
            p.row(i).iter().for_each(|&(j, v)| matrix.data_mut()[i + n * j as usize] = v);
        }
        let gamma = vec![1e-2; cuts.len()];
        let mut z = matrix.clone();
        z.data_mut().iter_mut().for_each(|v| *v = -*v);
        add_cuts(&mut z, cuts, &gamma, -1.0);
        // Diagonally dominant, hence positive definite.
        let row_sum = |j: usize| z.column(j).iter().map(|v| v.abs()).sum::<f64>();
        let y: Vec<f64> = (0..n).map(|j| 1.1 * row_sum(j) + 1e-2).collect();
        z.data_mut().iter_mut().step_by(n + 1).zip(&y).for_each(|(v, y)| *v += y);
        State { cuts, matrix, x: Square::identity(n), z, y, gamma, slack: vec![1.0; cuts.len()] }
    }

    fn values(&self) -> (f64, f64) {
        (self.matrix.dot(&self.x), self.y.iter().sum::<f64>() + self.gamma.iter().sum::<f64>())
    }

    /// One step; its length, the shorter of both sides, or `None` when the linear algebra fails.
    fn step(&mut self, centring: f64) -> Option<f64> {
        let (n, k) = (self.x.n(), self.cuts.len());
        let inverse = inverse(&self.z)?;
        let pairs: f64 = self.gamma.iter().zip(&self.slack).map(|(g, t)| g * t).sum();
        let mu = centring * (self.x.dot(&self.z) + pairs) / (n + k) as f64;
        let direction = self.solve_newton(&inverse, mu)?;
        let (dy, dgamma) = direction.split_at(n);
        let mut dz = Square::zeros(n);
        dz.data_mut().iter_mut().step_by(n + 1).zip(dy).for_each(|(v, d)| *v = *d);
        add_cuts(&mut dz, self.cuts, dgamma, -1.0);
        let dx = self.primal_direction(&inverse, &dz, mu);
        let dslack: Vec<f64> = self.cuts.iter().map(|c| c.moment(&dx)).collect();
        let primal = back_off(step_to_boundary(&self.x, &dx).min(longest_step(&self.slack, &dslack)));
        let dual = back_off(step_to_boundary(&self.z, &dz).min(longest_step(&self.gamma, dgamma)));
        self.x = plus(&self.x, primal, &dx);
        self.x.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        self.slack = self.cuts.iter().map(|c| 1.0 + c.moment(&self.x)).collect();
        self.y.iter_mut().zip(dy).for_each(|(y, d)| *y += dual * d);
        self.gamma.iter_mut().zip(dgamma).for_each(|(g, d)| *g += dual * d);
        self.z = plus(&self.z, dual, &dz);
        let sound = self.slack.iter().chain(&self.gamma).all(|v| *v > 0.0);
        sound.then_some(primal.min(dual))
    }

    /// `mu Z^-1 - X - Z^-1 dZ X`, symmetrised.
    fn primal_direction(&self, inverse: &Square, dz: &Square, mu: f64) -> Square {
        let n = self.x.n();
        let (mut product, mut out) = (Square::zeros(n), Square::zeros(n));
        multiply(&mut product, dz.view(), self.x.view());
        multiply(&mut out, inverse.view(), product.view());
        for ((o, i), x) in out.data_mut().iter_mut().zip(inverse.data()).zip(self.x.data()) {
            *o = mu * i - x - *o;
        }
        out.symmetrize();
        out
    }

    /// `(dy, dgamma)` from the normal equations `M_ij = tr A_i Z^-1 A_j X`.
    fn solve_newton(&self, inverse: &Square, mu: f64) -> Option<Vec<f64>> {
        let (n, k) = (self.x.n(), self.cuts.len());
        let size = n + k;
        let mut m = Square::zeros(size);
        let data = m.data_mut();
        for j in 0..n {
            let entries = inverse.column(j).iter().zip(self.x.column(j));
            data[size * j..size * j + n].iter_mut().zip(entries).for_each(|(m, (i, x))| *m = i * x);
        }
        for (c, cut) in self.cuts.iter().enumerate() {
            // Row of the cut, lower triangle: first the diagonal constraints, then the other cuts.
            for (a, b, s) in cut.entries() {
                let half = 0.5 * s;
                let columns = [inverse.column(a), self.x.column(b), inverse.column(b), self.x.column(a)];
                for i in 0..n {
                    data[n + c + size * i] -=
                        half * (columns[0][i] * columns[1][i] + columns[2][i] * columns[3][i]);
                }
            }
            for (e, other) in self.cuts[..=c].iter().enumerate() {
                data[n + c + size * (n + e)] = coupling(cut, other, inverse, &self.x);
            }
            data[n + c + size * (n + c)] += self.slack[c] / self.gamma[c];
        }
        let mut rhs: Vec<f64> = inverse.diagonal().map(|v| mu * v - 1.0).collect();
        for (cut, gamma) in self.cuts.iter().zip(&self.gamma) {
            rhs.push(mu / gamma - 1.0 - mu * cut.moment(inverse));
        }
        if !cholesky(&mut m) {
            return None;
        }
        cholesky_solve(&m, &mut rhs);
        rhs.iter().all(|v| v.is_finite()).then_some(rhs)
    }
}

/// `tr A Z^-1 B X` for two triangles, symmetrised.
fn coupling(a: &Triangle, b: &Triangle, inverse: &Square, x: &Square) -> f64 {
    let mut sum = 0.0;
    for (i, j, s) in a.entries() {
        for (k, l, t) in b.entries() {
            let around = |i: usize, j: usize| inverse.at(j, k) * x.at(l, i) + inverse.at(j, l) * x.at(k, i);
            sum += 0.25 * s * t * (around(i, j) + around(j, i));
        }
    }
    sum
}

/// Adds `sign * sum_k weights_k A_k`.
fn add_cuts(matrix: &mut Square, cuts: &[Triangle], weights: &[f64], sign: f64) {
    let n = matrix.n();
    let data = matrix.data_mut();
    for (cut, weight) in cuts.iter().zip(weights) {
        for (i, j, s) in cut.entries() {
            let v = 0.5 * sign * weight * s;
            data[i + n * j] += v;
            data[j + n * i] += v;
        }
    }
}

fn inverse(z: &Square) -> Option<Square> {
    let mut factor = z.clone();
    if !cholesky(&mut factor) {
        return None;
    }
    let l = lower_inverse(&factor);
    let mut out = Square::zeros(z.n());
    multiply(&mut out, l.view().transpose(), l.view());
    out.symmetrize();
    Some(out)
}

fn back_off(step: f64) -> f64 {
    if step < 1.0 { BACK_OFF * step } else { 1.0 }
}
