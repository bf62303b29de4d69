//! The primal side of TRW: locally consistent moments and their free energy.
//!
//! Maximising over pair moments in closed form leaves a concave function of the d means,
//! `F(m) = sum_s h_s m_s + H_s(m_s) + sum_e max_c (J_e c - rho_e I_e(m_s, m_t, c))`. Its gradient is
//! `h_s - u_s + sum_e rho_e M_{e->s}` with `m = tanh u` and messages M, and its Hessian is the
//! mixture of the trees' precision matrices, which has the sparsity of the graph: a binary
//! Markov tree has the same precision pattern as a Gaussian one.

use super::edge::EdgeState;
use super::trees::Scaled;
use crate::linalg::graph_system::GraphSystem;
use crate::relax::forest::log_cosh;

/// Spins frozen harder than this count as this frozen in the scaling of the Newton system.
const SMALLEST_SPREAD: f64 = 1e-100;

/// A point of the primal side, with everything that is known there.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// `atanh` of the means.
    pub(super) odds: Vec<f64>,
    pub(super) edges: Vec<EdgeState>,
    /// F, a lower value of the relaxation.
    pub(super) value: f64,
}

impl Point {
    /// Evaluates F at `m = tanh(odds)`.
    ///
    /// **Cost** O(d + m), about twenty transcendental functions per edge.
    pub(super) fn new(model: &Scaled, rho: &[f64], odds: Vec<f64>) -> Self {
        let couplings = model.tree_couplings(rho);
        let spin = |(h, &u): (&f64, &f64)| (h - u) * u.tanh() + log_cosh(u);
        let mut value: f64 = model.fields.iter().zip(&odds).map(spin).sum();
        let mut edges = Vec::with_capacity(model.ends.len());
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            let state = EdgeState::new([odds[i as usize], odds[j as usize]], couplings[e]);
            value += model.couplings[e] * state.moment - rho[e] * state.information;
            edges.push(state);
        }
        Point { odds, edges, value }
    }

    /// `sqrt(1 - m^2)` per spin, kept away from zero.
    pub(super) fn spreads(&self) -> Vec<f64> {
        self.odds.iter().map(|u| (1.0 / u.abs().min(700.0).cosh()).max(SMALLEST_SPREAD)).collect()
    }

    /// Loads the Hessian, scaled by the spreads on both sides, into `system`.
    pub(super) fn load_hessian(&self, model: &Scaled, rho: &[f64], system: &mut GraphSystem) {
        let mut diagonal = vec![1.0; model.d];
        let mut entries = vec![[0.0; 2]; model.ends.len()];
        for (e, &[i, j]) in model.ends.iter().enumerate() {
            diagonal[i as usize] += rho[e] * self.edges[e].diagonal;
            diagonal[j as usize] += rho[e] * self.edges[e].diagonal;
            entries[e] = [-rho[e] * self.edges[e].off_diagonal; 2];
        }
        system.set(&diagonal, &entries);
    }
}
