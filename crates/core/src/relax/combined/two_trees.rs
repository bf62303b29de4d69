//! Two-trees of small entropy, found by growing them greedily from many pairs of spins.
//!
//! The least entropy among all two-trees is NP-hard to find, so the program is the one with those that
//! were found.

use super::clusters::Clusters;
use super::columns::{admit, closest, uniform};
use super::entropy::{Entropy, Evaluation};
use super::forests::{CLOSER, EARLY, SPREAD};
use super::graphs::Graph;
use super::program::{Point, Program};
use super::two_tree::{Base, Joint, TwoTree};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;
use std::collections::HashSet;

/// Two-trees added per iteration at most.
const NEW_TREES: usize = 15;
/// Two-trees grown after a perturbation.
const PERTURBED: usize = 20;
/// Pairs of largest mutual information that two-trees are grown from.
const ROOTS: usize = 60;
/// Rounds of moving single spins to a better edge.
const ROUNDS: usize = 8;

/// Information of pairs and clusters, as seen by the growth.
struct Gains<'a> {
    clusters: &'a Clusters,
    pairs: &'a [f64],
    triples: &'a [f64],
}

impl Gains<'_> {
    fn at(&self, to: &Base) -> f64 {
        to.gain(self.pairs, self.triples)
    }

    /// A two-tree that holds a pair of spins, and its entropy.
    fn tree(&self, ends: [u32; 2], at: &Evaluation) -> (f64, TwoTree) {
        let mut tree = self.grow(ends);
        self.improve(&mut tree);
        (entropy(&tree, at), tree)
    }

    /// The largest gain first, after the pair `ends`.
    ///
    /// **Cost** O(d^2) and one look at every cluster along the edges.
    fn grow(&self, ends: [u32; 2]) -> TwoTree {
        let d = self.clusters.d();
        let mut best: Vec<Option<(f64, Base)>> = vec![Some((0.0, Base::Nothing)); d];
        let mut joints: Vec<Joint> = Vec::with_capacity(d);
        while joints.len() < d {
            let first = ends.get(joints.len()).map(|i| *i as usize);
            let open = (0..d).filter_map(|i| best[i].map(|(gain, _)| (gain, i)));
            let largest = open.reduce(|a, b| if b.0 > a.0 { b } else { a }).map(|(_, i)| i);
            let Some((spin, (_, to))) = first.or(largest).and_then(|i| Some((i as u32, best[i].take()?)))
            else {
                break;
            };
            joints.push(Joint { spin, to });
            let mut offer = |other: u32, to: Base| {
                if let Some((gain, old)) = &mut best[other as usize]
                    && self.at(&to) > *gain
                {
                    (*gain, *old) = (self.at(&to), to);
                }
            };
            for &(other, side) in self.clusters.neighbours(spin) {
                offer(other, Base::Spin { to: spin, side });
            }
            for &side in to.sides() {
                for &(other, cluster) in self.clusters.apexes(side) {
                    offer(other, Base::edge(self.clusters, other, cluster));
                }
            }
        }
        TwoTree { joints }
    }

    /// Moves spins that nothing is joined to, one at a time, to the edge with the largest gain.
    ///
    /// **Cost** O(d^2) per round.
    fn improve(&self, tree: &mut TwoTree) {
        for _ in 0..ROUNDS {
            let mut is_moved = false;
            for k in (0..tree.joints.len()).rev() {
                let old = tree.joints[k];
                if tree.joints[k + 1..].iter().any(|joint| joint.to.spins().contains(&old.spin)) {
                    continue;
                }
                let mut best = (self.at(&old.to) + f64::EPSILON, old.to);
                for joint in tree.joints.iter().filter(|joint| joint.spin != old.spin) {
                    for &side in joint.to.sides() {
                        let Some(cluster) = self.clusters.over(side, old.spin) else { continue };
                        let to = Base::edge(self.clusters, old.spin, cluster);
                        if self.at(&to) > best.0 {
                            best = (self.at(&to), to);
                        }
                    }
                }
                if best.1 != old.to {
                    tree.joints.remove(k);
                    tree.joints.push(Joint { to: best.1, ..old });
                    is_moved = true;
                }
            }
            if !is_moved {
                break;
            }
        }
    }
}

fn entropy(tree: &TwoTree, at: &Evaluation) -> f64 {
    let gains = tree.joints.iter().map(|joint| joint.to.gain(&at.information, &at.clusters.information));
    at.independent - gains.sum::<f64>()
}

/// Two-trees of small entropy, each once, the smallest first.
pub(super) fn small_two_trees(program: &Program, at: &Evaluation) -> Vec<(f64, TwoTree)> {
    let space = &program.space;
    if space.clusters.spins.is_empty() {
        return Vec::new();
    }
    let gains =
        Gains { clusters: &space.clusters, pairs: &at.information, triples: &at.clusters.information };
    let mut roots: Vec<usize> = (0..space.pairs.len()).collect();
    roots.sort_by(|a, b| at.information[*b].total_cmp(&at.information[*a]));
    roots.truncate(ROOTS);
    let known = program.known.iter().map(|tree| (entropy(tree, at), tree.clone()));
    distinct(roots.into_iter().map(|e| gains.tree(space.pairs[e], at)).chain(known).collect())
}

/// Sorted by entropy, then by edges; each once.
fn distinct(found: Vec<(f64, TwoTree)>) -> Vec<(f64, TwoTree)> {
    let mut keyed: Vec<(Vec<u32>, (f64, TwoTree))> = found.into_iter().map(|t| (t.1.edges(), t)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    keyed.dedup_by(|a, b| a.0 == b.0);
    keyed.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    keyed.into_iter().map(|(_, tree)| tree).collect()
}

/// Adds two-trees that are closer to t than the entropies present: of those given, and of others found
/// after a perturbation.
pub(super) fn add_two_trees(
    program: &mut Program,
    point: &mut Point,
    mu: f64,
    at: &mut Evaluation,
    mut found: Vec<(f64, TwoTree)>,
    random: &mut ChaCha8Rng,
) {
    let (closest, space) = (closest(point), &program.space);
    let Some(least) = found.first().map(|tree| tree.0) else { return };
    let violation = point.t + closest - least;
    if violation <= EARLY * mu * program.complexity() {
        return;
    }
    for k in 0..PERTURBED {
        let spread = SPREAD * violation * (k + 1) as f64 / (PERTURBED * space.d) as f64;
        let noisy: Vec<f64> = at.clusters.information.iter().map(|i| i + spread * uniform(random)).collect();
        let gains = Gains { clusters: &space.clusters, pairs: &at.information, triples: &noisy };
        let root = random.next_u64() % space.pairs.len() as u64;
        found.push(gains.tree(space.pairs[root as usize], at));
    }
    let key = |entropy: &Entropy| match entropy {
        Entropy::Graph(Graph::TwoTree(tree)) => Some(tree.edges()),
        _ => None,
    };
    let present: HashSet<Vec<u32>> = program.entropies.iter().filter_map(key).collect();
    let t = point.t;
    let mut found = distinct(found);
    found.retain(|(value, tree)| value - t < CLOSER * closest && !present.contains(&tree.edges()));
    found.truncate(NEW_TREES);
    let found = found.into_iter().map(|(value, tree)| (value - t, Graph::TwoTree(tree))).collect();
    admit(program, point, mu, at, found);
}
