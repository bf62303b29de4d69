//! Tree-structured mean field: independent blocks of spins, each an exact forest.

use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::relax::forest::Forest;

/// A partition of the spins into blocks whose inner edges form forests.
pub(super) struct Blocks<'a> {
    ising: &'a Ising,
    eps: f64,
    block: Vec<u32>,
    forests: Vec<BlockForest>,
    /// Edges between blocks.
    cross: Vec<u32>,
}

struct BlockForest {
    spins: Vec<u32>,
    /// The forest on the block's own numbering.
    forest: Forest,
    /// Couplings of its edges, divided by eps.
    couplings: Vec<f64>,
    /// For every spin the edges to other blocks: `(other spin, coupling / eps)`.
    outside: Vec<Vec<(u32, f64)>>,
}

impl<'a> Blocks<'a> {
    /// Puts every spin where it has the strongest couplings without closing a cycle.
    ///
    /// **Cost** O(m log d) for a few blocks.
    pub(super) fn new(ising: &'a Ising, eps: f64) -> Self {
        let coupled: Vec<u32> =
            (0..ising.edges().len() as u32).filter(|&e| ising.couplings()[e as usize] != 0.0).collect();
        let block = match Forest::new(ising.d(), ising.edges(), &coupled) {
            Some(_) => vec![0; ising.d()],
            None => partition(ising),
        };
        let count = block.iter().max().map_or(0, |b| *b as usize + 1);
        let mut spins = vec![Vec::new(); count];
        let mut place = vec![0u32; ising.d()];
        for (i, &b) in block.iter().enumerate() {
            place[i] = spins[b as usize].len() as u32;
            spins[b as usize].push(i as u32);
        }
        let mut ends = vec![Vec::new(); count];
        let mut couplings = vec![Vec::new(); count];
        let mut outside: Vec<Vec<Vec<(u32, f64)>>> =
            spins.iter().map(|s| vec![Vec::new(); s.len()]).collect();
        let mut cross = Vec::new();
        for (e, (i, j, v)) in ising.triples().enumerate().filter(|(_, t)| t.2 != 0.0) {
            let (a, b) = (block[i] as usize, block[j] as usize);
            if a == b {
                ends[a].push([place[i], place[j]]);
                couplings[a].push(v / eps);
            } else {
                cross.push(e as u32);
                outside[a][place[i] as usize].push((j as u32, v / eps));
                outside[b][place[j] as usize].push((i as u32, v / eps));
            }
        }
        let forests = spins
            .into_iter()
            .zip(ends)
            .zip(couplings)
            .zip(outside)
            .filter_map(|(((spins, ends), couplings), outside)| {
                let all: Vec<u32> = (0..ends.len() as u32).collect();
                let forest = Forest::new(spins.len(), &ends, &all)?;
                Some(BlockForest { spins, forest, couplings, outside })
            })
            .collect();
        Blocks { ising, eps, block, forests, cross }
    }

    /// Whether some block has an edge, so that this improves on independent spins.
    pub(super) fn is_structured(&self) -> bool {
        self.forests.iter().any(|b| !b.forest.edges().is_empty())
    }

    /// Maximises over each block in turn; returns the largest change of a mean.
    ///
    /// **Cost** O(d + m).
    pub(super) fn sweep(&self, means: &mut [f64]) -> f64 {
        let mut change = 0.0f64;
        for block in &self.forests {
            let moments = block.forest.moments(&self.fields(block, means), &block.couplings);
            for (&i, u) in block.spins.iter().zip(&moments.half_log_odds) {
                change = change.max((u.tanh() - means[i as usize]).abs());
                means[i as usize] = u.tanh();
            }
        }
        change
    }

    fn fields(&self, block: &BlockForest, means: &[f64]) -> Vec<f64> {
        let outside = |list: &Vec<(u32, f64)>| list.iter().map(|&(j, v)| v * means[j as usize]).sum::<f64>();
        block
            .spins
            .iter()
            .zip(&block.outside)
            .map(|(&i, list)| self.ising.fields()[i as usize] / self.eps + outside(list))
            .collect()
    }

    /// The bound `Phi(g) + E_q (f - g)` for the blocks' laws in the field of `means`, and g.
    ///
    /// # Errors
    /// Parameters that overflow.
    pub(super) fn witness(&self, means: &[f64]) -> Result<(f64, Polynomial)> {
        let mut fields = vec![0.0; self.ising.d()];
        let mut inner = vec![0.0; self.ising.d()];
        let mut value = 0.0;
        for block in &self.forests {
            let own = self.fields(block, means);
            let moments = block.forest.moments(&own, &block.couplings);
            value += moments.log_mean_exp;
            for ((&i, g), u) in block.spins.iter().zip(&own).zip(&moments.half_log_odds) {
                fields[i as usize] = g * self.eps;
                inner[i as usize] = u.tanh();
                // f - g has the field h - g, and the couplings between blocks.
                value += (self.ising.fields()[i as usize] / self.eps - g) * u.tanh();
            }
        }
        for &e in &self.cross {
            let [i, j] = self.ising.edges()[e as usize];
            value += self.ising.couplings()[e as usize] / self.eps * inner[i as usize] * inner[j as usize];
        }
        let kept: Vec<_> =
            self.ising.triples().filter(|&(i, j, v)| v != 0.0 && self.block[i] == self.block[j]).collect();
        let g = Ising::new(self.ising.d(), &fields, &kept)?;
        Ok((self.ising.constant() + self.eps * value, Polynomial::from(g)))
    }
}

/// Assigns spins, strongly coupled ones first, to the block with the strongest inner couplings that
/// stays a forest.
fn partition(ising: &Ising) -> Vec<u32> {
    let (d, adjacency) = (ising.d(), ising.adjacency());
    let strength =
        |i: usize| adjacency.of(i).iter().map(|&(_, e)| ising.couplings()[e as usize].abs()).sum::<f64>();
    let strengths: Vec<f64> = (0..d).map(strength).collect();
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| strengths[b].total_cmp(&strengths[a]).then(a.cmp(&b)));
    let mut block = vec![u32::MAX; d];
    let mut tree: Vec<u32> = (0..d as u32).collect();
    let mut count = 0u32;
    for i in order {
        // Candidate blocks with the trees they would join and the couplings they would gain.
        let mut options: Vec<(u32, f64, Vec<u32>, bool)> = Vec::new();
        for &(j, e) in adjacency.of(i) {
            let (b, v) = (block[j as usize], ising.couplings()[e as usize].abs());
            if b == u32::MAX || v == 0.0 {
                continue;
            }
            let root = find(&mut tree, j);
            match options.iter_mut().find(|o| o.0 == b) {
                Some(option) => {
                    option.3 &= !option.2.contains(&root);
                    option.1 += v;
                    option.2.push(root);
                }
                None => options.push((b, v, vec![root], true)),
            }
        }
        let best = options.iter().filter(|o| o.3).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        if let Some((b, _, roots, _)) = best {
            block[i] = *b;
            roots.iter().for_each(|&r| tree[r as usize] = i as u32);
            continue;
        }
        // No block to join with an edge: one where it is alone, or a new one.
        let taken: Vec<u32> = options.iter().map(|o| o.0).collect();
        block[i] = (0..count).find(|b| !taken.contains(b)).unwrap_or(count);
        count = count.max(block[i] + 1);
    }
    block
}

fn find(tree: &mut [u32], mut i: u32) -> u32 {
    while tree[i as usize] != i {
        tree[i as usize] = tree[tree[i as usize] as usize];
        i = tree[i as usize];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_one_block_and_a_grid_needs_few() {
        let chain: Vec<_> = (1..9).map(|i| (i - 1, i, 1.0)).collect();
        let tree = Ising::new(9, &[0.1; 9], &chain).unwrap();
        assert_eq!(Blocks::new(&tree, 1.0).forests.len(), 1);
        let side = 8usize;
        let mut edges = Vec::new();
        for i in 0..side * side {
            if (i + 1) % side != 0 {
                edges.push((i, i + 1, 1.0));
            }
            if i + side < side * side {
                edges.push((i, i + side, 1.0));
            }
        }
        let grid = Ising::new(side * side, &vec![0.0; side * side], &edges).unwrap();
        let blocks = Blocks::new(&grid, 1.0);
        assert!(blocks.is_structured() && blocks.forests.len() <= 4, "{}", blocks.forests.len());
    }
}
