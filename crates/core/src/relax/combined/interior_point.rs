//! The primal-dual interior-point method, with graphs and triangles generated on the way.

use super::columns::drop_idle;
use super::curvature::Curvature;
use super::dual::Split;
use super::entropy::{Entropy, Evaluation, evaluate};
use super::feasible::Feasible;
use super::forests::add_forests;
use super::newton::{Linearised, Step};
use super::program::{Point, Program, Triple};
use super::separate::violated;
use super::two_tree::TwoTree;
use super::two_trees::{add_two_trees, small_two_trees};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::linalg::{EigenWork, Square};
use crate::observer::Monitor;
use crate::solution::StopReason;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Fraction of the way to the boundary that one step may go.
const TO_BOUNDARY: f64 = 0.95;
/// The products of slack and multiplier may fall to this share of what the bracket's width explains:
/// further, and the optimality conditions are left behind.
const CENTRED: f64 = 0.1;
/// Relative gap from which triangles are separated: before, the moments say little.
const SEPARATE: f64 = 0.1;
/// Violations below this share of the relative gap can wait.
const SHARE: f64 = 0.1;
/// Iterations between two rounds of separation.
const BETWEEN: usize = 3;
/// Least slack given to a new inequality.
const NEW_SLACK: f64 = 0.03;
/// A triangle whose slacks are all larger than this is dropped.
const SLACK: f64 = 0.5;
/// Rounds in which two-trees are added. Then the program is final: more rounds move the error in its fourth
/// digit, but triple the time.
const ROUNDS: usize = 30;
/// Iterations without a better bracket after which rounding has won: while it is wide, and once it is narrow.
const PATIENCE: (usize, usize) = (40, 10);
/// Relative width of a narrow bracket: what moves there is rounding, no longer the search for graphs.
const NARROW: f64 = 1e-7;

/// The method's state.
pub(super) struct InteriorPoint {
    pub(super) program: Program,
    point: Point,
    curvature: Curvature,
    work: EigenWork,
    best: Option<Snapshot>,
    /// What the current point proves.
    current: f64,
    /// The best feasible point of the program with its present inequalities and graphs.
    feasible: Option<Feasible>,
    last_round: usize,
    /// Rounds in which two-trees were added.
    rounds: usize,
    random: ChaCha8Rng,
}

/// When the method may end, in units of eps.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    /// Width of the bracket relative to `max(1, |value + constant|)`.
    pub(super) tol: f64,
    /// A bound that is known already: a program that cannot give less is not solved to its end.
    pub(super) enough: f64,
}

/// The point with the best bound, and what it belongs to.
pub(super) struct Snapshot {
    pub(super) upper: f64,
    pub(super) point: Point,
    pub(super) triples: Vec<Triple>,
    pub(super) entropies: Vec<Entropy>,
}

impl InteriorPoint {
    /// Starts at the uniform law, which is inside every constraint; no step outlasts the deadline by much.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub(super) fn new(program: Program, threads: usize, deadline: &Deadline) -> Result<Self> {
        let scale = program.theta.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        Ok(InteriorPoint {
            point: program.start(scale),
            curvature: Curvature::new(program.space.len(), threads)?.until(deadline),
            rounds: if program.closed { ROUNDS } else { 0 },
            program,
            work: EigenWork::default(),
            best: None,
            current: f64::INFINITY,
            feasible: None,
            last_round: 0,
            random: ChaCha8Rng::seed_from_u64(0),
        })
    }

    /// The best point seen and the best feasible value; `None` before the first iteration.
    pub(super) fn outcome(self) -> Option<(Program, Snapshot, f64)> {
        let lower = self.lower();
        self.best.map(|best| (self.program, best, lower))
    }

    fn lower(&self) -> f64 {
        self.feasible.as_ref().map_or(f64::NEG_INFINITY, |feasible| feasible.value)
    }

    /// Iterates until the goal is reached or known to be out of reach.
    pub(super) fn run(
        &mut self,
        goal: Goal,
        eps: f64,
        constant: f64,
        monitor: &mut Monitor<'_>,
    ) -> StopReason {
        let tol = goal.tol;
        let (mut narrowest, mut since) = (f64::INFINITY, 0);
        for iteration in 0.. {
            drop_idle(&mut self.program, &mut self.point, self.rounds < ROUNDS);
            let sigmas = self.sigmas();
            let Some(mut at) = self.evaluate(&self.point.m.clone()) else { return StopReason::Stalled };
            let mu = self.program.complementarity(&self.point, &sigmas);
            let found = self.two_trees(&at);
            self.bracket(&at, &found);
            let upper = self.best.as_ref().map_or(f64::INFINITY, |best| best.upper);
            let gap = (upper - self.lower()) / (upper + constant).abs().max(1.0);
            monitor.eigendecompositions += 3 * sigmas.len();
            if let Some(reason) = monitor.iteration(eps * (self.lower() + constant), eps * (upper + constant))
            {
                return reason;
            }
            if self.is_final() && self.lower() > goal.enough {
                return StopReason::Converged;
            }
            since = if gap < 0.98 * narrowest { 0 } else { since + 1 };
            narrowest = narrowest.min(gap);
            if gap <= SEPARATE && iteration >= self.last_round + BETWEEN || gap <= tol {
                if self.separate(mu, gap) {
                    self.last_round = iteration;
                    (narrowest, since) = (f64::INFINITY, 0);
                } else if gap <= tol {
                    return StopReason::Converged;
                }
            }
            if since > if gap > NARROW { PATIENCE.0 } else { PATIENCE.1 } {
                return StopReason::Stalled;
            }
            let rounds = self.rounds;
            self.generate(mu, &mut at, found);
            if self.rounds > rounds {
                // New two-trees set the bracket back; their rounds are limited, so this ends.
                since = 0;
            }
            let width = (self.current - self.lower()).max(0.0);
            let floor = mu.min(CENTRED * width / self.program.complexity());
            match self.advance(&sigmas, &at, mu, floor) {
                Some(next) => self.point = next,
                None => return monitor.interrupted().unwrap_or(StopReason::Stalled),
            }
        }
        StopReason::Stalled
    }

    /// Whether no inequality or graph can join that would lower the value of a feasible point: all triangles are there,
    /// and a feasible point is valued with all forests.
    fn is_final(&self) -> bool {
        self.program.complete && (self.program.closed || self.program.space.clusters.moments.is_empty())
    }

    fn sigmas(&self) -> Vec<Square> {
        self.program.space.blocks.iter().map(|b| b.fill(&self.point.m, 1.0)).collect()
    }

    fn evaluate(&mut self, m: &[f64]) -> Option<Evaluation> {
        evaluate(&self.program.entropies, &self.program.space, m, &mut self.work)
    }

    /// Updates the best bound and the best feasible value.
    fn bracket(&mut self, at: &Evaluation, found: &[(f64, TwoTree)]) {
        let upper = Split::new(&self.program, &self.point, at).value(&self.program, &self.point, at);
        self.current = upper;
        if upper.is_finite() && self.best.as_ref().is_none_or(|best| upper < best.upper) {
            self.best = Some(Snapshot {
                upper,
                point: self.point.clone(),
                triples: self.program.triples.clone(),
                entropies: self.program.entropies.clone(),
            });
        }
        let factor = self.program.shrink(&self.point.m);
        let feasible = if factor < 1.0 {
            let inside: Vec<f64> = self.point.m.iter().map(|m| factor * m).collect();
            self.evaluate(&inside).map(|at| {
                let found = self.two_trees(&at);
                Feasible::new(&self.program, &inside, &at, &found)
            })
        } else {
            Some(Feasible::new(&self.program, &self.point.m, at, found))
        };
        self.feasible = feasible.filter(|new| new.value > self.lower()).or(self.feasible.take());
    }

    /// Two-trees of small entropy; none once the program has all it is going to have.
    fn two_trees(&self, at: &Evaluation) -> Vec<(f64, TwoTree)> {
        if self.rounds < ROUNDS { small_two_trees(&self.program, at) } else { Vec::new() }
    }

    /// Adds forests, and two-trees among `found` and others.
    fn generate(&mut self, mu: f64, at: &mut Evaluation, found: Vec<(f64, TwoTree)>) {
        let before = self.program.entropies.len();
        add_forests(&mut self.program, &mut self.point, mu, at, &mut self.random);
        let forests = self.program.entropies.len();
        add_two_trees(&mut self.program, &mut self.point, mu, at, found, &mut self.random);
        self.rounds += usize::from(self.program.entropies.len() > forests);
        for entropy in &self.program.entropies[before..] {
            if let (Entropy::Graph(graph), Some(feasible)) = (entropy, &mut self.feasible) {
                feasible.include(graph);
            }
        }
    }

    /// Adds violated triangles; whether there were any.
    fn separate(&mut self, mu: f64, gap: f64) -> bool {
        if self.program.complete {
            return false;
        }
        let found = violated(&self.program, &self.point.m, SHARE * gap);
        if found.is_empty() {
            return false;
        }
        self.drop_triangles();
        for triple in &found {
            let slacks = triple.slacks(&self.point.m).map(|g| g.max(NEW_SLACK));
            self.point.cut_slacks.push(slacks);
            self.point.nu.push(slacks.map(|y| mu / y));
        }
        self.program.triples.extend(&found);
        self.feasible = None;
        true
    }

    /// Forgets triangles whose inequalities all hold with room to spare.
    fn drop_triangles(&mut self) {
        let keep: Vec<bool> = (self.program.triples.iter().zip(&self.point.cut_slacks))
            .map(|(triple, slacks)| triple.is_pairwise() || slacks.iter().any(|y| *y < SLACK))
            .collect();
        let kept = |k: &mut usize| {
            *k += 1;
            keep[*k - 1]
        };
        let [mut a, mut b, mut c] = [0; 3];
        self.program.triples.retain(|_| kept(&mut a));
        self.point.cut_slacks.retain(|_| kept(&mut b));
        self.point.nu.retain(|_| kept(&mut c));
    }

    /// Predictor, corrector, step.
    fn advance(&mut self, sigmas: &[Square], at: &Evaluation, mu: f64, floor: f64) -> Option<Point> {
        let (program, point) = (&self.program, &self.point);
        let linearised = Linearised::new(program, point, sigmas, at, &mut self.curvature, &mut self.work)?;
        let predictor = linearised.step(0.0, None);
        let lengths = predictor.step_lengths(point, sigmas);
        let after = predictor.complementarity_after(program, point, sigmas, lengths);
        let centring = (after / mu).clamp(0.0, 1.0).powi(3).max(1e-3);
        let step = linearised.step((centring * mu).max(floor), Some(&predictor));
        let (primal, dual) = step.step_lengths(point, sigmas);
        let mut by = (TO_BOUNDARY * primal, TO_BOUNDARY * dual);
        for _ in 0..20 {
            let moved = self.settled(&step, by);
            if let Some(moved) = moved {
                return Some(moved);
            }
            by = (0.5 * by.0, 0.5 * by.1);
        }
        None
    }

    /// The point after a step, with slacks that are what they stand for where that helps.
    fn settled(&self, step: &Step, by: (f64, f64)) -> Option<Point> {
        let mut moved = step.moved(&self.point, by);
        let finite = moved.m.iter().all(|v| v.is_finite() && v.abs() < 1.0);
        if !finite {
            return None;
        }
        for (triple, slacks) in self.program.triples.iter().zip(&mut moved.cut_slacks) {
            for (y, g) in slacks.iter_mut().zip(triple.slacks(&moved.m)) {
                *y = y.max(g);
            }
        }
        Some(moved)
    }
}
