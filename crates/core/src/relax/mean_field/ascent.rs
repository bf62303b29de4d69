//! Coordinate ascent over the blocks of a partition.

use super::crossing::{Crossing, Place, parts, regroup, spread};
use super::law::{Law, Moments, Piece};
use super::partition::Partition;
use crate::model::FactorModel;

/// Entries of a block that take about a millisecond: smaller blocks are not worth a look at the clock each.
const SLOW_ENTRIES: usize = 100_000;

/// Cost of an entry between blocks in entries of a block, measured.
const CROSSING_COST: usize = 8;

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
        (self.entries() + CROSSING_COST * self.between()) as u64
    }

    /// The same for a proof, whose cost an entry inside a block has most of.
    pub(super) fn proof_cost(&self) -> u64 {
        (self.entries() + self.between()) as u64
    }

    /// Entries of all tables of all blocks.
    fn entries(&self) -> usize {
        self.blocks.iter().map(|b| b.law.entries()).sum()
    }

    /// Entries of all tables between blocks.
    fn between(&self) -> usize {
        self.crossings.iter().map(|c| c.values.len()).sum()
    }

    /// Independent variables with the given laws, then each block in turn in the field of the others.
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
        self.fields = vec![Vec::new(); self.blocks.len()];
        // One block after the other: from the marginals of a product of blocks the value can only rise.
        for b in 0..self.blocks.len() {
            self.fields[b] = self.field(b);
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
            value += crossing.contract(self.laws(crossing), None)[0];
        }
        let constants = self.tables.factors().filter(|f| f.scope.is_empty()).map(|f| f.table[0]).sum::<f64>();
        self.tables.constant() + constants + self.eps * value
    }

    /// What the other blocks do to each variable of block `b`, on average.
    fn field(&self, b: usize) -> Vec<Vec<f64>> {
        let (block, moments) = (&self.blocks[b], &self.moments[b]);
        let mut out: Vec<Vec<f64>> = moments.single.iter().map(|row| vec![0.0; row.len()]).collect();
        for &(crossing, part, place) in &block.crossings {
            let crossing = &self.crossings[crossing as usize];
            let seen = crossing.contract(self.laws(crossing), Some(part as usize));
            match place {
                Place::Single(k) => out[k as usize].iter_mut().zip(&seen).for_each(|(h, v)| *h += v),
                Place::Several(r) => {
                    spread(&seen, &moments.parts[r as usize], &block.scopes[r as usize], &mut out);
                }
            }
        }
        out
    }

    /// The law of part p of a factor between blocks, by p.
    fn laws<'s>(&'s self, crossing: &'s Crossing) -> impl Fn(usize) -> &'s [f64] {
        |p| {
            let (b, place, _) = crossing.parts[p];
            let moments = &self.moments[b as usize];
            match place {
                Place::Single(k) => &moments.single[k as usize],
                Place::Several(r) => &moments.parts[r as usize],
            }
        }
    }

    /// What independent blocks miss of the factors between them, to second order in units of eps, by variable.
    pub(super) fn missed(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.tables.d()];
        for crossing in &self.crossings {
            let missed = crossing.missed(self.laws(crossing));
            for &(b, place, _) in &crossing.parts {
                let block = &self.blocks[b as usize];
                let members = match place {
                    Place::Single(k) => vec![k],
                    Place::Several(r) => block.scopes[r as usize].clone(),
                };
                members.into_iter().for_each(|k| out[block.variables[k as usize] as usize] += missed);
            }
        }
        out
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
