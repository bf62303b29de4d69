//! Forests of small entropy, found exactly: maximum spanning forests.

use super::columns::{admit, closest, uniform};
use super::entropy::{Entropy, Evaluation};
use super::graphs::Graph;
use super::program::{Point, Program};
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::max_spanning_forest;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// Share of the expected gap that a missing forest must explain before it is added.
pub(super) const EARLY: f64 = 0.5;
/// Forests added per iteration at most.
const NEW_FORESTS: usize = 20;
/// Perturbation of the mutual informations, relative to the distance of the closest forest to t.
pub(super) const SPREAD: f64 = 4.0;
/// A new forest must come closer to t than this share of the closest one.
pub(super) const CLOSER: f64 = 0.7;

/// Adds forests of small entropy that are closer to t than others: the one of least entropy, and
/// those of least entropy after a perturbation of about the distance to t, for a mixture needs many.
pub(super) fn add_forests(
    program: &mut Program,
    point: &mut Point,
    mu: f64,
    at: &mut Evaluation,
    random: &mut ChaCha8Rng,
) {
    let space = &program.space;
    let closest = closest(point);
    let mut known: HashSet<Vec<u32>> = HashSet::new();
    for entropy in &program.entropies {
        if let Entropy::Graph(Graph::Forest(forest)) = entropy {
            known.insert(forest.edges().to_vec());
        }
    }
    let limit = NEW_FORESTS.min(2 * space.d);
    let shared = |edges: &[u32]| edges.iter().map(|&e| at.information[e as usize]).sum::<f64>();
    let worst = max_spanning_forest(space.d, &space.pairs, &at.information);
    let least = at.independent - shared(&worst);
    // Two-trees are below the forests inside them: as long as one is, t has to come down to it first.
    if !space.clusters.spins.is_empty() && at.values.iter().any(|value| *value <= least) {
        return;
    }
    let violation = point.t + closest - least;
    // Forests tell little while the products of slack and multiplier explain more of the bracket.
    if violation <= EARLY * mu * program.complexity() {
        return;
    }
    let mut found = Vec::new();
    for k in 0..limit {
        let spread = SPREAD * violation * k as f64 / (limit * space.d) as f64;
        let noisy: Vec<f64> = at.information.iter().map(|i| i + spread * uniform(random)).collect();
        let edges = max_spanning_forest(space.d, &space.pairs, &noisy);
        let slack = at.independent - shared(&edges) - point.t;
        if slack < CLOSER * closest && known.insert(edges.clone()) {
            found.extend(Forest::new(space.d, &space.pairs, &edges).map(|f| (slack, Graph::Forest(f))));
        }
    }
    admit(program, point, mu, at, found);
}
