//! Entropies of graphs on which sums are cheap: forests and two-trees.
//!
//! Each is `sum_i H_i - sum_e n_e I_e - sum_c J_c - d log 2`, with I the mutual information of pairs, J that of clusters of
//! three, and n_e small integers, for two-trees also negative.

use super::entropy::Entropy;
use super::space::Space;
use super::two_tree::{Base, TwoTree};
use crate::relax::forest::Forest;

/// A forest or two-tree; edges are positions in [`Space::pairs`].
#[derive(Clone)]
pub(super) enum Graph {
    Forest(Forest),
    TwoTree(TwoTree),
}

impl Graph {
    /// Its edges.
    pub(super) fn edges(&self) -> Vec<u32> {
        match self {
            Graph::Forest(forest) => forest.edges().to_vec(),
            Graph::TwoTree(tree) => tree.edges(),
        }
    }

    /// Calls `f(e, n_e)`; pairs may come more than once.
    pub(super) fn each_pair(&self, mut f: impl FnMut(usize, f64)) {
        match self {
            Graph::Forest(forest) => forest.edges().iter().for_each(|&e| f(e as usize, 1.0)),
            Graph::TwoTree(tree) => tree.joints.iter().for_each(|joint| match joint.to {
                Base::Nothing => {}
                Base::Spin { side, .. } => f(side as usize, 1.0),
                Base::Edge { base, .. } => f(base as usize, -1.0),
            }),
        }
    }

    /// Calls `f` with every cluster.
    pub(super) fn each_cluster(&self, mut f: impl FnMut(usize)) {
        if let Graph::TwoTree(tree) = self {
            for joint in &tree.joints {
                if let Base::Edge { cluster, .. } = joint.to {
                    f(cluster as usize);
                }
            }
        }
    }

    /// `sum_e n_e I_e + sum_c J_c`.
    pub(super) fn information(&self, pairs: &[f64], clusters: &[f64]) -> f64 {
        let mut shared = 0.0;
        self.each_pair(|e, n| shared += n * pairs[e]);
        self.each_cluster(|c| shared += clusters[c]);
        shared
    }

    /// An elimination order of the least width.
    pub(super) fn order(&self) -> Vec<u32> {
        match self {
            Graph::Forest(forest) => forest.order().to_vec(),
            Graph::TwoTree(tree) => tree.order(),
        }
    }

    /// `log E_uniform exp(g)`, `g = sum_i fields_i x_i + sum_e couplings_e x_i x_j` over its edges; both
    /// arguments are used up.
    pub(super) fn log_mean_exp(&self, fields: &mut [f64], couplings: &mut [f64]) -> f64 {
        match self {
            Graph::Forest(forest) => forest.log_mean_exp(fields, couplings),
            Graph::TwoTree(tree) => tree.log_mean_exp(fields, couplings),
        }
    }
}

/// Sums over the graphs among some entropies, by their weights.
pub(super) struct Mixture {
    /// Weight of all graphs.
    pub(super) total: f64,
    /// Weight of the graphs with an edge, by pair.
    pub(super) edges: Vec<f64>,
    /// `sum_k w_k n_e`, by pair.
    pub(super) pairs: Vec<f64>,
    /// Weight of the graphs with a cluster.
    pub(super) clusters: Vec<f64>,
}

impl Mixture {
    /// **Cost** O(d) per graph.
    pub(super) fn new(list: &[Entropy], weights: &[f64], space: &Space) -> Self {
        let count = space.pairs.len();
        let mut out = Mixture {
            total: 0.0,
            edges: vec![0.0; count],
            pairs: vec![0.0; count],
            clusters: vec![0.0; space.clusters.moments.len()],
        };
        for (entropy, w) in list.iter().zip(weights) {
            if let Entropy::Graph(graph) = entropy {
                graph.edges().iter().for_each(|&e| out.edges[e as usize] += w);
                graph.each_pair(|e, n| out.pairs[e] += w * n);
                graph.each_cluster(|c| out.clusters[c] += w);
                out.total += w;
            }
        }
        out
    }
}
