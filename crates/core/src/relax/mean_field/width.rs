//! Orders of elimination whose tables stay below a limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Neighbours of every variable of a graph, increasing.
pub(super) type Graph = Vec<Vec<u32>>;

/// Graph on `members`, numbered in that order. `place` is a work array of `u32::MAX`, one entry per vertex of the graph.
pub(super) fn induced(graph: &Graph, members: &[u32], place: &mut [u32]) -> Graph {
    members.iter().enumerate().for_each(|(k, &v)| place[v as usize] = k as u32);
    let of = |v: &u32| {
        let mut list: Vec<u32> =
            graph[*v as usize].iter().map(|&u| place[u as usize]).filter(|&k| k != u32::MAX).collect();
        list.sort_unstable();
        list
    };
    let out = members.iter().map(of).collect();
    members.iter().for_each(|&v| place[v as usize] = u32::MAX);
    out
}

/// Entries of all tables of one block: a pass over them takes some 50 ms, the longest time between two looks at the clock.
const MOST_ENTRIES: f64 = 4e6;

/// An order that eliminates the variable with the fewest new edges first, `None` as soon as a clique has more than
/// `limit` bits of joint states, or all of them too many. `bits[v]` is the binary logarithm of the number of states.
///
/// **Cost** O(d w^2) for cliques of w variables.
pub(super) fn order_within(mut graph: Graph, bits: &[f64], limit: f64) -> Option<Vec<u32>> {
    let n = graph.len();
    let mut entries = 0.0;
    let mut heap: BinaryHeap<Reverse<(u32, u32, u32)>> = BinaryHeap::with_capacity(2 * n);
    let mut score: Vec<(u32, u32)> = (0..n).map(|v| rate(&graph, v, bits, limit)).collect();
    (0..n).for_each(|v| heap.push(Reverse((score[v].0, score[v].1, v as u32))));
    let mut gone = vec![false; n];
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((fill, degree, v))) = heap.pop() {
        let v = v as usize;
        if gone[v] || score[v] != (fill, degree) {
            continue;
        }
        let around = std::mem::take(&mut graph[v]);
        entries += clique_bits(&around, v, bits).exp2();
        if fill == TOO_WIDE || entries > MOST_ENTRIES {
            return None;
        }
        gone[v] = true;
        order.push(v as u32);
        for &u in &around {
            let list = &mut graph[u as usize];
            list.retain(|&w| w as usize != v);
            for &w in around.iter().filter(|&&w| w != u) {
                if let Err(at) = list.binary_search(&w) {
                    list.insert(at, w);
                }
            }
        }
        for &u in &around {
            score[u as usize] = rate(&graph, u as usize, bits, limit);
            heap.push(Reverse((score[u as usize].0, score[u as usize].1, u)));
        }
    }
    Some(order)
}

/// In place of the edges that a vertex adds whose clique is above the limit: in dense graphs they take long to count.
const TOO_WIDE: u32 = u32::MAX;

fn clique_bits(around: &[u32], v: usize, bits: &[f64]) -> f64 {
    bits[v] + around.iter().map(|&u| bits[u as usize]).sum::<f64>()
}

/// Edges that eliminating `v` adds, and its degree.
fn rate(graph: &Graph, v: usize, bits: &[f64], limit: f64) -> (u32, u32) {
    let around = &graph[v];
    // A logarithm of 2^k may round to just above k.
    if clique_bits(around, v, bits) > limit + 1e-9 {
        return (TOO_WIDE, around.len() as u32);
    }
    let missing = |k: usize| {
        let list = &graph[around[k] as usize];
        around[k + 1..].iter().filter(|&&w| list.binary_search(&w).is_err()).count() as u32
    };
    ((0..around.len()).map(missing).sum(), around.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hub_of_a_star_goes_when_few_are_left_and_dense_graphs_are_refused_at_once() {
        let n = 5_000u32;
        let star: Graph = (0..n).map(|v| if v == 0 { (1..n).collect() } else { vec![0] }).collect();
        let order = order_within(star, &vec![1.0; n as usize], 2.0).unwrap();
        assert_eq!(order.len(), n as usize);
        let dense: Graph = (0..2000u32).map(|v| (0..2000).filter(|u| *u != v).collect()).collect();
        assert!(order_within(dense, &[1.0; 2000], 20.0).is_none());
    }

    #[test]
    fn a_cycle_needs_cliques_of_three() {
        let graph: Graph = (0..8u32)
            .map(|i| vec![(i + 1) % 8, (i + 7) % 8])
            .map(|mut l| {
                l.sort_unstable();
                l
            })
            .collect();
        assert!(order_within(graph.clone(), &[1.0; 8], 2.0).is_none());
        let mut order = order_within(graph, &[1.0; 8], 3.0).unwrap();
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
