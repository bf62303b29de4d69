//! The single relaxations that the combined bound starts from.

use super::plan;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::relax::{LogDet, Quantum, QuantumGreedy, Relaxation, Trw};
use crate::settings::{Greedy, Method, Pairwise, Rho, Settings, Solver};
use crate::solution::{Solution, StopReason};

/// Spins up to which greedy selection is one of the parts and tree distributions are optimised.
const SMALL: usize = 20;
/// Spins up to which log-det keeps the constraints of all pairs.
pub(super) const MIDDLE: usize = 60;
/// Spins above which every part has a time limit, as the combined program is out of reach as well.
pub(super) const LARGE: usize = 500;
/// Seconds of that limit.
const SECONDS: f64 = 5.0;
/// Seconds for optimised trees where nothing can be combined.
const LAST_SECONDS: f64 = 20.0;
/// Share of the caller's time limit given to each part, on middling and on larger models.
const SHARE: [f64; 2] = [0.15, 0.05];
/// Share of the time left for the quantum bound of a large dense model; when it is expected to need more, it gets all of
/// it, for nothing else would come to an end.
const QUANTUM_SHARE: f64 = 0.4;
/// Parts of large models that would take more than this share of the time left are left out.
const AFFORDABLE: f64 = 0.15;

/// What the single relaxations found.
pub(super) struct Parts {
    pub(super) best: Solution,
    /// For its forests.
    pub(super) trw: Solution,
    /// For its features; without any when greedy selection was not run.
    pub(super) greedy: Solution,
}

/// The better certified of two solutions; an uncertified one never wins.
pub(super) fn better(a: Solution, b: Solution) -> Solution {
    let value = |s: &Solution| s.upper.map_or(f64::INFINITY, |u| u.phi());
    if value(&a) <= value(&b) { a } else { b }
}

impl Parts {
    /// Runs TRW, quantum on (1, x) and on the problem's features, log-det, and greedy selection on small models.
    ///
    /// # Errors
    /// Settings that a relaxation refuses.
    pub(super) fn solve(problem: &Problem, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Self> {
        let d = problem.d();
        let linear = problem.with_features(Features::degree(d, 1))?;
        // The combined program optimises the distribution itself: on larger models a fixed one will do.
        let rho = if d <= SMALL { settings.rho } else { Rho::Resistance };
        let pairwise = if d <= MIDDLE { settings.pairwise } else { Pairwise::Edges };
        let settings = &Settings { rho, pairwise, ..settings.clone() };
        if d > MIDDLE && monitor.seconds_left().is_some() {
            return Parts::in_a_hurry(problem, &linear, settings, monitor);
        }
        let trw = part(&Trw, problem, settings, monitor)?;
        let mut best = trw.clone();
        let own: [(&dyn Relaxation, &Problem); 3] =
            [(&Quantum::default(), &linear), (&Quantum::default(), problem), (&LogDet, problem)];
        for (k, (relaxation, problem)) in own.into_iter().enumerate() {
            if (k != 1 || !problem.features().is_linear()) && monitor.interrupted().is_none() {
                best = better(part(relaxation, problem, settings, monitor)?, best);
            }
        }
        let mut greedy = Solution::new(Method::QuantumGreedy, StopReason::Stalled);
        if d <= SMALL && monitor.interrupted().is_none() {
            let count = match settings.greedy {
                Greedy::Count(count) => Greedy::Count(count),
                Greedy::Auto => Greedy::Count(3),
            };
            greedy = part(&QuantumGreedy, &linear, &settings.clone().with_greedy(count), monitor)?;
            best = better(greedy.clone(), best);
        }
        Ok(Parts { best, trw, greedy })
    }

    /// The parts of a larger model under a time limit, by what they cost.
    fn in_a_hurry(
        problem: &Problem,
        linear: &Problem,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        let none = |method| Solution::new(method, StopReason::Stalled);
        let n = problem.d() as f64 + 1.0;
        let left = monitor.deadline().seconds_left();
        let dense = problem.polynomial().as_ising().is_some_and(plan::is_dense);
        let quantum = monitor.deadline().dense_seconds(plan::quantum_operations(n));
        let greedy = none(Method::QuantumGreedy);
        if dense && quantum > QUANTUM_SHARE * left {
            let best = limited(&Quantum::default(), linear, settings, None, monitor)?;
            return Ok(Parts { best, trw: none(Method::Trw), greedy });
        }
        let mut best = none(Method::Quantum);
        if dense || quantum < AFFORDABLE * left {
            // Stopped at a share of the time, it would leave a worse bound than alone to those that may not get far.
            let share = Some(QUANTUM_SHARE * left).filter(|_| !dense);
            best = limited(&Quantum::default(), linear, settings, share, monitor)?;
        }
        // On large dense graphs trees are many and say little; the first-order method has its own.
        let mut trw = none(Method::Trw);
        if !(dense && problem.d() > LARGE) && monitor.interrupted().is_none() {
            trw = part(&Trw, problem, settings, monitor)?;
            best = better(trw.clone(), best);
        }
        if !problem.features().is_linear() && monitor.interrupted().is_none() {
            best = better(part(&Quantum::default(), problem, settings, monitor)?, best);
        }
        let log_det = monitor.deadline().dense_seconds(plan::LOG_DET * n.powi(3));
        if log_det < AFFORDABLE * left && monitor.interrupted().is_none() {
            let share = Some(AFFORDABLE * left);
            best = better(limited(&LogDet, problem, settings, share, monitor)?, best);
        }
        Ok(Parts { best, trw, greedy })
    }
}

/// TRW with the distribution asked for, in the time that is left: for models on which nothing can be combined.
///
/// # Errors
/// Settings that TRW refuses.
pub(super) fn best_trees(
    problem: &Problem,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let limit = monitor.seconds_left().unwrap_or(LAST_SECONDS).max(1e-3);
    limited(&Trw, problem, settings, Some(limit), monitor)
}

/// TRW in its share of the time: for models that only subgraphs come after.
///
/// # Errors
/// Settings that TRW refuses.
pub(super) fn first_trees(
    problem: &Problem,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let settings = Settings { rho: Rho::Resistance, ..settings.clone() };
    part(&Trw, problem, &settings, monitor)
}

/// One part under its share of the time.
fn part(
    relaxation: &dyn Relaxation,
    problem: &Problem,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let share = monitor.seconds_left().map(|left| SHARE[usize::from(problem.d() > MIDDLE)] * left);
    let limit = if problem.d() <= LARGE { share } else { Some(share.unwrap_or(SECONDS).min(SECONDS)) };
    limited(relaxation, problem, settings, limit, monitor)
}

/// One relaxation under a time limit; one that is refused counts as no bound.
fn limited(
    relaxation: &dyn Relaxation,
    problem: &Problem,
    settings: &Settings,
    limit: Option<f64>,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let part = settings.for_part(monitor.deadline(), limit);
    let inner = Settings { solver: Solver::Auto, trace: false, max_iterations: None, ..part };
    let outcome = relaxation.solve_with(problem, &inner, &mut monitor.relay());
    match outcome {
        Ok(solution) => {
            monitor.eigendecompositions += solution.eigendecompositions;
            Ok(solution)
        }
        Err(Error::NotApplicable(_) | Error::Memory { .. } | Error::Features(_)) => {
            Ok(Solution::new(Method::Combined, StopReason::NumericalTrouble))
        }
        Err(error) => Err(error),
    }
}
