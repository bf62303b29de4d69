//! The combined bound: tree entropies over moments that are positive semidefinite and satisfy every
//! triangle inequality, with an optimised tree distribution.
//!
//! In the dual this is the decomposition `f + cuts + z^T S z = sum_T w_T f_T` of docs/theory.md,
//! section 1. TRW is the case S = 0 without cuts; the other relaxations are run as parts, and the
//! best certificate seen is the one returned, so the bound is never worse than the parts that ran:
//! greedy selection is a part up to 20 spins only, and on larger models each part has a time limit.

mod build;
mod curvature;
mod dual;
mod entropy;
mod forests;
mod interior_point;
mod newton;
mod pairs;
mod program;
mod proof;
mod separate;
mod space;

use super::{LogDet, Quantum, QuantumGreedy, Relaxation, Trw};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::Ising;
use crate::observer::{Flow, Monitor, Observer, Progress};
use crate::problem::Problem;
use crate::settings::{Greedy, Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use faer::Par;
use interior_point::InteriorPoint;
use program::Program;

/// The combined bound of trees, positivity, triangle inequalities and the single relaxations.
///
/// ```
/// use zbound::relax::{Combined, Quantum, Relaxation};
/// use zbound::{Features, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.3, -0.2, 0.1], &[(0, 1, 0.9), (1, 2, -0.4), (0, 2, 0.7)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let single = Quantum::default().solve(&problem, &Settings::default())?.upper.unwrap();
/// let combined = Combined.solve(&problem, &Settings::default())?.upper.unwrap();
/// assert!(combined.phi() < single.phi());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Combined;

/// Why the single relaxations are all there is.
const TOO_LARGE: &str =
    "the graph is too large and too dense to combine the relaxations; the best of them is returned";
/// Spins up to which greedy selection is one of the parts without a time limit.
const GREEDY_SPINS: usize = 20;
/// Share of a time limit given to each part.
const PART_SHARE: f64 = 0.15;
/// Seconds for a part on larger models when there is no time limit.
const PART_SECONDS: f64 = 2.0;

impl Relaxation for Combined {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        check_solver(settings)?;
        let Some(ising) = problem.polynomial().as_ising() else {
            let term = &problem.polynomial().terms()[0].0;
            return Err(Error::NotApplicable(format!(
                "combined needs a pairwise model; term {term} has arity three or more"
            )));
        };
        let mut monitor = Monitor::new(settings, 100_000, observer);
        let (mut best, trw, greedy) = parts(problem, settings, &mut monitor)?;
        let mut stop = monitor.interrupted();
        if stop.is_none() && ising.d() > 0 {
            let spectral = spectral_features(problem, &greedy);
            match build::program(ising, problem.eps(), &spectral, trw.certificate.as_ref())? {
                Some(program) => {
                    let (found, reason) = search(problem, ising, program, settings, &mut monitor)?;
                    stop = Some(reason);
                    best = better(found, best);
                }
                None => {
                    stop = Some(StopReason::Stalled);
                    best.reason = Some(TOO_LARGE.into());
                }
            }
        }
        best.method = Method::Combined;
        best.solver = None;
        best.stop = stop.unwrap_or(StopReason::Converged);
        best.iterations = monitor.iterations;
        best.eigendecompositions = monitor.eigendecompositions;
        best.seconds = monitor.seconds();
        best.trace = monitor.trace;
        Ok(best)
    }
}

/// (1, x), the features asked for, and those greedy selection found.
fn spectral_features(problem: &Problem, greedy: &Solution) -> Vec<Features> {
    let mut spectral = vec![Features::degree(problem.d(), 1)];
    for features in std::iter::once(problem.features()).chain(greedy.features.as_ref()) {
        if !spectral.contains(features) {
            spectral.push(features.clone());
        }
    }
    spectral
}

/// Solves the program and certifies its best point.
fn search(
    problem: &Problem,
    ising: &Ising,
    program: Program,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, StopReason)> {
    let (eps, constant) = (problem.eps(), ising.constant() / problem.eps());
    let par = if settings.threads > 1 && program.space.len() > 500 {
        Par::rayon(settings.threads)
    } else {
        Par::Seq
    };
    let mut method = InteriorPoint::new(program, par);
    let mut stop = method.run(0.5 * settings.tol, eps, constant, monitor);
    let mut solution = Solution::new(Method::Combined, stop);
    let Some((mut program, mut best, lower)) = method.outcome() else { return Ok((solution, stop)) };
    program.triples.clone_from(&best.triples);
    program.entropies.clone_from(&best.entropies);
    let allowance = 0.05 * settings.tol * (best.upper + constant).abs().max(1.0);
    proof::prune(&mut best.point, allowance);
    let proof = proof::certificate(&program, &best.point, eps);
    let proof = proof.and_then(|c| c.verify(problem.polynomial()).map(|bound| (c, bound)));
    let primal = eps * (lower + constant);
    solution.estimate = primal;
    match proof {
        Ok((certificate, bound)) => {
            solution.upper = Some(bound);
            solution.estimate = bound.phi();
            solution.relaxation_gap = Some((bound.phi() - primal).max(0.0)).filter(|gap| gap.is_finite());
            solution.certificate = Some(certificate);
        }
        Err(error) => solution.reason = Some(error.to_string()),
    }
    let within = solution.is_within(settings.tol, eps);
    match stop {
        StopReason::Converged if !within => stop = StopReason::Stalled,
        StopReason::Stalled if within => stop = StopReason::Converged,
        _ => {}
    }
    let moment = |number: Option<u32>| number.map_or(0.0, |k| best.point.m[k as usize]);
    let space = &program.space;
    solution.means = Some((1..=ising.d() as u32).map(|i| moment(space.vertices(0, i))).collect());
    let pairs = ising.edges().iter().map(|&[i, j]| (i, j, moment(space.vertices(i + 1, j + 1))));
    solution.pairwise = Some(pairs.collect());
    solution.features = space.blocks.first().map(|block| block.features.clone());
    Ok((solution, stop))
}

fn check_solver(settings: &Settings) -> Result<()> {
    match settings.solver {
        Solver::Auto | Solver::InteriorPoint => Ok(()),
        other => {
            Err(Error::Setting(format!("solver {} is inapplicable to combined; use auto", other.name())))
        }
    }
}

/// The better certified of two solutions; an uncertified one never wins.
fn better(a: Solution, b: Solution) -> Solution {
    let value = |s: &Solution| s.upper.map_or(f64::INFINITY, |u| u.phi());
    if value(&a) <= value(&b) { a } else { b }
}

/// The single relaxations: the best of them, TRW for its trees, greedy selection for its features.
fn parts(
    problem: &Problem,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, Solution, Solution)> {
    let d = problem.d();
    let linear = problem.with_features(Features::degree(d, 1))?;
    let small = d <= GREEDY_SPINS;
    let trw = part(&Trw, problem, settings, small, monitor)?;
    let mut best = trw.clone();
    let own: [(&dyn Relaxation, &Problem); 3] =
        [(&Quantum::default(), &linear), (&Quantum::default(), problem), (&LogDet, problem)];
    for (k, (relaxation, problem)) in own.into_iter().enumerate() {
        if (k != 1 || !problem.features().is_linear()) && monitor.interrupted().is_none() {
            best = better(part(relaxation, problem, settings, small, monitor)?, best);
        }
    }
    let mut greedy = Solution::new(Method::QuantumGreedy, StopReason::Stalled);
    if small && monitor.interrupted().is_none() {
        let three = match settings.greedy {
            Greedy::Count(count) => Greedy::Count(count),
            Greedy::Auto => Greedy::Count(3),
        };
        let counted = settings.clone().with_greedy(three);
        greedy = part(&QuantumGreedy, &linear, &counted, small, monitor)?;
        best = better(greedy.clone(), best);
    }
    Ok((best, trw, greedy))
}

/// One part under its share of the time; a part that is refused counts as no bound.
fn part(
    relaxation: &dyn Relaxation,
    problem: &Problem,
    settings: &Settings,
    small: bool,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let share = monitor.seconds_left().map(|left| PART_SHARE * left);
    let limit = if small { share } else { Some(share.unwrap_or(PART_SECONDS).min(PART_SECONDS)) };
    let inner = Settings {
        solver: Solver::Auto,
        trace: false,
        time_limit_secs: limit,
        max_iterations: None,
        ..settings.clone()
    };
    let outcome = {
        let mut relay = |_: &Progress| match monitor.interrupted() {
            Some(StopReason::Cancelled) => Flow::Stop,
            _ => Flow::Continue,
        };
        relaxation.solve_with(problem, &inner, &mut relay)
    };
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
