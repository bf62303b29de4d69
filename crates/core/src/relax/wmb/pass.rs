//! One sweep forward (messages, the bound) and one back (laws of every mini-bucket).

use super::reduced::Reduced;
use super::side::Side;
use super::structure::{NONE, Structure};
use crate::observer::Monitor;
use crate::solution::StopReason;
use crate::tables::layout::{Blocks, Broadcast, sum};
use crate::tables::weighted::{joint, joint_pair, normalise, sum_out};
use std::sync::atomic::{AtomicBool, Ordering};

/// Table entries between two looks at the clock: a few milliseconds.
const POLL_ENTRIES: usize = 1 << 18;

/// Who says whether to stop: the observer, or on another thread a flag that the observer's thread sets.
pub(super) enum Poll<'a, 'o> {
    /// The observer, and seconds after its start when the search for better numbers must end.
    Monitor(&'a mut Monitor<'o>, f64),
    Flag(&'a AtomicBool),
}

impl Poll<'_, '_> {
    /// Why to stop, if so.
    pub(super) fn stop(&mut self) -> Option<StopReason> {
        match self {
            Poll::Monitor(monitor, until) => {
                let late = (monitor.seconds() >= *until).then_some(StopReason::TimeLimit);
                monitor.interrupted().or(late)
            }
            Poll::Flag(flag) => flag.load(Ordering::Relaxed).then_some(StopReason::Cancelled),
        }
    }
}

/// Everything a pass reads and the buffers it fills again and again.
pub(super) struct Sweep<'a> {
    pub(super) model: &'a Reduced,
    pub(super) structure: &'a Structure,
    pub(super) eps: f64,
    pub(super) scratch: Scratch,
}

/// Buffers of a sweep.
#[derive(Default)]
pub(super) struct Scratch {
    theta: Vec<f64>,
    places: Vec<Broadcast>,
    /// Laws of the eliminated variable, one buffer per mini-bucket of a bucket, block after block.
    pub(super) laws: Vec<Vec<f64>>,
    /// New messages of a bucket, before they replace the old ones.
    pub(super) fresh: Vec<Vec<f64>>,
    folded: Vec<Vec<f64>>,
    since_poll: usize,
}

/// Where a table that enters a mini-bucket is kept.
#[derive(Clone, Copy)]
enum Source {
    Factor(u32),
    Message(u32),
    Shift,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(model: &'a Reduced, structure: &'a Structure, eps: f64) -> Self {
        Sweep { model, structure, eps, scratch: Scratch::default() }
    }

    pub(super) fn polled(&mut self, entries: usize, poll: &mut Poll<'_, '_>) -> Result<(), StopReason> {
        self.scratch.since_poll += entries;
        if self.scratch.since_poll < POLL_ENTRIES {
            return Ok(());
        }
        self.scratch.since_poll = 0;
        poll.stop().map_or(Ok(()), Err)
    }

    /// Computes all messages and returns the bound; with a `step` the shifts of split buckets are moved on the way.
    pub(super) fn forward(
        &mut self,
        side: &mut Side,
        step: Option<f64>,
        poll: &mut Poll<'_, '_>,
    ) -> Result<f64, StopReason> {
        let mut total = self.model.constant;
        for p in 0..self.model.d() {
            let bucket = self.structure.bucket(p);
            match step {
                Some(step) if bucket.len() > 1 && self.model.sizes[p] > 1 => {
                    self.match_bucket(side, p, step, poll)?
                }
                _ => {
                    for c in bucket.clone() {
                        self.send(side, c, p, poll)?;
                    }
                }
            }
            for c in bucket.filter(|&c| self.structure.home[c] == NONE) {
                total += side.messages[self.structure.message(c).start];
            }
        }
        Ok(total)
    }

    /// The message of `c`.
    fn send(
        &mut self,
        side: &mut Side,
        c: usize,
        p: usize,
        poll: &mut Poll<'_, '_>,
    ) -> Result<(), StopReason> {
        let (blocks, items) = self.place(c, p);
        let weight = side.now.weights[c] * self.eps;
        let range = self.structure.message(c);
        let states = self.model.sizes[p] as usize;
        for block in 0..blocks.count {
            self.gather(side, c, block, blocks, states, &items);
            let here = range.start + block * blocks.size;
            sum_out(&mut self.scratch.theta, weight, &mut side.messages[here..here + blocks.size]);
            self.polled(blocks.size * states, poll)?;
        }
        Ok(())
    }

    /// New message of `c` and the laws of its variable, kept in the scratch buffers of `slot`.
    pub(super) fn conditional(
        &mut self,
        side: &Side,
        (c, p, slot): (usize, usize, usize),
        poll: &mut Poll<'_, '_>,
    ) -> Result<Blocks, StopReason> {
        let (blocks, items) = self.place(c, p);
        let weight = side.now.weights[c] * self.eps;
        let states = self.model.sizes[p] as usize;
        while self.scratch.laws.len() <= slot {
            self.scratch.laws.push(Vec::new());
            self.scratch.fresh.push(Vec::new());
        }
        let mut laws = std::mem::take(&mut self.scratch.laws[slot]);
        let mut fresh = std::mem::take(&mut self.scratch.fresh[slot]);
        laws.clear();
        fresh.clear();
        fresh.resize(self.structure.message(c).len(), 0.0);
        for block in 0..blocks.count {
            self.gather(side, c, block, blocks, states, &items);
            let here = block * blocks.size;
            normalise(&mut self.scratch.theta, weight, &mut fresh[here..here + blocks.size]);
            laws.extend_from_slice(&self.scratch.theta);
            self.polled(blocks.size * states, poll)?;
        }
        self.scratch.laws[slot] = laws;
        self.scratch.fresh[slot] = fresh;
        Ok(blocks)
    }

    /// Works out where the tables of `c` sit in its own.
    fn place(&mut self, c: usize, p: usize) -> (Blocks, Vec<Source>) {
        let scope = self.structure.scope(c);
        let sizes = &self.model.sizes;
        let blocks = Blocks::new(scope, sizes);
        let mut items: Vec<Source> = self.structure.factors(c).iter().map(|&k| Source::Factor(k)).collect();
        items.extend(self.structure.children(c).iter().map(|&m| Source::Message(m)));
        if !self.structure.shift(c).is_empty() {
            items.push(Source::Shift);
        }
        while self.scratch.places.len() < items.len() {
            self.scratch.places.push(Broadcast::default());
        }
        let mut shared;
        for (item, place) in items.iter().zip(&mut self.scratch.places) {
            let inside = match *item {
                Source::Factor(k) => self.model.scope(k as usize),
                Source::Message(m) => self.structure.scope(m as usize),
                Source::Shift => {
                    shared = self.structure.share(p).to_vec();
                    shared.push(p as u32);
                    &shared
                }
            };
            place.place(scope, p as u32, inside, sizes, blocks);
        }
        (blocks, items)
    }

    /// Adds up the tables of `c` over one block, every state of the eliminated variable.
    fn gather(
        &mut self,
        side: &Side,
        c: usize,
        block: usize,
        blocks: Blocks,
        states: usize,
        items: &[Source],
    ) {
        let theta = &mut self.scratch.theta;
        theta.clear();
        theta.resize(blocks.size * states, 0.0);
        for (item, place) in items.iter().zip(&self.scratch.places) {
            let table = match *item {
                Source::Factor(k) => self.model.table(k as usize),
                Source::Message(m) => &side.messages[self.structure.message(m as usize)],
                Source::Shift => &side.now.shifts[self.structure.shift(c)],
            };
            for (state, run) in theta.chunks_exact_mut(blocks.size).enumerate() {
                place.add(run, &table[place.base(block, state)..]);
            }
        }
    }

    /// Laws of every mini-bucket from the last one down, after a forward pass with the same parameters.
    pub(super) fn backward(&mut self, side: &mut Side, poll: &mut Poll<'_, '_>) -> Result<(), StopReason> {
        side.has_laws = false;
        let mut offset = side.marginals.len();
        for p in (0..self.model.d()).rev() {
            offset -= self.model.sizes[p] as usize;
            for c in self.structure.bucket(p) {
                let marginal = self.descend(side, c, p, poll)?;
                if c == self.structure.bucket(p).start {
                    side.marginals[offset..offset + marginal.len()].copy_from_slice(&marginal);
                }
            }
        }
        side.has_laws = true;
        side.is_stale = false;
        Ok(())
    }

    /// The law of `c`, handed on to the messages inside; returns that of the eliminated variable.
    fn descend(
        &mut self,
        side: &mut Side,
        c: usize,
        p: usize,
        poll: &mut Poll<'_, '_>,
    ) -> Result<Vec<f64>, StopReason> {
        let (blocks, items) = self.place(c, p);
        let inverse = 1.0 / (side.now.weights[c] * self.eps);
        let states = self.model.sizes[p] as usize;
        let range = self.structure.message(c);
        if self.structure.home[c] == NONE {
            side.above[range.start] = 1.0;
        }
        let first_child = self.structure.factors(c).len();
        let children = self.structure.children(c);
        while self.scratch.folded.len() < children.len() {
            self.scratch.folded.push(Vec::new());
        }
        for (place, out) in
            self.scratch.places[first_child..].iter().zip(&mut self.scratch.folded).take(children.len())
        {
            out.clear();
            out.resize(place.entries(), 0.0);
        }
        let (mut entropy, mut marginal) = (0.0, vec![0.0; states]);
        let shift = self.structure.shift(c);
        let mut shift_laws = side.shift_laws.take();
        for block in 0..blocks.count {
            self.gather(side, c, block, blocks, states, &items);
            let here = range.start + block * blocks.size..range.start + (block + 1) * blocks.size;
            let scratch = &mut self.scratch;
            if states == 2 {
                entropy -= joint_pair(&mut scratch.theta, inverse, &side.above[here.clone()]);
            }
            for (state, run) in scratch.theta.chunks_exact_mut(blocks.size).enumerate() {
                if states != 2 {
                    entropy -= joint(run, &side.messages[here.clone()], inverse, &side.above[here.clone()]);
                }
                marginal[state] += sum(run);
                let places =
                    scratch.places[first_child..].iter().zip(&mut scratch.folded).take(children.len());
                for (place, out) in places {
                    place.fold(run, &mut out[place.base(block, state)..]);
                }
                if let (Some(laws), false) = (&mut shift_laws, shift.is_empty()) {
                    let place = &scratch.places[items.len() - 1];
                    place.fold(run, &mut laws[shift.clone()][place.base(block, state)..]);
                }
            }
            self.polled(blocks.size * states, poll)?;
        }
        side.entropies[c] = entropy as f32;
        side.shift_laws = shift_laws;
        for (&child, law) in children.iter().zip(&self.scratch.folded) {
            let to = &mut side.above[self.structure.message(child as usize)];
            to.iter_mut().zip(law).for_each(|(q, &x)| *q = x as f32);
        }
        Ok(marginal)
    }
}
