//! Coordinate ascent over the blocks of a partition.

use super::law::{Law, Moments, Piece};
use super::partition::Partition;
use crate::model::FactorModel;

/// Rounds of backfitting when a factor meets a block in several variables.
const BACKFITTING: usize = 4;

/// Entries of a block that take about a millisecond: smaller blocks are not worth a look at the clock each.
const SLOW_ENTRIES: usize = 100_000;

/// Cost of an entry between blocks in entries of a block, measured.
const CROSSING_COST: usize = 8;

/// Where the law of a part of a scope is found in its block.
#[derive(Clone, Copy)]
enum Place {
    /// One variable, by its number in the block.
    Single(u32),
    /// Several, by the number of the reading.
    Several(u32),
}

/// A factor between blocks: its table with the parts of the scope in each block one after the other.
struct Crossing {
    values: Vec<f64>,
    /// Block, place in it, size of the part's table.
    parts: Vec<(u32, Place, usize)>,
}

/// One block.
struct Block {
    variables: Vec<u32>,
    law: Law,
    /// Crossing, which of its parts lies here, and where.
    crossings: Vec<(u32, u32, Place)>,
    /// The variables of each reading, in the block's numbering.
    scopes: Vec<Vec<u32>>,
}

/// A product of exact laws of blocks, each in the field of the others.
pub(super) struct Ascent<'a> {
    tables: &'a FactorModel,
    eps: f64,
    blocks: Vec<Block>,
    crossings: Vec<Crossing>,
    /// Fields of every block's variables, divided by eps.
    fields: Vec<Vec<Vec<f64>>>,
    moments: Vec<Moments>,
}

impl<'a> Ascent<'a> {
    /// Every block starts in the field of independent variables with the given laws.
    pub(super) fn new(tables: &'a FactorModel, eps: f64, partition: &Partition, start: &[Vec<f64>]) -> Self {
        let mut of = vec![(0u32, 0u32); tables.d()];
        for (b, block) in partition.blocks.iter().enumerate() {
            block.iter().enumerate().for_each(|(k, &v)| of[v as usize] = (b as u32, k as u32));
        }
        let mut pieces: Vec<Vec<Piece>> = partition.blocks.iter().map(|_| Vec::new()).collect();
        let mut scopes: Vec<Vec<Vec<u32>>> = vec![Vec::new(); pieces.len()];
        let mut of_block: Vec<Vec<(u32, u32, Place)>> = vec![Vec::new(); pieces.len()];
        let mut crossings: Vec<Crossing> = Vec::new();
        for factor in tables.factors().filter(|f| !f.scope.is_empty()) {
            let parts = parts(factor.scope, &of);
            if let [(b, scope)] = &parts[..] {
                let values = factor.table.iter().map(|v| v / eps).collect();
                pieces[*b as usize].push(Piece { scope: scope.clone(), values });
                continue;
            }
            let sizes = |scope: &[u32], b: u32| {
                let states =
                    |&k: &u32| tables.cardinalities()[partition.blocks[b as usize][k as usize] as usize];
                scope.iter().map(|k| states(k) as usize).product::<usize>()
            };
            let mut list = Vec::new();
            for (p, (b, scope)) in parts.iter().enumerate() {
                let home = *b as usize;
                let place = match scope[..] {
                    [k] => Place::Single(k),
                    _ => Place::Several(scopes[home].len() as u32),
                };
                list.push((*b, place, sizes(scope, *b)));
                of_block[home].push((crossings.len() as u32, p as u32, place));
                if scope.len() > 1 {
                    scopes[home].push(scope.clone());
                    pieces[home].push(Piece { scope: scope.clone(), values: Vec::new() });
                }
            }
            let values = regroup(factor.scope, factor.table, tables.cardinalities(), &of, &parts);
            crossings.push(Crossing { values: values.iter().map(|v| v / eps).collect(), parts: list });
        }
        let mut blocks = Vec::new();
        for (((order, pieces), scopes), crossings) in
            partition.blocks.iter().zip(pieces).zip(scopes).zip(of_block)
        {
            let local: Vec<u32> = (0..order.len() as u32).collect();
            let sizes: Vec<usize> =
                order.iter().map(|&v| tables.cardinalities()[v as usize] as usize).collect();
            blocks.push(Block {
                variables: order.clone(),
                law: Law::new(&local, &sizes, &pieces),
                crossings,
                scopes,
            });
        }
        let mut ascent = Ascent { tables, eps, blocks, crossings, fields: Vec::new(), moments: Vec::new() };
        ascent.begin(start);
        ascent
    }

    /// Entries of all tables, and those between blocks at what they cost more: the cost of one sweep.
    pub(super) fn cost(&self) -> u64 {
        let between: usize = self.crossings.iter().map(|c| c.values.len()).sum();
        (self.entries() + CROSSING_COST * between) as u64
    }

    /// Entries of all tables of all blocks.
    pub(super) fn entries(&self) -> usize {
        self.blocks.iter().map(|b| b.law.entries()).sum()
    }

    /// Independent variables with the given laws, then the field of that on every block.
    pub(super) fn begin(&mut self, start: &[Vec<f64>]) {
        let initial = |block: &Block| {
            let single: Vec<Vec<f64>> = block.variables.iter().map(|&v| start[v as usize].clone()).collect();
            let product = |scope: &Vec<u32>| {
                scope.iter().fold(vec![1.0], |table, &k| {
                    single[k as usize].iter().flat_map(|p| table.iter().map(move |x| x * p)).collect()
                })
            };
            let parts = block.scopes.iter().map(product).collect();
            Moments { log_z: 0.0, single, parts }
        };
        self.moments = self.blocks.iter().map(initial).collect();
        self.fields = (0..self.blocks.len()).map(|b| self.field(b)).collect();
        for b in 0..self.blocks.len() {
            self.moments[b] = self.blocks[b].law.moments(&self.fields[b]);
        }
    }

    /// Maximises over each block in turn, until `stop` says so.
    pub(super) fn sweep(&mut self, stop: &mut dyn FnMut() -> bool) {
        for b in 0..self.blocks.len() {
            if self.blocks[b].law.entries() > SLOW_ENTRIES && stop() {
                return;
            }
            self.fields[b] = self.field(b);
            self.moments[b] = self.blocks[b].law.moments(&self.fields[b]);
        }
    }

    /// The bound on `eps log Z` under the counting measure: `E_q f + eps H(q)`.
    pub(super) fn value(&self) -> f64 {
        let mut value = 0.0;
        for ((fields, moments), _) in self.fields.iter().zip(&self.moments).zip(&self.blocks) {
            value += moments.log_z;
            for (field, law) in fields.iter().zip(&moments.single) {
                value -= field.iter().zip(law).filter(|(_, p)| **p > 0.0).map(|(h, p)| h * p).sum::<f64>();
            }
        }
        for crossing in &self.crossings {
            let seen = self.contract(crossing, None);
            value += seen[0];
        }
        let constants = self.tables.factors().filter(|f| f.scope.is_empty()).map(|f| f.table[0]).sum::<f64>();
        self.tables.constant() + constants + self.eps * value
    }

    /// What the other blocks do to each variable of block `b`, on average.
    fn field(&self, b: usize) -> Vec<Vec<f64>> {
        let (block, moments) = (&self.blocks[b], &self.moments[b]);
        let mut out: Vec<Vec<f64>> = moments.single.iter().map(|row| vec![0.0; row.len()]).collect();
        for &(crossing, part, place) in &block.crossings {
            let seen = self.contract(&self.crossings[crossing as usize], Some(part as usize));
            match place {
                Place::Single(k) => out[k as usize].iter_mut().zip(&seen).for_each(|(h, v)| *h += v),
                Place::Several(r) => {
                    spread(&seen, &moments.parts[r as usize], &block.scopes[r as usize], &mut out);
                }
            }
        }
        out
    }

    /// The expectation of a factor between blocks given the states of one part, or altogether.
    fn contract(&self, crossing: &Crossing, kept: Option<usize>) -> Vec<f64> {
        let law = |p: usize| {
            let (b, place, _) = crossing.parts[p];
            let moments = &self.moments[b as usize];
            match place {
                Place::Single(k) => &moments.single[k as usize],
                Place::Several(r) => &moments.parts[r as usize],
            }
        };
        if let [first, second] = crossing.parts[..] {
            return contract_two(&crossing.values, [first.2, second.2], [law(0), law(1)], kept);
        }
        let mut values = crossing.values.clone();
        let mut inner = 1;
        for p in 0..crossing.parts.len() {
            let size = crossing.parts[p].2;
            if kept == Some(p) {
                inner *= size;
                continue;
            }
            let weights = law(p);
            let outer = values.len() / (inner * size);
            let mut next = vec![0.0; inner * outer];
            for o in 0..outer {
                for (s, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                    let row = &values[(o * size + s) * inner..][..inner];
                    next[o * inner..][..inner].iter_mut().zip(row).for_each(|(sum, v)| *sum += w * v);
                }
            }
            values = next;
        }
        values
    }

    /// The witness: the blocks, and per variable the field of each state in units of f.
    pub(super) fn witness(&self) -> (Vec<Vec<u32>>, Vec<Vec<f64>>) {
        let mut fields = vec![Vec::new(); self.tables.d()];
        for (block, own) in self.blocks.iter().zip(&self.fields) {
            for (&v, row) in block.variables.iter().zip(own) {
                fields[v as usize] = row.iter().map(|h| h * self.eps).collect();
            }
        }
        (self.blocks.iter().map(|b| b.variables.clone()).collect(), fields)
    }

    /// The law of every variable.
    pub(super) fn marginals(&self) -> Vec<Vec<f64>> {
        let mut out = vec![Vec::new(); self.tables.d()];
        for (block, moments) in self.blocks.iter().zip(&self.moments) {
            block.variables.iter().zip(&moments.single).for_each(|(&v, row)| out[v as usize] = row.clone());
        }
        out
    }
}

/// [`Ascent::contract`] for a factor between two blocks, which is what most are.
fn contract_two(values: &[f64], sizes: [usize; 2], laws: [&Vec<f64>; 2], kept: Option<usize>) -> Vec<f64> {
    let column = |t: usize| &values[t * sizes[0]..(t + 1) * sizes[0]];
    let times = |p: f64, v: f64| if p > 0.0 { p * v } else { 0.0 };
    let over_first = |t: usize| laws[0].iter().zip(column(t)).map(|(&p, &v)| times(p, v)).sum::<f64>();
    match kept {
        Some(0) => {
            let row = |s: usize| laws[1].iter().enumerate().map(|(t, &p)| times(p, column(t)[s])).sum();
            (0..sizes[0]).map(row).collect()
        }
        Some(_) => (0..sizes[1]).map(over_first).collect(),
        None => vec![(0..sizes[1]).map(|t| times(laws[1][t], over_first(t))).sum()],
    }
}

/// The parts of a scope in each block it meets, in the blocks' own numbering.
fn parts(scope: &[u32], of: &[(u32, u32)]) -> Vec<(u32, Vec<u32>)> {
    let mut out: Vec<(u32, Vec<u32>)> = Vec::new();
    for &v in scope {
        let (b, k) = of[v as usize];
        match out.iter_mut().find(|part| part.0 == b) {
            Some(part) => part.1.push(k),
            None => out.push((b, vec![k])),
        }
    }
    out
}

/// A table with the variables of each part next to each other, the first part fastest.
fn regroup(
    scope: &[u32],
    table: &[f64],
    cardinalities: &[u32],
    of: &[(u32, u32)],
    parts: &[(u32, Vec<u32>)],
) -> Vec<f64> {
    let mut offsets = vec![0usize];
    for (b, members) in parts {
        for k in members {
            let mut stride = 1;
            for &v in scope {
                let q = cardinalities[v as usize] as usize;
                if of[v as usize] == (*b, *k) {
                    offsets = (0..q).flat_map(|s| offsets.iter().map(move |o| o + s * stride)).collect();
                    break;
                }
                stride *= q;
            }
        }
    }
    offsets.into_iter().map(|o| table[o]).collect()
}

/// Adds to the fields of single variables what best stands for a function of several, under their present law:
/// least squares by backfitting.
fn spread(function: &[f64], law: &[f64], scope: &[u32], out: &mut [Vec<f64>]) {
    let sizes: Vec<usize> = scope.iter().map(|&k| out[k as usize].len()).collect();
    let mut pieces: Vec<Vec<f64>> = sizes.iter().map(|&q| vec![0.0; q]).collect();
    let state = |index: usize, p: usize| index / sizes[..p].iter().product::<usize>() % sizes[p];
    for _ in 0..BACKFITTING {
        for p in 0..scope.len() {
            let (mut sum, mut weight) = (vec![0.0; sizes[p]], vec![0.0; sizes[p]]);
            for (index, &w) in law.iter().enumerate().filter(|(_, w)| **w > 0.0) {
                let others: f64 =
                    (0..scope.len()).filter(|&r| r != p).map(|r| pieces[r][state(index, r)]).sum();
                sum[state(index, p)] += w * (function[index] - others);
                weight[state(index, p)] += w;
            }
            for s in 0..sizes[p] {
                pieces[p][s] = if weight[s] > 0.0 { sum[s] / weight[s] } else { 0.0 };
            }
        }
    }
    for (&k, piece) in scope.iter().zip(pieces) {
        out[k as usize].iter_mut().zip(piece).for_each(|(h, v)| *h += v);
    }
}
