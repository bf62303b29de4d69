//! The combined bound: every entropy and every constraint of the single relaxations in one program.
//!
//! ```text
//! max <theta, m> - eps max_k D_k(m)   over moments that are positive semidefinite on the features
//!                                     asked for, locally consistent, and obey all triangle inequalities
//! ```
//! with `D_k` the divergences of all spanning forests, of graphs of treewidth two, of the quantum relaxation on
//! (1, x), on the features asked for and on greedy ones, and of Gaussian laws (`gaussian.rs`). In the dual this is the
//! decomposition `f + cuts + phi^T S phi = sum_k w_k f_k` of docs/theory.md, section 1, which every
//! iterate of the solver gives. The single relaxations are run first: they give forests and
//! features, and the best certificate seen is the one returned. On dense graphs of more than 40 spins a
//! first-order method comes next, which is all there is where Newton's matrix is too large.

mod build;
mod clusters;
mod columns;
mod curvature;
mod dual;
mod entropy;
mod feasible;
mod first_order;
mod forests;
mod gaussian;
mod graphs;
mod interior_point;
mod newton;
mod pairs;
mod parts;
mod plan;
mod program;
mod proof;
mod rotated;
mod separate;
mod space;
mod sparse;
mod spectra;
mod subgraphs;
mod team;
mod triples;
mod two_tree;
mod two_trees;

use super::Relaxation;
use crate::error::{Error, Result};
use crate::features::{Features, MAX_FEATURES};
use crate::model::Ising;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::run::cost::constants::COMBINED_NEWTON_SPINS as FIRST_ORDER_SPINS;
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use entropy::Entropy;
pub(crate) use first_order::Start as CombinedStart;
use gaussian::Gaussian;
use graphs::Graph;
use interior_point::{Goal, InteriorPoint};
use parts::{Parts, better};
use program::Program;
use two_tree::TwoTree;

/// The combined bound of trees, two-trees, positivity, triangle inequalities and the single relaxations.
///
/// More features, cuts or forests never give a worse bound; the two-trees in it are those that a
/// heuristic finds, so up to their choice. **Cost** some 30 to 100 Newton steps of
/// N^3/3 flops each for N moments: 136 for 16 spins, 5050 for a complete graph of 100, 3669 for a
/// grid of 400, where a chordal extension of the graph takes the place of all pairs. On dense graphs of more than 40
/// spins a first-order method comes first, with n^2 r multiplications a step (r columns of a factor, some sqrt(n) of them at low temperature) and one
/// eigendecomposition a round of 60 to 480 steps; above some 100 dense spins it is all there is.
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

/// Share of the tolerance that the search may use up; rounding and the pruning of the proof take the rest.
const SEARCH: f64 = 0.9;
/// Features above which a positive block is left out of the program: its assembly takes n^4/4 steps.
const MOST_FEATURES: usize = 160;
/// What is said then.
const TOO_MANY: &str =
    "more than 160 features: they take part through the quantum bound only, not in the combined program";
/// Why the single relaxations are all there is.
const TOO_LARGE: &str =
    "the graph is too large and too dense to combine the relaxations; the best of them is returned";
/// Seconds below which the program of a large model is not even built.
const PROGRAM_SECONDS: f64 = 10.0;
/// What is said then.
const NO_TIME: &str =
    "too little time to combine the relaxations of a model of this size; the best of them is returned";

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
        if ising.d() >= MAX_FEATURES {
            return without_matrices(problem, ising, settings, observer);
        }
        let mut monitor = Monitor::new(settings, 100_000, observer);
        let Parts { mut best, trw, greedy } = Parts::solve(problem, settings, &mut monitor)?;
        if ising.d() > 0 {
            // How far a part is from its own optimum says nothing about the combined one.
            best.relaxation_gap = None;
        }
        monitor.proved(None, best.upper);
        let mut stop = monitor.interrupted();
        let mut first = None;
        let (mut known, mut gaussians) = (Vec::new(), Gaussian::few());
        let suits = ising.d() > FIRST_ORDER_SPINS && plan::is_dense(ising);
        if suits && stop.is_none() && first_order::fits(ising.d(), settings.memory_limit) {
            let share = plan::first_order_share(ising, &monitor);
            let (found, two_trees, gaussian) =
                first_order::solve(problem, ising, settings, share, &mut monitor)?;
            known = two_trees;
            gaussians = gaussian.map_or(gaussians, |gaussian| vec![gaussian]);
            // What came to its end leaves the rest of the time to the others.
            stop = Some(found.stop)
                .filter(|reason| !is_end(*reason))
                .filter(|_| monitor.interrupted().is_some());
            first = found.upper.map(|_| found.stop);
            best = better(found, best);
            monitor.proved(None, best.upper);
        }
        if ising.d() > FIRST_ORDER_SPINS && !plan::is_dense(ising) && stop.is_none() {
            let found = sparse::solve(problem, ising, settings, &mut monitor)?;
            stop = Some(found.stop);
            best = better(found, best);
        }
        let stages = stages(problem, &greedy);
        for (k, spectral) in stages.iter().enumerate().filter(|_| ising.d() > 0) {
            if stop.is_some_and(|reason| k == 0 || !is_end(reason)) {
                break;
            }
            let trees = trw.forests.as_deref();
            let hurried = monitor.seconds_left().is_some_and(|left| left < PROGRAM_SECONDS);
            let program = if ising.d() > parts::LARGE && hurried {
                None
            } else {
                build::program(
                    ising,
                    problem.eps(),
                    spectral,
                    trees,
                    &known,
                    &gaussians,
                    settings.memory_limit,
                )?
            };
            let alone = first.is_none() && !(monitor.deadline().is_limited() && ising.d() > parts::MIDDLE);
            let affordable = |p: &Program| alone || plan::newton_is_affordable(p, &monitor);
            let Some(program) = program.filter(affordable) else {
                // Trees of a large dense graph are no matter of a few seconds.
                if !plan::is_dense(ising) || first.is_none() && !hurried {
                    best = better(parts::best_trees(problem, settings, &mut monitor)?, best);
                }
                let end = if hurried { StopReason::TimeLimit } else { StopReason::Stalled };
                stop = Some(monitor.interrupted().or(first).unwrap_or(end));
                if first.is_none() {
                    let limited = monitor.deadline().is_limited();
                    best.reason = Some(if hurried || limited { NO_TIME } else { TOO_LARGE }.into());
                }
                break;
            };
            // The gap to a program without the two-trees of a bound would not be that of its relaxation.
            let is_whole = program.known.len() >= known.len();
            // The first-order method works on the same program; features of a later stage may gain on it.
            let same = first.filter(|_| k == 0).and(best.upper);
            let enough = same.map_or(f64::INFINITY, |upper| upper.phi());
            let (found, reason) =
                search(problem, ising, program, settings, (&mut known, enough), &mut monitor)?;
            stop = Some(reason);
            best = better(found.clone(), best);
            if is_whole {
                best = with_gap_of(&found, best);
            }
            if !problem.features().is_linear() && problem.features().len() > MOST_FEATURES {
                best.reason = Some(TOO_MANY.into());
            }
        }
        best.method = Method::Combined;
        best.solver = None;
        best.stop = stop.unwrap_or(StopReason::Stalled);
        Ok(best.finish(None, settings.tol, problem, monitor))
    }
}

/// Models whose moment matrix is too large for anything: trees, then subgraphs of a sparse one.
fn without_matrices(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    let mut monitor = Monitor::new(settings, 100_000, observer);
    let mut best = parts::first_trees(problem, settings, &mut monitor)?;
    // Trees at their optimum are not the combined bound at its.
    best.relaxation_gap = None;
    best.stop = if best.stop == StopReason::Converged { StopReason::Stalled } else { best.stop };
    let mut reason = Some(TOO_LARGE.to_owned());
    if !plan::is_dense(ising) && monitor.interrupted().is_none() {
        (best, reason) = (better(sparse::solve(problem, ising, settings, &mut monitor)?, best), None);
    }
    (best.method, best.solver, best.reason) = (Method::Combined, None, reason);
    Ok(best.finish(None, settings.tol, problem, monitor))
}

/// A quick combined bound of a dense pairwise model: a few rounds of the first-order method, from where the solve of a
/// larger model ended when that is known, and where this one ended.
///
/// # Errors
/// [`Error::NotApplicable`] when f is not pairwise; parameters that leave floating point.
pub(crate) fn combined_from(
    problem: &Problem,
    start: Option<&CombinedStart>,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<(Solution, CombinedStart)> {
    let Some(ising) = problem.polynomial().as_ising() else {
        return Err(Error::NotApplicable("combined needs a pairwise model".into()));
    };
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    first_order::brief(problem, ising, start, settings, &mut monitor)
}

/// `best` with the distance to the primal value of the program, whatever its bound comes from.
fn with_gap_of(program: &Solution, mut best: Solution) -> Solution {
    let upper = |s: &Solution| s.upper.map(|bound| bound.phi());
    let primal = upper(program).zip(program.relaxation_gap).map(|(upper, gap)| upper - gap);
    best.relaxation_gap = upper(&best).zip(primal).map(|(upper, primal)| (upper - primal).max(0.0));
    best
}

/// Whether a search came to its end, as opposed to being stopped.
fn is_end(reason: StopReason) -> bool {
    matches!(reason, StopReason::Converged | StopReason::Stalled | StopReason::NumericalTrouble)
}

/// Features of the spectral entropies: (1, x), those greedy selection found, and those asked for.
///
/// On small models the last come in a second program, which takes over the two-trees of the first: with
/// more features the bound is never worse.
fn stages(problem: &Problem, greedy: &Solution) -> Vec<Vec<Features>> {
    let mut spectral = vec![Features::degree(problem.d(), 1)];
    let mut stages = Vec::new();
    for features in greedy.features.iter().chain([problem.features()]) {
        if !spectral.contains(features) && features.len() <= MOST_FEATURES {
            if features == problem.features() && problem.d() <= build::ALL_PAIRS {
                stages.push(spectral.clone());
            }
            spectral.push(features.clone());
        }
    }
    stages.push(spectral);
    stages
}

/// Solves the program, unless it cannot give less than `enough`, and certifies its best point; `known` becomes its two-trees.
fn search(
    problem: &Problem,
    ising: &Ising,
    program: Program,
    settings: &Settings,
    (known, enough): (&mut Vec<TwoTree>, f64),
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, StopReason)> {
    let (eps, constant) = (problem.eps(), ising.constant() / problem.eps());
    let mut method = InteriorPoint::new(program, settings.threads, monitor.deadline())?;
    let stop = method.run(
        Goal { tol: SEARCH * settings.tol, enough: enough / eps - constant },
        eps,
        constant,
        monitor,
    );
    let mut solution = Solution::new(Method::Combined, stop);
    let Some((mut program, mut best, lower)) = method.outcome() else { return Ok((solution, stop)) };
    program.triples.clone_from(&best.triples);
    program.entropies.clone_from(&best.entropies);
    *known = two_trees_in_use(&program.entropies, &best.point.weights);
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
    solution.settle(settings.tol, eps);
    let stop = solution.stop;
    let moment = |number: Option<u32>| number.map_or(0.0, |k| best.point.m[k as usize]);
    let space = &program.space;
    solution.means = Some((1..=ising.d() as u32).map(|i| moment(space.vertices(0, i))).collect());
    let pairs = ising.edges().iter().map(|&[i, j]| (i, j, moment(space.vertices(i + 1, j + 1))));
    solution.pairwise = Some(pairs.collect());
    solution.features = space.blocks.first().map(|block| block.features.clone());
    Ok((solution, stop))
}

/// Two-trees with a weight that a bound can see.
fn two_trees_in_use(entropies: &[Entropy], weights: &[f64]) -> Vec<TwoTree> {
    let in_use = entropies.iter().zip(weights).filter(|(_, w)| **w > 1e-9);
    let tree = |entropy: &Entropy| match entropy {
        Entropy::Graph(Graph::TwoTree(tree)) => Some(tree.clone()),
        _ => None,
    };
    in_use.filter_map(|(entropy, _)| tree(entropy)).collect()
}

fn check_solver(settings: &Settings) -> Result<()> {
    match settings.solver {
        Solver::Auto | Solver::InteriorPoint => Ok(()),
        other => {
            Err(Error::Setting(format!("solver {} is inapplicable to combined; use auto", other.name())))
        }
    }
}
