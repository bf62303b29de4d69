//! The solver loops: fixed edge probabilities, optimised ones, and message passing.

use super::Job;
use super::message_passing::{Passing, beliefs, pass_messages};
use super::newton::{cool, settle};
use super::point::Point;
use super::report::Outcome;
use super::rho::{INNER_TOL, Inner, RhoSearch, best_vertex};
use super::trees::{Messages, Mixture};
use crate::linalg::graph_system::GraphSystem;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::observer::Monitor;
use crate::settings::Solver;
use crate::solution::StopReason;

/// The dual side's best point so far.
struct Best {
    messages: Messages,
    upper: f64,
}

impl Best {
    /// Keeps `messages` if they give a better bound, and says so.
    fn offer(&mut self, mixture: &Mixture, job: &Job<'_>, messages: &Messages) -> bool {
        let upper = mixture.value(job.model, messages);
        let better = upper < self.upper;
        if better {
            *self = Best { messages: messages.clone(), upper };
        }
        better
    }
}

/// The dual point without messages, which splits fields evenly, and the primal point it suggests.
fn start(job: &Job<'_>, mixture: &Mixture, rho: &[f64]) -> (Best, Point) {
    let messages = vec![[0.0; 2]; rho.len()];
    let (upper, odds) = mixture.value_and_gradient(job.model, &messages, &mut vec![[0.0; 2]; rho.len()]);
    (Best { messages, upper }, Point::new(job.model, rho, odds))
}

/// Newton on the messages at the mixture's edge probabilities; every point is tried as a bound.
pub(super) fn solve_fixed(job: &Job<'_>, mixture: Mixture, monitor: &mut Monitor<'_>) -> Outcome {
    let rho = mixture.rho(job.model.ends.len());
    let mut system = GraphSystem::new(job.model.d, &job.model.ends, monitor.deadline());
    let (mut best, mut point) = start(job, &mixture, &rho);
    let mut lower = point.value;
    let mut stop = monitor.interrupted();
    let mut dual = cool(job.model, &rho, &mut system, &mut || {
        stop = stop.or_else(|| monitor.interrupted());
        stop.is_some()
    });
    if stop.is_none() {
        settle(job.model, &rho, &mut dual, &mut system, 0.0, &mut |dual| {
            best.offer(&mixture, job, &dual.messages);
            let candidate = Point::new(job.model, &rho, dual.odds.clone());
            if candidate.value > lower {
                lower = candidate.value;
                point = candidate;
            }
            stop = progress(job, monitor, lower, best.upper);
            stop.is_some()
        });
    }
    if stop.is_none() {
        stop = descend(job, &mixture, &rho, &mut best, (&mut point, &mut lower), monitor);
    }
    let stop = stop.unwrap_or(StopReason::Stalled);
    Outcome {
        stop,
        solver: Solver::Auto,
        mixture,
        messages: best.messages,
        point,
        lower,
        reason: None,
        settled: true,
    }
}

/// Records an iteration; says whether to stop, by convergence or by a limit.
fn progress(job: &Job<'_>, monitor: &mut Monitor<'_>, lower: f64, upper: f64) -> Option<StopReason> {
    let phi = |value: f64| job.eps * (job.constant + value);
    let limit = monitor.iteration(phi(lower), phi(upper));
    if upper - lower <= job.allowed_gap(upper) { Some(StopReason::Converged) } else { limit }
}

/// Where rounding stops Newton on the means (frozen spins), L-BFGS goes on with the dual side.
fn descend(
    job: &Job<'_>,
    mixture: &Mixture,
    rho: &[f64],
    best: &mut Best,
    (point, lower): (&mut Point, &mut f64),
    monitor: &mut Monitor<'_>,
) -> Option<StopReason> {
    let mut x: Vec<f64> = best.messages.iter().flatten().copied().collect();
    let mut average = Vec::new();
    let mut stop = None;
    let shared = std::cell::RefCell::new(&mut average);
    minimise(
        &mut |x, gradient| {
            let messages: Messages = x.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            let mut pairs = vec![[0.0; 2]; messages.len()];
            let (value, odds) = mixture.value_and_gradient(job.model, &messages, &mut pairs);
            gradient.copy_from_slice(pairs.as_flattened());
            **shared.borrow_mut() = odds;
            value
        },
        &mut x,
        None,
        LbfgsOptions::default(),
        &mut |value, x| {
            if value < best.upper {
                best.upper = value;
                best.messages = x.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            }
            let candidate = Point::new(job.model, rho, shared.borrow().clone());
            if candidate.value > *lower {
                *lower = candidate.value;
                *point = candidate;
            }
            stop = progress(job, monitor, *lower, best.upper);
            stop.is_some()
        },
    );
    stop
}

/// Conditional gradient on the edge probabilities around the Newton solve.
pub(super) fn solve_optimised(job: &Job<'_>, mixture: Mixture, monitor: &mut Monitor<'_>) -> Outcome {
    let model = job.model;
    let mut system = GraphSystem::new(model.d, &model.ends, monitor.deadline());
    let rho = mixture.rho(model.ends.len());
    let (mut best, mut lower_point) = start(job, &mixture, &rho);
    let mut lower = lower_point.value - best_vertex(model, &rho, &lower_point).1;
    let mut best_mixture = mixture.clone();
    let mut interrupted = monitor.interrupted();
    let mut poll = || {
        interrupted = interrupted.or_else(|| monitor.interrupted());
        interrupted.is_some()
    };
    let mut dual = cool(job.model, &rho, &mut system, &mut poll);
    settle(model, &rho, &mut dual, &mut system, INNER_TOL, &mut |_| poll());
    let inner = Inner::new(model, &mixture, rho, dual);
    let mut search = RhoSearch::new(model, mixture, inner, system, job.tol);
    let stop = loop {
        if best.offer(&search.mixture, job, &search.inner.dual.messages) {
            best_mixture = search.mixture.clone();
        }
        // Every round adds forests, and each has to be proved.
        job.reserve(&search.mixture, monitor);
        let (vertex, gain) = best_vertex(model, &search.inner.rho, &search.inner.primal);
        if search.inner.primal.value - gain > lower {
            lower = search.inner.primal.value - gain;
            lower_point = search.inner.primal.clone();
        }
        if let Some(stop) = interrupted.or(progress(job, monitor, lower, best.upper)) {
            break stop;
        }
        let target = 0.3 * job.allowed_gap(best.upper);
        let mut poll = || {
            interrupted = interrupted.or_else(|| monitor.interrupted());
            interrupted.is_some()
        };
        let improved = search.improve((&vertex, gain), target, &mut poll) || poll();
        if !improved && search.is_full() {
            break StopReason::MaxIterations;
        }
        if !improved && !search.lift(&mut poll) {
            break StopReason::Stalled;
        }
    };
    Outcome {
        stop,
        solver: Solver::Auto,
        mixture: best_mixture,
        messages: best.messages,
        point: lower_point,
        lower,
        reason: None,
        settled: true,
    }
}

/// Damped message passing at the mixture's edge probabilities.
pub(super) fn pass(job: &Job<'_>, mixture: Mixture, monitor: &mut Monitor<'_>) -> Outcome {
    let model = job.model;
    let rho = mixture.rho(model.ends.len());
    let (mut best, _) = start(job, &mixture, &rho);
    let mut messages = best.messages.clone();
    let mut limit = None;
    let ending = pass_messages(model, &rho, &mut messages, &mut |_| {
        limit = monitor.iteration(f64::NAN, f64::NAN);
        limit.is_some()
    });
    best.offer(&mixture, job, &messages);
    let point = Point::new(model, &rho, beliefs(model, &rho, &messages));
    let lower = point.value;
    let stop = match ending {
        Passing::Converged if best.upper - lower <= job.allowed_gap(best.upper).max(1e-6) => {
            StopReason::Converged
        }
        Passing::Stopped => limit.unwrap_or(StopReason::MaxIterations),
        _ => StopReason::Stalled,
    };
    let settled = stop == StopReason::Converged;
    let reason = (!settled).then(|| {
        "message passing did not converge: the value of its last messages is only an estimate, --solver auto certifies a bound"
            .to_owned()
    });
    let solver = Solver::MessagePassing;
    Outcome { stop, solver, mixture, messages: best.messages, point, lower, reason, settled }
}
