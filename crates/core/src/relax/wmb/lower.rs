//! The lower side: on the layout of the upper one, or on boxes where zeros stand in the way.

use super::boxes::Boxes;
use super::clauses;
use super::feasible;
use super::pass::Poll;
use super::side::Sense;
use super::solve::Run;
use super::structure::Rule;
use super::track::{Layout, Track};
use crate::solution::StopReason;
use crate::tables::propagate::Propagator;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;

/// Table entries that the search with propagation may look at before clauses are learned instead: half a second.
const SEARCH_WORK: u64 = 50_000_000;

/// Share of the time left for a satisfying assignment, and seconds at most.
const CLAUSES: (f64, f64) = (0.3, 20.0);

/// Passes on one box whose buckets are split.
const BOX_PASSES: usize = 4;

impl Run<'_, '_, '_> {
    /// The lower side on the layout of the upper one, unless that is exact or zeros stand in the way.
    pub(super) fn lower_track(
        &mut self,
        layout: &Arc<Layout>,
        propagator: &mut Propagator<'_>,
    ) -> Result<Option<Track>, StopReason> {
        if layout.is_exact() {
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
    pub(super) fn box_round(
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

    pub(super) fn find_state(&mut self, propagator: &mut Propagator<'_>) -> Result<(), StopReason> {
        let empty = Vec::new();
        let likely = self.found.marginals.as_ref().unwrap_or(&empty);
        let (whole, left) = (self.monitor.deadline().clone(), self.seconds_left());
        let mut poll = Poll::Monitor(self.monitor, self.until);
        let mut stop = None;
        let mut is_late = || {
            stop = stop.or_else(|| poll.stop());
            stop.is_some()
        };
        let mut state = feasible::search(propagator, likely, SEARCH_WORK, &mut is_late);
        if state.is_none() && !is_late() {
            let seconds = (CLAUSES.0 * left).min(CLAUSES.1);
            state = clauses::search(self.model, propagator, likely, whole.within(Some(seconds)));
        }
        if let Some(state) = &mut state {
            feasible::climb(self.model, state, &mut is_late);
        }
        self.found.is_stateless = state.is_none();
        self.found.state = state;
        stop.map_or(Ok(()), Err)
    }
}
