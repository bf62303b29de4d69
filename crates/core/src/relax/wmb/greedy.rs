//! An elimination order that knows that buckets will be split: tables never grow beyond a limit while it is found, so
//! that it takes linear time on graphs where exact elimination is out of the question.

use crate::model::FactorModel;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tables that are waiting: scopes only.
struct Scopes {
    start: Vec<usize>,
    members: Vec<u32>,
    is_live: Vec<bool>,
    /// By variable: tables that name it, dead ones included until they are met.
    near: Vec<Vec<u32>>,
}

impl Scopes {
    fn scope(&self, k: u32) -> &[u32] {
        &self.members[self.start[k as usize]..self.start[k as usize + 1]]
    }

    fn push(&mut self, scope: &[u32]) {
        let k = self.is_live.len() as u32;
        self.members.extend_from_slice(scope);
        self.start.push(self.members.len());
        self.is_live.push(true);
        scope.iter().for_each(|&v| self.near[v as usize].push(k));
    }
}

/// Removes the variable with the smallest joint table again and again, splitting tables above `limit` entries as
/// mini-buckets would; ties are broken by `seed`.
pub(super) fn order(model: &FactorModel, left: &[Vec<u32>], limit: f64, seed: u64) -> Vec<u32> {
    let d = model.d();
    let size = |v: u32| left[v as usize].len() as f64;
    let mut scopes =
        Scopes { start: vec![0], members: Vec::new(), is_live: Vec::new(), near: vec![Vec::new(); d] };
    let mut scope: Vec<u32> = Vec::new();
    for factor in model.factors() {
        scope.clear();
        scope.extend(factor.scope.iter().copied().filter(|&v| size(v) > 1.0));
        scope.sort_unstable();
        if scope.len() > 1 {
            scopes.push(&scope);
        }
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut stamps = Stamps { marks: vec![0; d], now: 0 };
    let mut heap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::with_capacity(d);
    let ties: Vec<u32> = (0..d).map(|_| random.next_u32()).collect();
    for v in 0..d as u32 {
        heap.push(Reverse((stamps.price(&mut scopes, v, &size), ties[v as usize], v)));
    }
    let mut order = Vec::with_capacity(d);
    let mut groups: Vec<Vec<u32>> = Vec::new();
    while let Some(Reverse((old, tie, v))) = heap.pop() {
        let price = stamps.price(&mut scopes, v, &size);
        if price > old && heap.peek().is_some_and(|Reverse(next)| (price, tie, v) > *next) {
            heap.push(Reverse((price, tie, v)));
            continue;
        }
        order.push(v);
        let mut tables = std::mem::take(&mut scopes.near[v as usize]);
        tables.sort_by_key(|&k| (Reverse(scopes.scope(k).len()), k));
        groups.clear();
        for &k in &tables {
            scopes.is_live[k as usize] = false;
            join(&mut groups, scopes.scope(k), limit, &size);
        }
        for group in &mut groups {
            group.retain(|&u| u != v);
            if group.len() > 1 {
                scopes.push(group);
            }
        }
    }
    order
}

/// Puts a scope into the first group that has room.
fn join(groups: &mut Vec<Vec<u32>>, scope: &[u32], limit: f64, size: &impl Fn(u32) -> f64) {
    for group in groups.iter_mut() {
        let mut union = group.clone();
        union.extend(scope.iter().copied().filter(|u| group.binary_search(u).is_err()));
        if union.iter().map(|&u| size(u)).product::<f64>() <= limit {
            union.sort_unstable();
            *group = union;
            return;
        }
    }
    groups.push(scope.to_vec());
}

/// Marks variables without clearing.
struct Stamps {
    marks: Vec<u32>,
    now: u32,
}

impl Stamps {
    /// Entries of the joint table of `v`, as bits that sort like the number; forgets dead tables.
    fn price(&mut self, scopes: &mut Scopes, v: u32, size: &impl Fn(u32) -> f64) -> u64 {
        let mut near = std::mem::take(&mut scopes.near[v as usize]);
        near.retain(|&k| scopes.is_live[k as usize]);
        self.now = self.now.wrapping_add(1);
        let mut total = 1.0;
        for &k in &near {
            for &u in scopes.scope(k) {
                if std::mem::replace(&mut self.marks[u as usize], self.now) != self.now {
                    total *= size(u);
                }
            }
        }
        scopes.near[v as usize] = near;
        f64::min(total, f64::MAX).to_bits()
    }
}
