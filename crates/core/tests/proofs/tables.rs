//! Random models over tables, random proofs about them, and enumeration.

use super::{Random, random_order};
use zbound::FactorModel;
use zbound::certify::{
    Certificate, Component, Form, Interval, MiniBucket, Removal, Shift, WeightedElimination, Witness,
};

/// Up to six variables of one to four states, tables of arity up to five, some with hard zeros.
pub fn random_tables(random: &mut Random, scale: f64) -> FactorModel {
    let d = 1 + random.below(6);
    let cardinalities: Vec<usize> = (0..d).map(|_| [1, 2, 2, 2, 3, 4][random.below(6)]).collect();
    let mut model = FactorModel::with_cardinalities(&cardinalities).unwrap();
    let zeros = [0.0, 0.0, 0.1, 0.4][random.below(4)];
    for _ in 0..random.below(2 * d + 1) {
        let most = if random.below(5) == 0 { 5 } else { 2 };
        let arity = 1 + random.below(d.min(most));
        let scope: Vec<usize> = random_order(random, d).into_iter().take(arity).map(|v| v as usize).collect();
        let size: usize = scope.iter().map(|&v| cardinalities[v]).product();
        let entry = |random: &mut Random| {
            if random.unit() < zeros { f64::NEG_INFINITY } else { scale * random.between(-1.0, 1.0) }
        };
        let table: Vec<f64> = (0..size).map(|_| entry(random)).collect();
        model.push(&scope, &table).unwrap();
    }
    model.add_constant(scale * random.between(-1.0, 1.0));
    model
}

/// Every joint state.
pub fn joint_states(cardinalities: &[u32]) -> Vec<Vec<u32>> {
    cardinalities.iter().fold(vec![Vec::new()], |all, &q| {
        all.iter().flat_map(|x| (0..q).map(|s| x.iter().copied().chain([s]).collect::<Vec<u32>>())).collect()
    })
}

/// Encloses `eps log Z` (`max f` at eps = 0) by enumeration; `None` when no state has positive weight.
pub fn enumerate(model: &FactorModel, eps: f64) -> Option<Interval> {
    let value = |x: &Vec<u32>| {
        let table = |f: zbound::FactorRef<'_>| f.table[f.index_of(x, model.cardinalities())];
        model.factors().map(table).fold(Interval::point(model.constant()), |sum, v| sum + Interval::point(v))
    };
    let values: Vec<Interval> =
        joint_states(model.cardinalities()).iter().map(value).filter(|v| v.hi > -1e300).collect();
    let top = values.iter().map(|v| v.lo).reduce(f64::max)?;
    if eps == 0.0 {
        return Some(Interval { lo: top, hi: values.iter().fold(top, |m, v| m.max(v.hi)) });
    }
    let weight = |v: &Interval| ((*v - Interval::point(top)) / Interval::point(eps)).exp();
    let sum = values.iter().fold(Interval::ZERO, |sum, v| sum + weight(v));
    Some(Interval::point(top) + Interval::point(eps) * sum.log())
}

/// Removals that the tables justify, each taken with some luck, and the states that are left.
pub fn random_removals(random: &mut Random, model: &FactorModel) -> (Vec<Removal>, Vec<Vec<u32>>) {
    let mut left: Vec<Vec<u32>> = model.cardinalities().iter().map(|&q| (0..q).collect()).collect();
    let mut removals = Vec::new();
    for _ in 0..random.below(3) {
        for (k, factor) in model.factors().enumerate() {
            for &v in factor.scope {
                for state in left[v as usize].clone() {
                    let possible = joint_states(model.cardinalities()).into_iter().any(|x| {
                        let alive = |&w: &u32| left[w as usize].contains(&x[w as usize]);
                        let here = x[v as usize] == state && factor.scope.iter().all(alive);
                        here && factor.table[factor.index_of(&x, model.cardinalities())] > f64::NEG_INFINITY
                    });
                    if !possible && random.below(3) > 0 && left[v as usize].len() > 1 {
                        removals.push(Removal { variable: v, state, factor: k as u32 });
                        left[v as usize].retain(|s| *s != state);
                    }
                }
            }
        }
    }
    (removals, left)
}

/// What waits for its bucket.
#[derive(Clone, Copy)]
enum Waiting {
    Factor(usize),
    Message(usize),
    Lost(usize),
}

/// A random order, partition, weights and shifts: valid data for one side, whatever they prove.
pub fn random_weighted_elimination(
    random: &mut Random,
    model: &FactorModel,
    upper: bool,
    removals: Vec<Removal>,
    left: &[Vec<u32>],
) -> WeightedElimination {
    let (d, order) = (model.d(), random_order(random, model.d()));
    let mut place = vec![0; d];
    order.iter().enumerate().for_each(|(p, &v)| place[v as usize] = p);
    let mut waiting: Vec<Vec<(Waiting, Vec<u32>)>> = vec![Vec::new(); d];
    let first = |scope: &[u32]| scope.iter().map(|&v| place[v as usize]).min().unwrap();
    for (k, factor) in model.factors().enumerate() {
        waiting[first(factor.scope)].push((Waiting::Factor(k), factor.scope.to_vec()));
    }
    let mut e = WeightedElimination { removals, order: order.clone(), ..Default::default() };
    e.factor_home = vec![0; model.len()];
    for position in 0..d {
        let count = 1 + random.below(3);
        let start = e.mini_buckets.len();
        let main = random.below(count);
        let mut scopes: Vec<Vec<u32>> = vec![Vec::new(); count];
        for k in 0..count {
            let size = random.magnitude(0.05, 2.0);
            let weight = if upper || k == main { size } else { -size };
            e.mini_buckets.push(MiniBucket { position: position as u32, weight, message_home: None });
        }
        for (item, scope) in std::mem::take(&mut waiting[position]) {
            let k = random.below(count);
            let home = (start + k) as u32;
            match item {
                Waiting::Factor(f) => e.factor_home[f] = home,
                Waiting::Message(m) => e.mini_buckets[m].message_home = Some(home),
                Waiting::Lost(s) => e.shifts[s].from = home,
            }
            scopes[k].extend(scope);
        }
        for _ in 0..random.below(3) {
            let to = random.below(count);
            let later = position + random.below(d - position);
            let open: Vec<u32> = order[later..].to_vec();
            let mut scope: Vec<u32> = (0..random.below(3)).map(|_| open[random.below(open.len())]).collect();
            scope.sort_unstable();
            scope.dedup();
            let size: usize = scope.iter().map(|&v| left[v as usize].len()).product();
            let table = (0..size).map(|_| random.between(-1.0, 1.0)).collect();
            scopes[to].extend(&scope);
            let from = random.below(count);
            e.shifts.push(Shift {
                to: (start + to) as u32,
                from: (start + from) as u32,
                scope: scope.clone(),
                table,
            });
            if later > position {
                waiting[later].push((Waiting::Lost(e.shifts.len() - 1), scope));
            } else {
                scopes[from].extend(scope);
            }
        }
        for (k, mut scope) in scopes.into_iter().enumerate() {
            scope.sort_unstable();
            scope.dedup();
            scope.retain(|&v| place[v as usize] != position && left[v as usize].len() > 1);
            if !scope.is_empty() {
                waiting[first(&scope)].push((Waiting::Message(start + k), scope));
            }
        }
    }
    e
}

/// A certificate with a random weighted elimination on each side, or another witness about tables.
pub fn random_table_certificate(random: &mut Random, model: &FactorModel, eps: f64) -> Certificate {
    let (removals, left) = random_removals(random, model);
    let upper = random_weighted_elimination(random, model, true, removals.clone(), &left);
    let witness = random_table_witness(random, model, removals, left, eps);
    let components = vec![Component { weight: 1.0, form: Form::Tables(upper) }];
    Certificate { eps, slack: Default::default(), components, witness: Some(witness) }
}

fn random_table_witness(
    random: &mut Random,
    model: &FactorModel,
    removals: Vec<Removal>,
    mut left: Vec<Vec<u32>>,
    eps: f64,
) -> Witness {
    let cardinalities = model.cardinalities();
    match random.below(if eps > 0.0 { 5 } else { 4 }) {
        0 => Witness::States {
            states: cardinalities.iter().map(|&q| random.below(q as usize) as u32).collect(),
        },
        1 => {
            let chance = random.unit();
            let mut row = |q: u32| -> Vec<f64> {
                let keep = random.below(q as usize) as u32;
                let entry = |s: u32, random: &mut Random| {
                    if s == keep || random.unit() < chance { random.magnitude(1e-3, 1e3) } else { 0.0 }
                };
                (0..q).map(|s| entry(s, random)).collect()
            };
            Witness::StateProduct { probabilities: cardinalities.iter().map(|&q| row(q)).collect() }
        }
        2 | 3 => {
            let restrict = random.below(2) == 0;
            if restrict {
                for list in &mut left {
                    let keep = list[random.below(list.len())];
                    list.retain(|s| *s == keep || random.below(2) == 0);
                }
            }
            let elimination = random_weighted_elimination(random, model, false, removals, &left);
            Witness::Tables { elimination, allowed: restrict.then_some(left) }
        }
        _ => random_blocks(random, model),
    }
}

/// A random partition in random orders, with random fields.
pub fn random_blocks(random: &mut Random, model: &FactorModel) -> Witness {
    let count = 1 + random.below(model.d());
    let mut blocks: Vec<Vec<u32>> = vec![Vec::new(); count];
    for v in random_order(random, model.d()) {
        blocks[random.below(count)].push(v);
    }
    let field = |q: u32, random: &mut Random| (0..q).map(|_| random.between(-1.0, 1.0)).collect::<Vec<f64>>();
    Witness::Blocks { blocks, fields: model.cardinalities().iter().map(|&q| field(q, random)).collect() }
}
