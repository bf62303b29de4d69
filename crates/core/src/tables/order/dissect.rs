//! Orders by recursive bisection: both sides of a separator go before it.

use super::bisect::{Side, bisect};
use super::core::{Core, Rule, Style};
use super::graph::Graph;
use super::noise::Noise;

/// Parts of at most this many vertices are left to a greedy run.
const LEAF: usize = 20;

/// Eliminates part after part of a recursive bisection, each greedily, with sides of at least `share` of the vertices.
/// The order with its cost, unless that reaches `limit`, and the work done.
pub(crate) fn dissect(
    graph: &Graph,
    start: &Core,
    share: f64,
    noise: &mut Noise,
    limit: f64,
) -> (Option<(Vec<u32>, f64)>, u64) {
    let mut parts = Vec::new();
    let mut work = 0;
    // Separators are met before the sides they part.
    let mut stack = vec![(0..graph.len() as u32).collect::<Vec<u32>>()];
    let mut place = vec![u32::MAX; graph.len()];
    while let Some(part) = stack.pop() {
        if part.len() <= LEAF {
            parts.push(part);
            continue;
        }
        let inside = graph.induced(&part, &mut place);
        let pieces = inside.components();
        if pieces.len() > 1 {
            let named = |piece: Vec<u32>| piece.into_iter().map(|k| part[k as usize]).collect();
            stack.extend(pieces.into_iter().map(named));
            continue;
        }
        let (sides, steps) = bisect(&inside.neighbours, share, noise);
        work += steps;
        let of = |side: Side| {
            let chosen = part.iter().zip(&sides).filter(move |(_, s)| **s == side);
            chosen.map(|(&v, _)| v).collect::<Vec<u32>>()
        };
        let (left, right) = (of(Side::Left), of(Side::Right));
        parts.push(of(Side::Separator));
        if left.is_empty() && right.is_empty() {
            continue;
        }
        stack.extend([left, right]);
    }
    let mut core = start.clone();
    let mut order = Vec::with_capacity(graph.len());
    let style = Style { rule: Rule::FillThenWeight, noise: 0.0 };
    for part in parts.into_iter().rev() {
        if !core.greedy(part, style, noise, (limit, u64::MAX), &mut order) {
            return (None, work + core.work);
        }
    }
    (Some((order, core.cost)), work + core.work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dissection_is_an_order_of_all_vertices_with_its_cost() {
        let mut noise = Noise::new(2);
        for n in [1usize, 3, 21, 60, 200] {
            let graph = Graph::random(n, n, &mut noise);
            let start = Core::new(&graph);
            let (found, _) = dissect(&graph, &start, 0.3, &mut noise, f64::INFINITY);
            let (mut order, cost) = found.unwrap();
            let mut core = start.clone();
            order.iter().for_each(|&v| core.eliminate(v));
            assert!((core.cost / cost - 1.0).abs() < 1e-12);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n as u32));
            let (none, _) = dissect(&graph, &start, 0.3, &mut noise, 0.5);
            assert!(none.is_none());
        }
    }

    #[test]
    fn dissection_of_a_grid_beats_its_rows() {
        let n = 24u32;
        let near = |v: u32| {
            let (x, y) = (v % n, v / n);
            let steps = [
                (y > 0, v.wrapping_sub(n)),
                (x > 0, v.wrapping_sub(1)),
                (x + 1 < n, v + 1),
                (y + 1 < n, v + n),
            ];
            steps.into_iter().filter(|s| s.0).map(|s| s.1).collect()
        };
        let graph = Graph { neighbours: (0..n * n).map(near).collect(), bits: vec![0.2; (n * n) as usize] };
        let start = Core::new(&graph);
        let mut rows = start.clone();
        (0..n * n).for_each(|v| rows.eliminate(v));
        let (found, _) = dissect(&graph, &start, 0.4, &mut Noise::new(1), f64::INFINITY);
        assert!(found.unwrap().1 < rows.cost);
    }
}
