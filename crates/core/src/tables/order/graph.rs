//! The graph of a model: variables joined when a factor holds both, with the sizes of their domains.

use crate::model::FactorModel;

/// Neighbour lists, sorted.
pub(crate) type Neighbours = Vec<Vec<u32>>;

/// An undirected graph whose vertices weigh the logarithm (base 2) of their number of states.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) neighbours: Neighbours,
    pub(crate) bits: Vec<f64>,
}

impl Graph {
    /// The graph of a model.
    pub(crate) fn of(model: &FactorModel) -> Self {
        let bits = model.cardinalities().iter().map(|&q| f64::from(q).log2()).collect();
        Graph { neighbours: interaction_graph(model), bits }
    }

    pub(crate) fn len(&self) -> usize {
        self.neighbours.len()
    }

    /// The graph induced on `vertices`, numbered in that order; `place` is scratch, all `u32::MAX`.
    pub(crate) fn induced(&self, vertices: &[u32], place: &mut [u32]) -> Graph {
        vertices.iter().enumerate().for_each(|(new, &v)| place[v as usize] = new as u32);
        let list = |&v: &u32| {
            let inside = self.neighbours[v as usize].iter().map(|&j| place[j as usize]);
            let mut list: Vec<u32> = inside.filter(|&j| j != u32::MAX).collect();
            list.sort_unstable();
            list
        };
        let neighbours = vertices.iter().map(list).collect();
        vertices.iter().for_each(|&v| place[v as usize] = u32::MAX);
        Graph { neighbours, bits: vertices.iter().map(|&v| self.bits[v as usize]).collect() }
    }

    /// The connected components, each in the order of a breadth-first walk.
    pub(crate) fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.len()];
        let mut found = Vec::new();
        for start in 0..self.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let mut component = vec![start as u32];
            let mut at = 0;
            while at < component.len() {
                for &j in &self.neighbours[component[at] as usize] {
                    if !std::mem::replace(&mut seen[j as usize], true) {
                        component.push(j);
                    }
                }
                at += 1;
            }
            found.push(component);
        }
        found
    }
}

#[cfg(test)]
impl Graph {
    /// A connected graph of spins: a random tree and `extra` edges, fewer where they repeat.
    pub(crate) fn random(n: usize, extra: usize, noise: &mut super::noise::Noise) -> Graph {
        let mut edges: Vec<(usize, usize)> = (1..n).map(|v| (noise.below(v), v)).collect();
        edges.extend((0..extra).map(|_| (noise.below(n), noise.below(n))).filter(|(i, j)| i != j));
        let mut neighbours = vec![Vec::new(); n];
        for (i, j) in edges {
            neighbours[i].push(j as u32);
            neighbours[j].push(i as u32);
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        Graph { neighbours, bits: vec![1.0; n] }
    }
}

/// The graph that joins variables of a common factor.
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
