//! What the multipliers of a point prove, in floating point.
//!
//! `theta + A^T S + C^T nu` is split into `sum_k w_k f_k`, with `f_k = -grad E_k(m)` and what is left of
//! the optimality conditions carried by the graphs; then
//! `Phi(f) <= tr S + sum nu + sum_k w_k Phi_k(f_k)`, whatever the point.

use super::entropy::{Entropy, Evaluation};
use super::graphs::Mixture;
use super::program::{Point, Program};

/// Graphs take over a residual up to this size; a larger one is left to the defect.
const CARRIED: f64 = 0.5;

/// The decomposition at a point.
pub(super) struct Split {
    /// `w_k`, with sum one.
    pub(super) weights: Vec<f64>,
    /// What every graph with this spin or edge carries of the residual, by moment.
    carried: Vec<f64>,
    /// `l1` norm of what no graph carries.
    defect: f64,
}

impl Split {
    /// **Cost** O(moments times entropies).
    pub(super) fn new(program: &Program, point: &Point, at: &Evaluation) -> Self {
        let total: f64 = point.weights.iter().sum();
        let weights: Vec<f64> = point.weights.iter().map(|w| w / total).collect();
        let mut residual = program.dual_residual(point, &weights, at);
        let space = &program.space;
        let mixture = Mixture::new(&program.entropies, &weights, space);
        let mut carried = vec![0.0; space.len()];
        let mut carry = |number: usize, share: f64| {
            let shared = residual[number] / share;
            if shared.abs() < CARRIED {
                residual[number] = 0.0;
                carried[number] = shared;
            }
        };
        space.spins().for_each(|number| carry(number, mixture.total));
        space.pair_moments.iter().zip(&mixture.edges).for_each(|(of, &share)| carry(of[2] as usize, share));
        Split { weights, carried, defect: residual.iter().map(|r| r.abs()).sum() }
    }

    /// Fields, and couplings of all pairs of which those of its edges count, of the graph that is entropy `k`.
    pub(super) fn parameters(&self, program: &Program, at: &Evaluation, k: usize) -> (Vec<f64>, Vec<f64>) {
        let space = &program.space;
        let gradient = &at.gradients[k * space.len()..(k + 1) * space.len()];
        let along = |number: usize| self.carried[number] - gradient[number];
        let mut fields = vec![0.0; space.d];
        for number in space.spins() {
            fields[space.sets[number].largest().unwrap_or(0)] = along(number);
        }
        (fields, space.pair_moments.iter().map(|of| along(of[2] as usize)).collect())
    }

    /// The bound.
    ///
    /// **Cost** O(moments) per entropy.
    pub(super) fn value(&self, program: &Program, point: &Point, at: &Evaluation) -> f64 {
        let count = program.space.len();
        let mut total: f64 = self.defect + point.nu.as_flattened().iter().sum::<f64>();
        total += point.squares.iter().map(|s| s.diagonal().sum::<f64>()).sum::<f64>();
        for (k, (entropy, w)) in program.entropies.iter().zip(&self.weights).enumerate() {
            total += w * match entropy {
                Entropy::Graph(graph) => {
                    let (mut fields, mut couplings) = self.parameters(program, at, k);
                    graph.log_mean_exp(&mut fields, &mut couplings)
                }
                Entropy::Quantum(_) | Entropy::LogDet(..) => {
                    let gradient = &at.gradients[k * count..(k + 1) * count];
                    at.values[k] - gradient.iter().zip(&point.m).map(|(g, m)| g * m).sum::<f64>()
                }
            };
        }
        total
    }
}
