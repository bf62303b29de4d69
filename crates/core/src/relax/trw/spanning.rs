//! Spanning forests of a graph: maximum weight, covers, stars, and the decomposition of edge
//! probabilities into forests.

use crate::optim::graph_system::GraphSystem;
use crate::optim::simplex_qp::minimise_on_simplex;

/// Distance from the wanted edge probabilities at which a decomposition is exact.
const DECOMPOSITION_TOL: f64 = 1e-13;

/// Forests of a decomposition; beyond, the probabilities achieved are used.
const MAX_DECOMPOSITION: usize = 200;

/// Graphs with more edges than this are covered by a few forests instead of decomposed.
const MAX_DECOMPOSED_EDGES: usize = 2000;

/// The maximum weight spanning forest (Kruskal), as increasing edge indices; ties go to the lower index.
///
/// **Cost** O(m log m).
pub(crate) fn max_spanning_forest(d: usize, ends: &[[u32; 2]], weights: &[f64]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..ends.len() as u32).collect();
    sorted.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]).then(a.cmp(&b)));
    let mut sets = DisjointSets((0..d as u32).collect());
    let mut chosen: Vec<u32> = sorted
        .into_iter()
        .filter(|&e| {
            let [i, j] = ends[e as usize];
            sets.join(i, j)
        })
        .collect();
    chosen.sort_unstable();
    chosen
}

struct DisjointSets(Vec<u32>);

impl DisjointSets {
    fn find(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }

    /// Joins two sets; false when they were one already.
    fn join(&mut self, i: u32, j: u32) -> bool {
        let (a, b) = (self.find(i), self.find(j));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// A few spanning forests that cover every edge; on a grid these are two combs.
///
/// **Cost** O(m log m) per forest.
pub(crate) fn cover(d: usize, ends: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut uncovered = vec![1.0; ends.len()];
    let mut forests = Vec::new();
    loop {
        let forest = max_spanning_forest(d, ends, &uncovered);
        forest.iter().for_each(|&e| uncovered[e as usize] = 0.0);
        forests.push(forest);
        if uncovered.iter().all(|&u| u == 0.0) {
            return forests;
        }
    }
}

/// The `d` stars of a complete graph, whose uniform mixture has `rho = 2/d`.
pub(crate) fn stars(d: usize, ends: &[[u32; 2]]) -> Vec<Vec<u32>> {
    let mut stars = vec![Vec::with_capacity(d); d];
    for (e, &[i, j]) in ends.iter().enumerate() {
        stars[i as usize].push(e as u32);
        stars[j as usize].push(e as u32);
    }
    stars
}

/// Probability of every edge in a uniform spanning forest: its effective resistance.
///
/// **Cost** one envelope factorisation and m solves.
pub(crate) fn effective_resistance(d: usize, ends: &[[u32; 2]]) -> Vec<f64> {
    let mut diagonal = vec![0.0; d];
    let mut sets = DisjointSets((0..d as u32).collect());
    for &[i, j] in ends {
        diagonal[i as usize] += 1.0;
        diagonal[j as usize] += 1.0;
        sets.join(i, j);
    }
    // Grounding one node per component makes the Laplacian regular and leaves resistances alone.
    (0..d).filter(|&i| sets.find(i as u32) == i as u32).for_each(|i| diagonal[i] += 1.0);
    let mut laplacian = GraphSystem::new(d, ends);
    laplacian.set(&diagonal, &vec![[-1.0; 2]; ends.len()]);
    let mut potential = vec![0.0; d];
    ends.iter()
        .map(|&[i, j]| {
            potential.fill(0.0);
            potential[i as usize] = 1.0;
            potential[j as usize] = -1.0;
            laplacian.solve(&mut potential);
            (potential[i as usize] - potential[j as usize]).clamp(0.0, 1.0)
        })
        .collect()
}

/// A cover with equal weights.
pub(crate) fn uniform_cover(d: usize, ends: &[[u32; 2]]) -> (Vec<Vec<u32>>, Vec<f64>) {
    let covering = cover(d, ends);
    let weights = vec![1.0 / covering.len() as f64; covering.len()];
    (covering, weights)
}

/// Forests and weights of a uniform-spanning-forest mixture, or of a cover on large graphs; `stop`
/// is asked before every forest.
pub(crate) fn resistance_mixture(
    d: usize,
    ends: &[[u32; 2]],
    stop: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<u32>>, Vec<f64>) {
    let (covering, weights) = uniform_cover(d, ends);
    if covering.len() == 1 || ends.len() > MAX_DECOMPOSED_EDGES {
        return (covering, weights);
    }
    decompose(d, ends, &effective_resistance(d, ends), covering, stop)
}

/// Weights on forests whose mixture has edge probabilities `rho`, by fully corrective conditional
/// gradient from the forests `start`, which cover every edge.
///
/// **Cost** one maximum spanning forest and one quadratic program per forest.
fn decompose(
    d: usize,
    ends: &[[u32; 2]],
    rho: &[f64],
    start: Vec<Vec<u32>>,
    stop: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<u32>>, Vec<f64>) {
    let (mut forests, covering) = (start.clone(), start);
    let mut weights = vec![1.0 / forests.len() as f64; forests.len()];
    let mut best = f64::INFINITY;
    while forests.len() < MAX_DECOMPOSITION && !stop() {
        let k = forests.len();
        let mut gram = vec![0.0; k * k];
        let mut linear = vec![0.0; k];
        let mut member = vec![0.0; ends.len()];
        for a in 0..k {
            forests[a].iter().for_each(|&e| member[e as usize] = 1.0);
            linear[a] = forests[a].iter().map(|&e| rho[e as usize]).sum();
            for b in 0..k {
                gram[a * k + b] = forests[b].iter().map(|&e| member[e as usize]).sum();
            }
            forests[a].iter().for_each(|&e| member[e as usize] = 0.0);
        }
        minimise_on_simplex(&gram, &linear, &mut weights);
        let mut residual = rho.to_vec();
        for (forest, w) in forests.iter().zip(&weights) {
            forest.iter().for_each(|&e| residual[e as usize] -= w);
        }
        let distance = residual.iter().fold(0.0f64, |top, r| top.max(r.abs()));
        let next = max_spanning_forest(d, ends, &residual);
        if distance <= DECOMPOSITION_TOL || forests.contains(&next) || (distance >= best && distance < 1e-11)
        {
            break;
        }
        best = best.min(distance);
        let kept: Vec<usize> = (0..k).filter(|&a| weights[a] > 0.0).collect();
        forests = kept.iter().map(|&a| std::mem::take(&mut forests[a])).collect();
        weights = kept.iter().map(|&a| weights[a]).collect();
        forests.push(next);
        weights.push(0.0);
    }
    keep_every_edge(ends.len(), &mut forests, &mut weights, covering);
    (forests, weights)
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
    use super::*;

    fn grid(side: u32) -> (usize, Vec<[u32; 2]>) {
        let mut ends = Vec::new();
        for i in 0..side * side {
            if (i + 1) % side != 0 {
                ends.push([i, i + 1]);
            }
            if i + side < side * side {
                ends.push([i, i + side]);
            }
        }
        (side as usize * side as usize, ends)
    }

    #[test]
    fn two_combs_cover_a_grid() {
        let (d, ends) = grid(9);
        let forests = cover(d, &ends);
        assert_eq!(forests.len(), 2);
        assert!(forests.iter().all(|f| f.len() == d - 1));
    }

    #[test]
    fn resistances_sum_to_the_size_of_a_forest_and_decompose() {
        for side in 2..6 {
            let (d, ends) = grid(side);
            let rho = effective_resistance(d, &ends);
            assert!((rho.iter().sum::<f64>() - (d - 1) as f64).abs() < 1e-12);
            let (forests, weights) = resistance_mixture(d, &ends, &mut || false);
            let mut achieved = vec![0.0; ends.len()];
            for (f, w) in forests.iter().zip(&weights) {
                f.iter().for_each(|&e| achieved[e as usize] += w);
            }
            let worst = achieved.iter().zip(&rho).map(|(a, r)| (a - r).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-9, "side {side}: {worst:e} with {} forests", forests.len());
        }
    }
}
