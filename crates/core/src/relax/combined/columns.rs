//! Column generation: forests and two-trees come and go while the program is solved.

use super::entropy::{Entropy, Evaluation};
use super::graphs::Graph;
use super::program::{Point, Program};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// Largest weight given to the new graphs of an iteration.
const NEW_WEIGHT: f64 = 0.05;
/// Graphs below this weight are forgotten,
const NO_WEIGHT: f64 = 1e-4;
/// when they are also this many times further from t than the closest.
const FAR: f64 = 10.0;

/// Forgets forests and two-trees that carry no weight and are far from t; two-trees only while they can
/// return.
pub(super) fn drop_idle(program: &mut Program, point: &mut Point, can_return: bool) {
    let closest = closest(point);
    let (slack, weights) = (&point.entropy_slacks, &point.weights);
    let keep: Vec<bool> = (program.entropies.iter().zip(slack).zip(weights))
        .map(|((e, &slack), &w)| {
            let is_idle = w <= NO_WEIGHT && slack >= FAR * closest;
            match e {
                Entropy::Graph(Graph::Forest(_)) => !is_idle,
                Entropy::Graph(Graph::TwoTree(_)) => !(is_idle && can_return),
                Entropy::Quantum(_) | Entropy::LogDet(..) => true,
            }
        })
        .collect();
    let kept = |k: &mut usize| {
        *k += 1;
        keep[*k - 1]
    };
    let [mut a, mut b, mut c] = [0; 3];
    program.entropies.retain(|_| kept(&mut a));
    point.entropy_slacks.retain(|_| kept(&mut b));
    point.weights.retain(|_| kept(&mut c));
}

/// Adds graphs, each with its distance to t, at products of slack and multiplier equal to `mu`.
pub(super) fn admit(
    program: &mut Program,
    point: &mut Point,
    mu: f64,
    at: &mut Evaluation,
    found: Vec<(f64, Graph)>,
) {
    let weight = NEW_WEIGHT / found.len().max(1) as f64;
    for (slack, graph) in found {
        let slack = slack.max(mu / weight);
        point.entropy_slacks.push(slack);
        point.weights.push(mu / slack);
        at.push(&program.space, &graph);
        program.entropies.push(Entropy::Graph(graph));
    }
}

/// Distance to t of the entropy closest to it.
pub(super) fn closest(point: &Point) -> f64 {
    point.entropy_slacks.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Uniform in [0, 1).
pub(super) fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
