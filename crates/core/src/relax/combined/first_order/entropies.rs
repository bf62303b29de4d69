//! The entropies of the method: log-det and graphs, in one soft minimum.
//!
//! `min_k E_k(m)` is replaced by `-tau log sum_k p_k exp(-E_k(m)/tau)`, concave and smooth, whose weights
//! `w_k ~ p_k exp(-E_k/tau)` are those of a decomposition at every point. With p replaced by w after every round this
//! is the exponential method of multipliers: it converges to the minimum itself at a fixed tau.

use crate::relax::combined::graphs::Graph;
use crate::relax::combined::team::Team;
use crate::relax::combined::triples;
use crate::relax::cuts::{Pairs, quad};
use std::collections::HashMap;

/// Probabilities below this share are continued by a parabola, so that no pair has to be a law on the way.
pub(super) const FLOOR: f64 = 1e-2;

/// The graphs, and what is needed to evaluate them.
pub(super) struct Entropies {
    d: usize,
    /// Pairs of spins that graphs use, with their number among all pairs.
    pub(super) edges: Vec<[u32; 2]>,
    edge_pairs: Vec<u32>,
    edge_numbers: HashMap<[u32; 2], u32>,
    /// Moments of the clusters of three spins.
    clusters: Vec<[u32; 6]>,
    cluster_numbers: HashMap<[u32; 3], u32>,
    pub(super) graphs: Vec<Graph>,
    /// log p, that of log-det first.
    pub(super) log_prior: Vec<f64>,
    /// tau.
    pub(super) softness: f64,
    /// Moments are multiplied by this before graphs see them: then they are inside the inequalities that a point
    /// between two rounds may violate.
    pub(super) shrink: f64,
    /// The floor in use.
    pub(super) floor: f64,
}

/// Values, weights and derivatives at one point.
#[derive(Default)]
pub(super) struct At {
    /// `E_k`, log-det first.
    pub(super) values: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// The soft minimum.
    pub(super) soft: f64,
    /// Derivatives of the spins' entropies, of the edges' informations, of the clusters' informations.
    spins: Vec<f64>,
    edges: Vec<[f64; 3]>,
    clusters: Vec<[f64; 6]>,
}

impl Entropies {
    pub(super) fn new(d: usize) -> Self {
        Entropies {
            d,
            edges: Vec::new(),
            edge_pairs: Vec::new(),
            edge_numbers: HashMap::new(),
            clusters: Vec::new(),
            cluster_numbers: HashMap::new(),
            graphs: Vec::new(),
            log_prior: vec![0.0],
            softness: 1.0,
            shrink: 1.0,
            floor: FLOOR,
        }
    }

    /// Number of the edge of two spins i < j.
    pub(super) fn edge(&mut self, ends: [u32; 2], pairs: &mut Pairs) -> u32 {
        let next = self.edges.len() as u32;
        *self.edge_numbers.entry(ends).or_insert_with(|| {
            self.edges.push(ends);
            self.edge_pairs.push(pairs.number(ends.map(|i| i + 1)));
            next
        })
    }

    /// Number of the cluster of three spins i < j < k, whose edges become known too.
    pub(super) fn cluster(&mut self, spins: [u32; 3], pairs: &mut Pairs) -> u32 {
        let [i, j, k] = spins;
        let sides = [[i, j], [i, k], [j, k]].map(|ends| self.edge(ends, pairs));
        let [ij, ik, jk] = sides.map(|e| self.edge_pairs[e as usize]);
        let next = self.clusters.len() as u32;
        *self.cluster_numbers.entry(spins).or_insert_with(|| {
            self.clusters.push([i, j, k, ij, ik, jk]);
            next
        })
    }

    /// Adds graphs that share `weight`.
    pub(super) fn admit(&mut self, graphs: Vec<Graph>, weight: f64) {
        let each = (weight / graphs.len().max(1) as f64).ln();
        self.log_prior.extend(graphs.iter().map(|_| each));
        self.graphs.extend(graphs);
        self.normalize();
    }

    /// Makes the weights of a point the prior; graphs with less than `least` leave.
    pub(super) fn update(&mut self, weights: &[f64], least: f64) {
        self.log_prior = weights.iter().map(|w| w.max(1e-12).ln()).collect();
        let mut k = 0;
        let mut kept = vec![self.log_prior[0]];
        self.graphs.retain(|_| {
            k += 1;
            if weights[k] >= least {
                kept.push(self.log_prior[k]);
            }
            weights[k] >= least
        });
        self.log_prior = kept;
        self.normalize();
    }

    fn normalize(&mut self) {
        let total: f64 = self.log_prior.iter().map(|v| v.exp()).sum();
        self.log_prior.iter_mut().for_each(|v| *v -= total.ln());
    }

    /// Entropies of the graphs at the moments by pair, with their derivatives, before they are weighed.
    ///
    /// **Cost** four logarithms per edge, some twelve per cluster.
    pub(super) fn of_graphs(&self, x: &[f64], team: &Team) -> At {
        let s = self.shrink;
        let spins: Vec<(f64, f64)> = (0..self.d).map(|i| spin(s * x[i])).collect();
        let (used_edges, used_clusters) = self.used();
        let edges = team.map(self.edges.len(), |e| {
            if !used_edges[e] {
                return (0.0, [0.0; 3]);
            }
            let ends = self.edges[e].map(|i| i as usize);
            let m = [x[ends[0]], x[ends[1]], x[self.edge_pairs[e] as usize]].map(|v| s * v);
            let (joint, gradient) = pair(m, self.floor);
            let [(a, by_a), (b, by_b)] = ends.map(|i| spins[i]);
            (a + b - joint, [by_a - gradient[0], by_b - gradient[1], -gradient[2]])
        });
        let clusters = team.map(self.clusters.len(), |c| {
            if !used_clusters[c] {
                return (0.0, [0.0; 6]);
            }
            let numbers = self.clusters[c];
            let law = triples::law(numbers.map(|p| s * x[p as usize]));
            triples::information_with_gradient(&law, [0, 1, 2].map(|p| spins[numbers[p] as usize]))
        });
        let (informations, edges): (Vec<f64>, Vec<[f64; 3]>) = edges.into_iter().unzip();
        let (shared, clusters): (Vec<f64>, Vec<[f64; 6]>) = clusters.into_iter().unzip();
        let (values, spins): (Vec<f64>, Vec<f64>) = spins.into_iter().unzip();
        let independent: f64 = values.iter().sum();
        let values = self.graphs.iter().map(|g| independent - g.information(&informations, &shared));
        At { values: values.collect(), spins, edges, clusters, ..At::default() }
    }

    /// Weighs the graphs, given the entropy of log-det; derivatives times weights join `out`.
    pub(super) fn with_log_det(&self, mut at: At, log_det: f64, out: &mut [f64]) -> At {
        at.values.insert(0, log_det);
        self.weigh(&mut at);
        self.add(&at, out);
        at
    }

    /// Edges and clusters that some graph uses.
    fn used(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut edges, mut clusters) = (vec![false; self.edges.len()], vec![false; self.clusters.len()]);
        for graph in &self.graphs {
            graph.each_pair(|e, _| edges[e] = true);
            graph.each_cluster(|c| clusters[c] = true);
        }
        (edges, clusters)
    }

    /// The soft minimum and its weights.
    fn weigh(&self, at: &mut At) {
        let exponents: Vec<f64> =
            at.values.iter().zip(&self.log_prior).map(|(e, p)| p - e / self.softness).collect();
        let top = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        at.weights = exponents.iter().map(|v| (v - top).exp()).collect();
        let total: f64 = at.weights.iter().sum();
        at.weights.iter_mut().for_each(|w| *w /= total);
        at.soft = -self.softness * (top + total.ln());
    }

    /// `out += sum_k w_k grad E_k` over the graphs.
    fn add(&self, at: &At, out: &mut [f64]) {
        let s = self.shrink;
        let weights = &at.weights[1..];
        let total: f64 = weights.iter().sum();
        let mut edges = vec![0.0; self.edges.len()];
        let mut clusters = vec![0.0; self.clusters.len()];
        for (graph, w) in self.graphs.iter().zip(weights) {
            graph.each_pair(|e, n| edges[e] += w * n);
            graph.each_cluster(|c| clusters[c] += w);
        }
        (0..self.d).for_each(|i| out[i] += s * total * at.spins[i]);
        for (e, n) in edges.iter().enumerate().filter(|(_, n)| **n != 0.0) {
            let [i, j] = self.edges[e].map(|i| i as usize);
            let numbers = [i, j, self.edge_pairs[e] as usize];
            (0..3).for_each(|p| out[numbers[p]] -= s * n * at.edges[e][p]);
        }
        for (c, n) in clusters.iter().enumerate().filter(|(_, n)| **n != 0.0) {
            (0..6).for_each(|p| out[self.clusters[c][p] as usize] -= s * n * at.clusters[c][p]);
        }
    }

    /// The component `f_k = -grad E_k` of graph k: fields, and couplings by edge.
    pub(super) fn parameters(&self, at: &At, k: usize) -> (Vec<f64>, Vec<f64>) {
        let mut edges = vec![0.0; self.edges.len()];
        let mut fields: Vec<f64> = at.spins.iter().map(|v| -self.shrink * v).collect();
        let graph = &self.graphs[k];
        graph.each_pair(|e, n| {
            let [i, j] = self.edges[e].map(|i| i as usize);
            let by = at.edges[e].map(|v| self.shrink * n * v);
            fields[i] += by[0];
            fields[j] += by[1];
            edges[e] += by[2];
        });
        graph.each_cluster(|c| {
            let by = at.clusters[c].map(|v| self.shrink * v);
            (0..3).for_each(|p| fields[self.clusters[c][p] as usize] += by[p]);
            let spins = [0, 1, 2].map(|p| self.clusters[c][p]);
            let sides = [[spins[0], spins[1]], [spins[0], spins[2]], [spins[1], spins[2]]];
            (0..3).for_each(|p| edges[self.edge_numbers[&sides[p]] as usize] += by[3 + p]);
        });
        (fields, edges)
    }
}

/// `-x log x` and its derivative, continued by a parabola below the floor.
fn term(x: f64, floor: f64) -> (f64, f64) {
    let y = x.max(floor);
    let (log, below) = (y.ln(), x - y);
    (-(y * log + (log + 1.0) * below + 0.5 * below * below / floor), -(log + 1.0 + below / floor))
}

/// Entropy of a spin of mean m less log 2, and its derivative.
pub(super) fn spin(m: f64) -> (f64, f64) {
    // Rows are unit vectors, so a mean never leaves its interval.
    let floor = 1e-12;
    let ((a, up), (b, down)) = (term(0.5 * (1.0 + m), floor), term(0.5 * (1.0 - m), floor));
    (a + b - std::f64::consts::LN_2, 0.5 * (up - down))
}

/// Entropy of two spins less 2 log 2, and its derivatives.
pub(super) fn pair(m: [f64; 3], floor: f64) -> (f64, [f64; 3]) {
    let terms = quad::slacks(m).map(|slack| term(0.25 * slack, floor));
    let value = terms.iter().map(|term| term.0).sum::<f64>() - 2.0 * std::f64::consts::LN_2;
    (value, quad::adjoint(&terms.map(|term| 0.25 * term.1)))
}
