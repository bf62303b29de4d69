//! Graphs of small entropy at given moments: maximum spanning trees and greedily grown two-trees.

use super::entropies::{Entropies, pair, spin};
use crate::linalg::Square;
use crate::relax::combined::columns::uniform;
use crate::relax::combined::graphs::Graph;
use crate::relax::combined::triples;
use crate::relax::combined::two_tree::{Base, Joint, TwoTree};
use crate::relax::cuts::Pairs;
use crate::relax::forest::Forest;
use rand_chacha::ChaCha8Rng;

/// Mutual informations of all pairs of spins.
pub(super) struct Informations {
    d: usize,
    /// Moments over z, shrunk towards independence.
    moments: Square,
    values: Square,
    /// `sum_i H_i - d log 2`.
    independent: f64,
}

/// A graph and its entropy.
pub(super) type Grown = (f64, Graph);

impl Informations {
    /// **Cost** four logarithms per pair.
    pub(super) fn new(mut moments: Square, shrink: f64, floor: f64) -> Self {
        moments.data_mut().iter_mut().for_each(|v| *v *= shrink);
        let d = moments.n() - 1;
        let means = &moments.column(0)[1..];
        let spins: Vec<f64> = means.iter().map(|m| spin(*m).0).collect();
        let mut values = Square::zeros(d);
        for j in 0..d {
            for i in 0..j {
                let (joint, _) = pair([means[i], means[j], moments.at(i + 1, j + 1)], floor);
                let v = (spins[i] + spins[j] - joint).max(0.0);
                values.data_mut()[i + d * j] = v;
                values.data_mut()[j + d * i] = v;
            }
        }
        let independent = spins.iter().sum();
        Informations { d, moments, values, independent }
    }

    /// The tree of largest information after adding noise of size `spread` to each pair.
    ///
    /// **Cost** O(d^2).
    pub(super) fn tree(
        &self,
        spread: f64,
        random: &mut ChaCha8Rng,
        entropies: &mut Entropies,
        pairs: &mut Pairs,
    ) -> Option<Grown> {
        let d = self.d;
        let mut best = vec![(f64::NEG_INFINITY, 0usize); d];
        let mut inside = vec![false; d];
        let (mut last, mut shared) = (0, 0.0);
        let mut chosen = Vec::with_capacity(d);
        inside[0] = true;
        for _ in 1..d {
            let column = self.values.column(last);
            for (j, best) in best.iter_mut().enumerate().filter(|(j, _)| !inside[*j]) {
                let noise = if spread > 0.0 { spread * uniform(random) } else { 0.0 };
                if column[j] + noise > best.0 {
                    *best = (column[j] + noise, last);
                }
            }
            let next = (0..d).filter(|j| !inside[*j]).max_by(|a, b| best[*a].0.total_cmp(&best[*b].0))?;
            let to = best[next].1;
            shared += self.values.at(next, to);
            chosen.push(entropies.edge([next.min(to) as u32, next.max(to) as u32], pairs));
            inside[next] = true;
            last = next;
        }
        let forest = Forest::new(d, &entropies.edges, &chosen)?;
        Some((self.independent - shared, Graph::Forest(forest)))
    }

    /// A two-tree grown from a pair, each time by the spin and the edge of largest gain, with noise on every gain.
    ///
    /// **Cost** O(d^2) laws of three spins.
    pub(super) fn two_tree(
        &self,
        root: [usize; 2],
        spread: f64,
        random: &mut ChaCha8Rng,
        entropies: &mut Entropies,
        pairs: &mut Pairs,
    ) -> Option<Grown> {
        let d = self.d;
        let mut outside = vec![true; d];
        let mut best = vec![(f64::NEG_INFINITY, [0usize; 2], 0.0); d];
        let [a, b] = root;
        (outside[a], outside[b]) = (false, false);
        let side = entropies.edge(sorted(a, b), pairs);
        let mut joints = vec![
            Joint { spin: a as u32, to: Base::Nothing },
            Joint { spin: b as u32, to: Base::Spin { to: a as u32, side } },
        ];
        let mut shared = self.values.at(a, b);
        let mut edges = vec![[a, b]];
        for _ in 2..d {
            for base in edges.drain(..) {
                for v in (0..d).filter(|v| outside[*v]) {
                    // A law of three spins is dear: first what it could gain at most, roughly.
                    let likely = self.values.at(v, base[0]) + self.values.at(v, base[1]);
                    if 2.0 * likely + spread < best[v].0 {
                        continue;
                    }
                    let gain = self.gain(v, base);
                    let noisy = if spread > 0.0 { gain + spread * uniform(random) } else { gain };
                    if noisy > best[v].0 {
                        best[v] = (noisy, base, gain);
                    }
                }
            }
            let v = (0..d).filter(|v| outside[*v]).max_by(|a, b| best[*a].0.total_cmp(&best[*b].0))?;
            let (_, [a, b], gain) = best[v];
            outside[v] = false;
            shared += gain;
            edges.extend([[v, a], [v, b]]);
            joints.push(Joint { spin: v as u32, to: base(v, [a, b], entropies, pairs) });
        }
        Some((self.independent - shared, Graph::TwoTree(TwoTree { joints })))
    }

    /// What joining a spin to an edge takes off the entropy.
    fn gain(&self, v: usize, [a, b]: [usize; 2]) -> f64 {
        let m = |k: usize, l: usize| self.moments.at(k, l);
        let (v, a, b) = (v + 1, a + 1, b + 1);
        let m = [m(0, v), m(0, a), m(0, b), m(v, a), m(v, b), m(a, b)];
        let joint = triples::information(&triples::law(m), m);
        // The pair's own value may be continued beyond its floor, the triple's is not: gains only steer the growth.
        joint - self.values.at(a - 1, b - 1)
    }

    /// Pairs of largest information, at most `count`, no two of which share a spin.
    pub(super) fn roots(&self, count: usize) -> Vec<[usize; 2]> {
        let partner = |i: usize| {
            let column = self.values.column(i);
            (0..self.d).filter(|j| *j != i).max_by(|a, b| column[*a].total_cmp(&column[*b]))
        };
        let mut all: Vec<(f64, [usize; 2])> = (0..self.d)
            .filter_map(|i| partner(i).map(|j| (self.values.at(i, j), [i.min(j), i.max(j)])))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.dedup_by(|a, b| a.1 == b.1);
        all.truncate(count);
        all.into_iter().map(|pair| pair.1).collect()
    }
}

fn sorted(a: usize, b: usize) -> [u32; 2] {
    [a.min(b) as u32, a.max(b) as u32]
}

/// The joint of a spin to both ends of an edge.
fn base(v: usize, [a, b]: [usize; 2], entropies: &mut Entropies, pairs: &mut Pairs) -> Base {
    let mut spins = [v as u32, a as u32, b as u32];
    spins.sort_unstable();
    let cluster = entropies.cluster(spins, pairs);
    let sides = [a, b].map(|u| entropies.edge(sorted(v, u), pairs));
    let base = entropies.edge(sorted(a, b), pairs);
    Base::Edge { to: [a as u32, b as u32], sides, base, cluster }
}
