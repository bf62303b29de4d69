//! The moments a user asks for, out of the moment matrix.

use super::Ahead;
use crate::features::Classes;
use crate::linalg::Gibbs;
use crate::model::VarSet;
use crate::problem::Problem;

/// `E x_i` and `E x_i x_j` (per edge) for (1, x).
pub(super) fn linear_moments(ahead: &Ahead, problem: &Problem) -> (Vec<f64>, Vec<f64>) {
    let means = (1..=problem.d()).map(|i| ahead.correlation(0, i)).collect();
    let edges = problem.polynomial().pairwise_part().edges().iter();
    (means, edges.map(|&[i, j]| ahead.correlation(i as usize + 1, j as usize + 1)).collect())
}

pub(super) fn state_moments(classes: &Classes, state: &Gibbs) -> Vec<f64> {
    let n = state.n();
    let mut sums = vec![0.0; classes.len()];
    for (k, weight) in state.weights.iter().enumerate().skip(n - state.rank) {
        let u = state.eigen.vectors.column(k);
        for (c, &class) in classes.of().iter().enumerate() {
            sums[class as usize] += n as f64 * weight * u[c % n] * u[c / n];
        }
    }
    sums.iter().zip(classes.sizes()).map(|(s, k)| s / f64::from(*k)).collect()
}

/// Means and edge moments out of the moments by class; what no class holds is 0.
pub(super) fn named_moments(classes: &Classes, moments: &[f64], problem: &Problem) -> (Vec<f64>, Vec<f64>) {
    let of = |set: &VarSet| classes.find(set).map_or(0.0, |c| moments[c].clamp(-1.0, 1.0));
    let means = (0..problem.d()).map(|i| of(&VarSet::singleton(i))).collect();
    let edges = problem.polynomial().pairwise_part().edges().iter();
    (means, edges.map(|&[i, j]| of(&VarSet::pair(i as usize, j as usize))).collect())
}
