//! Violated cycles along the edges of a sparse graph, by shortest paths in the doubled graph.
//!
//! A side costs `1 + X` where its sign is +1 and `1 - X` where it is -1, and an inequality with an odd number of positive
//! signs is violated when its sides cost less than 2. In the graph of two copies of every vertex, with positive sides
//! crossing between copies and negative ones not, such cycles are paths from a vertex to its copy (Barahona and
//! Mahjoub). Half of such a path costs less than 1, so searches end there.

use super::Cycle;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// A graph over the vertices of z whose edges are the first pairs of a list.
pub(crate) struct Network {
    /// First arc of every vertex.
    start: Vec<usize>,
    /// Target and number of the pair.
    arcs: Vec<(u32, u32)>,
}

/// Cycles taken from one vertex at most: the worst through a vertex often comes in several forms.
const PER_VERTEX: usize = 4;

/// Place of vertex v in copy s.
fn place(v: u32, s: usize) -> usize {
    2 * v as usize + s
}

impl Network {
    /// The graph of these edges over `n` vertices.
    pub(crate) fn new(n: usize, edges: &[[u32; 2]]) -> Self {
        let mut start = vec![0usize; n + 1];
        edges.as_flattened().iter().for_each(|&v| start[v as usize + 1] += 1);
        (0..n).for_each(|v| start[v + 1] += start[v]);
        let mut next = start.clone();
        let mut arcs = vec![(0, 0); start[n]];
        for (e, &[a, b]) in edges.iter().enumerate() {
            for (from, to) in [(a, b), (b, a)] {
                arcs[next[from as usize]] = (to, e as u32);
                next[from as usize] += 1;
            }
        }
        Network { start, arcs }
    }

    fn arcs(&self, v: u32) -> &[(u32, u32)] {
        &self.arcs[self.start[v as usize]..self.start[v as usize + 1]]
    }

    /// Cycles that moments `x` by pair violate by more than `least`, the worst first, at most `count`; `stop` is
    /// asked at every vertex and ends the search early.
    ///
    /// Every cycle is looked for from its smallest vertex. When one is violated, one is found.
    ///
    /// **Cost** per vertex a search of the vertices within distance 1.
    pub(crate) fn violated(
        &self,
        x: &[f64],
        least: f64,
        count: usize,
        stop: &mut dyn FnMut() -> bool,
    ) -> Vec<(f64, Cycle)> {
        let n = self.start.len() - 1;
        let mut search = Search::new(self, x, n);
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for v in 0..n as u32 {
            if stop() {
                break;
            }
            for (slack, cycle) in search.from(v, 2.0 - least) {
                if seen.insert(cycle.clone()) {
                    found.push((slack, cycle));
                }
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        found.truncate(count);
        found
    }
}

/// Dijkstra's method from one vertex after the other.
struct Search<'a> {
    network: &'a Network,
    x: &'a [f64],
    distance: Vec<f64>,
    parent: Vec<usize>,
    /// Places reached from the present vertex, to be reset.
    reached: Vec<usize>,
    /// Where a vertex stands in the walk that is being taken apart.
    position: Vec<Option<usize>>,
}

impl<'a> Search<'a> {
    fn new(network: &'a Network, x: &'a [f64], n: usize) -> Self {
        Search {
            network,
            x,
            distance: vec![f64::INFINITY; 2 * n],
            parent: vec![usize::MAX; 2 * n],
            reached: Vec::new(),
            position: vec![None; n],
        }
    }

    /// Cost of an arc that crosses between copies, or does not.
    fn cost(&self, pair: u32, crosses: usize) -> f64 {
        let x = self.x[pair as usize];
        (if crosses == 1 { 1.0 + x } else { 1.0 - x }).max(0.0)
    }

    /// Cycles with smallest vertex v that cost less than `limit`.
    fn from(&mut self, v: u32, limit: f64) -> Vec<(f64, Cycle)> {
        self.spread(v, 0.5 * limit);
        // A closed walk is a path to one end of an edge, the edge, and a path back in the other copy.
        let mut closed: Vec<(f64, usize, usize)> = Vec::new();
        for &from in &self.reached {
            let (u, s) = ((from / 2) as u32, from % 2);
            for &(w, pair) in self.network.arcs(u) {
                for crosses in 0..2 {
                    let back = place(w, 1 ^ s ^ crosses);
                    // Each walk is seen in both directions.
                    if from > back {
                        continue;
                    }
                    let cost = self.distance[from] + self.cost(pair, crosses) + self.distance[back];
                    if cost < limit {
                        closed.push((cost, from, back));
                    }
                }
            }
        }
        closed.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        closed.truncate(PER_VERTEX);
        let out = closed.iter().filter_map(|&(_, from, back)| self.cycle(from, back)).collect();
        for at in self.reached.drain(..) {
            self.distance[at] = f64::INFINITY;
        }
        out
    }

    /// Distances up to `radius` from copy 0 of v, over vertices that are not smaller.
    fn spread(&mut self, v: u32, radius: f64) {
        let mut heap = BinaryHeap::new();
        self.distance[place(v, 0)] = 0.0;
        self.parent[place(v, 0)] = usize::MAX;
        self.reached.push(place(v, 0));
        // Nonnegative numbers are ordered as their bits are.
        heap.push(Reverse((0u64, place(v, 0))));
        while let Some(Reverse((bits, at))) = heap.pop() {
            if f64::from_bits(bits) > self.distance[at] {
                continue;
            }
            let (u, s) = ((at / 2) as u32, at % 2);
            for &(w, pair) in self.network.arcs(u).iter().filter(|arc| arc.0 >= v) {
                for crosses in 0..2 {
                    let to = place(w, s ^ crosses);
                    let distance = f64::from_bits(bits) + self.cost(pair, crosses);
                    if distance < radius && distance < self.distance[to] {
                        if self.distance[to].is_infinite() {
                            self.reached.push(to);
                        }
                        self.distance[to] = distance;
                        self.parent[to] = at;
                        heap.push(Reverse((distance.to_bits(), to)));
                    }
                }
            }
        }
    }

    /// A simple cycle with an odd number of crossings out of the walk `v .. from, back .. v`, with its left side.
    fn cycle(&mut self, from: usize, back: usize) -> Option<(f64, Cycle)> {
        let path = |mut at: usize| {
            let mut places = vec![at];
            while self.parent[at] != usize::MAX {
                at = self.parent[at];
                places.push(at);
            }
            places
        };
        // In the copy that the walk is in; the way back is the mirror image of the way there.
        let mut walk = path(from);
        walk.reverse();
        walk.extend(path(back).into_iter().map(|at| at ^ 1));
        let mut stack: Vec<usize> = Vec::with_capacity(walk.len());
        let mut simple = None;
        for at in walk {
            if let Some(k) = self.position[at / 2] {
                if (stack[k] ^ at) & 1 == 1 {
                    let mut places = stack[k..].to_vec();
                    places.push(at);
                    simple = Some(places);
                    break;
                }
                // An even detour: without it the walk is shorter and still odd.
                stack.drain(k + 1..).for_each(|gone| self.position[gone / 2] = None);
            } else {
                self.position[at / 2] = Some(stack.len());
                stack.push(at);
            }
        }
        stack.iter().for_each(|at| self.position[at / 2] = None);
        let places = simple.filter(|places| places.len() > 3)?;
        let crossing = |pair: &[usize]| (pair[0] ^ pair[1]) & 1;
        let signs: Vec<i8> = places.windows(2).map(|pair| if crossing(pair) == 1 { 1 } else { -1 }).collect();
        let vertices: Vec<u32> = places[1..].iter().map(|at| (at / 2) as u32).collect();
        let mut signs = signs;
        signs.rotate_left(1);
        let cycle = Cycle::new(vertices, signs);
        let slack = self.slack(&cycle)?;
        (slack < 0.0).then_some((slack, cycle))
    }

    fn slack(&self, cycle: &Cycle) -> Option<f64> {
        let mut slack = cycle.constant();
        for ([a, b], sign) in cycle.sides() {
            let arc = self.network.arcs(a).iter().find(|arc| arc.0 == b)?;
            slack += sign * self.x[arc.1 as usize];
        }
        Some(slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Violated cycle inequalities of a graph by trying every cycle and every choice of signs.
    fn worst(n: usize, edges: &[[u32; 2]], x: &[f64]) -> f64 {
        let moment = |a: usize, b: usize| {
            let ends = [a.min(b) as u32, a.max(b) as u32];
            edges.iter().position(|e| *e == ends).map(|e| x[e])
        };
        let mut worst = f64::INFINITY;
        let mut path: Vec<usize> = Vec::new();
        // The least cost with an even and with an odd number of positive signs, for the path so far.
        fn extend(
            path: &mut Vec<usize>,
            costs: [f64; 2],
            n: usize,
            moment: &dyn Fn(usize, usize) -> Option<f64>,
            worst: &mut f64,
        ) {
            let (first, last) = (path[0], path[path.len() - 1]);
            let step = |costs: [f64; 2], x: f64| {
                let (plus, minus) = (1.0 + x, 1.0 - x);
                [(costs[0] + minus).min(costs[1] + plus), (costs[1] + minus).min(costs[0] + plus)]
            };
            if path.len() > 2
                && let Some(x) = moment(first, last)
            {
                *worst = worst.min(step(costs, x)[1] - 2.0);
            }
            for next in first + 1..n {
                if let Some(x) = moment(last, next).filter(|_| !path.contains(&next)) {
                    path.push(next);
                    extend(path, step(costs, x), n, moment, worst);
                    path.pop();
                }
            }
        }
        for first in 0..n {
            path.push(first);
            extend(&mut path, [0.0, f64::INFINITY], n, &moment, &mut worst);
            path.pop();
        }
        worst
    }

    #[test]
    fn the_most_violated_cycle_of_small_graphs_is_found() {
        for seed in 0..200u32 {
            let wave = |k: u32| f64::from(seed * 131 + 17 * k + k * k).sin();
            let n = 4 + seed as usize % 4;
            let all = (0..n as u32).flat_map(|b| (0..b).map(move |a| [a, b]));
            let edges: Vec<[u32; 2]> = all.filter(|[a, b]| wave(a * 9 + b) > -0.3).collect();
            let x: Vec<f64> = (0..edges.len() as u32).map(|e| wave(1000 + e)).collect();
            let found = Network::new(n, &edges).violated(&x, 0.0, 1000, &mut || false);
            let expected = worst(n, &edges, &x);
            let best = found.first().map_or(0.0, |f| f.0);
            assert!((best - expected.min(0.0)).abs() < 1e-12, "seed {seed}: {best} against {expected}");
            for (slack, cycle) in found {
                let side =
                    |([a, b], s): ([u32; 2], f64)| s * x[edges.iter().position(|e| *e == [a, b]).unwrap()];
                let left: f64 = cycle.constant() + cycle.sides().map(side).sum::<f64>();
                assert!((left - slack).abs() < 1e-12 && slack < 0.0);
            }
        }
    }
}
