//! Passes of a run: one side or both at a time, and what the run learns from each.

use super::pass::Poll;
use super::side::Sense;
use super::solve::Run;
use super::track::{Best, Track};
use crate::solution::StopReason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time between two looks at a side that takes longer than the other.
const WAIT: Duration = Duration::from_millis(2);

/// Steps of L-BFGS where nothing larger is possible.
const POLISH_STEPS: usize = 200;

impl Run<'_, '_, '_> {
    /// One pass of each side, at the same time if there are threads for it.
    pub(super) fn both(&mut self, upper: &mut Track, lower: &mut Track) -> Result<(), StopReason> {
        if self.wishes.threads < 2 {
            self.pass(lower)?;
            return self.pass(upper);
        }
        let (eps, start) = (self.wishes.eps, self.monitor.seconds());
        let outcome = self.at_once(upper, lower, |track, poll| track.pass(eps, poll));
        self.note(lower, start);
        self.note(upper, start);
        outcome?;
        self.report().and_then(|()| self.report())
    }

    /// The same work on each side, at the same time; what stops one stops the other.
    fn at_once(
        &mut self,
        upper: &mut Track,
        lower: &mut Track,
        work: impl Fn(&mut Track, &mut Poll<'_, '_>) -> Result<(), StopReason> + Sync,
    ) -> Result<(), StopReason> {
        let flag = AtomicBool::new(false);
        let mut poll = Poll::Monitor(self.monitor, self.until);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| work(lower, &mut Poll::Flag(&flag)));
            let mut above = work(upper, &mut poll);
            while !other.is_finished() {
                above = above.and_then(|()| poll.stop().map_or(Ok(()), Err));
                flag.store(above.is_err(), Ordering::Relaxed);
                std::thread::sleep(WAIT);
            }
            above.and(other.join().unwrap_or(Err(StopReason::NumericalTrouble)))
        })
    }

    /// One pass of one side.
    pub(super) fn pass(&mut self, track: &mut Track) -> Result<(), StopReason> {
        let start = self.monitor.seconds();
        let outcome = track.pass(self.wishes.eps, &mut Poll::Monitor(self.monitor, self.until));
        self.note(track, start);
        outcome?;
        self.report()
    }

    /// What L-BFGS gains on the sides: at the same time if there are threads for it, else each has half of the time.
    pub(super) fn polish(&mut self, upper: &mut Track, lower: Option<&mut Track>) -> Result<(), StopReason> {
        let Some(lower) = lower else { return self.polish_until(upper, self.until) };
        if self.wishes.threads < 2 {
            let now = self.monitor.seconds();
            match self.polish_until(upper, now + 0.5 * (self.until - now)) {
                Err(StopReason::TimeLimit) if self.monitor.interrupted().is_none() => {}
                outcome => outcome?,
            }
            return self.polish_until(lower, self.until);
        }
        let eps = self.wishes.eps;
        let outcome = self.at_once(upper, lower, |track, poll| track.polish(eps, POLISH_STEPS, poll));
        self.note(lower, f64::NAN);
        self.note(upper, f64::NAN);
        outcome?;
        self.report()
    }

    fn polish_until(&mut self, track: &mut Track, until: f64) -> Result<(), StopReason> {
        let outcome = track.polish(self.wishes.eps, POLISH_STEPS, &mut Poll::Monitor(self.monitor, until));
        self.note(track, f64::NAN);
        outcome?;
        self.report()
    }

    /// The best of a track joins the best of all; learns from a pass that began at `start`.
    fn note(&mut self, track: &Track, start: f64) {
        let sense = track.side.sense;
        // The exact sum over everything proves both sides.
        let is_all = track.layout.is_exact() && track.layout.allowed.is_none();
        let sides = [(Sense::Upper, &mut self.found.upper), (Sense::Lower, &mut self.found.lower)];
        for (side, place) in sides.into_iter().filter(|(side, _)| is_all || *side == sense) {
            if let Some(best) = &track.best
                && best.beats(place.as_ref(), side)
            {
                *place = Some(best.clone());
            }
        }
        let work = track.layout.structure.work();
        // A pass in vain does not go back.
        let is_whole = start.is_finite() && !track.side.is_stale;
        if work > 1e4 && is_whole && !self.wishes.is_counted {
            self.pass_secs = (self.monitor.seconds() - start) / work;
        }
        if sense == Sense::Upper && track.side.has_laws {
            self.found.marginals = Some(self.marginals(track));
        }
    }

    /// Ends an iteration: tells the observer the best of both sides.
    fn report(&mut self) -> Result<(), StopReason> {
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
}
