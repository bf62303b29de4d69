//! The combined bound of large models by a first-order method.
//!
//! Moments are those of a factored matrix, `Sigma = A A^T` with unit rows (`factor.rs`): positivity and the unit diagonal hold
//! by construction. Cuts and entropies enter through multiplier methods (`relax::cuts`, `entropies.rs`), and L-BFGS climbs
//! the smooth function that is left (`objective.rs`). Between rounds multipliers and weights are updated, violated triangles
//! and graphs of small entropy join, and the rank follows the eigenvalues of the multiplier of positivity. Every
//! round ends with a decomposition that proves a bound (`dual.rs`); the best one is kept.

mod dual;
mod entropies;
mod factor;
mod grow;
mod objective;
mod outcome;
mod primal;
mod start;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::linalg::EigenWork;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::model::Ising;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::relax::combined::gaussian::Gaussian;
use crate::relax::combined::team::Team;
use crate::relax::combined::two_tree::TwoTree;
use crate::relax::cuts::violated_until;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use dual::Dual;
use factor::Factor;
use grow::Informations;
use objective::{Evaluation, Objective};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
pub(crate) use start::Start;
use std::time::Instant;

/// Rounds at most: alone, and where another method follows.
const ROUNDS: (usize, usize) = (60, 15);
/// Rounds and steps of the first where many models that differ by one spin are bounded: from scratch, and from
/// another's point.
const BRIEF_COLD: (usize, usize) = (7, 60);
const BRIEF_WARM: (usize, usize) = (3, 40);
/// L-BFGS steps in a round: at first, and at most.
const STEPS: (usize, usize) = (60, 480);
/// Rounds get twice the steps when the multiplier of positivity costs more than this share of the bound.
const ROUGH: f64 = 1e-4;
/// ... and violations are below this, so that the multipliers are worth the accuracy.
const SETTLED: f64 = 0.05;
/// Rounds without a better bound after which the method ends.
const PATIENCE: usize = 8;
/// Relative improvements below this do not count as such.
const LEAST_GAIN: f64 = 1e-6;
/// Cuts added per round and vertex.
const NEW_CUTS: usize = 20;
/// Violations below this share of the largest are left alone, and its bounds: feasible values suffer from the largest.
const VIOLATION: (f64, f64, f64) = (0.3, 1e-5, 1e-3);
/// Violations that fall by less than this factor in a round call for a larger penalty,
const SLOW: f64 = 0.5;
/// when they are also larger than this; an inequality has size one.
const LARGE_VIOLATION: f64 = 0.01;
/// Penalty of a violated cut, relative to the mean multiplier of the unit diagonal, and its least value.
const PENALTY: (f64, f64) = (0.8, 1.0);
/// Trees and two-trees tried per round.
const NEW_GRAPHS: (usize, usize) = (4, 4);
/// Spread of the noise that makes graphs differ, over a whole graph, in units of tau.
const NOISE: f64 = 4.0;
/// Weight that new graphs get together.
const NEW_WEIGHT: f64 = 0.3;
/// Spins up to which two-trees take part: to grow one takes d^2 laws of three spins.
const TWO_TREE_SPINS: usize = 500;
/// Vertices up to which the first factor has full rank; above, its rank grows with the square root of their number.
const FULL_RANK: usize = 260;
/// Time kept for the ending of a round and for the proof, in units of the ending of the first: there are more cuts and graphs then.
const LATER: f64 = 3.0;
/// Time that a feasible value takes, in the same units: without it there is a bound, but not how far it is from the best one.
const FEASIBLE: f64 = 6.0;
/// Operations of a round's ending and of the proof, in units of n^3.
const ENDING: (f64, f64) = (70.0, 90.0);
/// Seconds for models above that size when there is no time limit.
const SECONDS: f64 = 60.0;
/// Memory in units of n r numbers: the steps of L-BFGS and some n x n matrices.
const COPIES: u64 = 40;

/// The method's state.
struct FirstOrder {
    objective: Objective,
    factor: Factor,
    best: Option<Dual>,
    /// The point of the best bound.
    best_factor: Option<Factor>,
    random: ChaCha8Rng,
    work: EigenWork,
    /// Largest violation of a cut at the end of the last round.
    violation: f64,
    /// Rounds at most.
    rounds: usize,
    /// L-BFGS steps of the next round.
    steps: usize,
    /// Seconds of the monitor's clock after which no step is begun.
    until: f64,
    /// Seconds that the ending of the first round took.
    ending: f64,
}

/// Whether the method fits into memory.
pub(super) fn fits(d: usize, memory_limit: u64) -> bool {
    let n = d as u64 + 1;
    n <= 1 << 12 && 8 * COPIES * n * n <= memory_limit
}

/// Runs until the bound stops falling or a share of the time left is used up, and proves the best one; with the two-trees
/// and the noise of the relaxation that it belongs to.
///
/// # Errors
/// Parameters that leave floating point.
pub(super) fn solve(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    share: f64,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, Vec<TwoTree>, Option<Gaussian>)> {
    let (eps, n) = (problem.eps(), ising.d() + 1);
    let constant = ising.constant() / eps;
    let cube = (n as f64).powi(3);
    let others = monitor.seconds_left().map_or(0.0, |left| (1.0 - share) * left);
    keep(others, (ENDING.0 + ENDING.1) * cube, monitor);
    let mut solution = Solution::new(Method::Combined, StopReason::TimeLimit);
    if monitor.interrupted().is_some() {
        monitor.reserve(0.0);
        return Ok((solution, Vec::new(), None));
    }
    let rounds = if share < 1.0 { ROUNDS.1 } else { ROUNDS.0 };
    let until = if n <= FULL_RANK { f64::INFINITY } else { monitor.seconds() + SECONDS };
    let objective = Objective::new(ising, eps, Team::new(settings.threads)?);
    let mut method = FirstOrder::new(objective, (rounds, STEPS.0), until);
    solution.stop = method.run((settings.tol, others), eps, constant, monitor);
    monitor.reserve(0.0);
    let (two_trees, gaussian) = (method.two_trees(), method.best.as_ref().map(|best| best.gaussian.clone()));
    let has_time = monitor.seconds_left().is_none_or(|left| left > others + FEASIBLE * method.ending);
    let primal = if has_time { method.primal().map(|value| eps * (value + constant)) } else { None };
    method.conclude(problem, ising, &mut solution, monitor);
    if let (Some(upper), Some(primal)) = (solution.upper, primal) {
        solution.relaxation_gap = Some((upper.phi() - primal).max(0.0));
    }
    solution.settle(settings.tol, eps);
    Ok((solution, two_trees, gaussian))
}

/// A few rounds, from where the solve of a larger model ended when that is known: the bound of a part of a model.
///
/// The second value is where this one ended.
///
/// # Errors
/// Parameters that leave floating point.
pub(super) fn brief(
    problem: &Problem,
    ising: &Ising,
    start: Option<&Start>,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, Start)> {
    let eps = problem.eps();
    let effort = if start.is_some() { BRIEF_WARM } else { BRIEF_COLD };
    let objective = Objective::new(ising, eps, Team::default());
    let mut method = FirstOrder::new(objective, effort, f64::INFINITY);
    if let Some(start) = start.filter(|start| start.d() == ising.d()) {
        method.begin(start);
    }
    let mut solution = Solution::new(Method::Combined, StopReason::TimeLimit);
    solution.stop = method.run((settings.tol, 0.0), eps, ising.constant() / eps, monitor);
    let end = Start::new(method.factor.clone(), method.objective.gaussian.clone(), &method.objective.cuts);
    method.conclude(problem, ising, &mut solution, monitor);
    Ok((solution, end))
}

impl FirstOrder {
    /// A random point, no cuts and no graphs; `(rounds, steps)` at most, and steps of the first.
    fn new(mut objective: Objective, (rounds, steps): (usize, usize), until: f64) -> Self {
        let n = objective.d + 1;
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let rank = if n <= FULL_RANK { n } else { 20 + (6.0 * (n as f64).sqrt()) as usize };
        objective.entropies.softness = softness(objective.d);
        let factor = Factor::random(n, rank.max(2), &mut random);
        let (best, best_factor, work) = (None, None, EigenWork::default());
        FirstOrder {
            objective,
            factor,
            best,
            best_factor,
            random,
            work,
            violation: 1.0,
            rounds,
            steps,
            until,
            ending: 0.0,
        }
    }

    /// Takes over the moments and cuts of another point, and graphs that suit them.
    fn begin(&mut self, start: &Start) {
        let objective = &mut self.objective;
        self.factor = start.factor.clone();
        objective.gaussian = start.gaussian.clone();
        objective.cuts.list = start.cuts(&mut objective.pairs);
        let Some(at) = objective.evaluate(&self.factor) else { return };
        let tightest = objective.cuts.list.iter().map(|cut| cut.slack(&at.x)).fold(0.0, f64::min);
        self.violation = -tightest;
        objective.entropies.shrink = 1.0 / (1.0 + 1.5 * self.violation);
        let mean = objective.cuts.list.iter().map(|cut| cut.nu).sum::<f64>();
        objective.cuts.penalty = (mean / objective.cuts.list.len().max(1) as f64).max(PENALTY.1);
        self.grow(&at.at, self.factor.moments());
    }

    /// Rounds up to a relative change of `tol`, with time kept for others.
    fn run(
        &mut self,
        (tol, others): (f64, f64),
        eps: f64,
        constant: f64,
        monitor: &mut Monitor<'_>,
    ) -> StopReason {
        let mut since = 0;
        for round in 0..self.rounds {
            self.climb(monitor);
            let start = Instant::now();
            let Some(at) = self.objective.evaluate(&self.factor) else { return StopReason::NumericalTrouble };
            let Some(dual) = Dual::new(&self.objective, &self.factor, &at) else {
                return StopReason::NumericalTrouble;
            };
            monitor.eigendecompositions += 1;
            let before = self.best.as_ref().map_or(f64::INFINITY, |best| best.bound);
            let upper = before.min(dual.bound);
            let scale = (upper + constant).abs().max(1.0);
            let small = LEAST_GAIN.max(0.1 * tol) * scale;
            since = if upper < before - small { 0 } else { since + 1 };
            let stop = monitor.round(f64::NAN, eps * (upper + constant));
            let stop = stop.or(is_over(self.until, monitor));
            let here = self.factor.clone();
            if stop.is_none() && since < PATIENCE && round + 1 < self.rounds {
                self.advance(round, &at, &dual, monitor);
                if dual.shortfall > ROUGH * scale && self.violation < SETTLED {
                    self.steps = (2 * self.steps).min(STEPS.1);
                }
            }
            if self.best.is_none() {
                // What the ending of a round takes is known now; the proof takes as long.
                self.ending = start.elapsed().as_secs_f64();
                if monitor.deadline().is_limited() {
                    monitor.reserve_seconds(others + LATER * self.ending);
                }
            }
            if dual.bound < before {
                self.best = Some(dual);
                self.best_factor = Some(here);
            }
            if let Some(reason) = stop {
                return reason;
            }
            if since >= PATIENCE {
                return StopReason::Stalled;
            }
        }
        StopReason::Stalled
    }

    /// Maximises over the rows of the factor.
    fn climb(&mut self, monitor: &mut Monitor<'_>) {
        let rank = self.factor.rank;
        let mut rows = self.factor.rows[rank..].to_vec();
        let options = LbfgsOptions { memory: 10, max_iterations: self.steps, gradient_tol: 1e-9 };
        let (objective, until) = (&self.objective, self.until);
        let _ = minimise(
            &mut |rows, out| objective.negative(rows, rank, out),
            &mut rows,
            None,
            options,
            &mut |_, _| is_over(until, monitor).is_some(),
        );
        self.factor = self.objective.factor(&rows, rank);
    }

    /// Multipliers, weights, new cuts and graphs, new columns.
    fn advance(&mut self, round: usize, at: &Evaluation, dual: &Dual, monitor: &mut Monitor<'_>) {
        let n = self.factor.n;
        let objective = &mut self.objective;
        if round == 0 {
            objective.cuts.penalty = (PENALTY.0 * dual.mean_multiplier).max(PENALTY.1);
        }
        let old = objective.cuts.update(&at.x);
        let moments = self.factor.moments();
        let count = NEW_CUTS * n;
        let least = (VIOLATION.0 * self.violation).clamp(VIOLATION.1, VIOLATION.2);
        let (until, most) = (self.until, count + objective.cuts.list.len());
        let found = violated_until(&moments, 0..n, least, most, &mut || is_over(until, monitor).is_some());
        let found = found.into_iter().map(|(slack, triangle)| (slack, triangle.into()));
        let new = objective.cuts.extend(found, count, &mut objective.pairs);
        // Larger penalties pay as long as violations hardly fall; then they only cost accuracy.
        if round > 1 && old > SLOW * self.violation && old > LARGE_VIOLATION {
            objective.cuts.penalty *= 1.5;
        }
        self.violation = old.max(new);
        objective.entropies.update(&at.at.weights, 1e-5);
        objective.entropies.floor = (entropies::FLOOR * 0.4f64.powi(round as i32)).max(1e-5);
        objective.entropies.shrink = 1.0 / (1.0 + 1.5 * self.violation);
        self.grow(&at.at, moments);
        if let Some(spectrum) = self.factor.spectrum(&mut self.work) {
            self.objective.gaussian = Gaussian::least(&spectrum, n - 1);
        }
        let least = 1e-5 * dual.mean_multiplier.abs().max(1e-3);
        if let Some(next) = self.factor.escape(&dual.eigen, least, &mut self.work) {
            self.factor = next;
        }
    }

    /// Adds graphs whose entropy is below the mean of those in use.
    fn grow(&mut self, at: &entropies::At, moments: crate::linalg::Square) {
        let objective = &mut self.objective;
        let d = objective.d;
        let mean: f64 = at.values.iter().zip(&at.weights).map(|(e, w)| e * w).sum();
        let (shrink, floor) = (objective.entropies.shrink, objective.entropies.floor);
        let informations = Informations::new(moments, shrink, floor);
        let (entropies, pairs) = (&mut objective.entropies, &mut objective.pairs);
        let spread = |k: usize, of: usize| NOISE * softness(d) * k as f64 / (of * d) as f64;
        let mut found = Vec::new();
        for k in 0..NEW_GRAPHS.0 {
            found.extend(informations.tree(spread(k, NEW_GRAPHS.0), &mut self.random, entropies, pairs));
        }
        if (3..=TWO_TREE_SPINS).contains(&d) && self.violation < 0.1 {
            for (k, root) in informations.roots(NEW_GRAPHS.1).into_iter().enumerate() {
                let spread = spread(k, NEW_GRAPHS.1);
                found.extend(informations.two_tree(root, spread, &mut self.random, entropies, pairs));
            }
        }
        found.retain(|(value, _)| *value < mean);
        let graphs: Vec<_> = found.into_iter().map(|grown| grown.1).collect();
        if !graphs.is_empty() {
            entropies.admit(graphs, NEW_WEIGHT);
        }
    }
}

/// Why to stop, if there is a reason: without a time limit a large model ends like one that has stalled.
fn is_over(until: f64, monitor: &mut Monitor<'_>) -> Option<StopReason> {
    let late = !monitor.deadline().is_limited() && monitor.seconds() > until;
    monitor.interrupted().or(late.then_some(StopReason::Stalled))
}

/// Keeps seconds for others and so many operations of an ending.
fn keep(others: f64, operations: f64, monitor: &mut Monitor<'_>) {
    if monitor.deadline().is_limited() {
        let ending = monitor.deadline().dense_seconds(operations);
        monitor.reserve_seconds(ending + others);
    }
}

/// tau of the soft minimum: entropies that differ by much less count as equal.
fn softness(d: usize) -> f64 {
    (0.005 * d as f64).clamp(0.2, 5.0)
}
