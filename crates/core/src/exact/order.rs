//! Elimination orders: min-fill, min-degree and reverse Cuthill-McKee, the cheapest wins.
//!
//! None of them is best everywhere: min-fill leads on irregular graphs, Cuthill-McKee on grids.

use crate::model::FactorModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::collections::{BTreeSet, VecDeque};

/// Elementary steps after which a greedy order is given up (about a tenth of a second).
const GREEDY_BUDGET: usize = 30_000_000;
/// Randomised runs of each greedy rule while the best order is still expensive.
const RESTARTS: u64 = 6;
/// Below this many table entries a better order does not pay.
const CHEAP: f64 = 1e6;

/// Beyond this width restarts cannot make elimination possible.
const HOPELESS: usize = 100;

/// Neighbour lists, sorted.
pub(crate) type Neighbours = Vec<Vec<u32>>;

/// The graph that joins spins of a common factor.
pub(crate) fn interaction_graph(model: &FactorModel) -> Neighbours {
    let mut graph = vec![Vec::new(); model.d()];
    for factor in model.factors() {
        for &i in factor.scope {
            graph[i as usize].extend(factor.scope.iter().copied().filter(|&j| j != i));
        }
    }
    for list in &mut graph {
        list.sort_unstable();
        list.dedup();
    }
    graph
}

/// What elimination along an order will do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) order: Vec<u32>,
    /// Position of each spin in `order`.
    pub(crate) position: Vec<u32>,
    /// By position: the later spins joined to this one when it goes, last eliminated first.
    pub(crate) scopes: Vec<Vec<u32>>,
    /// By position: where the message goes, the position of the next of its spins to go.
    pub(crate) parent: Vec<Option<u32>>,
    /// Largest scope.
    pub(crate) width: usize,
    /// `sum 2^(|scope| + 1)`: table entries looked at in one sweep.
    pub(crate) entries: f64,
}

impl Plan {
    /// Symbolic elimination along `order`.
    pub(crate) fn new(graph: &Neighbours, order: Vec<u32>) -> Self {
        let d = graph.len();
        let mut position = vec![0; d];
        order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p as u32);
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); d];
        let (mut scopes, mut parent) = (Vec::<Vec<u32>>::with_capacity(d), Vec::with_capacity(d));
        for (p, &v) in order.iter().enumerate() {
            let later = graph[v as usize].iter().map(|&j| position[j as usize]).filter(|&q| q > p as u32);
            let mut scope: Vec<u32> = later.collect();
            for &child in &children[p] {
                scope.extend(scopes[child as usize].iter().copied().filter(|&q| q > p as u32));
            }
            scope.sort_unstable_by(|x, y| y.cmp(x));
            scope.dedup();
            parent.push(scope.last().copied());
            if let Some(&up) = scope.last() {
                children[up as usize].push(p as u32);
            }
            scopes.push(scope);
        }
        let width = scopes.iter().map(Vec::len).max().unwrap_or(0);
        let entries = scopes.iter().map(|s| (s.len() as f64 + 1.0).exp2()).sum();
        Plan { order, position, scopes, parent, width, entries }
    }

    /// Bytes that sum-product with marginals holds at its peak: all messages, the marginals on
    /// their way down and one clique with its buffers.
    pub(crate) fn bytes(&self) -> f64 {
        let size = |p: usize| (self.scopes[p].len() as f64).exp2();
        let messages: f64 = (0..self.scopes.len()).map(size).sum();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.scopes.len()];
        for (p, up) in self.parent.iter().enumerate() {
            if let Some(up) = up {
                children[*up as usize].push(p);
            }
        }
        let (mut live, mut peak) = (messages, messages);
        for p in (0..self.scopes.len()).rev() {
            live += children[p].iter().map(|&c| size(c)).sum::<f64>();
            peak = peak.max(live + 2.0 * size(p));
            live -= 2.0 * size(p);
        }
        8.0 * peak
    }
}

/// A plan that joins few pairs of spins: what a chordal extension of the graph should do.
///
/// **Cost** two greedy orders.
pub(crate) fn fewest_pairs(graph: &Neighbours) -> Plan {
    let ties: Vec<u32> = (0..graph.len() as u32).collect();
    let orders = [Rule::MinFill, Rule::MinDegree].into_iter().filter_map(|rule| greedy(graph, rule, &ties));
    let plans = orders.chain([reverse_cuthill_mckee(graph)]).map(|order| Plan::new(graph, order));
    let pairs = |plan: &Plan| plan.scopes.iter().map(Vec::len).sum::<usize>();
    plans.min_by_key(pairs).unwrap_or_else(|| Plan::new(graph, ties.clone()))
}

/// The cheapest plan found; deterministic in the seed.
pub(crate) fn best_plan(graph: &Neighbours, seed: u64) -> Plan {
    let mut best = Plan::new(graph, reverse_cuthill_mckee(graph));
    if degeneracy(graph) > HOPELESS {
        return best;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rules = vec![Rule::MinDegree, Rule::MinFill];
    for run in 0..RESTARTS {
        let mut ties: Vec<u32> = (0..graph.len() as u32).collect();
        if run > 0 {
            ties.iter_mut().for_each(|t| *t = rng.next_u32());
        }
        rules.retain(|&rule| {
            let Some(order) = greedy(graph, rule, &ties) else { return false };
            let plan = Plan::new(graph, order);
            if plan.entries < best.entries {
                best = plan;
            }
            true
        });
        if best.entries < CHEAP || best.width > HOPELESS {
            break;
        }
    }
    best
}

/// Largest minimum degree of a subgraph, a lower bound on the width of every order.
fn degeneracy(graph: &Neighbours) -> usize {
    let mut degree: Vec<usize> = graph.iter().map(Vec::len).collect();
    let mut queue: BTreeSet<(usize, u32)> = degree.iter().enumerate().map(|(v, &k)| (k, v as u32)).collect();
    let mut largest = 0;
    while let Some((k, v)) = queue.pop_first() {
        largest = largest.max(k);
        for &j in &graph[v as usize] {
            if queue.remove(&(degree[j as usize], j)) {
                degree[j as usize] -= 1;
                queue.insert((degree[j as usize], j));
            }
        }
    }
    largest
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    MinFill,
    MinDegree,
}

/// Eliminates the spin of least score (fewest edges added, or fewest neighbours) again and
/// again, `ties` breaking ties; `None` when the graph is too dense for the budget.
fn greedy(graph: &Neighbours, rule: Rule, ties: &[u32]) -> Option<Vec<u32>> {
    let mut graph = graph.clone();
    let mut work = 0;
    let mut marked = vec![false; graph.len()];
    let mut scores: Vec<usize> = Vec::with_capacity(graph.len());
    for v in 0..graph.len() {
        scores.push(score(&graph, rule, v, &mut marked, &mut work));
        if work > GREEDY_BUDGET {
            return None;
        }
    }
    let mut queue: BTreeSet<(usize, u32, u32)> =
        (0..graph.len()).map(|v| (scores[v], ties[v], v as u32)).collect();
    let mut order = Vec::with_capacity(graph.len());
    while let Some((_, _, v)) = queue.pop_first() {
        order.push(v);
        let clique = std::mem::take(&mut graph[v as usize]);
        let mut dirty = clique.clone();
        for &i in &clique {
            let merged = join(&graph[i as usize], &clique, i, v);
            work += merged.len() + clique.len();
            if rule == Rule::MinFill {
                dirty.extend(&merged);
            }
            graph[i as usize] = merged;
        }
        dirty.sort_unstable();
        dirty.dedup();
        for i in dirty {
            let new = score(&graph, rule, i as usize, &mut marked, &mut work);
            let old = std::mem::replace(&mut scores[i as usize], new);
            if old != new {
                queue.remove(&(old, ties[i as usize], i));
                queue.insert((new, ties[i as usize], i));
            }
        }
        if work > GREEDY_BUDGET {
            return None;
        }
    }
    Some(order)
}

/// Neighbours of i once its neighbour v is gone and `clique` is complete: a merge of sorted lists.
fn join(mine: &[u32], clique: &[u32], i: u32, v: u32) -> Vec<u32> {
    let mut merged = Vec::with_capacity(mine.len() + clique.len());
    let (mut a, mut b) = (mine.iter().peekable(), clique.iter().peekable());
    while let Some(&j) = match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if y < x => b.next(),
        (Some(x), Some(y)) if x == y => a.next().and(b.next()),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    } {
        if j != i && j != v {
            merged.push(j);
        }
    }
    merged
}

fn score(graph: &Neighbours, rule: Rule, v: usize, marked: &mut [bool], work: &mut usize) -> usize {
    let list = &graph[v];
    if rule == Rule::MinDegree {
        *work += 1;
        return list.len();
    }
    list.iter().for_each(|&i| marked[i as usize] = true);
    let mut present = 0;
    for &i in list {
        *work += graph[i as usize].len();
        present += graph[i as usize].iter().filter(|&&j| marked[j as usize]).count();
    }
    list.iter().for_each(|&i| marked[i as usize] = false);
    (list.len() * list.len().saturating_sub(1) - present) / 2
}

/// Breadth-first layers from a peripheral spin of each component, low degrees first, reversed.
fn reverse_cuthill_mckee(graph: &Neighbours) -> Vec<u32> {
    let mut seen = vec![false; graph.len()];
    let mut order = Vec::with_capacity(graph.len());
    let mut by_degree: Vec<u32> = (0..graph.len() as u32).collect();
    by_degree.sort_by_key(|&v| graph[v as usize].len());
    for &start in &by_degree {
        if seen[start as usize] {
            continue;
        }
        // Two sweeps find a vertex near the end of a longest shortest path.
        let mut from = start;
        for _ in 0..2 {
            let sweep = layers(graph, from, &mut seen);
            sweep.iter().for_each(|&v| seen[v as usize] = false);
            from = *sweep.last().unwrap_or(&from);
        }
        order.extend(layers(graph, from, &mut seen));
    }
    order.reverse();
    order
}

fn layers(graph: &Neighbours, start: u32, seen: &mut [bool]) -> Vec<u32> {
    let mut queue = VecDeque::from([start]);
    let mut out = Vec::new();
    seen[start as usize] = true;
    while let Some(v) = queue.pop_front() {
        out.push(v);
        let mut fresh: Vec<u32> = graph[v as usize].iter().copied().filter(|&j| !seen[j as usize]).collect();
        fresh.sort_by_key(|&j| graph[j as usize].len());
        for j in fresh {
            seen[j as usize] = true;
            queue.push_back(j);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: u32, cols: u32) -> Neighbours {
        let at = |r: u32, c: u32| r * cols + c;
        let mut graph = vec![Vec::new(); (rows * cols) as usize];
        for r in 0..rows {
            for c in 0..cols {
                for (s, t) in [(r + 1, c), (r, c + 1)] {
                    if s < rows && t < cols {
                        graph[at(r, c) as usize].push(at(s, t));
                        graph[at(s, t) as usize].push(at(r, c));
                    }
                }
            }
        }
        graph.iter_mut().for_each(|l| l.sort_unstable());
        graph
    }

    #[test]
    fn grids_get_their_treewidth_and_chains_width_one() {
        assert_eq!(best_plan(&grid(1, 50), 0).width, 1);
        assert_eq!(best_plan(&grid(6, 6), 0).width, 6);
        assert_eq!(best_plan(&grid(20, 20), 0).width, 20);
        assert_eq!(best_plan(&vec![Vec::new(); 3], 0).width, 0);
        assert_eq!((degeneracy(&grid(6, 6)), degeneracy(&grid(1, 9))), (2, 1));
    }

    #[test]
    fn a_plan_is_a_permutation_whose_scopes_hold_the_edges() {
        let graph = grid(5, 4);
        let plan = best_plan(&graph, 3);
        let mut sorted = plan.order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..20));
        for (i, list) in graph.iter().enumerate() {
            for &j in list {
                let (p, q) = (plan.position[i], plan.position[j as usize]);
                assert!(q < p || plan.scopes[p as usize].contains(&q));
            }
        }
    }
}
