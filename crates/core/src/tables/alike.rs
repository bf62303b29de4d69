//! Classes of variables that cannot be told apart, in models of factors of one or two variables.

use crate::model::FactorModel;
use std::collections::{BTreeMap, HashMap};

/// A table bit by bit, so that equal means equal.
type Bits = Vec<u64>;

/// What a model is made of, each kind of table numbered once.
pub(crate) struct Parts {
    /// By variable: its own tables.
    pub(crate) own: Vec<Vec<u32>>,
    /// By variable and neighbour: the tables between them, the variable first.
    pub(crate) near: Vec<BTreeMap<u32, Vec<u32>>>,
    pub(crate) tables: Vec<Vec<f64>>,
}

impl Parts {
    /// `None` when a factor has more than two variables.
    pub(crate) fn new(model: &FactorModel) -> Option<Self> {
        let mut numbers: HashMap<Bits, u32> = HashMap::new();
        let mut tables: Vec<Vec<f64>> = Vec::new();
        let mut number = |table: Vec<f64>| {
            *numbers.entry(table.iter().map(|x| x.to_bits()).collect()).or_insert_with(|| {
                tables.push(table);
                tables.len() as u32 - 1
            })
        };
        let mut own = vec![Vec::new(); model.d()];
        let mut near = vec![BTreeMap::new(); model.d()];
        for factor in model.factors() {
            match *factor.scope {
                [i] => own[i as usize].push(number(factor.table.to_vec())),
                [i, j] => {
                    let (p, q) = (model.cardinalities()[i as usize], model.cardinalities()[j as usize]);
                    let turned = (0..p * q).map(|k| factor.table[(k / q + k % q * p) as usize]).collect();
                    let (ours, theirs) = (number(factor.table.to_vec()), number(turned));
                    near[i as usize].entry(j).or_insert_with(Vec::new).push(ours);
                    near[j as usize].entry(i).or_insert_with(Vec::new).push(theirs);
                }
                _ => return None,
            }
        }
        own.iter_mut().for_each(|list| list.sort_unstable());
        near.iter_mut().flat_map(BTreeMap::values_mut).for_each(|list| list.sort_unstable());
        Some(Parts { own, near, tables })
    }

    /// The coarsest classes whose members cannot be told apart; classes that are not joined all to all, or not at all,
    /// fall apart into single variables.
    pub(crate) fn classes(&self, model: &FactorModel) -> Vec<Vec<u32>> {
        let kind = |v: usize| (model.cardinalities()[v], self.own[v].clone());
        let mut class = numbered((0..model.d()).map(kind));
        loop {
            loop {
                let before = class.iter().max().copied();
                class = numbered((0..model.d()).map(|v| (class[v], self.signature(v, &class))));
                if class.iter().max().copied() == before {
                    break;
                }
            }
            let members = members(&class);
            let Some(broken) = (0..members.len()).find(|&c| self.is_broken(&members, &class, c)) else {
                return members;
            };
            let first = members.len() as u32;
            members[broken].iter().enumerate().for_each(|(k, &v)| class[v as usize] = first + k as u32);
        }
    }

    /// What v sees: how many neighbours of each class by which tables.
    fn signature(&self, v: usize, class: &[u32]) -> Vec<(u32, Vec<u32>, usize)> {
        let mut seen: BTreeMap<(u32, &Vec<u32>), usize> = BTreeMap::new();
        for (&j, tables) in &self.near[v] {
            *seen.entry((class[j as usize], tables)).or_default() += 1;
        }
        seen.into_iter().map(|((c, tables), count)| (c, tables.clone(), count)).collect()
    }

    /// Whether some class is neither joined to all others of class c in one way nor to none.
    fn is_broken(&self, members: &[Vec<u32>], class: &[u32], c: usize) -> bool {
        let v = members[c][0] as usize;
        members[c].len() > 1
            && self.signature(v, class).iter().any(|(other, _, count)| {
                let all = members[*other as usize].len() - usize::from(*other as usize == c);
                *count != all
            })
    }
}

/// Equal keys get equal numbers, from 0.
fn numbered<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut numbers = HashMap::new();
    keys.map(|key| {
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}

fn members(class: &[u32]) -> Vec<Vec<u32>> {
    let mut out = vec![Vec::new(); class.iter().max().map_or(0, |&c| c as usize + 1)];
    class.iter().enumerate().for_each(|(v, &c)| out[c as usize].push(v as u32));
    out.retain(|list| !list.is_empty());
    out
}
