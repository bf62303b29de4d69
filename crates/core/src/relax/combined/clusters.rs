//! Triples of spins whose pairs all have moments: the clusters that two-trees are made of.

use super::program::Triple;
use super::space::Space;
use super::triples::{information, information_gradient, law};

/// All clusters, by number; none where two-trees are not in use.
#[derive(Default)]
pub(super) struct Clusters {
    /// Spins i < j < k.
    pub(super) spins: Vec<[u32; 3]>,
    /// Numbers of the pairs jk, ik, ij: each opposite to its spin.
    pub(super) opposite: Vec<[u32; 3]>,
    /// Moments of `x_i, x_j, x_k, x_i x_j, x_i x_k, x_j x_k`.
    pub(super) moments: Vec<[u32; 6]>,
    /// Third spin and number of the clusters with a pair, by pair, increasing.
    apexes: Vec<Vec<(u32, u32)>>,
    /// Other spin and number of the pairs with a spin, by spin.
    neighbours: Vec<Vec<(u32, u32)>>,
}

/// What the moments say about every cluster.
#[derive(Default)]
pub(super) struct ClusterValues {
    /// Eight times the probabilities of the law of largest entropy.
    pub(super) laws: Vec<[f64; 8]>,
    /// Information that the spins have about each other.
    pub(super) information: Vec<f64>,
    /// Its gradient.
    pub(super) gradients: Vec<[f64; 6]>,
}

impl Clusters {
    /// The clusters of a space, from its triangles.
    pub(super) fn new(space: &Space, triangles: &[Triple]) -> Self {
        let mut pair = vec![0; space.len()];
        let mut neighbours = vec![Vec::new(); space.d];
        for (e, &[i, j]) in space.pairs.iter().enumerate() {
            pair[space.pair_moments[e][2] as usize] = e as u32;
            neighbours[i as usize].push((j, e as u32));
            neighbours[j as usize].push((i, e as u32));
        }
        let mut out =
            Clusters { apexes: vec![Vec::new(); space.pairs.len()], neighbours, ..Default::default() };
        for triangle in triangles {
            let (number, spins) = (out.spins.len() as u32, triangle.vertices.map(|v| v - 1));
            let [ij, ik, jk] = triangle.moments;
            let [first, last] = [ij, jk].map(|at| space.pair_moments[pair[at as usize] as usize]);
            let opposite = [jk, ik, ij].map(|at| pair[at as usize]);
            opposite.iter().zip(spins).for_each(|(&e, i)| out.apexes[e as usize].push((i, number)));
            out.spins.push(spins);
            out.opposite.push(opposite);
            out.moments.push([first[0], first[1], last[1], ij, ik, jk]);
        }
        out.apexes.iter_mut().for_each(|list| list.sort_unstable());
        out
    }

    /// Evaluates all clusters.
    ///
    /// **Cost** some 20 transcendental functions each.
    pub(super) fn evaluate(&self, m: &[f64]) -> ClusterValues {
        let mut out = ClusterValues::default();
        for at in &self.moments {
            let m = at.map(|p| m[p as usize]);
            let law = law(m);
            out.information.push(information(&law, m));
            out.gradients.push(information_gradient(&law, m));
            out.laws.push(law);
        }
        out
    }

    /// How many spins there are; zero without clusters.
    pub(super) fn d(&self) -> usize {
        self.neighbours.len()
    }

    /// Third spin and number of every cluster with this pair.
    pub(super) fn apexes(&self, pair: u32) -> &[(u32, u32)] {
        &self.apexes[pair as usize]
    }

    /// Number of the cluster of a spin and a pair, if there is one.
    pub(super) fn over(&self, pair: u32, spin: u32) -> Option<u32> {
        let list = self.apexes(pair);
        list.binary_search_by_key(&spin, |apex| apex.0).ok().map(|at| list[at].1)
    }

    /// Other spin and number of every pair with this spin.
    pub(super) fn neighbours(&self, spin: u32) -> &[(u32, u32)] {
        &self.neighbours[spin as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::model::VarSet;
    use crate::relax::combined::separate::triangles;

    #[test]
    fn numbers_lead_to_the_moments_of_their_spins() {
        let dense = Space::new(5, vec![Features::degree(5, 1)]);
        let sparse = Space::cliques(6, &[vec![0, 1, 2, 3], vec![1, 3, 4], vec![4, 5]]).unwrap();
        for (space, count) in [(dense, 10), (sparse, 5)] {
            let clusters = Clusters::new(&space, &triangles(&space));
            assert_eq!(clusters.spins.len(), count);
            let own = |at: u32| space.sets[at as usize].clone();
            for (c, spins) in clusters.spins.iter().enumerate() {
                let [i, j, k] = spins.map(|i| i as usize);
                let sets = [(i, j), (i, k), (j, k)].map(|(a, b)| VarSet::pair(a, b));
                let all = [i, j, k].map(VarSet::singleton).into_iter().chain(sets);
                assert!(all.zip(clusters.moments[c]).all(|(set, at)| own(at) == set));
                for (spin, pair) in spins.iter().zip(clusters.opposite[c]) {
                    assert_eq!(clusters.over(pair, *spin), Some(c as u32));
                    assert!(!space.pairs[pair as usize].contains(spin));
                }
            }
        }
    }
}
