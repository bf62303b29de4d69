//! Uniform spanning forests: their edge probabilities, and mixtures of explicit forests that have them.

use super::simplex_qp::SimplexQp;
use super::spanning::{DisjointSets, cover, max_spanning_forest, stars};
use super::wilson::{SAMPLES, sampled_frequencies};
use crate::deadline::Deadline;
use crate::linalg::graph_system::GraphSystem;

/// Distance from the wanted edge probabilities at which a decomposition is exact.
const DECOMPOSITION_TOL: f64 = 1e-13;

/// Forests of an exact decomposition; beyond, the probabilities achieved are used.
const MAX_DECOMPOSITION: usize = 400;

/// Graphs with more edges than this get an average of forests instead of an exact decomposition.
const MAX_DECOMPOSED_EDGES: usize = 2000;

/// Nodes times forests of such an average.
const AVERAGE_SIZE: usize = 1_000_000;

/// Distance from the wanted edge probabilities that is worth telling.
const TELLING: f64 = 1e-6;

/// Forests with weights, and what is to be said about their edge probabilities.
pub(super) struct UniformForests {
    pub(super) forests: Vec<Vec<u32>>,
    pub(super) weights: Vec<f64>,
    /// How the edge probabilities differ from those of a uniform spanning forest, if they do.
    pub(super) note: Option<String>,
}

/// Forests and weights whose mixture has the edge probabilities of a uniform spanning forest, or
/// comes close; `stop` cuts the work short.
pub(crate) fn resistance_mixture(
    d: usize,
    ends: &[[u32; 2]],
    stop: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<u32>>, Vec<f64>) {
    let uniform = uniform_forests(d, ends, stop);
    (uniform.forests, uniform.weights)
}

/// As [`resistance_mixture`], with a note. Stars on complete graphs, an exact decomposition on graphs of
/// up to 2000 edges, elsewhere an average of forests each chosen to make up for the ones before.
///
/// **Cost** one factorisation on the graph (or some random spanning trees where it would not fit), and
/// per forest O(m log m) plus, up to 2000 edges, a step of a quadratic program.
pub(super) fn uniform_forests(d: usize, ends: &[[u32; 2]], stop: &mut dyn FnMut() -> bool) -> UniformForests {
    let equal = |forests: Vec<Vec<u32>>| {
        let weights = vec![1.0 / forests.len() as f64; forests.len()];
        (forests, weights)
    };
    if d > 2 && ends.len() == d * (d - 1) / 2 {
        let (forests, weights) = equal(stars(d, ends));
        return UniformForests { forests, weights, note: None };
    }
    let covering = cover(d, ends);
    if covering.len() == 1 {
        let (forests, weights) = equal(covering);
        return UniformForests { forests, weights, note: None };
    }
    let exact = effective_resistance(d, ends, stop);
    let sampled = exact.is_none();
    let Some(rho) = exact.or_else(|| sampled_frequencies(d, ends, stop)) else {
        let (forests, weights) = equal(covering);
        let note = "edge probabilities are those of a few spanning forests that cover the graph: \
                    effective resistances were not reached before the run was stopped";
        return UniformForests { forests, weights, note: Some(note.into()) };
    };
    let (mut forests, mut weights) = if ends.len() <= MAX_DECOMPOSED_EDGES {
        decompose(d, ends, &rho, covering.clone(), stop)
    } else {
        equal(average(d, ends, &rho, stop))
    };
    keep_every_edge(ends.len(), &mut forests, &mut weights, covering);
    let note = deviation_note(&rho, &forests, &weights, sampled);
    UniformForests { forests, weights, note }
}

/// Says what was used where it differs from what was asked for.
fn deviation_note(rho: &[f64], forests: &[Vec<u32>], weights: &[f64], sampled: bool) -> Option<String> {
    let residual = residual(rho, forests, weights);
    let worst = residual.iter().fold(0.0f64, |top, r| top.max(r.abs()));
    let what = if sampled {
        format!("the frequencies of edges in {SAMPLES} random spanning trees")
    } else {
        "the effective resistances".to_owned()
    };
    (sampled || worst > TELLING).then(|| {
        format!(
            "edge probabilities are those of {} spanning forests, within {worst:.1e} of {what}",
            forests.len()
        )
    })
}

/// Probability of every edge in a uniform spanning forest: its effective resistance. `None` where the
/// factorisation would not fit, or when `stop` says so.
///
/// **Cost** one envelope factorisation and as much again for the entries of the inverse.
fn effective_resistance(d: usize, ends: &[[u32; 2]], stop: &mut dyn FnMut() -> bool) -> Option<Vec<f64>> {
    let mut diagonal = vec![0.0; d];
    let mut sets = DisjointSets::new(d);
    for &[i, j] in ends {
        diagonal[i as usize] += 1.0;
        diagonal[j as usize] += 1.0;
        sets.join(i, j);
    }
    // Grounding one node per component makes the Laplacian regular and leaves resistances alone.
    (0..d).filter(|&i| sets.find(i as u32) == i as u32).for_each(|i| diagonal[i] += 1.0);
    let mut laplacian = GraphSystem::new(d, ends, &Deadline::default());
    if stop() {
        return None;
    }
    laplacian.set(&diagonal, &vec![[-1.0; 2]; ends.len()]);
    let (nodes, edges) = laplacian.inverse_entries(stop)?;
    let resistance =
        |(&[i, j], z): (&[u32; 2], &f64)| (nodes[i as usize] + nodes[j as usize] - 2.0 * z).clamp(0.0, 1.0);
    Some(ends.iter().zip(&edges).map(resistance).collect())
}

/// Forests whose plain average has edge probabilities within a few `1 / count` of `rho`: each is
/// the maximum spanning forest under what the ones before it still owe (herding, Welling 2009).
///
/// **Cost** O(m log m) per forest.
fn average(d: usize, ends: &[[u32; 2]], rho: &[f64], stop: &mut dyn FnMut() -> bool) -> Vec<Vec<u32>> {
    let count = (AVERAGE_SIZE / d.max(1)).clamp(16, 64);
    let mut debt = rho.to_vec();
    let mut forests = Vec::new();
    while forests.is_empty() || forests.len() < count && !stop() {
        let forest = max_spanning_forest(d, ends, &debt);
        debt.iter_mut().zip(rho).for_each(|(debt, rho)| *debt += rho);
        forest.iter().for_each(|&e| debt[e as usize] -= 1.0);
        forests.push(forest);
    }
    forests
}

/// Weights on forests whose mixture has edge probabilities `rho`, by fully corrective conditional
/// gradient from the forests `start`, which cover every edge.
///
/// **Cost** per forest one maximum spanning forest and a few O(k^2) steps of a quadratic program.
fn decompose(
    d: usize,
    ends: &[[u32; 2]],
    rho: &[f64],
    start: Vec<Vec<u32>>,
    stop: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<u32>>, Vec<f64>) {
    let mut program = SimplexQp::new(d as f64);
    let mut member = vec![0.0; ends.len()];
    let mut forests: Vec<Vec<u32>> = Vec::new();
    let mut add = |program: &mut SimplexQp, forests: &mut Vec<Vec<u32>>, next: Vec<u32>, weight: f64| {
        next.iter().for_each(|&e| member[e as usize] = 1.0);
        forests.push(next);
        let overlap = |f: &Vec<u32>| f.iter().map(|&e| member[e as usize]).sum();
        let row = forests.iter().map(overlap).collect();
        let next = &forests[forests.len() - 1];
        let linear = next.iter().map(|&e| rho[e as usize]).sum();
        program.push(row, linear, weight);
        next.iter().for_each(|&e| member[e as usize] = 0.0);
    };
    let share = 1.0 / start.len() as f64;
    start.into_iter().for_each(|forest| add(&mut program, &mut forests, forest, share));
    let mut best = f64::INFINITY;
    loop {
        program.minimise();
        let residual = residual(rho, &forests, program.weights());
        let distance = residual.iter().fold(0.0f64, |top, r| top.max(r.abs()));
        let next = max_spanning_forest(d, ends, &residual);
        let exact = distance <= DECOMPOSITION_TOL || distance >= best && distance < 1e-11;
        if exact || forests.len() >= MAX_DECOMPOSITION || forests.contains(&next) || stop() {
            break;
        }
        best = best.min(distance);
        add(&mut program, &mut forests, next, 0.0);
    }
    let kept = forests.into_iter().zip(program.weights().iter().copied()).filter(|(_, w)| *w > 0.0);
    kept.unzip()
}

/// What the mixture lacks of `rho`.
fn residual(rho: &[f64], forests: &[Vec<u32>], weights: &[f64]) -> Vec<f64> {
    let mut residual = rho.to_vec();
    for (forest, w) in forests.iter().zip(weights) {
        forest.iter().for_each(|&e| residual[e as usize] -= w);
    }
    residual
}

/// Mixes in `covering` when some edge has lost all its weight, since no finite parameter would carry its coupling.
fn keep_every_edge(m: usize, forests: &mut Vec<Vec<u32>>, weights: &mut Vec<f64>, covering: Vec<Vec<u32>>) {
    let mut covered = vec![false; m];
    for (forest, _) in forests.iter().zip(weights.iter()).filter(|(_, w)| **w > 0.0) {
        forest.iter().for_each(|&e| covered[e as usize] = true);
    }
    if covered.iter().all(|&c| c) {
        return;
    }
    weights.iter_mut().for_each(|w| *w *= 0.9);
    let share = 0.1 / covering.len() as f64;
    weights.extend(std::iter::repeat_n(share, covering.len()));
    forests.extend(covering);
}

#[cfg(test)]
mod tests {
    use super::super::spanning::tests::grid;
    use super::*;

    fn never() -> bool {
        false
    }

    fn distance(d: usize, ends: &[[u32; 2]], rho: &[f64]) -> (f64, UniformForests) {
        let mixture = uniform_forests(d, ends, &mut never);
        assert!((mixture.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let residual = residual(rho, &mixture.forests, &mixture.weights);
        (residual.iter().fold(0.0, |top: f64, r| top.max(r.abs())), mixture)
    }

    #[test]
    fn resistances_sum_to_the_size_of_a_forest_and_decompose() {
        for side in 2..8 {
            let (d, ends) = grid(side);
            let rho = effective_resistance(d, &ends, &mut never).unwrap();
            assert!((rho.iter().sum::<f64>() - (d - 1) as f64).abs() < 1e-12);
            let (worst, mixture) = distance(d, &ends, &rho);
            assert!(worst < 1e-9, "side {side}: {worst:e} with {} forests", mixture.forests.len());
            assert!(mixture.note.is_none());
        }
    }

    #[test]
    fn large_graphs_come_close_and_say_so() {
        let (d, ends) = grid(50);
        let rho = effective_resistance(d, &ends, &mut never).unwrap();
        assert!((rho.iter().sum::<f64>() - (d - 1) as f64).abs() < 1e-9);
        let (worst, mixture) = distance(d, &ends, &rho);
        assert!(worst < 0.05, "{worst}");
        assert!(mixture.note.unwrap().contains("effective resistances"));
    }

    #[test]
    fn complete_graphs_get_their_stars() {
        let ends: Vec<[u32; 2]> = (0..70).flat_map(|j| (0..j).map(move |i| [i, j])).collect();
        let (worst, mixture) = distance(70, &ends, &vec![2.0 / 70.0; ends.len()]);
        assert!(worst < 1e-14 && mixture.note.is_none());
    }

    #[test]
    fn a_stopped_decomposition_still_covers_every_edge() {
        let (d, ends) = grid(6);
        let mixture = uniform_forests(d, &ends, &mut || true);
        let residual = residual(&vec![0.0; ends.len()], &mixture.forests, &mixture.weights);
        assert!(residual.iter().all(|r| *r < 0.0) && mixture.note.is_some());
    }
}
