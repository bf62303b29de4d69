//! The TRW bound for fixed edge probabilities: Newton's method on the means.
//!
//! Maximising over pair moments in closed form leaves a concave function of the d means,
//! `F(m) = sum_s h_s m_s + H_s(m_s) + sum_e max_c (J_e c - rho_e I_e(m_s, m_t, c))`. Its gradient is
//! `h_s - u_s + sum_e rho_e M_{e->s}` with `m = tanh u` and messages M, and its Hessian is the
//! mixture of the trees' precision matrices, which has the sparsity of the graph: a binary
//! Markov tree has the same precision pattern as a Gaussian one. In the variable u the
//! equations stay well scaled when spins freeze.

use super::edge::EdgeState;
use super::trees::{Messages, Scaled};
use crate::optim::graph_system::GraphSystem;
use crate::relax::forest::log_cosh;

/// Spins frozen harder than this count as this frozen in the scaling of the Newton system.
const SMALLEST_SPREAD: f64 = 1e-100;

/// Newton steps before giving up; quadratic convergence needs about ten.
const MAX_STEPS: usize = 100;

/// A point of the primal side, with everything that is known there.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// `atanh` of the means.
    pub(super) odds: Vec<f64>,
    pub(super) edges: Vec<EdgeState>,
    /// Gradient of F in the means.
    pub(super) residual: Vec<f64>,
    /// F, a lower value of the relaxation.
    pub(super) value: f64,
}

impl Point {
    /// Evaluates F at `m = tanh(odds)`.
    ///
    /// **Cost** O(d + m), about twenty transcendental functions per edge.
    pub(super) fn new(model: &Scaled, rho: &[f64], odds: Vec<f64>) -> Self {
        let couplings = model.tree_couplings(rho);
        let mut residual: Vec<f64> = model.fields.iter().zip(&odds).map(|(h, u)| h - u).collect();
        let mut value: f64 =
            residual.iter().zip(&odds).map(|(r, u)| r * u.tanh() + log_cosh(*u)).sum();
        let mut edges = Vec::with_capacity(model.ends.len());
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            let state = EdgeState::new([odds[i as usize], odds[j as usize]], couplings[e]);
            value += model.couplings[e] * state.moment - rho[e] * state.information;
            residual[i as usize] += rho[e] * state.messages[0];
            residual[j as usize] += rho[e] * state.messages[1];
            edges.push(state);
        }
        Point { odds, edges, residual, value }
    }

    /// The dual point that belongs to these means.
    pub(super) fn messages(&self) -> Messages {
        self.edges.iter().map(|e| e.messages).collect()
    }

    /// `sqrt(1 - m^2)` per spin, kept away from zero.
    pub(super) fn spreads(&self) -> Vec<f64> {
        self.odds.iter().map(|u| (1.0 / u.abs().min(700.0).cosh()).max(SMALLEST_SPREAD)).collect()
    }

    /// Loads the Hessian, scaled by the spreads on both sides, into `system`.
    pub(super) fn load_hessian(&self, model: &Scaled, rho: &[f64], system: &mut GraphSystem) {
        let mut diagonal = vec![1.0; model.d];
        let mut entries = vec![0.0; model.ends.len()];
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            diagonal[i as usize] += rho[e] * self.edges[e].diagonal;
            diagonal[j as usize] += rho[e] * self.edges[e].diagonal;
            entries[e] = -rho[e] * self.edges[e].off_diagonal;
        }
        system.set(&diagonal, &entries);
    }

    fn residual_size(&self) -> f64 {
        self.spreads().iter().zip(&self.residual).map(|(s, r)| (s * r).powi(2)).sum::<f64>().sqrt()
    }
}

/// How a Newton run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The Newton decrement is below the target.
    Solved,
    /// No step improves in floating point, or the step cap was reached.
    Stalled,
    /// `stop` said so.
    Stopped,
}

/// Maximises F from `point` until the predicted gain is below `target`; `stop` sees every step.
///
/// **Cost** per step one factorisation on the graph and O(m).
pub(super) fn maximise(
    model: &Scaled,
    rho: &[f64],
    point: &mut Point,
    system: &mut GraphSystem,
    target: f64,
    stop: &mut dyn FnMut(&Point, f64) -> bool,
) -> Ending {
    for _ in 0..MAX_STEPS {
        let spreads = point.spreads();
        point.load_hessian(model, rho, system);
        let mut step: Vec<f64> = spreads.iter().zip(&point.residual).map(|(s, r)| s * r).collect();
        let scaled = step.clone();
        system.solve(&mut step);
        let slope: f64 = step.iter().zip(&scaled).map(|(y, r)| y * r).sum();
        step.iter_mut().zip(&spreads).for_each(|(y, s)| *y /= s);
        if stop(point, 0.5 * slope) {
            return Ending::Stopped;
        }
        if slope <= 2.0 * target {
            return Ending::Solved;
        }
        match line_search(model, rho, point, &step, slope) {
            Some(next) => *point = next,
            None => return Ending::Stalled,
        }
    }
    Ending::Stalled
}

/// Backtracks along `odds + t step` until F rises enough; near the optimum, where rounding hides
/// the rise, until the residual falls.
fn line_search(model: &Scaled, rho: &[f64], point: &Point, step: &[f64], slope: f64) -> Option<Point> {
    if !slope.is_finite() || step.iter().any(|s| !s.is_finite()) {
        return None;
    }
    let noise = 1e-14 * (model.d as f64 + point.value.abs());
    let mut t = 1.0;
    for _ in 0..50 {
        let odds = point.odds.iter().zip(step).map(|(u, s)| u + t * s).collect();
        let next = Point::new(model, rho, odds);
        let rise = next.value - point.value;
        if rise >= 1e-4 * t * slope && rise > noise {
            return Some(next);
        }
        if rise.abs() <= 10.0 * noise && next.residual_size() < 0.9 * point.residual_size() {
            return Some(next);
        }
        t *= 0.5;
    }
    None
}
