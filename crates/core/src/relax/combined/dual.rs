//! What the multipliers of a point prove, in floating point.
//!
//! `theta + A^T S + C^T nu` is split into `sum_k w_k f_k`, with `f_k = -grad E_k(m)` and what is left of
//! the optimality conditions carried by the forests; then
//! `Phi(f) <= tr S + sum nu + sum_k w_k Phi_k(f_k)`, whatever the point.

use super::entropy::{Entropy, Evaluation};
use super::program::{Point, Program};
use crate::relax::forest::Forest;

/// Forests take over a residual up to this size; a larger one is left to the defect.
const CARRIED: f64 = 0.5;

/// The decomposition at a point.
pub(super) struct Split {
    /// `w_k`, with sum one.
    pub(super) weights: Vec<f64>,
    /// Fields of independent spins with the point's means, plus what they carry, by spin.
    fields: Vec<f64>,
    /// Couplings of every pair with the point's moments, plus what they carry.
    pub(super) couplings: Vec<f64>,
    /// `l1` norm of what no forest carries.
    defect: f64,
}

impl Split {
    /// **Cost** O(moments times entropies).
    pub(super) fn new(program: &Program, point: &Point, at: &Evaluation) -> Self {
        let total: f64 = point.weights.iter().sum();
        let weights: Vec<f64> = point.weights.iter().map(|w| w / total).collect();
        let mut residual = program.residual(point, &weights, at);
        let (rho, trees) = program.edge_probabilities(&weights);
        let space = &program.space;
        let mut carry = |number: usize, share: f64| {
            let shared = residual[number] / share;
            if shared.abs() < CARRIED {
                residual[number] = 0.0;
                shared
            } else {
                0.0
            }
        };
        let mut fields = vec![0.0; space.d];
        for number in space.spins() {
            let spin = space.sets[number].largest().unwrap_or(0);
            fields[spin] = carry(number, trees) - at.common[number];
        }
        let pairs = space.pair_moments.iter().zip(&at.pulls).zip(rho);
        let couplings = pairs.map(|((of, pull), rho)| pull[2] + carry(of[2] as usize, rho)).collect();
        Split { weights, fields, couplings, defect: residual.iter().map(|r| r.abs()).sum() }
    }

    /// Fields of one forest.
    pub(super) fn fields(&self, program: &Program, at: &Evaluation, forest: &Forest) -> Vec<f64> {
        let mut fields = self.fields.clone();
        for &e in forest.edges() {
            let [i, j] = program.space.pairs[e as usize];
            fields[i as usize] += at.pulls[e as usize][0];
            fields[j as usize] += at.pulls[e as usize][1];
        }
        fields
    }

    /// The bound.
    ///
    /// **Cost** O(d) per forest.
    pub(super) fn value(&self, program: &Program, point: &Point, at: &Evaluation) -> f64 {
        let count = program.space.len();
        let mut total: f64 = self.defect + point.nu.as_flattened().iter().sum::<f64>();
        total += point.squares.iter().map(|s| s.diagonal().sum::<f64>()).sum::<f64>();
        for (k, (entropy, w)) in program.entropies.iter().zip(&self.weights).enumerate() {
            total += w * match entropy {
                Entropy::Forest(forest) => {
                    forest.log_mean_exp(&mut self.fields(program, at, forest), &self.couplings)
                }
                Entropy::Quantum(_) | Entropy::LogDet(_) => {
                    let gradient = &at.gradients[k * count..(k + 1) * count];
                    at.values[k] - gradient.iter().zip(&point.m).map(|(g, m)| g * m).sum::<f64>()
                }
            };
        }
        total
    }
}
