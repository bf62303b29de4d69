//! Who meets whom: the cliques of a weighted elimination, found without touching a table.

use super::WeightedElimination;
use super::domain::Domains;
use crate::certify::limits::Cost;
use crate::error::{Error, Result};
use crate::model::FactorModel;

/// More variables of two states or more than this cannot be in one table that fits any memory.
const MAX_ARITY: usize = 60;

/// Something a mini-bucket holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// A factor of the model.
    Factor(u32),
    /// The message of a mini-bucket.
    Message(u32),
    /// A shift gained.
    Gained(u32),
    /// A shift lost.
    Lost(u32),
}

/// What each mini-bucket holds and speaks of.
pub(super) struct Buckets {
    pub(super) items: Vec<Vec<Item>>,
    /// The variable summed out, then the rest of the clique in order of elimination; variables with one state are left out,
    /// except for the first.
    pub(super) cliques: Vec<Vec<u32>>,
    pub(super) cost: Cost,
}

/// Where each variable stands in `order`.
fn positions(order: &[u32], d: usize) -> Result<Vec<u32>> {
    let place = super::super::elimination::positions(order, d)?;
    Ok(place.into_iter().map(|p| p as u32).collect())
}

fn refuse<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::Certificate(what.into()))
}

impl Buckets {
    /// # Errors
    /// [`Error::Certificate`] for anything that is not a valid elimination of all variables.
    pub(super) fn new(model: &FactorModel, e: &WeightedElimination, domains: &Domains) -> Result<Self> {
        let place = positions(&e.order, model.d())?;
        check_grouping(e)?;
        let mut items: Vec<Vec<Item>> = vec![Vec::new(); e.mini_buckets.len()];
        let first = |scope: &[u32]| scope.iter().map(|&v| place[v as usize]).min();
        if e.factor_home.len() != model.len() {
            return refuse(format!("{} homes for {} factors", e.factor_home.len(), model.len()));
        }
        for (k, &home) in e.factor_home.iter().enumerate() {
            // A factor without variables is a number.
            let Some(limit) = first(model.factor(k).scope) else { continue };
            put(e, &mut items, home, limit, Item::Factor(k as u32))?;
        }
        for (k, shift) in e.shifts.iter().enumerate() {
            check_shift(shift, domains, model.d())?;
            let limit = first(&shift.scope).unwrap_or(u32::MAX);
            put(e, &mut items, shift.to, limit, Item::Gained(k as u32))?;
            put(e, &mut items, shift.from, limit, Item::Lost(k as u32))?;
        }
        let mut out = Buckets { items, cliques: Vec::new(), cost: Cost::default() };
        out.connect(model, e, domains, &place)?;
        Ok(out)
    }

    /// Follows the messages and adds up what they cost.
    fn connect(
        &mut self,
        model: &FactorModel,
        e: &WeightedElimination,
        domains: &Domains,
        place: &[u32],
    ) -> Result<()> {
        let (mut held, mut peak, mut operations) = (0.0, 0.0f64, 0.0);
        for (c, mini) in e.mini_buckets.iter().enumerate() {
            let mut met: Vec<u32> = Vec::new();
            for item in &self.items[c] {
                let scope = match *item {
                    Item::Factor(k) => model.factor(k as usize).scope,
                    Item::Message(m) => &self.cliques[m as usize][1..],
                    Item::Gained(k) | Item::Lost(k) => &e.shifts[k as usize].scope,
                };
                met.extend(scope.iter().filter(|&&v| domains.size(v) > 1).map(|&v| place[v as usize]));
            }
            met.retain(|&p| p != mini.position);
            met.sort_unstable();
            met.dedup();
            if met.len() > MAX_ARITY {
                return refuse(format!("a mini-bucket joins {} variables", met.len() + 1));
            }
            let rest = met.iter().map(|&p| e.order[p as usize]);
            let clique: Vec<u32> = std::iter::once(e.order[mini.position as usize]).chain(rest).collect();
            let (entries, message) = (domains.entries(&clique), domains.entries(&clique[1..]));
            operations += entries * (self.items[c].len() as f64 * 2.0 + 16.0) + 64.0;
            peak = peak.max(held + 8.0 * message + 4.0 * 16384.0 * self.items[c].len() as f64);
            for item in &self.items[c] {
                if let Item::Message(m) = *item {
                    held -= 8.0 * domains.entries(&self.cliques[m as usize][1..]);
                }
            }
            if clique.len() > 1 {
                held += 8.0 * message;
                let Some(home) = mini.message_home else {
                    return refuse(format!("mini-bucket {c} has a message and no home for it"));
                };
                if e.mini_buckets.get(home as usize).is_none_or(|b| b.position <= mini.position) {
                    return refuse(format!("mini-bucket {c} sends its message back"));
                }
                put(e, &mut self.items, home, met[0], Item::Message(c as u32))?;
            }
            self.cliques.push(clique);
        }
        self.cost = Cost { operations, bytes: peak };
        Ok(())
    }
}

/// Puts an item whose first variable is at position `limit` into mini-bucket `home`.
fn put(e: &WeightedElimination, items: &mut [Vec<Item>], home: u32, limit: u32, item: Item) -> Result<()> {
    match e.mini_buckets.get(home as usize) {
        Some(mini) if mini.position <= limit => items[home as usize].push(item),
        Some(_) => return refuse(format!("{item:?} comes after one of its variables is summed out")),
        None => return refuse(format!("{item:?} has no home")),
    }
    Ok(())
}

/// Every position has its mini-buckets, one group after another.
fn check_grouping(e: &WeightedElimination) -> Result<()> {
    let mut next = 0;
    for mini in &e.mini_buckets {
        let fresh = mini.position as usize == next;
        if !fresh && mini.position as usize + 1 != next {
            return refuse("the mini-buckets are not grouped by position");
        }
        next += usize::from(fresh);
    }
    if next != e.order.len() {
        return refuse(format!("there are mini-buckets for {next} of {} variables", e.order.len()));
    }
    Ok(())
}

fn check_shift(shift: &super::Shift, domains: &Domains, d: usize) -> Result<()> {
    let scope = &shift.scope;
    let known = scope.iter().enumerate().all(|(p, v)| (*v as usize) < d && !scope[..p].contains(v));
    if scope.len() > MAX_ARITY || !known {
        return refuse(format!("a shift over {scope:?}"));
    }
    if domains.entries(scope) != shift.table.len() as f64 || !shift.table.iter().all(|v| v.is_finite()) {
        return refuse(format!("the shift over {scope:?} has a wrong size or is not finite"));
    }
    Ok(())
}
