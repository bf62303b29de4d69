//! Spanning forests of a graph: maximum weight, covers, stars.

pub(crate) use super::resistance::resistance_mixture;

/// The maximum weight spanning forest (Kruskal), as increasing edge indices; ties go to the lower index.
///
/// **Cost** O(m log m).
pub(crate) fn max_spanning_forest(d: usize, ends: &[[u32; 2]], weights: &[f64]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..ends.len() as u32).collect();
    sorted.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]).then(a.cmp(&b)));
    let mut sets = DisjointSets::new(d);
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

/// A partition of the nodes of a graph.
pub(super) struct DisjointSets(Vec<u32>);

impl DisjointSets {
    /// Every node for itself.
    pub(super) fn new(d: usize) -> Self {
        DisjointSets((0..d as u32).collect())
    }

    /// The node that names the set of `i`.
    pub(super) fn find(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            self.0[i as usize] = self.0[self.0[i as usize] as usize];
            i = self.0[i as usize];
        }
        i
    }

    /// Joins two sets; false when they were one already.
    pub(super) fn join(&mut self, i: u32, j: u32) -> bool {
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

/// A cover with equal weights.
pub(crate) fn uniform_cover(d: usize, ends: &[[u32; 2]]) -> (Vec<Vec<u32>>, Vec<f64>) {
    let covering = cover(d, ends);
    let weights = vec![1.0 / covering.len() as f64; covering.len()];
    (covering, weights)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn grid(side: u32) -> (usize, Vec<[u32; 2]>) {
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
}
