//! The search: small tables first, then as large as memory and time allow; every pass is a bound and the best is kept.

use super::boxes::Boxes;
use super::feasible;
use super::orders;
use super::pass::Poll;
use super::reduced::Reduced;
use super::side::Sense;
use super::structure::{Rule, Structure};
use super::track::{Best, Layout, Track};
use crate::certify::Removal;
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::solution::StopReason;
use crate::tables::propagate::{Outcome, Propagator};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// Table entries that propagation may look at: a fraction of a second.
const PROPAGATION_WORK: u64 = 100_000_000;

/// Table entries that the search for a state of positive weight may look at: some seconds.
const SEARCH_WORK: u64 = 1_000_000_000;

/// Seconds a run takes when there is no limit.
const PATIENCE_SECS: f64 = 60.0;

/// Seconds per table entry of one pass of one side, before any was measured.
const PASS_SECS: f64 = 2e-8;

/// Seconds per table entry of a verification, before any was measured.
const VERIFY_SECS: f64 = 5e-8;

/// Share of the time that the first, small tables may take.
const FIRST_SHARE: f64 = 0.01;

/// Share of the time that the search for one order may take.
const ORDER_SHARE: f64 = 0.1;

/// Growth of the tables from one stage to the next.
const GROWTH: f64 = 8.0;

/// Passes that a new stage must have time for.
const WORTHWHILE_PASSES: f64 = 5.0;

/// Passes that compare orders on small tables.
const FIRST_PASSES: usize = 3;

/// Passes of one stage.
const MOST_PASSES: usize = 30;

/// Passes on one box whose buckets are split.
const BOX_PASSES: usize = 4;

/// Share of the gap that a pass must gain, both sides together, for the stage to go on while larger tables are possible.
const SLOW: f64 = 0.02;

/// Same, when nothing larger is possible.
const STALLED: f64 = 1e-3;

/// Size of tables below which a mini-bucket costs the same whatever it holds.
const LEAST_LIMIT: f64 = 64.0;

/// Bytes per message entry and side: the message, and the law above it in single precision.
const MESSAGE_BYTES: f64 = 12.0;

/// Share of the memory limit that messages may take.
const MEMORY_SHARE: f64 = 0.7;

/// What the user asks of a run.
pub(super) struct Wishes {
    pub(super) eps: f64,
    pub(super) seed: u64,
    pub(super) tol: f64,
    pub(super) memory: f64,
    /// A uniform bound on the variables of a mini-bucket besides the eliminated one.
    pub(super) ibound: Option<usize>,
}

/// What a run found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) removals: Vec<Removal>,
    /// Propagation left some variable without a state.
    pub(super) is_impossible: bool,
    pub(super) upper: Option<Best>,
    pub(super) lower: Option<Best>,
    /// A state of positive weight, if one was needed and found.
    pub(super) state: Option<Vec<u32>>,
    /// Whether a state was looked for in vain.
    pub(super) is_stateless: bool,
    /// Estimates of the law of every variable over all its states.
    pub(super) marginals: Option<Vec<Vec<f64>>>,
    pub(super) stop: Option<StopReason>,
}

/// A run under way. `check` verifies the best of one side and is timed.
pub(super) struct Run<'a, 'm, 'o> {
    model: &'a FactorModel,
    wishes: Wishes,
    monitor: &'m mut Monitor<'o>,
    left: Vec<Vec<u32>>,
    has_zeros: bool,
    found: Found,
    pass_secs: f64,
    verify_secs: f64,
    until: f64,
    boxes: Option<Boxes>,
    /// `eps log` of the number of joint states: what log Z has above phi.
    entropy: f64,
}

/// Verifies the best of a side, so that the time this takes can be measured.
pub(super) type Check<'c> = dyn FnMut(Sense, &Best, &[Removal]) + 'c;

impl<'a, 'm, 'o> Run<'a, 'm, 'o> {
    pub(super) fn new(model: &'a FactorModel, wishes: Wishes, monitor: &'m mut Monitor<'o>) -> Self {
        let entropy = wishes.eps * model.cardinalities().iter().map(|&k| f64::from(k).ln()).sum::<f64>();
        Run {
            model,
            wishes,
            monitor,
            left: Vec::new(),
            has_zeros: false,
            found: Found::default(),
            pass_secs: PASS_SECS,
            verify_secs: VERIFY_SECS,
            until: f64::INFINITY,
            boxes: None,
            entropy,
        }
    }

    pub(super) fn run(mut self, check: &mut Check<'_>) -> Found {
        let mut propagator = Propagator::new(self.model, self.model.cardinalities());
        let outcome = propagator.run(PROPAGATION_WORK);
        self.found.removals = propagator.trail().to_vec();
        if outcome == Outcome::Empty {
            self.found.is_impossible = true;
            return self.found;
        }
        self.left = (0..self.model.d()).map(|v| propagator.states(v).map(|s| s as u32).collect()).collect();
        let stop = self.improve(&mut propagator, check);
        self.found.stop = Some(stop);
        self.found
    }

    /// Seconds left for improving.
    fn seconds_left(&self) -> f64 {
        let limit = self.monitor.seconds_left().unwrap_or(f64::INFINITY);
        let patience = PATIENCE_SECS - self.monitor.seconds();
        if limit.is_finite() { limit } else { patience.max(0.0) }
    }

    fn improve(&mut self, propagator: &mut Propagator<'_>, check: &mut Check<'_>) -> StopReason {
        let mut target = (FIRST_SHARE * self.seconds_left() / (8.0 * self.pass_secs)).max(1e4);
        let limit = self.final_limit();
        let candidates = self.orders(limit, self.wishes.seed);
        if self.wishes.ibound.is_some() {
            target = f64::INFINITY;
        }
        let mut order = 0;
        let mut best_gap = f64::INFINITY;
        for (k, candidate) in candidates.iter().enumerate() {
            let gap = match self.stage(candidate, target, FIRST_PASSES, propagator) {
                Ok(gap) => gap,
                Err(stop) => {
                    self.confirm(check);
                    return stop;
                }
            };
            if gap < best_gap {
                (order, best_gap) = (k, gap);
            }
            if self.is_done() {
                break;
            }
        }
        self.confirm(check);
        let mut seed = self.wishes.seed;
        let mut order = candidates[order].clone();
        loop {
            if self.is_done() {
                return StopReason::Converged;
            }
            let Some(next) = self.next_target(target) else { break };
            target = next;
            match self.stage(&order, target, MOST_PASSES, propagator) {
                Ok(_) => {}
                Err(stop) => return self.finish(stop, check),
            }
        }
        // Nothing larger fits: other orders with what time there is.
        while self.wishes.ibound.is_none() && self.next_target(target / GROWTH).is_some() {
            seed = seed.wrapping_add(1);
            order = self.orders(limit, seed).swap_remove(0);
            if let Err(stop) = self.stage(&order, target, MOST_PASSES, propagator) {
                return self.finish(stop, check);
            }
            if self.is_done() || seed > self.wishes.seed + 4 {
                break;
            }
        }
        let stop = if self.is_done() { StopReason::Converged } else { StopReason::Stalled };
        self.finish(stop, check)
    }

    /// Orders for tables of `limit` entries; the search ends with the time.
    fn orders(&mut self, limit: f64, seed: u64) -> Vec<Vec<u32>> {
        let until = self.monitor.seconds() + ORDER_SHARE * self.seconds_left();
        let mut poll = Poll::Monitor(self.monitor, until);
        orders::candidates(self.model, &self.left, limit, seed, &mut || poll.stop().is_some())
    }

    fn finish(&mut self, stop: StopReason, check: &mut Check<'_>) -> StopReason {
        self.confirm(check);
        stop
    }

    /// Verifies what is best and learns how long that takes.
    fn confirm(&mut self, check: &mut Check<'_>) {
        let (start, mut entries) = (self.monitor.seconds(), 0.0);
        for (sense, best) in [(Sense::Upper, &self.found.upper), (Sense::Lower, &self.found.lower)] {
            if let Some(best) = best {
                check(sense, best, &self.found.removals);
                entries += best.layout.structure.work();
            }
        }
        let seconds = self.monitor.seconds() - start;
        if entries > 1e5 {
            self.verify_secs = seconds / entries;
        }
    }

    /// About how large single tables may become in the end.
    fn final_limit(&self) -> f64 {
        if let Some(width) = self.wishes.ibound {
            return (width.min(60) as f64 + 1.0).exp2();
        }
        let affordable =
            0.5 * self.seconds_left() / (2.0 * (WORTHWHILE_PASSES * self.pass_secs + self.verify_secs));
        let memory = MEMORY_SHARE * self.wishes.memory / (2.0 * MESSAGE_BYTES);
        // A few large tables take most of what there is.
        (32.0 * affordable.min(memory) / self.model.d().max(1) as f64).max(16.0)
    }

    /// Work of the next stage, if there is time for it.
    fn next_target(&self, target: f64) -> Option<f64> {
        if self.wishes.ibound.is_some() {
            return None;
        }
        let per_entry = 2.0 * (WORTHWHILE_PASSES * self.pass_secs + self.verify_secs);
        let affordable = 0.8 * self.seconds_left() / per_entry;
        let next = (target * GROWTH).min(affordable);
        (next >= 1.5 * target).then_some(next)
    }

    fn gap(&self) -> f64 {
        match (&self.found.upper, &self.found.lower) {
            (Some(upper), Some(lower)) => upper.value - lower.value,
            _ => f64::INFINITY,
        }
    }

    fn is_done(&self) -> bool {
        let (Some(upper), Some(lower)) = (&self.found.upper, &self.found.lower) else { return false };
        upper.value - lower.value <= self.wishes.tol * upper.value.abs().max(self.wishes.eps)
    }

    /// Both sides along `order`, and how far apart they came to be, at about `target` of work a pass, for at most `passes` passes.
    fn stage(
        &mut self,
        order: &[u32],
        target: f64,
        passes: usize,
        propagator: &mut Propagator<'_>,
    ) -> Result<f64, StopReason> {
        let sizes = self.model.cardinalities();
        let model = Reduced::new(self.model, sizes, order, &self.left);
        self.has_zeros = model.has_zeros();
        let (rule, structure) = self.fit(&model, target);
        let layout = Arc::new(Layout { model, structure, allowed: None });
        // The verification of this stage must still find time.
        let reserve = 2.0 * self.verify_secs * layout.structure.work();
        self.until = self.monitor.seconds() + self.seconds_left() - reserve;
        let mut upper = Track::new(Sense::Upper, layout.clone());
        self.pass(&mut upper)?;
        let mut lower = self.lower_track(&layout, &upper, propagator)?;
        let slow = if self.next_target(target).is_some() { SLOW } else { STALLED };
        for _ in 1..passes {
            let before = self.found.lower.as_ref().map_or(f64::NEG_INFINITY, |b| b.value);
            match &mut lower {
                Some(lower) => self.pass(lower)?,
                None => self.box_round(&layout, rule, target, propagator)?,
            }
            if layout.is_exact() || self.is_done() {
                break;
            }
            self.pass(&mut upper)?;
            let after = self.found.lower.as_ref().map_or(before, |b| b.value);
            let gain = upper.gain + if after > before { after - before } else { 0.0 };
            let scale = upper.best.as_ref().map_or(0.0, |b| b.value.abs()).max(self.wishes.eps);
            if gain < slow * self.gap().min(scale) {
                break;
            }
        }
        // Boxes are sought along every order in turn: there the upper side decides.
        let own = lower.as_ref().and_then(|l| l.best.as_ref()).map_or(0.0, |b| b.value);
        Ok(upper.best.as_ref().map_or(f64::INFINITY, |b| b.value - own))
    }

    /// The lower side on the layout of the upper one, unless that is exact or zeros stand in the way.
    fn lower_track(
        &mut self,
        layout: &Arc<Layout>,
        upper: &Track,
        propagator: &mut Propagator<'_>,
    ) -> Result<Option<Track>, StopReason> {
        if layout.is_exact() {
            // The sum is exact: the same numbers prove both sides.
            if let Some(best) = upper.best.clone()
                && best.beats(self.found.lower.as_ref(), Sense::Lower)
            {
                self.found.lower = Some(best);
            }
            return Ok(None);
        }
        if !self.has_zeros {
            return Ok(Some(Track::new(Sense::Lower, layout.clone())));
        }
        if self.boxes.is_none() && !self.found.is_stateless {
            self.find_state(propagator)?;
            let random = ChaCha8Rng::seed_from_u64(self.wishes.seed);
            let state = self.found.state.clone();
            self.boxes = state.map(|state| Boxes::new(state, self.found.marginals.as_ref(), random));
        }
        Ok(None)
    }

    /// One pass of the lower side on the next box, several if its buckets are split.
    fn box_round(
        &mut self,
        layout: &Arc<Layout>,
        rule: Rule,
        target: f64,
        propagator: &mut Propagator<'_>,
    ) -> Result<(), StopReason> {
        let Some(mut boxes) = self.boxes.take() else { return Ok(()) };
        let rule = Rule { limit: rule.limit * boxes.room, keep_zeros_together: true, ..rule };
        let boxed = boxes.layout(self.model, &self.left, &layout.model.order, rule, propagator);
        let mut outcome = Ok(());
        if let Some(boxed) = boxed {
            let work = boxed.structure.work();
            boxes.room *= if work < 0.5 * target {
                2.0
            } else if work > 2.0 * target {
                0.5
            } else {
                1.0
            };
            let mut track = Track::new(Sense::Lower, Arc::new(boxed));
            for _ in 0..if track.layout.is_exact() { 1 } else { BOX_PASSES } {
                outcome = self.pass(&mut track);
                if outcome.is_err() {
                    break;
                }
            }
            if outcome.is_ok() {
                boxes.advance(&track, self.wishes.eps);
            }
        }
        self.boxes = Some(boxes);
        outcome
    }

    /// One pass of one side; its best joins the best of all.
    fn pass(&mut self, track: &mut Track) -> Result<(), StopReason> {
        let start = self.monitor.seconds();
        let outcome = track.pass(self.wishes.eps, &mut Poll::Monitor(self.monitor, self.until));
        let sense = track.side.sense;
        let place = if sense == Sense::Upper { &mut self.found.upper } else { &mut self.found.lower };
        if let Some(best) = &track.best
            && best.beats(place.as_ref(), sense)
        {
            *place = Some(best.clone());
        }
        outcome?;
        let work = track.layout.structure.work();
        if work > 1e4 {
            self.pass_secs = (self.monitor.seconds() - start) / work;
        }
        if sense == Sense::Upper {
            self.found.marginals = Some(self.marginals(track));
        }
        let value = |best: &Option<Best>| best.as_ref().map_or(f64::NAN, |b| b.value - self.entropy);
        let (lower, upper) = (value(&self.found.lower), value(&self.found.upper));
        self.monitor.iteration(lower, upper).map_or(Ok(()), Err)
    }

    /// The laws of a track over all states of every variable.
    fn marginals(&self, track: &Track) -> Vec<Vec<f64>> {
        let mut out: Vec<Vec<f64>> =
            self.model.cardinalities().iter().map(|&k| vec![0.0; k as usize]).collect();
        let mut at = 0;
        for &v in &track.layout.model.order {
            let states = &self.left[v as usize];
            let law = &track.side.marginals[at..at + states.len()];
            let total: f64 = law.iter().sum();
            for (&s, p) in states.iter().zip(law) {
                out[v as usize][s as usize] = if total > 0.0 { p / total } else { 1.0 / states.len() as f64 };
            }
            at += states.len();
        }
        out
    }

    /// Splits buckets so that a pass takes about `target` of work and the tables fit the memory.
    fn fit(&self, model: &Reduced, target: f64) -> (Rule, Structure) {
        if let Some(width) = self.wishes.ibound {
            let rule = Rule { limit: f64::INFINITY, width, keep_zeros_together: false };
            return (rule, Structure::new(model, rule));
        }
        let most = MEMORY_SHARE * self.wishes.memory / (2.0 * MESSAGE_BYTES);
        let fits = |s: &Structure| s.work() <= target && s.message_entries() as f64 <= most;
        let rule = |limit: f64| Rule { limit, width: usize::MAX - 1, keep_zeros_together: false };
        let mut limit = LEAST_LIMIT.max((target / model.d().max(1) as f64).log2().floor().exp2()).min(1e15);
        let mut best = Structure::new(model, rule(limit));
        while best.message_entries() as f64 > most && limit > 4.0 {
            limit /= 2.0;
            best = Structure::new(model, rule(limit));
        }
        while best.len() > model.d() {
            let larger = Structure::new(model, rule(2.0 * limit));
            if !fits(&larger) {
                break;
            }
            limit *= 2.0;
            best = larger;
        }
        (rule(limit), best)
    }

    fn find_state(&mut self, propagator: &mut Propagator<'_>) -> Result<(), StopReason> {
        let empty = Vec::new();
        let likely = self.found.marginals.as_ref().unwrap_or(&empty);
        let mut poll = Poll::Monitor(self.monitor, self.until);
        let mut stop = None;
        let mut is_late = || {
            stop = stop.or_else(|| poll.stop());
            stop.is_some()
        };
        let mut state = feasible::search(propagator, likely, SEARCH_WORK, &mut is_late);
        if let Some(state) = &mut state {
            feasible::climb(self.model, state, &mut is_late);
        }
        self.found.is_stateless = state.is_none();
        self.found.state = state;
        stop.map_or(Ok(()), Err)
    }
}
