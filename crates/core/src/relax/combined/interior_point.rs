//! The primal-dual interior-point method, with forests and triangles generated on the way.

use super::curvature::Curvature;
use super::dual::Split;
use super::entropy::{Entropy, Evaluation, evaluate};
use super::newton::{Linearised, Step};
use super::program::{Point, Program, Triple};
use super::separate::violated;
use crate::observer::Monitor;
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::max_spanning_forest;
use crate::solution::StopReason;
use crate::spectral::{EigenWork, Square};
use faer::Par;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::HashSet;

/// Fraction of the way to the boundary that one step may go.
const TO_BOUNDARY: f64 = 0.95;
/// The products of slack and multiplier may fall to this share of what the bracket's width explains:
/// further, and the optimality conditions are left behind.
const CENTRED: f64 = 0.1;
/// Relative gap from which triangles are separated: before, the moments say little.
const SEPARATE: f64 = 0.1;
/// Iterations between two rounds of separation.
const BETWEEN: usize = 3;
/// Least left side given to a new inequality.
const NEW_SIDE: f64 = 0.03;
/// Largest weight given to the new forests of an iteration.
const NEW_WEIGHT: f64 = 0.05;
/// Forests below this weight are forgotten when they are also this many times further from t than the closest.
const NO_WEIGHT: f64 = 1e-5;
const FAR: f64 = 10.0;
/// Share of the expected gap that a missing forest must explain before it is added.
const EARLY: f64 = 0.5;
/// Forests added per iteration at most.
const NEW_FORESTS: usize = 20;
/// Perturbation of the mutual informations, relative to the distance of the closest forest to t.
const SPREAD: f64 = 4.0;
/// A new forest must come closer to t than this share of the closest one.
const CLOSER: f64 = 0.7;
/// Iterations without a better bracket after which rounding has won.
const PATIENCE: usize = 25;

/// The method's state.
pub(super) struct InteriorPoint {
    pub(super) program: Program,
    point: Point,
    curvature: Curvature,
    work: EigenWork,
    /// Whether every triangle is present from the start.
    complete: bool,
    best: Option<Snapshot>,
    /// What the current point proves.
    current: f64,
    /// The best feasible value of the program with its present inequalities.
    lower: f64,
    last_round: usize,
    random: ChaCha8Rng,
}

/// The point with the best bound, and what it belongs to.
pub(super) struct Snapshot {
    pub(super) upper: f64,
    pub(super) point: Point,
    pub(super) triples: Vec<Triple>,
    pub(super) entropies: Vec<Entropy>,
}

impl InteriorPoint {
    /// Starts at the uniform law, which is inside every constraint.
    pub(super) fn new(program: Program, complete: bool, par: Par) -> Self {
        let scale = program.theta.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        InteriorPoint {
            point: program.start(scale),
            curvature: Curvature::new(program.space.len(), par),
            program,
            work: EigenWork::default(),
            complete,
            best: None,
            current: f64::INFINITY,
            lower: f64::NEG_INFINITY,
            last_round: 0,
            random: ChaCha8Rng::seed_from_u64(0),
        }
    }

    /// The best point seen and the best feasible value; `None` before the first iteration.
    pub(super) fn outcome(self) -> Option<(Program, Snapshot, f64)> {
        let InteriorPoint { program, best, lower, .. } = self;
        best.map(|best| (program, best, lower))
    }

    /// Iterates until the bracket is `tol` wide, relative to `max(1, |value + constant|)`.
    pub(super) fn run(&mut self, tol: f64, eps: f64, constant: f64, monitor: &mut Monitor<'_>) -> StopReason {
        let (mut narrowest, mut since) = (f64::INFINITY, 0);
        for iteration in 0.. {
            self.drop_forests();
            let sigmas = self.sigmas();
            let Some(mut at) = self.evaluate(&self.point.m.clone()) else { return StopReason::Stalled };
            let mu = self.program.mean_product(&self.point, &sigmas);
            let worst = self.program.worst_forest(&at);
            self.bracket(&at, &worst);
            let upper = self.best.as_ref().map_or(f64::INFINITY, |best| best.upper);
            let gap = (upper - self.lower) / (upper + constant).abs().max(1.0);
            monitor.eigendecompositions += 3 * sigmas.len();
            if std::env::var("ZB_TRACE").is_ok() {
                eprintln!("{iteration:3} mu {mu:.2e} upper {:.9} lower {:.9} gap {gap:.1e} K {} triples {} since {since}", upper+constant, self.lower+constant, self.program.entropies.len(), self.program.triples.len());
            }
            if let Some(reason) =
                monitor.iteration(eps * (self.lower + constant), eps * (upper + constant))
            {
                return reason;
            }
            since = if gap < 0.9 * narrowest { 0 } else { since + 1 };
            narrowest = narrowest.min(gap);
            if gap <= SEPARATE && iteration >= self.last_round + BETWEEN || gap <= tol {
                if self.separate(mu) {
                    self.last_round = iteration;
                    (narrowest, since) = (f64::INFINITY, 0);
                } else if gap <= tol {
                    return StopReason::Converged;
                }
            }
            if since > PATIENCE {
                return StopReason::Stalled;
            }
            self.add_forests(mu, &mut at);
            let width = (self.current - self.lower).max(0.0);
            let floor = mu.min(CENTRED * width / self.program.complexity());
            match self.advance(&sigmas, &at, mu, floor) {
                Some(next) => self.point = next,
                None => return StopReason::Stalled,
            }
        }
        StopReason::Stalled
    }

    fn sigmas(&self) -> Vec<Square> {
        self.program.space.blocks.iter().map(|b| b.fill(&self.point.m, 1.0)).collect()
    }

    fn evaluate(&mut self, m: &[f64]) -> Option<Evaluation> {
        evaluate(&self.program.entropies, &self.program.space, m, &mut self.work)
    }

    /// Updates the best bound and the best feasible value.
    fn bracket(&mut self, at: &Evaluation, worst: &[u32]) {
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
        let lower = match factor < 1.0 {
            false => Some(self.program.primal_value(&self.point.m, at, worst)),
            true => {
                let inside: Vec<f64> = self.point.m.iter().map(|m| factor * m).collect();
                self.evaluate(&inside).map(|at| {
                    let worst = self.program.worst_forest(&at);
                    self.program.primal_value(&inside, &at, &worst)
                })
            }
        };
        self.lower = lower.map_or(self.lower, |lower| self.lower.max(lower));
    }

    /// Adds violated triangles; whether there were any.
    fn separate(&mut self, mu: f64) -> bool {
        if self.complete {
            return false;
        }
        let found = violated(&self.program, &self.point.m);
        for triple in &found {
            let sides = triple.sides(&self.point.m).map(|g| g.max(NEW_SIDE));
            self.point.sides.push(sides);
            self.point.nu.push(sides.map(|y| mu / y));
        }
        self.program.triples.extend(&found);
        if !found.is_empty() {
            self.lower = f64::NEG_INFINITY;
        }
        !found.is_empty()
    }

    /// Forgets forests that carry no weight and are far from t.
    fn drop_forests(&mut self) {
        let closest = self.point.rest.iter().copied().fold(f64::INFINITY, f64::min);
        let (rest, weights) = (&self.point.rest, &self.point.weights);
        let keep: Vec<bool> = (self.program.entropies.iter().zip(rest).zip(weights))
            .map(|((e, &rest), &w)| !matches!(e, Entropy::Forest(_)) || w > NO_WEIGHT || rest < FAR * closest)
            .collect();
        let mut kept = keep.iter();
        self.program.entropies.retain(|_| kept.next() == Some(&true));
        let mut kept = keep.iter();
        self.point.rest.retain(|_| kept.next() == Some(&true));
        let mut kept = keep.iter();
        self.point.weights.retain(|_| kept.next() == Some(&true));
    }

    /// Adds forests of small entropy that are closer to t than others: the one of least entropy, and
    /// those of least entropy after a perturbation of about the distance to t, for a mixture needs many.
    fn add_forests(&mut self, mu: f64, at: &mut Evaluation) {
        let space = &self.program.space;
        let closest = self.point.rest.iter().copied().fold(f64::INFINITY, f64::min);
        let mut known: HashSet<Vec<u32>> = HashSet::new();
        for entropy in &self.program.entropies {
            if let Entropy::Forest(forest) = entropy {
                known.insert(forest.edges().to_vec());
            }
        }
        let limit = NEW_FORESTS.min(space.d);
        let shared = |edges: &[u32]| edges.iter().map(|&e| at.information[e as usize]).sum::<f64>();
        let worst = max_spanning_forest(space.d, &space.pairs, &at.information);
        let violation = self.point.t + closest - (at.independent - shared(&worst));
        // Forests tell little while the products of slack and multiplier explain more of the bracket.
        if violation <= EARLY * mu * self.program.complexity() {
            return;
        }
        let mut found = Vec::new();
        for k in 0..limit {
            let spread = SPREAD * violation * k as f64 / (limit * space.d) as f64;
            let noisy: Vec<f64> =
                at.information.iter().map(|i| i + spread * uniform(&mut self.random)).collect();
            let edges = max_spanning_forest(space.d, &space.pairs, &noisy);
            let rest = at.independent - shared(&edges) - self.point.t;
            if rest < CLOSER * closest && known.insert(edges.clone()) {
                found.extend(Forest::new(space.d, &space.pairs, &edges).map(|forest| (rest, forest)));
            }
        }
        let weight = NEW_WEIGHT / found.len().max(1) as f64;
        for (rest, forest) in found {
            let rest = rest.max(mu / weight);
            self.point.rest.push(rest);
            self.point.weights.push(mu / rest);
            at.push_forest(space, forest.edges());
            self.program.entropies.push(Entropy::Forest(forest));
        }
    }

    /// Predictor, corrector, step.
    fn advance(&mut self, sigmas: &[Square], at: &Evaluation, mu: f64, floor: f64) -> Option<Point> {
        let (program, point) = (&self.program, &self.point);
        let linearised =
            Linearised::new(program, point, sigmas, at, &mut self.curvature, &mut self.work)?;
        let predictor = linearised.step(0.0, None);
        let room = predictor.room(point, sigmas);
        let after = predictor.product_after(program, point, sigmas, room);
        let centring = (after / mu).clamp(0.0, 1.0).powi(3).max(1e-3);
        let step = linearised.step((centring * mu).max(floor), Some(&predictor));
        let (primal, dual) = step.room(point, sigmas);
        if std::env::var("ZB_TRACE").is_ok() { eprintln!("    affine {room:?} centring {centring:.1e} floor {floor:.1e} room {primal:.3} {dual:.3} upper {}", self.current); }
        let mut by = ((TO_BOUNDARY * primal), (TO_BOUNDARY * dual));
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
        for (triple, sides) in self.program.triples.iter().zip(&mut moved.sides) {
            for (y, g) in sides.iter_mut().zip(triple.sides(&moved.m)) {
                *y = y.max(g);
            }
        }
        Some(moved)
    }
}

/// Uniform in [0, 1).
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
