//! One graph in two: sides grown from a vertex, moved one vertex at a time while few edges run between them
//! (Fiduccia and Mattheyses 1982), and a smallest set of vertices that covers these edges (König).

use super::graph::Neighbours;
use super::noise::Noise;
use std::collections::{BinaryHeap, VecDeque};

/// Starts of which the one with the smallest separator counts.
const STARTS: usize = 3;
/// Passes over all vertices at most; most graphs take two or three.
const PASSES: usize = 8;
/// Moves in a row that may fail to lead to a better cut before a pass ends.
const PATIENCE: usize = 60;

/// Where a vertex is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
    Separator,
}

/// Splits a connected graph: no edge joins left and right, and neither has fewer than about `share` of all vertices
/// unless the separator takes them. Also the work done, in list entries looked at.
pub(crate) fn bisect(graph: &Neighbours, share: f64, noise: &mut Noise) -> (Vec<Side>, u64) {
    let n = graph.len();
    let edges: usize = graph.iter().map(Vec::len).sum();
    let least = ((share * n as f64) as usize).clamp(1, n / 2);
    let mut best: Option<(usize, Vec<Side>)> = None;
    let mut work = 0;
    for start in 0..STARTS {
        let from = farthest(graph, noise.below(n) as u32);
        // Half of the vertices, or as few as allowed.
        let size =
            if start % 2 == 0 { n / 2 } else { least + noise.below((n / 2).saturating_sub(least) + 1) };
        let mut is_left = grown(graph, from, size);
        for _ in 0..PASSES {
            work += 20 * (n + edges) as u64;
            if !refine(graph, &mut is_left, least, noise) {
                break;
            }
        }
        let sides = cover(graph, &is_left);
        work += 8 * (n + edges) as u64;
        let separator = sides.iter().filter(|&&s| s == Side::Separator).count();
        if best.as_ref().is_none_or(|b| separator < b.0) {
            best = Some((separator, sides));
        }
    }
    (best.map_or_else(|| vec![Side::Separator; n], |b| b.1), work)
}

/// A vertex as far from `start` as any.
fn farthest(graph: &Neighbours, start: u32) -> u32 {
    walk(graph, start).last().copied().unwrap_or(start)
}

/// The `size` vertices nearest to `start`.
fn grown(graph: &Neighbours, start: u32, size: usize) -> Vec<bool> {
    let mut inside = vec![false; graph.len()];
    walk(graph, start).into_iter().take(size).for_each(|v| inside[v as usize] = true);
    inside
}

/// All vertices, nearest first.
fn walk(graph: &Neighbours, start: u32) -> Vec<u32> {
    let mut seen = vec![false; graph.len()];
    let mut queue = VecDeque::from([start]);
    let mut out = Vec::with_capacity(graph.len());
    seen[start as usize] = true;
    while let Some(v) = queue.pop_front() {
        out.push(v);
        for &j in &graph[v as usize] {
            if !std::mem::replace(&mut seen[j as usize], true) {
                queue.push_back(j);
            }
        }
    }
    out
}

/// Moves every vertex at most once, the one that saves most first, and keeps the best state met; whether that has
/// fewer edges between the sides.
fn refine(graph: &Neighbours, is_left: &mut [bool], least: usize, noise: &mut Noise) -> bool {
    let n = graph.len();
    let saving = |v: usize, is_left: &[bool]| {
        let across = graph[v].iter().filter(|&&j| is_left[j as usize] != is_left[v]).count();
        2 * across as i64 - graph[v].len() as i64
    };
    let mut gain: Vec<i64> = (0..n).map(|v| saving(v, is_left)).collect();
    let mut left = is_left.iter().filter(|&&l| l).count();
    let mut heaps = [BinaryHeap::new(), BinaryHeap::new()];
    for v in 0..n {
        heaps[usize::from(is_left[v])].push((gain[v], noise.next(), v as u32));
    }
    let mut locked = vec![false; n];
    let (mut total, mut best, mut moves, mut kept) = (0i64, 0i64, Vec::new(), 0);
    while moves.len() < kept + PATIENCE {
        for (side, heap) in heaps.iter_mut().enumerate() {
            let stale = |&(g, _, v): &(i64, u32, u32)| {
                locked[v as usize] || gain[v as usize] != g || usize::from(is_left[v as usize]) != side
            };
            while heap.peek().is_some_and(stale) {
                heap.pop();
            }
        }
        let may = [n - left > least, left > least];
        let of = |side: usize| heaps[side].peek().filter(|_| may[side]).map(|&(g, r, v)| (g, r, v));
        let Some((g, _, v)) = of(0).max(of(1)) else { break };
        let v = v as usize;
        locked[v] = true;
        total += g;
        left = if is_left[v] { left - 1 } else { left + 1 };
        is_left[v] = !is_left[v];
        moves.push(v);
        if total > best {
            (best, kept) = (total, moves.len());
        }
        for &j in graph[v].iter().filter(|&&j| !locked[j as usize]) {
            let j = j as usize;
            gain[j] += if is_left[j] == is_left[v] { -2 } else { 2 };
            heaps[usize::from(is_left[j])].push((gain[j], noise.next(), j as u32));
        }
    }
    moves[kept..].iter().for_each(|&v| is_left[v] = !is_left[v]);
    best > 0
}

/// The sides less a smallest set of vertices that holds an end of every edge between them: by a largest matching of
/// these edges, as many vertices as it has pairs.
fn cover(graph: &Neighbours, is_left: &[bool]) -> Vec<Side> {
    let n = graph.len();
    let across = |v: usize| graph[v].iter().copied().filter(move |&j| is_left[j as usize] != is_left[v]);
    let mut partner = vec![u32::MAX; n];
    let lefts: Vec<usize> = (0..n).filter(|&v| is_left[v]).collect();
    for &v in &lefts {
        augment(&across, v, &mut partner, &mut vec![false; n]);
    }
    // What alternating paths reach from unmatched vertices of the left.
    let mut reached = vec![false; n];
    let mut stack: Vec<usize> = lefts.iter().copied().filter(|&v| partner[v] == u32::MAX).collect();
    stack.iter().for_each(|&v| reached[v] = true);
    while let Some(v) = stack.pop() {
        for j in across(v) {
            if !std::mem::replace(&mut reached[j as usize], true) && partner[j as usize] != u32::MAX {
                let next = partner[j as usize] as usize;
                reached[next] = true;
                stack.push(next);
            }
        }
    }
    let side = |v: usize| match (is_left[v], reached[v]) {
        (true, true) => Side::Left,
        (false, false) => Side::Right,
        _ => Side::Separator,
    };
    (0..n).map(side).collect()
}

/// Finds a partner for v of the left, giving others new ones where that helps.
fn augment<I: Iterator<Item = u32>>(
    across: &impl Fn(usize) -> I,
    v: usize,
    partner: &mut [u32],
    seen: &mut [bool],
) -> bool {
    for j in across(v) {
        let j = j as usize;
        if std::mem::replace(&mut seen[j], true) {
            continue;
        }
        if partner[j] == u32::MAX || augment(across, partner[j] as usize, partner, seen) {
            partner[j] = v as u32;
            partner[v] = j as u32;
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::graph::Graph;
    use super::*;

    #[test]
    fn separators_part_and_are_as_small_as_a_matching_of_the_cut() {
        let mut noise = Noise::new(3);
        for trial in 0..200 {
            let n = 4 + noise.below(60);
            let graph = Graph::random(n, trial % 40, &mut noise).neighbours;
            let (sides, _) = bisect(&graph, 0.3, &mut noise);
            for (v, list) in graph.iter().enumerate() {
                for &j in list {
                    let pair = (sides[v], sides[j as usize]);
                    assert!(
                        !matches!(pair, (Side::Left, Side::Right) | (Side::Right, Side::Left)),
                        "{trial}"
                    );
                }
            }
            // Dropping any vertex of the separator leaves an edge from side to side: none is there for nothing.
            let is_left: Vec<bool> = (0..n).map(|_| noise.below(2) == 0).collect();
            let cover = cover(&graph, &is_left);
            for v in (0..n).filter(|&v| cover[v] == Side::Separator) {
                let other = if is_left[v] { Side::Right } else { Side::Left };
                assert!(graph[v].iter().any(|&j| cover[j as usize] == other), "{trial}");
            }
        }
    }

    #[test]
    fn a_path_is_cut_by_one_vertex_near_its_middle() {
        let n = 50u32;
        let near = |v: u32| [v.checked_sub(1), (v + 1 < n).then_some(v + 1)].into_iter().flatten().collect();
        let graph: Neighbours = (0..n).map(near).collect();
        let (sides, _) = bisect(&graph, 0.4, &mut Noise::new(1));
        let count = |side: Side| sides.iter().filter(|&&s| s == side).count();
        assert_eq!(count(Side::Separator), 1);
        assert!(count(Side::Left).min(count(Side::Right)) >= 19);
    }
}
