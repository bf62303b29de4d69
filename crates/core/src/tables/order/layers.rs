//! Breadth-first orders (reverse Cuthill-McKee): good on long thin graphs, linear on all.

use super::graph::Neighbours;
use std::collections::VecDeque;

/// Breadth-first layers from a peripheral vertex of each component, low degrees first, reversed.
pub(crate) fn reverse_cuthill_mckee(graph: &Neighbours) -> Vec<u32> {
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

/// Most vertices that wait at once when vertices leave in this order: no clique has more others.
pub(crate) fn frontier(graph: &Neighbours, order: &[u32]) -> usize {
    let mut position = vec![0; graph.len()];
    order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p);
    let mut waiting = vec![false; graph.len()];
    let (mut size, mut largest) = (0usize, 0);
    for (p, &v) in order.iter().enumerate() {
        size -= usize::from(waiting[v as usize]);
        for &j in &graph[v as usize] {
            if position[j as usize] > p && !std::mem::replace(&mut waiting[j as usize], true) {
                size += 1;
            }
        }
        largest = largest.max(size);
    }
    largest
}
