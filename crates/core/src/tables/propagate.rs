//! Removal of states that one factor rules out given what the other variables have left.
//!
//! Generalised arc consistency, driven by a queue of factors. Each removal names its factor, so that a
//! verifier can replay it by looking at one table. The trail can be unwound, which is all a search needs.

use crate::certify::Removal;
use crate::model::FactorModel;
use std::collections::VecDeque;

/// Factor named by removals that are decisions of a search, not deductions.
pub(crate) const DECISION: u32 = u32::MAX;

/// What propagation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No factor rules out anything more.
    Settled,
    /// Some variable has no state left: no state of the model has positive weight.
    Empty,
    /// The work allowed was done; every removal so far stands.
    Unfinished,
}

/// The states that are left, and how they came to be.
#[derive(Clone, Debug)]
pub(crate) struct Propagator<'a> {
    model: &'a FactorModel,
    sizes: &'a [u32],
    start: Vec<usize>,
    alive: Vec<bool>,
    left: Vec<u32>,
    trail: Vec<Removal>,
    /// Factors with zeros that name a variable: a flat list and where each variable's part starts.
    near: Vec<u32>,
    near_start: Vec<usize>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// Table entries looked at so far.
    work: u64,
}

impl<'a> Propagator<'a> {
    /// Every state alive and every factor with zeros in the queue.
    pub(crate) fn new(model: &'a FactorModel, sizes: &'a [u32]) -> Self {
        let d = model.d();
        let mut start = vec![0; d + 1];
        (0..d).for_each(|v| start[v + 1] = start[v] + sizes[v] as usize);
        let is_hard: Vec<bool> = model.factors().map(|f| f.table.contains(&f64::NEG_INFINITY)).collect();
        let mut near_start = vec![0; d + 1];
        for (k, factor) in model.factors().enumerate().filter(|(k, _)| is_hard[*k]) {
            debug_assert!(is_hard[k]);
            factor.scope.iter().for_each(|&v| near_start[v as usize + 1] += 1);
        }
        (0..d).for_each(|v| near_start[v + 1] += near_start[v]);
        let mut next = near_start.clone();
        let mut near = vec![0; near_start[d]];
        for (k, factor) in model.factors().enumerate().filter(|(k, _)| is_hard[*k]) {
            for &v in factor.scope {
                near[next[v as usize]] = k as u32;
                next[v as usize] += 1;
            }
        }
        let queue = (0..model.len() as u32).filter(|&k| is_hard[k as usize]).collect();
        Propagator {
            model,
            sizes,
            alive: vec![true; start[d]],
            start,
            left: sizes.to_vec(),
            trail: Vec::new(),
            near,
            near_start,
            queue,
            queued: is_hard,
            work: 0,
        }
    }

    /// Whether variable `v` may still be in `state`.
    pub(crate) fn is_alive(&self, v: usize, state: usize) -> bool {
        self.alive[self.start[v] + state]
    }

    /// Number of variables.
    pub(crate) fn variables(&self) -> usize {
        self.left.len()
    }

    /// Number of states left to `v`.
    pub(crate) fn left(&self, v: usize) -> usize {
        self.left[v] as usize
    }

    /// The states left to `v`, increasing.
    pub(crate) fn states(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.sizes[v] as usize).filter(move |&s| self.is_alive(v, s))
    }

    /// Removals so far, decisions included.
    pub(crate) fn trail(&self) -> &[Removal] {
        &self.trail
    }

    /// Table entries looked at so far.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    /// Removes every state of `v` but `state`.
    pub(crate) fn assign(&mut self, v: usize, state: usize) {
        for s in 0..self.sizes[v] as usize {
            if s != state && self.is_alive(v, s) {
                self.remove(v, s, DECISION);
            }
        }
    }

    /// Removes one state of `v` by decision.
    pub(crate) fn forbid(&mut self, v: usize, state: usize) {
        self.remove(v, state, DECISION);
    }

    /// Brings back every state removed after the trail had `length` entries.
    pub(crate) fn unwind(&mut self, length: usize) {
        for removal in self.trail.drain(length..) {
            let v = removal.variable as usize;
            self.alive[self.start[v] + removal.state as usize] = true;
            self.left[v] += 1;
        }
        while let Some(k) = self.queue.pop_front() {
            self.queued[k as usize] = false;
        }
    }

    fn remove(&mut self, v: usize, state: usize, factor: u32) {
        self.alive[self.start[v] + state] = false;
        self.left[v] -= 1;
        self.trail.push(Removal { variable: v as u32, state: state as u32, factor });
        for &k in &self.near[self.near_start[v]..self.near_start[v + 1]] {
            if k != factor && !self.queued[k as usize] {
                self.queued[k as usize] = true;
                self.queue.push_back(k);
            }
        }
    }

    /// Removes what single factors rule out, looking at no more than about `budget` table entries.
    pub(crate) fn run(&mut self, budget: u64) -> Outcome {
        let limit = self.work.saturating_add(budget);
        let mut supported = Vec::new();
        while let Some(k) = self.queue.pop_front() {
            self.queued[k as usize] = false;
            self.find_support(k as usize, &mut supported);
            let scope = self.model.factor(k as usize).scope;
            let mut at = 0;
            for &v in scope {
                let v = v as usize;
                for s in 0..self.sizes[v] as usize {
                    if self.is_alive(v, s) && !supported[at + s] {
                        self.remove(v, s, k);
                    }
                }
                at += self.sizes[v] as usize;
                if self.left[v] == 0 {
                    return Outcome::Empty;
                }
            }
            if self.work >= limit {
                return Outcome::Unfinished;
            }
        }
        Outcome::Settled
    }

    /// Marks, variable after variable of factor `k`, the states with a positive entry among what is left.
    fn find_support(&mut self, k: usize, supported: &mut Vec<bool>) {
        let factor = self.model.factor(k);
        supported.clear();
        supported.resize(factor.scope.iter().map(|&v| self.sizes[v as usize] as usize).sum(), false);
        let mut missing: usize = factor.scope.iter().map(|&v| self.left[v as usize] as usize).sum();
        let mut state = vec![0usize; factor.scope.len()];
        for &value in factor.table {
            self.work += 1;
            let mut is_possible = value > f64::NEG_INFINITY;
            if is_possible {
                is_possible = factor.scope.iter().zip(&state).all(|(&v, &s)| self.is_alive(v as usize, s));
            }
            if is_possible {
                let mut at = 0;
                for (&v, &s) in factor.scope.iter().zip(&state) {
                    missing -= usize::from(!std::mem::replace(&mut supported[at + s], true));
                    at += self.sizes[v as usize] as usize;
                }
                if missing == 0 {
                    return;
                }
            }
            for (&v, s) in factor.scope.iter().zip(&mut state) {
                *s += 1;
                if *s < self.sizes[v as usize] as usize {
                    break;
                }
                *s = 0;
            }
        }
    }
}
