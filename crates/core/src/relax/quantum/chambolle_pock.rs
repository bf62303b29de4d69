//! Algorithm 1 of the paper: Chambolle-Pock on `min_Sigma F(Sigma) + G(Sigma)`.
//!
//! `G(Sigma) = (eps/n)(tr Sigma log Sigma - tr Sigma + n) - tr Sigma F` and F the indicator of
//! `V` with trace n. Kept as in the paper, in the paper's units; the certified value comes from the
//! log form of the dual at the last y, which is never worse than the paper's own.

use super::general::feasible_value;
use crate::features::Classes;
use crate::linalg::{Eigen, EigenWork, Square, eigh, multiply, wright_omega};
use crate::observer::Monitor;
use crate::settings::Settings;
use crate::solution::StopReason;

/// The last iterate.
pub(crate) struct Outcome {
    /// Y in V_perp (units of F): `F - Y` gives the bound.
    pub(crate) y: Square,
    /// Best primal value.
    pub(crate) primal: f64,
    /// The moment matrix behind it, before shrinking.
    pub(crate) sigma: Square,
    /// Why it ended.
    pub(crate) stop: StopReason,
}

/// Runs from `Sigma = I`, `y = 0`, until the gap is below `tol max(eps, |dual|)`.
pub(crate) fn minimise(
    classes: &Classes,
    f: &Square,
    eps: f64,
    constant: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Outcome {
    let n = f.n();
    let (tau, sigma) = (settings.cp_tau, settings.cp_sigma);
    let mut work = Work::new(n);
    let mut x = Square::identity(n);
    let mut x_bar = x.clone();
    let mut y = Square::zeros(n);
    let mut best = (f64::INFINITY, Square::zeros(n));
    let mut primal = (f64::NEG_INFINITY, x.clone());
    let mut scaled = Square::zeros(n);
    scaled.data_mut().iter_mut().zip(f.data()).for_each(|(s, v)| *s = v * n as f64 / eps);
    let stop = loop {
        prox_indicator_conjugate(classes, &mut y, &x_bar, sigma);
        let x_new = match work.prox_g(f, &x, &y, tau, eps) {
            Some(x_new) => x_new,
            None => break StopReason::NumericalTrouble,
        };
        for ((bar, new), old) in x_bar.data_mut().iter_mut().zip(x_new.data()).zip(x.data()) {
            *bar = 2.0 * new - old;
        }
        x = x_new;
        monitor.eigendecompositions += 3;
        let dual = work.dual(classes, f, &y, eps);
        if dual < best.0 {
            best = (dual, y.clone());
        }
        let mut feasible = x.clone();
        project_unit(classes, &mut feasible);
        let value = eps * feasible_value(&scaled, &feasible, &mut work.eigen_work);
        if value > primal.0 {
            primal = (value, feasible);
        }
        let (lower, upper) = (primal.0 + constant, best.0 + constant);
        if upper - lower <= settings.tol * upper.abs().max(eps) {
            monitor.iteration(lower, upper);
            break StopReason::Converged;
        }
        if let Some(reason) = monitor.iteration(lower, upper) {
            break reason;
        }
    };
    let mut y = best.1;
    to_perp(classes, &mut y);
    Outcome { y, primal: primal.0, sigma: primal.1, stop }
}

/// `(I + s dF*)^{-1}(y + s x_bar)` by Moreau: `z - proj_V z - (s - tr(proj_V z)/n) I`.
fn prox_indicator_conjugate(classes: &Classes, y: &mut Square, x_bar: &Square, s: f64) {
    let n = y.n();
    y.data_mut().iter_mut().zip(x_bar.data()).for_each(|(y, x)| *y += s * x);
    let trace: f64 = y.diagonal().sum::<f64>() / n as f64;
    classes.project_perp(y.data_mut());
    y.data_mut().iter_mut().step_by(n + 1).for_each(|d| *d += trace - s);
}

/// Projection on V with unit diagonal.
fn project_unit(classes: &Classes, m: &mut Square) {
    let n = m.n();
    classes.project(m.data_mut());
    m.data_mut().iter_mut().step_by(n + 1).for_each(|d| *d = 1.0);
}

/// The iterate y lies in V_perp + R I: take the multiple of the identity out.
fn to_perp(classes: &Classes, y: &mut Square) {
    classes.project_perp(y.data_mut());
    y.symmetrize();
}

struct Work {
    eigen: Eigen,
    eigen_work: EigenWork,
    matrix: Square,
    scaled: Square,
}

impl Work {
    fn new(n: usize) -> Self {
        Work {
            eigen: Eigen::default(),
            eigen_work: EigenWork::default(),
            matrix: Square::zeros(n),
            scaled: Square::zeros(n),
        }
    }

    /// `(I + tau dG)^{-1}(x - tau y) = lambda Omega(M - log lambda)`, `M = (n/eps)(F + x0/tau)`,
    /// `lambda = tau eps / n`, Omega the Wright function on the spectrum.
    fn prox_g(&mut self, f: &Square, x: &Square, y: &Square, tau: f64, eps: f64) -> Option<Square> {
        let n = f.n();
        let ratio = n as f64 / eps;
        for (k, m) in self.matrix.data_mut().iter_mut().enumerate() {
            *m = ratio * (f.data()[k] + x.data()[k] / tau - y.data()[k]);
        }
        self.matrix.symmetrize();
        if !eigh(&self.matrix, &mut self.eigen, &mut self.eigen_work) {
            return None;
        }
        let lambda = tau / ratio;
        for k in 0..n {
            let value = lambda * wright_omega(self.eigen.values[k] - lambda.ln());
            let target = &mut self.scaled.data_mut()[n * k..n * (k + 1)];
            target.iter_mut().zip(self.eigen.vectors.column(k)).for_each(|(t, u)| *t = value * u);
        }
        let mut out = Square::zeros(n);
        multiply::square_by_transpose(&self.scaled, &self.eigen.vectors, &mut out);
        out.symmetrize();
        Some(out)
    }

    /// `eps log((1/n) tr exp((n/eps)(F - Y)))`, Y the V_perp part of y.
    fn dual(&mut self, classes: &Classes, f: &Square, y: &Square, eps: f64) -> f64 {
        let n = f.n();
        let ratio = n as f64 / eps;
        self.matrix.data_mut().copy_from_slice(y.data());
        to_perp(classes, &mut self.matrix);
        self.matrix.data_mut().iter_mut().zip(f.data()).for_each(|(m, f)| *m = ratio * (f - *m));
        if !eigh(&self.matrix, &mut self.eigen, &mut self.eigen_work) {
            return f64::INFINITY;
        }
        let top = self.eigen.values[n - 1];
        let total: f64 = self.eigen.values.iter().map(|l| (l - top).exp()).sum();
        eps * (top + (total / n as f64).ln())
    }
}
