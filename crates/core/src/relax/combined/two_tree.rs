//! Two-trees: graphs grown by joining each further spin to both ends of an edge.
//!
//! They are the maximal graphs of treewidth two. Here a spin may also be joined to one other or to none, where
//! there is no cluster to use. The largest entropy with given pair moments on such a graph is
//! `sum_i H_i - sum_v (J_vab - I_ab)`, spin v being joined to a and b, with `I_va` in the place of the bracket
//! for a spin that is joined to a only.

use super::clusters::Clusters;
use crate::relax::forest::{log_cosh, message};

/// A two-tree on all spins, or part of one: the spins in an order of growth.
#[derive(Clone)]
pub(super) struct TwoTree {
    pub(super) joints: Vec<Joint>,
}

/// A spin and what it is joined to.
#[derive(Clone, Copy)]
pub(super) struct Joint {
    pub(super) spin: u32,
    pub(super) to: Base,
}

/// What a spin is joined to: earlier spins, with the numbers of pairs and clusters.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Base {
    Nothing,
    Spin { to: u32, side: u32 },
    Edge { to: [u32; 2], sides: [u32; 2], base: u32, cluster: u32 },
}

impl Base {
    /// The ends of the edge opposite to `spin` in a cluster.
    pub(super) fn edge(clusters: &Clusters, spin: u32, cluster: u32) -> Self {
        let (spins, opposite) = (clusters.spins[cluster as usize], clusters.opposite[cluster as usize]);
        let at = spins.iter().position(|i| *i == spin).unwrap_or(0);
        let (a, b) = ((at + 1) % 3, (at + 2) % 3);
        let (to, sides) = ([spins[a], spins[b]], [opposite[b], opposite[a]]);
        Base::Edge { to, sides, base: opposite[at], cluster }
    }

    /// What joins `spin` to others, at most two; `None` where a pair or cluster has no number.
    pub(super) fn joining(clusters: &Clusters, spin: u32, to: &[u32]) -> Option<Self> {
        let pair = |a: u32, b: u32| clusters.neighbours(a).iter().find(|near| near.0 == b).map(|near| near.1);
        match *to {
            [] => Some(Base::Nothing),
            [a] => Some(Base::Spin { to: a, side: pair(spin, a)? }),
            [a, b] => Some(Base::edge(clusters, spin, clusters.over(pair(a, b)?, spin)?)),
            _ => None,
        }
    }

    /// The spins.
    pub(super) fn spins(&self) -> &[u32] {
        match self {
            Base::Nothing => &[],
            Base::Spin { to, .. } => std::slice::from_ref(to),
            Base::Edge { to, .. } => to,
        }
    }

    /// The pairs with the spin that is joined.
    pub(super) fn sides(&self) -> &[u32] {
        match self {
            Base::Nothing => &[],
            Base::Spin { side, .. } => std::slice::from_ref(side),
            Base::Edge { sides, .. } => sides,
        }
    }

    /// What joining a spin takes off the entropy, from the information of pairs and clusters.
    pub(super) fn gain(&self, pairs: &[f64], clusters: &[f64]) -> f64 {
        match *self {
            Base::Nothing => 0.0,
            Base::Spin { side, .. } => pairs[side as usize],
            Base::Edge { base, cluster, .. } => clusters[cluster as usize] - pairs[base as usize],
        }
    }
}

impl TwoTree {
    /// The same graph with the numbers of these clusters; `None` when one is missing.
    pub(super) fn numbered(&self, clusters: &Clusters) -> Option<Self> {
        if clusters.d() <= self.joints.iter().map(|joint| joint.spin as usize).max().unwrap_or(0) {
            return None;
        }
        let joint = |joint: &Joint| {
            let to = Base::joining(clusters, joint.spin, joint.to.spins())?;
            Some(Joint { spin: joint.spin, to })
        };
        Some(TwoTree { joints: self.joints.iter().map(joint).collect::<Option<_>>()? })
    }

    /// The triples of spins that it is made of, each increasing.
    pub(super) fn triples(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.joints.iter().filter_map(|joint| match joint.to {
            Base::Edge { to: [a, b], .. } => {
                let mut spins = [joint.spin, a, b];
                spins.sort_unstable();
                Some(spins)
            }
            _ => None,
        })
    }

    /// Numbers of its edges, increasing.
    pub(super) fn edges(&self) -> Vec<u32> {
        let mut edges: Vec<u32> = self.joints.iter().flat_map(|joint| joint.to.sides()).copied().collect();
        edges.sort_unstable();
        edges
    }

    /// An elimination order of width two.
    pub(super) fn order(&self) -> Vec<u32> {
        self.joints.iter().rev().map(|joint| joint.spin).collect()
    }

    /// `log E_uniform exp(g)`, `g = sum_i fields_i x_i + sum_e couplings_e x_i x_j` over its edges. What
    /// remains when a spin is summed out is again pairwise; both arguments are used up.
    ///
    /// **Cost** four hyperbolic cosines per spin.
    pub(super) fn log_mean_exp(&self, fields: &mut [f64], couplings: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for joint in self.joints.iter().rev() {
            let field = fields[joint.spin as usize];
            total += match joint.to {
                Base::Nothing => log_cosh(field),
                Base::Spin { to, side } => {
                    let coupling = couplings[side as usize];
                    fields[to as usize] += message(coupling, field);
                    0.5 * (log_cosh(field + coupling) + log_cosh(field - coupling))
                }
                Base::Edge { to, sides, base, .. } => {
                    let [a, b] = sides.map(|e| couplings[e as usize]);
                    let [pp, pm, mp, mm] = [a + b, a - b, b - a, -a - b].map(|v| log_cosh(field + v));
                    fields[to[0] as usize] += 0.25 * ((pp - mm) + (pm - mp));
                    fields[to[1] as usize] += 0.25 * ((pp - mm) - (pm - mp));
                    couplings[base as usize] += 0.25 * ((pp + mm) - (pm + mp));
                    0.25 * ((pp + mm) + (pm + mp))
                }
            };
        }
        total
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::features::Features;
    use crate::relax::combined::separate::triangles;
    use crate::relax::combined::space::Space;

    /// Two triangles on four spins, and one more spin that hangs on the third.
    pub(in crate::relax::combined) fn example(space: &Space) -> TwoTree {
        let pair = |a: u32, b: u32| space.pairs.iter().position(|e| *e == [a, b]).unwrap() as u32;
        let edge = |v: u32, base: u32| {
            let cluster = space.clusters.over(base, v).unwrap();
            Joint { spin: v, to: Base::edge(&space.clusters, v, cluster) }
        };
        let alone = Joint { spin: 0, to: Base::Nothing };
        let leaf = |v: u32, to: u32| Joint { spin: v, to: Base::Spin { to, side: pair(to, v) } };
        TwoTree { joints: vec![alone, leaf(1, 0), edge(2, pair(0, 1)), edge(3, pair(0, 2)), leaf(4, 3)] }
    }

    #[test]
    fn summing_out_agrees_with_enumeration() {
        let mut space = Space::new(5, vec![Features::degree(5, 1)]);
        space.clusters = Clusters::new(&space, &triangles(&space));
        let tree = example(&space);
        let fields = [0.3, -0.2, 0.5, 0.0, -1.1];
        let couplings: Vec<f64> = (0..10).map(|e| (1.7 * f64::from(e)).sin()).collect();
        assert_eq!(tree.edges().len(), 6);
        let mut z = 0.0;
        for bits in 0..32u32 {
            let x = |i: u32| if bits >> i & 1 == 1 { 1.0 } else { -1.0 };
            let mut g: f64 = (0..5).map(|i| fields[i as usize] * x(i)).sum();
            for e in tree.edges() {
                let [i, j] = space.pairs[e as usize];
                g += couplings[e as usize] * x(i) * x(j);
            }
            z += g.exp() / 32.0;
        }
        let got = tree.log_mean_exp(&mut fields.clone(), &mut couplings.clone());
        assert!((got - z.ln()).abs() < 1e-13);
    }
}
