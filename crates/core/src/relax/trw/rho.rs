//! Edge probabilities that minimise the TRW bound: conditional gradient over spanning forests,
//! fully corrective with second-order information.
//!
//! `B(rho) = max_mu L(mu, rho)` is convex with gradient `-I_e`, so the best vertex is a maximum
//! spanning forest under mutual information, and `I . (vertex - rho)` bounds the distance to the
//! optimum. Between vertices the weights of all forests move together by Newton's method on the
//! simplex; the Hessian of B is `diag(J_e^2 / (rho_e I_cc)) + R A^-1 R^T`, A the matrix of the inner
//! solve.

use super::newton::{Ending, Point, maximise};
use super::spanning::max_spanning_forest;
use super::trees::{Mixture, Scaled};
use crate::optim::graph_system::GraphSystem;
use crate::optim::simplex_qp::minimise_on_simplex;
use crate::relax::forest::Forest;

/// Newton steps on the weights between two vertices.
const CORRECTIVE_STEPS: usize = 4;

/// An edge keeps at least this fraction of its probability in one step.
const KEEP_FRACTION: f64 = 0.1;

/// A mixture with the solved inner problem.
pub(super) struct RhoSearch<'a> {
    model: &'a Scaled,
    pub(super) mixture: Mixture,
    pub(super) rho: Vec<f64>,
    pub(super) point: Point,
    pub(super) system: GraphSystem,
}

impl<'a> RhoSearch<'a> {
    /// Starts from a mixture whose inner problem has been solved at `point`.
    pub(super) fn new(model: &'a Scaled, mixture: Mixture, point: Point, system: GraphSystem) -> Self {
        let rho = mixture.rho(model.ends.len());
        RhoSearch { model, mixture, rho, point, system }
    }

    /// The maximum spanning forest under mutual information, and how much it could gain at most.
    pub(super) fn vertex(&self) -> (Vec<u32>, f64) {
        let information: Vec<f64> = self.point.edges.iter().map(|e| e.information).collect();
        let vertex = max_spanning_forest(self.model.d, &self.model.ends, &information);
        let best: f64 = vertex.iter().map(|&e| information[e as usize]).sum();
        let now: f64 = information.iter().zip(&self.rho).map(|(i, r)| i * r).sum();
        (vertex, best - now)
    }

    /// Adds `vertex` to the mixture and re-optimises all weights; false when nothing improved.
    ///
    /// **Cost** per corrective step: one solve on the graph per forest, one k x k quadratic
    /// program, a few inner solves.
    pub(super) fn improve(&mut self, vertex: &[u32], target: f64, stop: &mut dyn FnMut() -> bool) -> bool {
        let known = self.mixture.forests.iter().any(|f| f.edges() == vertex);
        if !known && let Some(forest) = Forest::new(self.model.d, &self.model.ends, vertex) {
            self.mixture.forests.push(forest);
            self.mixture.weights.push(0.0);
        }
        let mut improved = false;
        for _ in 0..CORRECTIVE_STEPS {
            let (gradient, hessian) = self.weight_model();
            let weights = &self.mixture.weights;
            let k = weights.len();
            let linear: Vec<f64> = (0..k)
                .map(|a| (0..k).map(|b| hessian[a * k + b] * weights[b]).sum::<f64>() - gradient[a])
                .collect();
            let mut goal = weights.clone();
            minimise_on_simplex(&hessian, &linear, &mut goal);
            let slope: f64 = (0..k).map(|a| gradient[a] * (goal[a] - weights[a])).sum();
            if !(-slope > target) || !self.step_towards(&goal, slope, target, stop) {
                break;
            }
            improved = true;
        }
        self.drop_unused();
        improved
    }

    /// Gradient and Hessian of B in the weights of the forests.
    fn weight_model(&mut self) -> (Vec<f64>, Vec<f64>) {
        let (model, point) = (self.model, &self.point);
        point.load_hessian(model, &self.rho, &mut self.system);
        let spreads = point.spreads();
        let couplings = model.tree_couplings(&self.rho);
        let curvature: Vec<f64> = (0..model.ends.len())
            .map(|e| match couplings[e] == 0.0 {
                true => 0.0,
                false => couplings[e].powi(2) * point.edges[e].inverse_curvature / self.rho[e],
            })
            .collect();
        let k = self.mixture.forests.len();
        let mut gradient = vec![0.0; k];
        let (mut pulls, mut responses) = (Vec::with_capacity(k), Vec::with_capacity(k));
        for (a, forest) in self.mixture.forests.iter().enumerate() {
            let mut pull = vec![0.0; model.d];
            for &e in forest.edges() {
                let edge = &point.edges[e as usize];
                gradient[a] -= edge.information;
                for (side, &i) in model.ends[e as usize].iter().enumerate() {
                    let slope = -edge.messages[side] - edge.slopes[side] * couplings[e as usize];
                    pull[i as usize] += spreads[i as usize] * slope;
                }
            }
            let mut response = pull.clone();
            self.system.solve(&mut response);
            pulls.push(pull);
            responses.push(response);
        }
        let mut hessian = vec![0.0; k * k];
        let mut member = vec![0.0; model.ends.len()];
        for a in 0..k {
            let edges = self.mixture.forests[a].edges();
            edges.iter().for_each(|&e| member[e as usize] = curvature[e as usize]);
            for b in 0..=a {
                let shared: f64 = self.mixture.forests[b].edges().iter().map(|&e| member[e as usize]).sum();
                let through_means: f64 = pulls[a].iter().zip(&responses[b]).map(|(p, r)| p * r).sum();
                hessian[a * k + b] = shared + through_means;
                hessian[b * k + a] = shared + through_means;
            }
            edges.iter().for_each(|&e| member[e as usize] = 0.0);
        }
        (gradient, hessian)
    }

    /// Backtracks from the weights towards `goal` until B falls.
    fn step_towards(&mut self, goal: &[f64], slope: f64, target: f64, stop: &mut dyn FnMut() -> bool) -> bool {
        let old = self.mixture.weights.clone();
        let mut moved = self.mixture.clone();
        moved.weights = goal.to_vec();
        let goal_rho = moved.rho(self.rho.len());
        let mut t: f64 = 1.0;
        for (e, (&now, &then)) in self.rho.iter().zip(&goal_rho).enumerate() {
            if self.model.couplings[e] != 0.0 && then < KEEP_FRACTION * now {
                t = t.min((1.0 - KEEP_FRACTION) * now / (now - then));
            }
        }
        for _ in 0..25 {
            moved.weights = old.iter().zip(goal).map(|(w, g)| w + t * (g - w)).collect();
            let rho = moved.rho(self.rho.len());
            let mut next = Point::new(self.model, &rho, self.point.odds.clone());
            let mut stopped = false;
            let ending = maximise(self.model, &rho, &mut next, &mut self.system, 1e-3 * target, &mut |_, _| {
                stopped = stop();
                stopped
            });
            if stopped {
                return false;
            }
            if ending != Ending::Stopped && next.value < self.point.value + 1e-4 * t * slope {
                self.mixture.weights.copy_from_slice(&moved.weights);
                self.rho = rho;
                self.point = next;
                return true;
            }
            t *= 0.5;
        }
        false
    }

    fn drop_unused(&mut self) {
        let keep: Vec<bool> = self.mixture.weights.iter().map(|&w| w > 0.0).collect();
        let mut kept = keep.iter();
        self.mixture.forests.retain(|_| kept.next() == Some(&true));
        self.mixture.weights.retain(|&w| w > 0.0);
    }
}
