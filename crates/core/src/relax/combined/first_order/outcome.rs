//! What a run leaves behind: a proof of its best bound, the graphs that it rests on, and how far it may be from the optimum.

use super::dual::Dual;
use super::{FirstOrder, primal};
use crate::features::Features;
use crate::model::Ising;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::relax::combined::graphs::Graph;
use crate::relax::combined::two_tree::TwoTree;
use crate::solution::Solution;
use std::collections::HashSet;

impl FirstOrder {
    /// The two-trees of the best bound and those that have come since.
    pub(super) fn two_trees(&self) -> Vec<TwoTree> {
        let own = |graph: &Graph| match graph {
            Graph::TwoTree(tree) => Some(tree.clone()),
            Graph::Forest(_) => None,
        };
        let mut seen = HashSet::new();
        let all = self.best.iter().flat_map(Dual::graphs).chain(&self.objective.entropies.graphs);
        all.filter_map(own).filter(|tree| seen.insert(tree.edges())).collect()
    }

    /// The best feasible value that is known of the relaxation of the best bound.
    pub(super) fn primal(&mut self) -> Option<f64> {
        let best = self.best.as_ref()?;
        let graphs: Vec<Graph> = best.graphs().cloned().collect();
        self.objective.gaussian = best.gaussian.clone();
        let points = [Some(&self.factor), self.best_factor.as_ref()].into_iter().flatten();
        points
            .filter_map(|factor| {
                primal::feasible_value(&mut self.objective, factor, &graphs, &mut self.random)
            })
            .reduce(f64::max)
    }

    /// Proves the best bound and fills in what else is known.
    pub(super) fn conclude(
        self,
        problem: &Problem,
        ising: &Ising,
        solution: &mut Solution,
        monitor: &mut Monitor<'_>,
    ) {
        let (eps, n) = (problem.eps(), ising.d() + 1);
        solution.means = Some((1..n).map(|k| self.factor.row(k)[0]).collect());
        let moment = |&[i, j]: &[u32; 2]| (i, j, self.factor.moment([i + 1, j + 1]));
        solution.pairwise = Some(ising.edges().iter().map(moment).collect());
        solution.features = Some(Features::degree(ising.d(), 1));
        let Some(best) = self.best else { return };
        solution.estimate = eps * best.bound + ising.constant();
        let proof = best.certificate(eps);
        monitor.eigendecompositions += 1;
        match proof.and_then(|c| c.verify(problem.polynomial()).map(|bound| (c, bound))) {
            Ok((certificate, bound)) => {
                solution.upper = Some(bound);
                solution.certificate = Some(certificate);
            }
            Err(error) => solution.reason = Some(error.to_string()),
        }
    }
}
