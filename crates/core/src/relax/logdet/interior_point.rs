//! A feasible primal-dual interior-point method on the moments.
//!
//! In units of eps the relaxation is `max <F, Sigma> + (1/2) log det X`, `X = Sigma + diag(0, 1/3, ...)`,
//! over unit-diagonal Sigma > 0 with nonnegative pairwise slacks s. Its dual variables are `S > 0`,
//! `nu >= 0` and `M > 0` with hollow part `M = -(F + S + A^T nu)`; the diagonal of M is free, so
//! both sides start feasible and stay so, and every iterate brackets the optimum.
//! Optimality is `Sigma S = 0`, `s nu = 0`, `X M = I/2`: the log-det term acts as a barrier whose
//! parameter stops at 1/2.

use super::cuts::{Cuts, zip_quads};
use super::newton::{Linearization, Step};
use crate::linalg::symmetric::{log_det, plus, step_to_boundary};
use crate::linalg::{Eigen, EigenWork, Square, dot, eigh, longest_step};
use crate::observer::Monitor;
use crate::relax::cuts::quad::Quad;
use crate::solution::StopReason;

/// The relaxation in units of eps.
pub(super) struct Program {
    /// F without its diagonal.
    pub(super) f: Square,
    /// Pairwise constraints.
    pub(super) cuts: Cuts,
    /// Terms of the value that do not depend on the variables.
    pub(super) offset: f64,
}

/// A strictly feasible primal-dual point.
#[derive(Clone)]
pub(super) struct Point {
    /// Moments, unit diagonal.
    pub(super) sigma: Square,
    /// Values of the pairwise constraints.
    pub(super) slack: Vec<Quad>,
    /// Multiplier of Sigma >= 0.
    pub(super) s: Square,
    /// Multipliers of the pairwise constraints.
    pub(super) nu: Vec<Quad>,
    /// `diag(lambda) - F'`.
    pub(super) m: Square,
}

/// The best bracket found, in units of eps.
pub(super) struct Outcome {
    /// Primal point of the best primal value.
    pub(super) sigma: Square,
    /// Dual point of the best dual value.
    pub(super) dual: Point,
    /// Best primal value.
    pub(super) lower: f64,
    /// Best dual value.
    pub(super) upper: f64,
    /// Why the iteration ended.
    pub(super) stop: StopReason,
}

/// Iterations after which the method gives up without a user's cap.
pub(super) const MAX_ITERATIONS: usize = 100;

/// Iterations in which the gap shrinks by less than a tenth that count as a stall.
const PATIENCE: usize = 5;

/// Up to this many moments the dense Newton system is the faster one.
const MAX_DENSE: usize = 300;

/// Up to this many moments a stall of the structured system, which loses digits when f/eps exceeds
/// 1e6 or so, is overcome by the dense one.
const MAX_DENSE_RESCUE: usize = 2000;

/// Below this multiple of |F| the products `X M` are rounding noise: at lower temperatures the
/// log-det barrier stops here, at a cost of the same relative size.
const BARRIER_FLOOR: f64 = 1e-13;

/// Largest square of the relative error that an inexact solve may leave in M.
const PREDICTOR_ERROR: f64 = 1e-2;

/// Operations of a step with the structured system, in units of n^3: two scalings, the closed inverse, the preconditioner's
/// factorisation and the steps to the boundary. Conjugate gradients come on top and look at the clock themselves.
const ADVANCE: f64 = 150.0;

/// Solves `program` to relative gap `tol`; `eps` only turns values into those the monitor shows.
pub(super) fn solve(program: &Program, tol: f64, eps: f64, monitor: &mut Monitor<'_>) -> Outcome {
    let mut work = EigenWork::default();
    let (mut point, scale) = program.start(&mut work, monitor);
    let barrier = f64::max(0.5, BARRIER_FLOOR * scale);
    let mut best = program.first_outcome(&point);
    let moments = program.f.n() * (program.f.n() - 1) / 2;
    let mut dense = moments <= MAX_DENSE;
    let (mut idle, mut milestone) = (0, f64::INFINITY);
    loop {
        let stop = monitor.iteration(eps * best.lower, eps * best.upper);
        if best.gap() <= tol * best.upper.abs().max(1.0) {
            return best.stopped(StopReason::Converged);
        }
        if let Some(stop) = stop {
            return best.stopped(stop);
        }
        let n = program.f.n() as f64;
        let operations = if dense { (moments as f64).powi(3) / 3.0 } else { ADVANCE * n.powi(3) };
        if !monitor.deadline().may_begin(operations) {
            return best.stopped(StopReason::TimeLimit);
        }
        let next = program.advance(&point, barrier, dense, &mut work, monitor);
        if let Some((next, lower, upper)) = next.and_then(|p| program.values(&p).map(|(l, u)| (p, l, u))) {
            point = next;
            best.improve(&point, lower, upper);
            idle += 1;
        } else {
            idle = PATIENCE;
        }
        if best.gap() < 0.9 * milestone {
            (idle, milestone) = (0, best.gap());
        }
        if idle >= PATIENCE {
            if dense || moments > MAX_DENSE_RESCUE {
                return best.stopped(StopReason::Stalled);
            }
            (dense, idle) = (true, 0);
        }
    }
}

impl Outcome {
    fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    fn stopped(self, stop: StopReason) -> Self {
        Outcome { stop, ..self }
    }

    fn improve(&mut self, point: &Point, lower: f64, upper: f64) {
        if lower > self.lower {
            (self.lower, self.sigma) = (lower, point.sigma.clone());
        }
        if upper < self.upper {
            (self.upper, self.dual) = (upper, point.clone());
        }
    }
}

impl Program {
    /// The point `Sigma = I` with dual variables large enough to be feasible, and their size.
    fn start(&self, work: &mut EigenWork, monitor: &mut Monitor<'_>) -> (Point, f64) {
        let n = self.f.n();
        let root = |i: usize| x_diagonal(i).sqrt();
        let mut scaled = self.f.clone();
        for j in 0..n {
            for i in 0..n {
                scaled.data_mut()[i + n * j] *= root(i) * root(j);
            }
        }
        monitor.eigendecompositions += 1;
        let mut eigen = Eigen::default();
        let largest = if eigh(&scaled, &mut eigen, work) {
            eigen.values[n - 1].max(-eigen.values[0])
        } else {
            (0..n).map(|j| scaled.column(j).iter().map(|v| v.abs()).sum()).fold(0.0, f64::max)
        };
        let size = f64::max(0.5, 2.0 * largest);
        let diagonal = |f: &dyn Fn(usize) -> f64| {
            let mut out = Square::zeros(n);
            (0..n).for_each(|i| out.data_mut()[i * (n + 1)] = f(i));
            out
        };
        let m = plus(&diagonal(&|i| size / x_diagonal(i)), -1.0, &self.f);
        let quads = |v: f64| vec![[v; 4]; self.cuts.pairs.len()];
        let sigma = Square::identity(n);
        (
            Point { sigma, slack: quads(1.0), s: diagonal(&|_| size), nu: quads(size * self.cut_share()), m },
            size,
        )
    }

    /// The bracket at the start: S and nu do not enter M there, so the dual value is better without.
    fn first_outcome(&self, point: &Point) -> Outcome {
        let mut dual = point.clone();
        dual.s.data_mut().fill(0.0);
        dual.nu.iter_mut().for_each(|nu| *nu = [0.0; 4]);
        let (lower, upper) = self.values(&dual).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let stop = StopReason::NumericalTrouble;
        Outcome { sigma: point.sigma.clone(), dual, lower, upper, stop }
    }

    /// Primal and dual value, `None` when a matrix is no longer numerically definite.
    pub(super) fn values(&self, point: &Point) -> Option<(f64, f64)> {
        let lower = self.f.dot(&point.sigma) + 0.5 * log_det(&shifted(&point.sigma))?;
        Some((lower + self.offset, self.dual_value(point)?))
    }

    /// The closed form of the bound, `None` when M is not positive definite.
    pub(super) fn dual_value(&self, point: &Point) -> Option<f64> {
        let n = self.f.n();
        let multipliers: f64 = point.nu.iter().flatten().sum::<f64>() + point.s.diagonal().sum::<f64>();
        let linear: f64 = point.m.diagonal().enumerate().map(|(i, v)| v * x_diagonal(i)).sum();
        let log_det = log_det(&point.m)? + n as f64 * std::f64::consts::LN_2;
        Some(multipliers + linear - 0.5 * log_det - 0.5 * n as f64 + self.offset)
    }

    /// One predictor-corrector step; `None` when no factorisation or no step is possible.
    fn advance(
        &self,
        point: &Point,
        barrier: f64,
        dense: bool,
        work: &mut EigenWork,
        monitor: &mut Monitor<'_>,
    ) -> Option<Point> {
        let linear = Linearization::new(point, &self.cuts, work)?;
        let system = linear.system(dense, work)?;
        monitor.eigendecompositions += if dense { 2 } else { 4 };
        let mut interrupted = || monitor.interrupted().is_some();
        let mu = self.complementarity(point);
        let count = self.f.n() as f64 + self.cut_share() * self.cuts.len() as f64;

        let predictor =
            linear.direction(&system, [0.0, 0.0, barrier], None, PREDICTOR_ERROR * barrier, &mut interrupted);
        let (primal, dual) = self.longest(point, &predictor);
        let ahead = self.complementarity(&self.moved(point, &predictor, primal, dual));
        // Short predictor steps ask for more centring (the rule of SDPT3).
        let exponent = (3.0 * primal.min(dual).powi(2)).max(1.0);
        let target = mu * (ahead / mu).clamp(0.0, 1.0).powf(exponent).max(1e-6);
        // An error of relative size e in M costs about e^2 / 4 of duality gap.
        let error = barrier * PREDICTOR_ERROR.min(0.05 * target * count / barrier);
        let targets = [target, target * self.cut_share(), barrier.max(target)];
        let step = linear.direction(&system, targets, Some(&predictor), error, &mut interrupted);
        let (primal, dual) = self.longest(point, &step);
        let damp = |t: f64| if t < 1.0 { (0.9 + 0.09 * primal.min(dual)) * t } else { 1.0 };
        let (primal, dual) = (damp(primal), damp(dual));
        (primal.max(dual) > 1e-10).then(|| self.moved(point, &step, primal, dual))
    }

    /// Weight of a cut's barrier: all cuts together weigh as much as Sigma > 0, because few of many
    /// are ever active and the rest would only hold the iterates back.
    fn cut_share(&self) -> f64 {
        (self.f.n() as f64 / self.cuts.len().max(1) as f64).min(1.0)
    }

    /// Mean of the products that vanish at the optimum.
    fn complementarity(&self, point: &Point) -> f64 {
        let count = self.f.n() as f64 + self.cut_share() * self.cuts.len() as f64;
        (point.sigma.dot(&point.s) + dot(point.slack.as_flattened(), point.nu.as_flattened())) / count
    }

    /// Longest primal and dual steps inside the cones, at most 1.
    fn longest(&self, point: &Point, step: &Step) -> (f64, f64) {
        let primal = step_to_boundary(&point.sigma, &step.sigma)
            .min(longest_step(point.slack.as_flattened(), step.slack.as_flattened()));
        let dual = step_to_boundary(&point.s, &step.s)
            .min(step_to_boundary(&point.m, &step.m))
            .min(longest_step(point.nu.as_flattened(), step.nu.as_flattened()));
        (primal, dual)
    }

    /// The point after a step, with slacks and the hollow part of M re-derived so that both sides
    /// are feasible up to the rounding of one sum.
    fn moved(&self, point: &Point, step: &Step, primal: f64, dual: f64) -> Point {
        let sigma = plus(&point.sigma, primal, &step.sigma);
        let slack = self.cuts.values(&sigma, 1.0);
        let s = plus(&point.s, dual, &step.s);
        let nu = zip_quads(&point.nu, &step.nu, |nu, dnu| nu + dual * dnu);
        let diagonal = point.m.diagonal().zip(step.m.diagonal()).map(|(v, dv)| v + dual * dv);
        let m = self.complete(&s, &nu, diagonal);
        Point { sigma, slack, s, nu, m }
    }

    /// M with the given diagonal and hollow part `-(F + S + A^T nu)`.
    pub(super) fn complete(&self, s: &Square, nu: &[Quad], diagonal: impl Iterator<Item = f64>) -> Square {
        self.cuts.complete(&plus(&self.f, 1.0, s), nu, diagonal)
    }
}

/// Diagonal of X: 1 for the constant, 4/3 for a spin.
pub(super) fn x_diagonal(i: usize) -> f64 {
    if i == 0 { 1.0 } else { 4.0 / 3.0 }
}

/// `X = Sigma + diag(0, 1/3, ..., 1/3)`.
pub(super) fn shifted(sigma: &Square) -> Square {
    let mut x = sigma.clone();
    let n = x.n();
    x.data_mut().iter_mut().step_by(n + 1).skip(1).for_each(|v| *v += 1.0 / 3.0);
    x
}
