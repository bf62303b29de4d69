//! Edge probabilities that minimise the TRW bound: conditional gradient over spanning forests,
//! fully corrective with second-order information.
//!
//! `B(rho) = max_mu L(mu, rho)` is convex with gradient `-I_e`, so the best vertex is a maximum
//! spanning forest under mutual information, and `I . (vertex - rho)` bounds the distance to the
//! optimum. The weights of all forests move together by Newton's method, and new forests come from
//! its quadratic model ([`QuadraticModel`]), many for one solve of the inner problem.

use super::newton::{MessagePoint, cool, settle};
use super::point::Point;
use super::quadratic::QuadraticModel;
use super::spanning::max_spanning_forest;
use super::trees::{Mixture, Scaled};
use crate::linalg::graph_system::GraphSystem;
use crate::relax::forest::Forest;

/// The quadratic model is minimised to this fraction of the gap at the point, once steps are full.
const MODEL_GAP: f64 = 0.1;

/// The same while steps are cut short, which says that the model is not to be trusted far.
const ROUGH_MODEL_GAP: f64 = 0.3;

/// An edge keeps at least this fraction of its probability in one step.
const KEEP_FRACTION: f64 = 0.05;

/// Share of the starting mixture that is never given up, so that every coupling keeps a tree; by
/// convexity it costs no more than this fraction of what the search gains. Relative to the tolerance.
const START_SHARE: f64 = 0.3;

/// Factor by which that share grows when the search stalls.
const LIFT: f64 = 100.0;

/// The share beyond which a stalled search ends.
const LARGEST_SHARE: f64 = 1e-3;

/// Error of the messages at which the inner problem is solved.
pub(super) const INNER_TOL: f64 = 1e-11;

/// A mixture with the solved inner problem.
pub(super) struct RhoSearch<'a> {
    model: &'a Scaled,
    pub(super) mixture: Mixture,
    pub(super) inner: Inner,
    system: GraphSystem,
    /// Least weights of the starting forests, which stay first in the mixture.
    least: Vec<f64>,
    most_forests: usize,
    /// Weights that minimised the last quadratic model: most forests that it left stay left.
    goal: Vec<f64>,
    /// Whether the last step went all the way.
    full_step: bool,
}

/// Edge probabilities with the dual and primal solutions there.
pub(super) struct Inner {
    pub(super) rho: Vec<f64>,
    pub(super) dual: MessagePoint,
    pub(super) primal: Point,
    /// Value of the mixture at the messages.
    pub(super) upper: f64,
}

impl Inner {
    /// The values that belong to `dual`.
    pub(super) fn new(model: &Scaled, mixture: &Mixture, rho: Vec<f64>, dual: MessagePoint) -> Self {
        let primal = Point::new(model, &rho, dual.odds.clone());
        let upper = mixture.value(model, &dual.messages);
        Inner { rho, dual, primal, upper }
    }
}

/// The maximum spanning forest under mutual information, and how much it could gain at most.
pub(super) fn best_vertex(model: &Scaled, rho: &[f64], point: &Point) -> (Vec<u32>, f64) {
    let information: Vec<f64> = point.edges.iter().map(|e| e.information).collect();
    let vertex = max_spanning_forest(model.d, &model.ends, &information);
    let best: f64 = vertex.iter().map(|&e| information[e as usize]).sum();
    let now: f64 = information.iter().zip(rho).map(|(i, r)| i * r).sum();
    (vertex, best - now)
}

impl<'a> RhoSearch<'a> {
    /// Starts from a mixture whose inner problem has been solved.
    pub(super) fn new(
        model: &'a Scaled,
        mixture: Mixture,
        inner: Inner,
        system: GraphSystem,
        tol: f64,
    ) -> Self {
        let least = mixture.weights.iter().map(|w| (START_SHARE * tol).clamp(1e-10, 1e-3) * w).collect();
        // Every forest costs O(d) in each value to come and in the certificate.
        let most_forests = (400_000 / model.d.max(1)).clamp(20, 1200);
        let most_forests = most_forests + mixture.forests.len();
        let goal = mixture.weights.clone();
        RhoSearch { model, mixture, inner, system, least, most_forests, goal, full_step: false }
    }

    /// One Newton step on the weights, with the forests that the quadratic model asks for besides
    /// `vertex`, the best one at the point, whose gain is `gap`; false when nothing improved.
    ///
    /// **Cost** one solve on the graph per forest, a k x k quadratic program, a few inner solves.
    pub(super) fn improve(
        &mut self,
        (vertex, gap): (&[u32], f64),
        target: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool {
        let kept = self.kept();
        let point = (&self.inner.rho[..], &self.inner.primal);
        let mut quadratic = QuadraticModel::new(self.model, point, &mut self.system, (&self.least, &kept));
        for (forest, w) in self.mixture.forests.iter().zip(&self.goal) {
            if stop() {
                return false;
            }
            quadratic.push(forest.edges(), *w);
        }
        let fraction = if self.full_step { MODEL_GAP } else { ROUGH_MODEL_GAP };
        let accuracy = (fraction * gap).max(0.5 * target);
        let mut wanted = vertex.to_vec();
        let mut goal = None;
        // Large graphs, which can have few forests, choose them with care.
        for _ in 0..(self.most_forests / 8).clamp(2, 200) {
            let forests = &mut self.mixture.forests;
            let full = forests.len() >= self.most_forests;
            let known = full || forests.iter().any(|f| f.edges() == wanted);
            if !known && let Some(forest) = Forest::new(self.model.d, &self.model.ends, &wanted) {
                quadratic.push(&wanted, 0.0);
                forests.push(forest);
                self.mixture.weights.push(0.0);
            }
            let weights = quadratic.minimise();
            let (next, model_gap) = quadratic.best_forest(&weights);
            goal = Some(weights);
            if known || model_gap <= accuracy || stop() {
                break;
            }
            wanted = next;
        }
        self.goal = goal.unwrap_or_else(|| self.mixture.weights.clone());
        let goal = self.goal.clone();
        let slope = quadratic.slope(&self.mixture.weights, &goal);
        let improved = slope < 0.0 && self.step_towards(&goal, slope, stop);
        self.drop_unused();
        improved
    }

    /// Whether no more forests fit.
    pub(super) fn is_full(&self) -> bool {
        self.mixture.forests.len() >= self.most_forests
    }

    /// Edge probabilities that the least weights make up.
    fn kept(&self) -> Vec<f64> {
        let mut kept = vec![0.0; self.inner.rho.len()];
        for (forest, w) in self.mixture.forests.iter().zip(&self.least) {
            forest.edges().iter().for_each(|&e| kept[e as usize] += w);
        }
        kept
    }

    /// Gives every edge more probability when the inner problem has become too hard to solve; false
    /// when that has been done enough.
    pub(super) fn lift(&mut self, stop: &mut dyn FnMut() -> bool) -> bool {
        let share: f64 = LIFT * self.least.iter().sum::<f64>();
        if share > LARGEST_SHARE {
            return false;
        }
        self.least.iter_mut().for_each(|w| *w *= LIFT);
        self.mixture.weights.iter_mut().for_each(|w| *w *= 1.0 - share);
        self.mixture.weights.iter_mut().zip(&self.least).for_each(|(w, least)| *w += least);
        self.goal.clone_from(&self.mixture.weights);
        let rho = self.mixture.rho(self.inner.rho.len());
        let dual = self.solve_inner(&rho, stop);
        self.inner = Inner::new(self.model, &self.mixture, rho, dual);
        true
    }

    /// How much the best forest of the mixture could gain at most.
    fn forest_gap(&self, inner: &Inner) -> f64 {
        let information = |e: usize| inner.primal.edges[e].information;
        let now: f64 = inner.rho.iter().enumerate().map(|(e, r)| r * information(e)).sum();
        let gain = |f: &Forest| f.edges().iter().map(|&e| information(e as usize)).sum::<f64>() - now;
        self.mixture.forests.iter().map(gain).fold(0.0, f64::max)
    }

    /// Backtracks from the weights towards `goal` until B falls or, where rounding hides that,
    /// until the gap of the mixture's forests does.
    fn step_towards(&mut self, goal: &[f64], slope: f64, stop: &mut dyn FnMut() -> bool) -> bool {
        let old = self.mixture.weights.clone();
        let noise = 1e-14 * (self.model.d as f64 + self.inner.upper.abs());
        let gap = self.forest_gap(&self.inner);
        let mut t = self.longest_step(goal);
        for _ in 0..12 {
            self.mixture.weights = old.iter().zip(goal).map(|(w, g)| w + t * (g - w)).collect();
            let rho = self.mixture.rho(self.inner.rho.len());
            let mut stopped = false;
            let dual = self.solve_inner(&rho, &mut || {
                stopped = stopped || stop();
                stopped
            });
            if stopped {
                break;
            }
            let next = Inner::new(self.model, &self.mixture, rho, dual);
            let change = next.upper - self.inner.upper;
            let falls = change < 0.1 * t * slope && change < -noise;
            if falls || change <= noise && self.forest_gap(&next) < 0.9 * gap {
                self.inner = next;
                self.full_step = t == 1.0;
                return true;
            }
            t *= 0.5;
        }
        self.mixture.weights = old;
        false
    }

    /// Solves the inner problem at `rho`, from the messages at hand or else from high temperature.
    fn solve_inner(&mut self, rho: &[f64], stop: &mut dyn FnMut() -> bool) -> MessagePoint {
        let mut dual = self.warm_start(rho);
        if settle(self.model, rho, &mut dual, &mut self.system, INNER_TOL, &mut |_| stop()) || stop() {
            return dual;
        }
        let mut cooled = cool(self.model, rho, &mut self.system, stop);
        settle(self.model, rho, &mut cooled, &mut self.system, INNER_TOL, &mut |_| stop());
        if cooled.size < dual.size { cooled } else { dual }
    }

    /// Messages for `rho` from those at hand: as they are, or with `rho M` kept, which is right for
    /// edges of vanishing probability.
    fn warm_start(&self, rho: &[f64]) -> MessagePoint {
        let messages = &self.inner.dual.messages;
        let kept = MessagePoint::new(self.model, rho, messages.clone());
        let ratio = self.inner.rho.iter().zip(rho).map(|(old, new)| old / new);
        let scaled = messages.iter().zip(ratio).map(|(m, r)| [m[0] * r, m[1] * r]).collect();
        let scaled = MessagePoint::new(self.model, rho, scaled);
        if scaled.size < kept.size { scaled } else { kept }
    }

    /// The longest step towards `goal` that keeps every edge alive.
    fn longest_step(&self, goal: &[f64]) -> f64 {
        let mut there = vec![0.0; self.inner.rho.len()];
        for (forest, w) in self.mixture.forests.iter().zip(goal) {
            forest.edges().iter().for_each(|&e| there[e as usize] += w);
        }
        let edges = self.inner.rho.iter().zip(&there).zip(&self.model.couplings);
        edges
            .filter(|((now, then), v)| **v != 0.0 && **then < KEEP_FRACTION * **now)
            .fold(1.0, |t, ((now, then), _)| t.min((1.0 - KEEP_FRACTION) * now / (now - then)))
    }

    fn drop_unused(&mut self) {
        let start = self.least.len();
        let keep: Vec<bool> =
            self.mixture.weights.iter().enumerate().map(|(a, &w)| a < start || w > 0.0).collect();
        let mut kept = keep.iter();
        self.mixture.forests.retain(|_| kept.next() == Some(&true));
        for weights in [&mut self.mixture.weights, &mut self.goal] {
            let mut kept = keep.iter();
            weights.retain(|_| kept.next() == Some(&true));
        }
    }
}
