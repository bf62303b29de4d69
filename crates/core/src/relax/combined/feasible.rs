//! The best feasible point of the program, re-valued as the program grows.

use super::entropy::Evaluation;
use super::graphs::Graph;
use super::program::Program;
use super::two_tree::TwoTree;
use crate::relax::trw::spanning::max_spanning_forest;

/// The value of feasible moments, and what is needed to value them again.
pub(super) struct Feasible {
    /// `<theta, m> + min_k E_k(m)`.
    pub(super) value: f64,
    /// `<theta, m> + sum_i H_i - d log 2`.
    independent: f64,
    /// Information of pairs and clusters.
    pairs: Vec<f64>,
    clusters: Vec<f64>,
}

impl Feasible {
    /// Moments m inside all inequalities, with all forests and the two-trees `found` at m among the
    /// entropies.
    pub(super) fn new(program: &Program, m: &[f64], at: &Evaluation, found: &[(f64, TwoTree)]) -> Self {
        let space = &program.space;
        let linear: f64 = program.theta.iter().zip(m).map(|(t, m)| t * m).sum();
        // The forest of least entropy has the largest mutual information.
        let worst = max_spanning_forest(space.d, &space.pairs, &at.information);
        let shared: f64 = worst.iter().map(|&e| at.information[e as usize]).sum();
        let graphs = found.iter().map(|tree| tree.0).fold(at.independent - shared, f64::min);
        Feasible {
            value: linear + at.values.iter().copied().fold(graphs, f64::min),
            independent: linear + at.independent,
            pairs: at.information.clone(),
            clusters: at.clusters.information.clone(),
        }
    }

    /// Values the point in the program with one more graph.
    pub(super) fn include(&mut self, graph: &Graph) {
        self.value = self.value.min(self.independent - graph.information(&self.pairs, &self.clusters));
    }
}
