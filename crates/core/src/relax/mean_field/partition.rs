//! Partitions of the variables into blocks whose elimination stays below a table size.

use super::width::{Graph, induced, order_within};
use crate::model::{FactorModel, FactorRef};

/// Variables of one block at most: the order of a block is found anew whenever the block changes.
const MOST_VARIABLES: usize = 3000;

/// Length at which the search for the longest block along a line begins.
const FIRST_LENGTH: usize = 16;

/// Orders of a whole block that refinement may look for, in variables ordered: about a second.
const REFINEMENT_WORK: usize = 200_000;

/// Where the first block of a partition along a line ends, as a share of the longest possible.
pub(super) const FIRST_SHARES: [f64; 4] = [1.0, 0.75, 0.5, 0.25];

/// A partition, each block in order of elimination.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Partition {
    pub(super) blocks: Vec<Vec<u32>>,
    /// Sum of the strengths of factors between blocks.
    pub(super) cut: f64,
}

/// The graph of a model with the strength of every factor, from which partitions are made.
pub(super) struct Divider {
    pub(super) graph: Graph,
    bits: Vec<f64>,
    pub(super) scopes: Vec<Vec<u32>>,
    pub(super) strength: Vec<f64>,
    /// Factors of every variable.
    pub(super) of_variable: Vec<Vec<u32>>,
    /// Work array of [`induced`].
    place: Vec<u32>,
}

/// Looks at the clock.
pub(super) type Stop<'s> = &'s mut dyn FnMut() -> bool;

impl Divider {
    /// **Cost** O(sum of squared arities + size of the tables).
    pub(super) fn new(tables: &FactorModel) -> Self {
        let d = tables.d();
        let mut graph: Graph = vec![Vec::new(); d];
        let mut of_variable = vec![Vec::new(); d];
        for (k, factor) in tables.factors().enumerate() {
            for &v in factor.scope {
                graph[v as usize].extend(factor.scope.iter().filter(|&&u| u != v));
                of_variable[v as usize].push(k as u32);
            }
        }
        graph.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        Divider {
            graph,
            bits: tables.cardinalities().iter().map(|&q| f64::from(q).log2()).collect(),
            scopes: tables.factors().map(|f| f.scope.to_vec()).collect(),
            strength: tables.factors().map(|f| strength(&f, tables.cardinalities())).collect(),
            of_variable,
            place: vec![u32::MAX; d],
        }
    }

    /// Every variable alone.
    pub(super) fn singles(&self) -> Partition {
        let blocks: Vec<Vec<u32>> = (0..self.graph.len() as u32).map(|v| vec![v]).collect();
        let cut = self.cut(&blocks);
        Partition { blocks, cut }
    }

    /// The whole model as one block, when that fits.
    pub(super) fn whole(&mut self, limit: f64) -> Option<Partition> {
        let all: Vec<u32> = (0..self.graph.len() as u32).collect();
        let order = self.order(&all, limit)?;
        Some(Partition { blocks: vec![order], cut: 0.0 })
    }

    /// A partition along a line with tables of at most `2^limit` entries, its first block shortened to a share of its
    /// length; `None` when `stop` says so.
    pub(super) fn partition(
        &mut self,
        line: &[u32],
        limit: f64,
        share: f64,
        stop: Stop<'_>,
    ) -> Option<Partition> {
        let mut partition = self.along(line, limit, share, stop)?;
        self.refine(&mut partition, limit, stop);
        Some(partition)
    }

    /// An order of elimination of some variables with tables of at most `2^limit` entries.
    fn order(&mut self, members: &[u32], limit: f64) -> Option<Vec<u32>> {
        let graph = induced(&self.graph, members, &mut self.place);
        let bits: Vec<f64> = members.iter().map(|&v| self.bits[v as usize]).collect();
        let order = order_within(graph, &bits, limit)?;
        Some(order.into_iter().map(|k| members[k as usize]).collect())
    }

    /// Cuts a line of all variables into the longest possible blocks, the first one shortened to a share of its length.
    fn along(&mut self, line: &[u32], limit: f64, share: f64, stop: Stop<'_>) -> Option<Partition> {
        let mut blocks = Vec::new();
        let mut from = 0;
        while from < line.len() {
            let longest = self.longest(&line[from..], limit, stop)?;
            let length = if blocks.is_empty() { (share * longest as f64).ceil() as usize } else { longest };
            let members = &line[from..from + length.max(1)];
            // A shorter block may by bad luck have a worse order than the longer one it is cut from.
            blocks.extend(match self.order(members, limit) {
                Some(order) => vec![order],
                None => members.iter().map(|&v| vec![v]).collect(),
            });
            from += length.max(1);
        }
        let cut = self.cut(&blocks);
        Some(Partition { blocks, cut })
    }

    /// Length of the longest prefix that fits: doubling, then bisection. A single variable always fits.
    fn longest(&mut self, line: &[u32], limit: f64, stop: Stop<'_>) -> Option<usize> {
        let most = line.len().min(MOST_VARIABLES);
        let (mut good, mut bad, mut next) = (1, most + 1, FIRST_LENGTH.min(most));
        while good + 1 < bad {
            if stop() {
                return None;
            }
            if self.order(&line[..next], limit).is_some() {
                good = next;
            } else {
                bad = next;
            }
            next = if bad > most { (2 * good).min(most) } else { good.midpoint(bad) };
        }
        Some(good)
    }

    fn block_of(&self, blocks: &[Vec<u32>]) -> Vec<u32> {
        let mut of = vec![0; self.graph.len()];
        for (b, block) in blocks.iter().enumerate() {
            block.iter().for_each(|&v| of[v as usize] = b as u32);
        }
        of
    }

    fn cut(&self, blocks: &[Vec<u32>]) -> f64 {
        let of = self.block_of(blocks);
        let crosses = |scope: &Vec<u32>| scope.iter().any(|&v| of[v as usize] != of[scope[0] as usize]);
        self.scopes.iter().zip(&self.strength).filter(|(scope, _)| crosses(scope)).map(|(_, s)| s).sum()
    }

    /// Moves variables to the block to which they are bound most strongly, while that still fits.
    fn refine(&mut self, partition: &mut Partition, limit: f64, stop: Stop<'_>) {
        let mut of = self.block_of(&partition.blocks);
        let mut work = 0;
        for _ in 0..3 {
            let mut moved = false;
            for v in 0..self.graph.len() {
                let Some(to) = self.better_block(v, &of) else { continue };
                let mut members = partition.blocks[to as usize].clone();
                work += members.len();
                if work > REFINEMENT_WORK || members.len() >= MOST_VARIABLES || stop() {
                    break;
                }
                members.push(v as u32);
                let Some(order) = self.order(&members, limit) else { continue };
                partition.blocks[to as usize] = order;
                partition.blocks[of[v] as usize].retain(|&u| u as usize != v);
                of[v] = to;
                moved = true;
            }
            if !moved {
                break;
            }
        }
        partition.blocks.retain(|b| !b.is_empty());
        partition.cut = self.cut(&partition.blocks);
    }

    /// The block whose factors with `v` are stronger than those of its own block, if there is one.
    fn better_block(&self, v: usize, of: &[u32]) -> Option<u32> {
        let mut pulls: Vec<(u32, f64)> = vec![(of[v], 0.0)];
        for &k in &self.of_variable[v] {
            let others = self.scopes[k as usize].iter().filter(|&&u| u as usize != v);
            let mut seen = Vec::new();
            for &u in others {
                let b = of[u as usize];
                if !seen.contains(&b) {
                    seen.push(b);
                }
            }
            if let [b] = seen[..] {
                match pulls.iter_mut().find(|p| p.0 == b) {
                    Some(pull) => pull.1 += self.strength[k as usize],
                    None => pulls.push((b, self.strength[k as usize])),
                }
            }
        }
        let own = pulls[0].1;
        let best = pulls.into_iter().skip(1).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (best.1 > own * (1.0 + 1e-9)).then_some(best.0)
    }
}

/// How much a factor binds its variables: the spread of what single variables do not explain.
fn strength(factor: &FactorRef<'_>, cardinalities: &[u32]) -> f64 {
    if factor.table.contains(&f64::NEG_INFINITY) {
        // A hard zero may not lie between blocks.
        return 1e6;
    }
    let total = factor.table.len() as f64;
    let mean = factor.table.iter().sum::<f64>() / total;
    let mut rest: Vec<f64> = factor.table.iter().map(|v| v - mean).collect();
    let mut stride = 1;
    for &v in factor.scope {
        let q = cardinalities[v as usize] as usize;
        for s in 0..q {
            let of_state = |k: &usize| k / stride % q == s;
            let sum: f64 = (0..rest.len()).filter(of_state).map(|k| rest[k]).sum();
            let average = sum * q as f64 / total;
            (0..rest.len()).filter(of_state).for_each(|k| rest[k] -= average);
        }
        stride *= q;
    }
    if factor.scope.len() < 2 {
        return 0.0;
    }
    (rest.iter().map(|v| v * v).sum::<f64>() / total).sqrt()
}
