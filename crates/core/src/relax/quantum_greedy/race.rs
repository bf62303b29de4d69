//! The search for the best candidates: ever tighter brackets, and whoever cannot win drops out.

use crate::error::Result;
use crate::model::VarSet;
use crate::observer::{Flow, Monitor, Progress};
use crate::relax::quantum::Bracket;
use crate::settings::Settings;
use crate::solution::StopReason;
use rayon::prelude::*;

/// Relative brackets of the candidates, round after round; the last decides ties.
const BRACKETS: [f64; 5] = [1e-2, 1e-3, 1e-4, 1e-6, TIE];
/// Candidates closer than this, relative to max(eps, |phi|), are ties: the first in the pool wins.
const TIE: f64 = 1e-9;
/// The leader is solved this much more accurately than the others.
const LEAD: f64 = 1e-3;
/// Candidates solved between two looks at the observer, per thread.
const CHUNK: usize = 16;

/// A feature that may be added.
pub(super) struct Candidate {
    pub(super) feature: VarSet,
    pub(super) bracket: Bracket,
}

/// Candidates that are still in question.
pub(super) struct Race<'a> {
    candidates: Vec<Candidate>,
    batch: usize,
    settings: &'a Settings,
    pool: Option<rayon::ThreadPool>,
    eps: f64,
}

impl<'a> Race<'a> {
    /// `batch` winners are wanted, at most as many as there are candidates.
    pub(super) fn new(candidates: Vec<Candidate>, batch: usize, settings: &'a Settings, eps: f64) -> Self {
        let several = settings.threads > 1;
        let pool = several.then(|| rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build());
        Race { candidates, batch, settings, pool: pool.and_then(std::result::Result::ok), eps }
    }

    /// Tightens all brackets until the winners stand out or tie; says why when it was stopped.
    pub(super) fn run(&mut self, monitor: &mut Monitor<'_>) -> Result<Option<StopReason>> {
        for tolerance in BRACKETS {
            if self.candidates.len() <= self.batch {
                break;
            }
            self.lead(tolerance, monitor)?;
            if let Some(reason) = self.tighten_all(tolerance, monitor)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// The first candidates in pool order within a tie of the best.
    pub(super) fn winners(mut self) -> Vec<Candidate> {
        let mut winners = Vec::new();
        for _ in 0..self.batch {
            let best = self.candidates.iter().map(|c| c.bracket.upper).fold(f64::INFINITY, f64::min);
            let margin = tie_margin(best, self.eps);
            let Some(at) = self.candidates.iter().position(|c| c.bracket.lower <= best + margin) else {
                break;
            };
            winners.push(self.candidates.remove(at));
        }
        winners
    }

    /// A candidate whose lower value exceeds this is out. Within rounding a lower value can pass an
    /// upper one: a tie is no reason to drop.
    fn cutoff(&self) -> f64 {
        let mut uppers: Vec<f64> = self.candidates.iter().map(|c| c.bracket.upper).collect();
        uppers.sort_by(f64::total_cmp);
        uppers[self.batch - 1] + tie_margin(uppers[self.batch - 1], self.eps)
    }

    /// Tightens the best `batch` candidates first, so that the others can be cut off early.
    fn lead(&mut self, tolerance: f64, monitor: &Monitor<'_>) -> Result<()> {
        let cutoff = self.cutoff();
        let inner = candidate_settings(self.settings, tolerance * LEAD, monitor);
        let leaders = self.candidates.iter_mut().filter(|c| c.bracket.upper <= cutoff).take(self.batch);
        if cutoff.is_finite() {
            leaders.into_iter().try_for_each(|c| c.tighten(&inner, f64::INFINITY))
        } else {
            Ok(())
        }
    }

    /// Tightens every candidate to `tolerance` or until it is out, and drops those.
    fn tighten_all(&mut self, tolerance: f64, monitor: &mut Monitor<'_>) -> Result<Option<StopReason>> {
        let inner = candidate_settings(self.settings, tolerance, monitor);
        let width = CHUNK * self.settings.threads;
        for first in (0..self.candidates.len()).step_by(width) {
            if let Some(reason) = monitor.interrupted() {
                return Ok(Some(reason));
            }
            let cutoff = self.cutoff();
            let last = (first + width).min(self.candidates.len());
            let chunk = &mut self.candidates[first..last];
            match &self.pool {
                Some(pool) => {
                    pool.install(|| chunk.par_iter_mut().try_for_each(|c| c.tighten(&inner, cutoff)))?
                }
                _ => chunk.iter_mut().try_for_each(|c| c.tighten(&inner, cutoff))?,
            }
        }
        let cutoff = self.cutoff();
        self.candidates.retain(|c| !(c.bracket.lower > cutoff));
        Ok(None)
    }
}

fn candidate_settings(settings: &Settings, tolerance: f64, monitor: &Monitor<'_>) -> Settings {
    Settings { trace: false, max_iterations: None, ..settings.for_part(monitor.deadline(), None) }
        .with_tol(tolerance.max(TIE))
        .with_threads(1)
}

fn tie_margin(value: f64, eps: f64) -> f64 {
    TIE * value.abs().max(eps)
}

impl Candidate {
    /// Solves to the tolerance of `settings`, or until the lower value exceeds `cutoff`.
    fn tighten(&mut self, settings: &Settings, cutoff: f64) -> Result<()> {
        if self.bracket.is_within(settings.tol) || self.bracket.lower > cutoff {
            return Ok(());
        }
        let mut until = |p: &Progress| if p.lower > cutoff { Flow::Stop } else { Flow::Continue };
        self.bracket.tighten(settings, &mut until)
    }
}
