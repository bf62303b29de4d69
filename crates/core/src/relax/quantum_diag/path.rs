//! The central path: barrier parameters that fall, and Newton steps at each.

use super::barrier::Barrier;
use super::moments::Moments;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::solution::StopReason;

/// The barrier parameter is multiplied by this from stage to stage.
const SHRINK: f64 = 0.2;
/// Newton steps per stage.
const PER_STAGE: usize = 20;
/// Squared Newton decrement, relative to mu, at which a stage ends.
const CENTRED: f64 = 1e-3;
/// Barrier parameter, relative to the value, from which on multipliers are variables of their own.
const NEAR: f64 = 1e-4;
/// Eigenvalues of Sigma, next to an average of 1, that carry few correct digits.
const NOISE: f64 = 1e-10;

/// Where the path ended, in units of eps.
pub(super) struct Outcome {
    pub(super) barrier: Barrier,
    pub(super) mu: f64,
    pub(super) stop: StopReason,
}

/// Minimises along decreasing barrier parameters until the proved gap, some `2 n mu`, is small.
pub(super) fn follow_path(
    problem: &Problem,
    moments: &Moments,
    tol: f64,
    monitor: &mut Monitor<'_>,
) -> Outcome {
    let (n, eps) = (moments.n() as f64, problem.eps());
    let constant = moments.constant / eps;
    let mut barrier = Barrier::start(moments);
    let mut mu = moments.scale().max(1.0) / n;
    loop {
        let size = (constant + barrier.primal(moments)).abs().max(1.0);
        // Below that the smallest eigenvalues are rounding, and further stages would follow it.
        let is_noise = barrier.eigen.values[0] < NOISE;
        let is_last = 2.0 * n * mu <= 0.4 * tol * size || is_noise;
        let is_near = mu <= NEAR * size;
        for _ in 0..PER_STAGE {
            let primal = eps * (constant + barrier.primal(moments));
            if let Some(stop) = monitor.iteration(primal, primal + eps * 2.0 * n * mu) {
                return Outcome { barrier, mu, stop };
            }
            let mut interruption = None;
            let mut stop = || {
                interruption = interruption.or_else(|| monitor.interrupted());
                interruption.is_some()
            };
            if is_near {
                let moved = barrier.refine(moments, mu, &mut stop);
                monitor.eigendecompositions += 1;
                if let Some(stop) = interruption {
                    return Outcome { barrier, mu, stop };
                }
                // The proof pays n times for what is left of the gradient.
                if !moved || barrier.residual(moments, mu) <= 0.05 * mu {
                    break;
                }
                continue;
            }
            let progress = barrier.newton(moments, mu, &mut stop);
            monitor.eigendecompositions += progress.evaluations;
            if let Some(stop) = interruption {
                return Outcome { barrier, mu, stop };
            }
            if progress.is_stuck && progress.decrement > CENTRED {
                return Outcome { barrier, mu, stop: StopReason::Stalled };
            }
            if progress.is_stuck || progress.decrement <= CENTRED {
                break;
            }
        }
        if is_last {
            return Outcome { barrier, mu, stop: StopReason::Converged };
        }
        mu *= SHRINK;
    }
}
