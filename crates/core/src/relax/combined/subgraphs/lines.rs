//! Layers of a graph: how far every vertex is from a straight line, or from a vertex where there is none.
//!
//! Graphs that look like a lattice have lines: from one vertex to the next such that only one path of two steps leads
//! from the vertex before to the one after. Layers from a line that ends at the border are the rows or columns of a grid,
//! and to cut between two rows removes half as many edges as to cut along a diagonal.

use crate::tables::order::Neighbours;
use std::collections::VecDeque;

/// Directions looked at from a vertex.
const DIRECTIONS: usize = 2;

/// Layer of every vertex in one or two directions; connected components have layers of their own.
pub(super) fn layerings(graph: &Neighbours) -> Vec<Vec<u32>> {
    let mut out = vec![vec![u32::MAX; graph.len()]; DIRECTIONS];
    for start in 0..graph.len() as u32 {
        if out[0][start as usize] != u32::MAX {
            continue;
        }
        let corner = last(graph, last(graph, start));
        let sources = sources(graph, corner);
        for (layers, source) in out.iter_mut().zip(sources) {
            spread(graph, &source, layers);
        }
    }
    if out[0] == out[1] {
        out.truncate(1);
    }
    out
}

/// Where layers begin: two lines from a corner, or the corner and the vertex farthest from it.
fn sources(graph: &Neighbours, corner: u32) -> [Vec<u32>; DIRECTIONS] {
    let mut lines: Vec<Vec<u32>> =
        graph[corner as usize].iter().map(|&next| line(graph, corner, next)).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
    match &mut lines[..] {
        [first, second, ..] if second.len() > 2 => [std::mem::take(first), std::mem::take(second)],
        _ => [vec![corner], vec![last(graph, corner)]],
    }
}

/// The vertices met on the way straight on from `first` through `next`.
fn line(graph: &Neighbours, first: u32, next: u32) -> Vec<u32> {
    let mut line = vec![first, next];
    loop {
        let (before, here) = (line[line.len() - 2], line[line.len() - 1]);
        let joined = |v: u32, to: u32| graph[v as usize].binary_search(&to).is_ok();
        let is_straight = |&&v: &&u32| {
            let paths = graph[v as usize].iter().filter(|&&u| joined(u, before)).count();
            v != before && paths == 1 && !joined(v, before)
        };
        let mut ahead = graph[here as usize].iter().filter(is_straight);
        match (ahead.next(), ahead.next()) {
            (Some(&v), None) if !line.contains(&v) => line.push(v),
            _ => return line,
        }
    }
}

/// A vertex as far from `start` as any in its component.
fn last(graph: &Neighbours, start: u32) -> u32 {
    let mut layers = vec![u32::MAX; graph.len()];
    spread(graph, &[start], &mut layers)
}

/// Distances from a set of vertices in its component; a vertex at the largest.
fn spread(graph: &Neighbours, from: &[u32], layers: &mut [u32]) -> u32 {
    let mut queue: VecDeque<u32> = from.iter().copied().collect();
    from.iter().for_each(|&v| layers[v as usize] = 0);
    let mut last = from[0];
    while let Some(v) = queue.pop_front() {
        last = v;
        for &j in &graph[v as usize] {
            if layers[j as usize] == u32::MAX {
                layers[j as usize] = layers[v as usize] + 1;
                queue.push_back(j);
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: usize, columns: usize) -> Neighbours {
        let mut graph = vec![Vec::new(); rows * columns];
        for (v, list) in graph.iter_mut().enumerate() {
            let (r, c) = (v / columns, v % columns);
            if r > 0 {
                list.push((v - columns) as u32);
            }
            if c > 0 {
                list.push(v as u32 - 1);
            }
            if c + 1 < columns {
                list.push(v as u32 + 1);
            }
            if r + 1 < rows {
                list.push((v + columns) as u32);
            }
        }
        graph
    }

    #[test]
    fn the_layers_of_a_grid_are_its_rows_and_columns() {
        let (rows, columns) = (5, 9);
        let found = layerings(&grid(rows, columns));
        assert_eq!(found.len(), 2);
        for (layers, is_row) in found.iter().zip([false, true]) {
            let same = |v: usize, w: usize| layers[v] == layers[w];
            for v in 0..rows * columns {
                let (r, c) = (v / columns, v % columns);
                let along = if is_row { r * columns } else { c };
                let is_line = same(v, along);
                assert!(is_line || same(v, if is_row { c } else { r * columns }), "{v}");
            }
        }
        let heights: Vec<u32> = found.iter().map(|l| *l.iter().max().unwrap()).collect();
        assert!(
            heights.contains(&(rows as u32 - 1)) && heights.contains(&(columns as u32 - 1)),
            "{heights:?}"
        );
    }

    #[test]
    fn every_component_has_layers() {
        let mut graph = grid(3, 3);
        graph.extend([vec![10], vec![9], vec![]]);
        for layers in layerings(&graph) {
            assert!(layers.iter().all(|&l| l < 9), "{layers:?}");
        }
    }
}
