//! The moments of a relaxation: which monomials, and which moment matrices must be positive.

use super::clusters::Clusters;
use super::curvature::Curvature;
use super::rotated::shared;
use crate::error::Result;
use crate::features::{Classes, Features};
use crate::linalg::Square;
use crate::model::VarSet;
use std::collections::HashMap;
use std::sync::Arc;

/// Moments `m_C = E x^C`, numbered, with positive semidefinite blocks `Sigma_B(m) >= 0`.
pub(super) struct Space {
    pub(super) d: usize,
    /// The monomial of every moment; never the constant.
    pub(super) sets: Vec<VarSet>,
    numbers: HashMap<VarSet, u32>,
    pub(super) blocks: Vec<Block>,
    /// Pairs of spins whose moment is present.
    pub(super) pairs: Vec<[u32; 2]>,
    /// Moments of the two spins and of their product, by pair.
    pub(super) pair_moments: Vec<[u32; 3]>,
    /// Triples of spins, where two-trees are in use.
    pub(super) clusters: Clusters,
}

/// A moment matrix: unit diagonal, one moment per entry off it.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) features: Features,
    /// Moment at row k < column l, by `l (l - 1) / 2 + k`.
    pub(super) numbers: Vec<u32>,
    /// The features' classes, where they are few enough to be of use.
    pub(super) shared: Option<Arc<Classes>>,
}

impl Space {
    /// One block per list of features.
    ///
    /// **Cost** one hash look-up per entry of every block.
    pub(super) fn new(d: usize, blocks: Vec<Features>) -> Self {
        let mut space = Space {
            d,
            sets: Vec::new(),
            numbers: HashMap::new(),
            blocks: Vec::new(),
            pairs: Vec::new(),
            pair_moments: Vec::new(),
            clusters: Clusters::default(),
        };
        for features in blocks {
            let block = space.number(features);
            space.blocks.push(block);
        }
        for (number, set) in space.sets.iter().enumerate().filter(|(_, set)| set.len() == 2) {
            let ends: Vec<usize> = set.iter().collect();
            let spin = |i: usize| space.numbers[&VarSet::singleton(i)];
            space.pairs.push([ends[0] as u32, ends[1] as u32]);
            space.pair_moments.push([spin(ends[0]), spin(ends[1]), number as u32]);
        }
        space
    }

    /// Features `(1, x_i)_{i in clique}` of cliques listed children first. A moment is numbered with the last
    /// clique that holds it, so that elimination in order of the numbers fills in little.
    pub(super) fn cliques(d: usize, cliques: &[Vec<u32>]) -> Result<Self> {
        let features = |clique: &Vec<u32>| {
            let spins = clique.iter().map(|&i| VarSet::singleton(i as usize));
            Features::new(d, std::iter::once(VarSet::EMPTY).chain(spins).collect())
        };
        let mut space = Space::new(d, cliques.iter().rev().map(features).collect::<Result<_>>()?);
        let last = space.sets.len().saturating_sub(1) as u32;
        space.sets.reverse();
        space.numbers.values_mut().for_each(|number| *number = last - *number);
        let blocks = space.blocks.iter_mut().flat_map(|block| &mut block.numbers);
        blocks.chain(space.pair_moments.as_flattened_mut()).for_each(|number| *number = last - *number);
        Ok(space)
    }

    fn number(&mut self, features: Features) -> Block {
        let list = features.sets();
        let mut numbers = Vec::with_capacity(list.len() * (list.len() - 1) / 2);
        for (l, column) in list.iter().enumerate() {
            for row in &list[..l] {
                let set = row.xor(column);
                let next = self.sets.len() as u32;
                let number = *self.numbers.entry(set).or_insert_with_key(|set| {
                    self.sets.push(set.clone());
                    next
                });
                numbers.push(number);
            }
        }
        Block { shared: shared(&features), features, numbers }
    }

    /// A block over moments that are all present, `None` when one is not.
    pub(super) fn block(&self, features: &Features) -> Option<Block> {
        let list = features.sets();
        let entries = list.iter().enumerate().flat_map(|(l, b)| list[..l].iter().map(move |a| a.xor(b)));
        let numbers = entries.map(|set| self.numbers.get(&set).copied()).collect::<Option<_>>()?;
        Some(Block { features: features.clone(), numbers, shared: shared(features) })
    }

    /// How many moments there are.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Numbers of the means.
    pub(super) fn spins(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&k| self.sets[k].len() == 1)
    }

    /// Number of the moment of `set`.
    pub(super) fn find(&self, set: &VarSet) -> Option<u32> {
        self.numbers.get(set).copied()
    }

    /// Number of `E z_k z_l`, z = (1, x), k < l.
    pub(super) fn vertices(&self, k: u32, l: u32) -> Option<u32> {
        match k {
            0 => self.find(&VarSet::singleton(l as usize - 1)),
            _ => self.find(&VarSet::pair(k as usize - 1, l as usize - 1)),
        }
    }
}

impl Block {
    pub(super) fn n(&self) -> usize {
        self.features.len()
    }

    /// The spins among the features, increasing.
    pub(super) fn spins(&self) -> Vec<u32> {
        let single = self.features.sets().iter().filter(|set| set.len() == 1);
        let mut spins: Vec<u32> = single.filter_map(|set| set.largest()).map(|i| i as u32).collect();
        spins.sort_unstable();
        spins
    }

    /// `Sigma(m)`, with `diagonal` on the diagonal: 1 for a point, 0 for a direction.
    pub(super) fn fill(&self, m: &[f64], diagonal: f64) -> Square {
        let n = self.n();
        let mut out = Square::zeros(n);
        out.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = diagonal);
        let mut numbers = self.numbers.iter();
        for l in 0..n {
            for (k, &number) in numbers.by_ref().take(l).enumerate() {
                let v = m[number as usize];
                out.data_mut()[k + n * l] = v;
                out.data_mut()[l + n * k] = v;
            }
        }
        out
    }

    /// `out_C += scale <A_C, x>`: entry by entry of a symmetric matrix.
    pub(super) fn gather(&self, x: &Square, scale: f64, out: &mut [f64]) {
        let mut numbers = self.numbers.iter();
        for l in 0..self.n() {
            for (v, &number) in x.column(l)[..l].iter().zip(numbers.by_ref()) {
                out[number as usize] += 2.0 * scale * v;
            }
        }
    }

    /// `matrix += sum_t <A_C, t A_D t>` over the symmetric matrices `t`.
    ///
    /// **Cost** n^4 / 4 multiplications per matrix.
    pub(super) fn add_curvature(&self, matrices: &[Square], into: &mut Curvature) {
        let n = self.n();
        let mut local = vec![0.0; self.numbers.len()];
        let mut position = 0;
        for q in 0..n {
            for p in 0..q {
                for t in matrices {
                    let (tp, tq) = (t.column(p), t.column(q));
                    let mut first = q * (q - 1) / 2;
                    for l in q..n {
                        let (at_p, at_q) = (2.0 * tp[l], 2.0 * tq[l]);
                        let column = &mut local[first..first + l];
                        for ((v, a), b) in column.iter_mut().zip(tp).zip(tq) {
                            *v += a * at_q + b * at_p;
                        }
                        first += l;
                    }
                }
                into.add_column(&self.numbers, position, &local);
                local[q * (q - 1) / 2..].fill(0.0);
                position += 1;
            }
        }
    }
}
