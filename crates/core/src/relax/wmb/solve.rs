//! The search: small tables first, then as large as memory and time allow; every pass is a bound and the best is kept.

use super::boxes::Boxes;
use super::budget::GROWTH;
use super::orders;
use super::pass::Poll;
use super::reduced::Reduced;
use super::side::Sense;
use super::track::{Best, Layout, Track};
use crate::certify::{CertifiedBound, Removal};
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::run::cost::Speed;
use crate::run::cost::constants::{PASS_SECS, VERIFY_SECS};
use crate::solution::StopReason;
use crate::tables::propagate::{Outcome, Propagator};
use std::sync::Arc;

/// Table entries that propagation may look at: a fraction of a second.
const PROPAGATION_WORK: u64 = 100_000_000;

/// Share of the time that the first, small tables may take.
const FIRST_SHARE: f64 = 0.01;

/// Share of the time that the search for one order may take.
const ORDER_SHARE: f64 = 0.1;

/// Passes that compare orders on small tables.
const FIRST_PASSES: usize = 3;

/// Passes of one stage.
pub(super) const MOST_PASSES: usize = 30;

/// Share of the gap that a pass must gain, both sides together, for the stage to go on while larger tables are possible.
const SLOW: f64 = 0.02;

/// Same, when nothing larger is possible.
const STALLED: f64 = 1e-3;

/// What the user asks of a run.
pub(super) struct Wishes {
    pub(super) eps: f64,
    pub(super) seed: u64,
    pub(super) tol: f64,
    pub(super) memory: f64,
    pub(super) threads: usize,
    /// A uniform bound on the variables of a mini-bucket besides the eliminated one.
    pub(super) ibound: Option<usize>,
    /// Whether the lower side is left alone.
    pub(super) upper_alone: bool,
    /// Whether passes are counted and time is not: then nothing is decided by what was measured, and a seed repeats the run.
    pub(super) is_counted: bool,
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
    /// The width that memory allowed, when a larger one was asked for.
    pub(super) narrowed: Option<usize>,
}

/// A run under way. `check` verifies the best of one side and is timed.
pub(super) struct Run<'a, 'm, 'o> {
    pub(super) model: &'a FactorModel,
    pub(super) wishes: Wishes,
    pub(super) monitor: &'m mut Monitor<'o>,
    /// States left to every variable.
    pub(super) left: Vec<Vec<u32>>,
    pub(super) has_zeros: bool,
    pub(super) found: Found,
    /// Seconds per unit of work of the last pass of one side, and of the last verification.
    pub(super) pass_secs: f64,
    pub(super) verify_secs: f64,
    /// Work that was verified when that was measured.
    pub(super) verified: f64,
    /// Seconds after the start when passes must end.
    pub(super) until: f64,
    pub(super) boxes: Option<Boxes>,
    /// By variable, what the split of its bucket cost in the last stage along the order that is followed.
    pub(super) costs: Option<Vec<f64>>,
    /// Work of a pass in the last stage.
    pub(super) reached: f64,
    /// Values that were verified last, upper and lower, and what is proved.
    pub(super) confirmed: [Option<f64>; 2],
    pub(super) proved: [Option<CertifiedBound>; 2],
    /// Seconds after the start when that was done.
    pub(super) confirmed_at: f64,
    /// `eps log` of the number of joint states: what log Z has above phi.
    pub(super) entropy: f64,
}

/// Verifies what is new of the best, above and below, so that the time this takes can be measured, and says what is proved by then.
pub(super) type Check<'c> = dyn FnMut([Option<&Best>; 2], &[Removal]) -> [Option<CertifiedBound>; 2] + 'c;

impl<'a, 'm, 'o> Run<'a, 'm, 'o> {
    pub(super) fn new(model: &'a FactorModel, wishes: Wishes, monitor: &'m mut Monitor<'o>) -> Self {
        // What is counted must not depend on the machine.
        let speed = if wishes.is_counted { Speed::SHIPPED } else { monitor.deadline().speed() };
        let entropy = wishes.eps * model.cardinalities().iter().map(|&k| f64::from(k).ln()).sum::<f64>();
        Run {
            model,
            wishes,
            monitor,
            left: Vec::new(),
            has_zeros: false,
            found: Found::default(),
            pass_secs: speed.table_seconds(PASS_SECS),
            verify_secs: speed.table_seconds(VERIFY_SECS),
            verified: f64::INFINITY,
            until: f64::INFINITY,
            boxes: None,
            costs: None,
            reached: 0.0,
            confirmed: [None; 2],
            proved: [None; 2],
            confirmed_at: 0.0,
            entropy,
        }
    }

    pub(super) fn run(mut self, check: &mut Check<'_>) -> Found {
        let mut propagator = Propagator::new(self.model, self.model.cardinalities());
        let outcome = propagator.run(PROPAGATION_WORK);
        self.found.removals = propagator.trail().to_vec();
        if outcome == Outcome::Empty || self.model.constant() == f64::NEG_INFINITY {
            self.found.is_impossible = true;
            return self.found;
        }
        self.left = (0..self.model.d()).map(|v| propagator.states(v).map(|s| s as u32).collect()).collect();
        let stop = self.improve(&mut propagator, check);
        self.found.stop = Some(stop);
        self.found
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
        let mut costs = None;
        for (k, candidate) in candidates.iter().enumerate() {
            let passes = if self.wishes.ibound.is_some() { MOST_PASSES } else { FIRST_PASSES };
            let gap = match self.stage(candidate, target, passes, propagator, check) {
                Ok(gap) => gap,
                Err(stop) => {
                    return self.finish(stop, check);
                }
            };
            if gap < best_gap {
                (order, best_gap, costs) = (k, gap, self.costs.take());
            }
            self.costs = None;
            if self.is_done() {
                break;
            }
        }
        self.costs = costs;
        self.confirm(check);
        let mut seed = self.wishes.seed;
        let mut order = candidates[order].clone();
        loop {
            if self.is_done() {
                return self.finish(StopReason::Converged, check);
            }
            // The least tables may already have taken more than was planned: then the same again with all passes, at least.
            let again = (target < self.reached && self.wishes.ibound.is_none()).then_some(self.reached);
            let Some(next) = self.next_target(target.max(self.reached)).or(again) else { break };
            target = next;
            match self.stage(&order, target, MOST_PASSES, propagator, check) {
                Ok(_) => self.confirm(check),
                Err(stop) => return self.finish(stop, check),
            }
        }
        // Nothing larger fits: other orders with what time there is.
        while self.wishes.ibound.is_none() && self.next_target(target / GROWTH).is_some() {
            seed = seed.wrapping_add(1);
            order = self.orders(limit, seed).swap_remove(0);
            self.costs = None;
            if let Err(stop) = self.stage(&order, target, MOST_PASSES, propagator, check) {
                return self.finish(stop, check);
            }
            if self.is_done() || seed > self.wishes.seed + 4 {
                break;
            }
        }
        // Larger tables would do better; it is the clock that leaves no time for them.
        let is_hurried = self.wishes.ibound.is_none() && self.monitor.seconds_left().is_some();
        let stop = match is_hurried {
            _ if self.is_done() => StopReason::Converged,
            true => StopReason::TimeLimit,
            false => StopReason::Stalled,
        };
        self.finish(stop, check)
    }

    /// Orders for tables of `limit` entries; the search ends with the time.
    fn orders(&mut self, limit: f64, seed: u64) -> Vec<Vec<u32>> {
        let share = if self.wishes.is_counted { f64::INFINITY } else { ORDER_SHARE };
        let until = self.monitor.seconds() + share * self.seconds_left();
        let mut poll = Poll::Monitor(self.monitor, until);
        orders::candidates(self.model, &self.left, limit, seed, &mut || poll.stop().is_some())
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
        check: &mut Check<'_>,
    ) -> Result<f64, StopReason> {
        let sizes = self.model.cardinalities();
        let order = orders::open_first(order, &self.left);
        let model = Reduced::new(self.model, sizes, &order, &self.left);
        self.has_zeros = model.has_zeros();
        let costs = self.costs.take();
        let (rule, structure) = self.fit(&model, target, costs.as_deref());
        let layout = Arc::new(Layout { model, structure, allowed: None });
        self.reached = layout.structure.work();
        self.until = self.verification_start();
        let mut upper = Track::new(Sense::Upper, layout.clone());
        self.pass(&mut upper)?;
        let alone = self.wishes.upper_alone;
        let mut lower = if alone { None } else { self.lower_track(&layout, propagator)? };
        let began = upper.best.as_ref().map_or(0.0, |b| b.value);
        for pass in 1..passes {
            if pass >= FIRST_PASSES && self.is_preliminary(target) {
                break;
            }
            let before = self.found.lower.as_ref().map_or(f64::NEG_INFINITY, |b| b.value);
            match &mut lower {
                _ if layout.is_exact() => break,
                Some(lower) => self.both(&mut upper, lower)?,
                None if alone => self.pass(&mut upper)?,
                None => {
                    self.box_round(&layout, rule, target, propagator)?;
                    self.pass(&mut upper)?;
                }
            }
            if self.is_done() {
                break;
            }
            self.confirm_if_due(check);
            let after = self.found.lower.as_ref().map_or(before, |b| b.value);
            let gain = upper.gain + if after > before { after - before } else { 0.0 };
            let value = upper.best.as_ref().map_or(0.0, |b| b.value);
            let scale = if alone { began - value } else { value.abs().max(self.wishes.eps) };
            // Whether larger tables may come next depends on the time left now.
            let slow = if self.next_target(target).is_some() { SLOW } else { STALLED };
            if gain < slow * self.gap().min(scale) {
                break;
            }
        }
        if passes == MOST_PASSES && self.next_target(target).is_none() {
            self.polish(&mut upper, lower.as_mut())?;
        }
        if !layout.is_exact() && self.wishes.ibound.is_none() {
            let tracks: Vec<&Track> = [Some(&upper), lower.as_ref()].into_iter().flatten().collect();
            self.costs = Some(self.costs(&tracks));
        }
        // Boxes are sought along every order in turn: there the upper side decides.
        let own = lower.as_ref().and_then(|l| l.best.as_ref()).map_or(0.0, |b| b.value);
        Ok(upper.best.as_ref().map_or(f64::INFINITY, |b| b.value - own))
    }
}
