//! Column generation: the forests of the mixture come and go while the program is solved.

use super::entropy::{Entropy, Evaluation};
use super::program::{Point, Program};
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::max_spanning_forest;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use std::collections::HashSet;

/// Largest weight given to the new forests of an iteration.
const NEW_WEIGHT: f64 = 0.05;
/// Forests below this weight are forgotten,
const NO_WEIGHT: f64 = 1e-4;
/// when they are also this many times further from t than the closest.
const FAR: f64 = 10.0;
/// Share of the expected gap that a missing forest must explain before it is added.
const EARLY: f64 = 0.5;
/// Forests added per iteration at most.
const NEW_FORESTS: usize = 20;
/// Perturbation of the mutual informations, relative to the distance of the closest forest to t.
const SPREAD: f64 = 4.0;
/// A new forest must come closer to t than this share of the closest one.
const CLOSER: f64 = 0.7;

/// Forgets forests that carry no weight and are far from t.
pub(super) fn drop_forests(program: &mut Program, point: &mut Point) {
    let closest = point.rest.iter().copied().fold(f64::INFINITY, f64::min);
    let (rest, weights) = (&point.rest, &point.weights);
    let keep: Vec<bool> = (program.entropies.iter().zip(rest).zip(weights))
        .map(|((e, &rest), &w)| !matches!(e, Entropy::Forest(_)) || w > NO_WEIGHT || rest < FAR * closest)
        .collect();
    let kept = |k: &mut usize| {
        *k += 1;
        keep[*k - 1]
    };
    let [mut a, mut b, mut c] = [0; 3];
    program.entropies.retain(|_| kept(&mut a));
    point.rest.retain(|_| kept(&mut b));
    point.weights.retain(|_| kept(&mut c));
}

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
    let closest = point.rest.iter().copied().fold(f64::INFINITY, f64::min);
    let mut known: HashSet<Vec<u32>> = HashSet::new();
    for entropy in &program.entropies {
        if let Entropy::Forest(forest) = entropy {
            known.insert(forest.edges().to_vec());
        }
    }
    let limit = NEW_FORESTS.min(2 * space.d);
    let shared = |edges: &[u32]| edges.iter().map(|&e| at.information[e as usize]).sum::<f64>();
    let worst = max_spanning_forest(space.d, &space.pairs, &at.information);
    let violation = point.t + closest - (at.independent - shared(&worst));
    // Forests tell little while the products of slack and multiplier explain more of the bracket.
    if violation <= EARLY * mu * program.complexity() {
        return;
    }
    let mut found = Vec::new();
    for k in 0..limit {
        let spread = SPREAD * violation * k as f64 / (limit * space.d) as f64;
        let noisy: Vec<f64> = at.information.iter().map(|i| i + spread * uniform(random)).collect();
        let edges = max_spanning_forest(space.d, &space.pairs, &noisy);
        let rest = at.independent - shared(&edges) - point.t;
        if rest < CLOSER * closest && known.insert(edges.clone()) {
            found.extend(Forest::new(space.d, &space.pairs, &edges).map(|forest| (rest, forest)));
        }
    }
    let weight = NEW_WEIGHT / found.len().max(1) as f64;
    for (rest, forest) in found {
        let rest = rest.max(mu / weight);
        point.rest.push(rest);
        point.weights.push(mu / rest);
        at.push_forest(space, forest.edges());
        program.entropies.push(Entropy::Forest(forest));
    }
}

/// Uniform in [0, 1).
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
