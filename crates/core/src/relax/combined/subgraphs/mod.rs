//! The combined bound of sparse models: subgraphs of bounded width, as in tree-reweighted bounds but with junction trees
//! in place of trees.
//!
//! The graph is cut into strips between layers, in several places and directions (`cover.rs`); each of these subgraphs
//! is summed exactly by elimination (`part.rs`), and the model is split between them such that the bound is
//! smallest (`split.rs`), which is when all agree on the marginals that they share. Thin strips come first, thicker ones
//! for as long as time allows, and then strips cut in other places join.

mod cover;
mod lines;
mod part;
mod split;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::exact::pool;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::model::Ising;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use cover::Layers;
use part::Part;
use split::Split;

/// Entries of the first tables, and of the largest without a time limit.
const LIMITS: (f64, f64) = (128.0, 2048.0);
/// Entries of tables beyond which no cover is looked for.
const MOST_ENTRIES: f64 = 1e8;
/// Steps of the first, small tables before larger ones take over; steps at most; evaluations that larger ones must
/// leave time for: after some 60 a bound is within a tenth of where it ends.
const STEPS: (usize, usize) = (30, 2000);
const EVALUATIONS: f64 = 80.0;
/// Evaluations that parts which join must leave time for.
const LATE_EVALUATIONS: f64 = 30.0;
/// Evaluations without which a first split is not worth its proof.
const FIRST_EVALUATIONS: f64 = 10.0;
/// Steps over which the bound must fall by a tolerance, and that tolerance relative to the bound, to go on.
const PATIENCE: usize = 10;
const LEAST_GAIN: f64 = 1e-7;
/// Seconds of an evaluation (both sweeps) per bucket and per table entry, and of a proof per entry, on one core of 2020s
/// make; the first two are scaled by what the first evaluations took.
const BUCKET_SECONDS: f64 = 5e-6;
const ENTRY_SECONDS: f64 = 8e-9;
const PROOF_SECONDS: f64 = 1e-7;

/// A split, the best point so far, and why the search for a better one ended.
struct Search<'a> {
    split: Split<'a>,
    x: Vec<f64>,
    /// Bound on `eps log Z` without the constant.
    value: f64,
    stop: StopReason,
}

/// The best split that the time allows; `None` when the graph cannot be cut into strips of small width.
///
/// # Errors
/// Parameters that leave floating point.
pub(super) fn solve(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Option<Solution>> {
    let (layers, eps) = (Layers::new(ising), problem.eps());
    let pool = pool(settings.threads)?;
    let Some(first) = first(&layers, settings.ibound, monitor) else { return Ok(None) };
    let mut best = Search::new(Split::new(ising, eps, first));
    let slowness = best.descend(STEPS.0, settings, pool.as_ref(), monitor);
    if best.stop == StopReason::Stalled {
        match larger(&layers, &best, slowness, settings, monitor) {
            Some(parts) => {
                let mut next = Search::new(Split::new(ising, eps, parts));
                next.descend(STEPS.1, settings, pool.as_ref(), monitor);
                let stop = next.stop;
                best = if next.value < best.value { next } else { best };
                best.stop = stop;
            }
            None => {
                best.descend(STEPS.1, settings, pool.as_ref(), monitor);
            }
        }
    }
    best = best.refined(&layers, slowness, settings, pool.as_ref(), monitor);
    best.prove(problem).map(Some)
}

/// The parts with the smallest tables that do; none where time does not allow a few evaluations and the proof.
fn first(layers: &Layers<'_>, ibound: Option<usize>, monitor: &mut Monitor<'_>) -> Option<Vec<Part>> {
    let mut limit = ibound.map_or(LIMITS.0, |width| (width as f64 + 1.0).exp2());
    loop {
        let parts = layers.cover(limit);
        if !parts.is_empty() {
            let seconds = FIRST_EVALUATIONS * evaluation_seconds(&parts) + proof_seconds(&parts);
            return (seconds <= monitor.deadline().seconds_left()).then_some(parts);
        }
        limit *= 4.0;
        if ibound.is_some() || limit > MOST_ENTRIES || monitor.interrupted().is_some() {
            return None;
        }
    }
}

/// The parts with the largest tables for which time and memory allow enough evaluations.
fn larger(
    layers: &Layers<'_>,
    now: &Search<'_>,
    slowness: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Option<Vec<Part>> {
    let left = monitor.deadline().seconds_left();
    let most = if monitor.deadline().is_limited() { MOST_ENTRIES } else { LIMITS.1 };
    let mut limit = now.split.parts.iter().map(Part::largest).fold(0.0, f64::max);
    let mut found = None;
    while settings.ibound.is_none() && 2.0 * limit <= most && monitor.interrupted().is_none() {
        limit *= 2.0;
        let parts = layers.cover(limit);
        let seconds = EVALUATIONS * slowness * evaluation_seconds(&parts) + proof_seconds(&parts);
        let bytes = parts.iter().map(|part| part.plan.bytes_with_marginals()).fold(0.0, f64::max);
        let fits = seconds <= left && settings.threads as f64 * bytes <= settings.memory_limit as f64;
        if parts.is_empty() || !fits {
            break;
        }
        let is_whole = parts.len() == 1;
        found = Some(parts);
        if is_whole {
            break;
        }
    }
    found
}

/// Seconds of an evaluation on one thread.
fn evaluation_seconds(parts: &[Part]) -> f64 {
    let one = |part: &Part| BUCKET_SECONDS * part.plan.order.len() as f64 + ENTRY_SECONDS * part.plan.entries;
    parts.iter().map(one).sum()
}

fn proof_seconds(parts: &[Part]) -> f64 {
    PROOF_SECONDS * parts.iter().map(|part| part.plan.entries).sum::<f64>()
}

impl<'a> Search<'a> {
    fn new(split: Split<'a>) -> Self {
        let x = split.equal();
        Search { split, x, value: f64::INFINITY, stop: StopReason::Stalled }
    }

    /// L-BFGS for so many steps; how many times longer an evaluation took than expected.
    fn descend(
        &mut self,
        steps: usize,
        settings: &Settings,
        pool: Option<&rayon::ThreadPool>,
        monitor: &mut Monitor<'_>,
    ) -> f64 {
        let split = &self.split;
        monitor.reserve_seconds(proof_seconds(&split.parts));
        let inner = settings.for_part(monitor.deadline(), None);
        let (mut evaluations, mut stop) = (0, None);
        let mut values: Vec<f64> = Vec::new();
        let (began, constant) = (monitor.seconds(), split.ising.constant());
        let small = LEAST_GAIN.max(0.01 * settings.tol);
        let options = LbfgsOptions { max_iterations: steps, gradient_tol: 1e-9, ..LbfgsOptions::default() };
        let _ = minimise(
            &mut |x, gradient| {
                evaluations += 1;
                split.evaluate(x, gradient, &inner, pool)
            },
            &mut self.x,
            None,
            options,
            &mut |value, _| {
                values.push(value);
                stop = monitor.iteration(f64::NAN, value + constant);
                let before = values.len().checked_sub(PATIENCE + 1).map(|k| values[k]);
                let is_idle = before.is_some_and(|before| before - value < small * value.abs().max(1.0));
                stop.is_some() || is_idle
            },
        );
        if let Some(&value) = values.last() {
            self.value = value;
        }
        let stop = stop.or_else(|| monitor.interrupted());
        self.stop = stop.unwrap_or(StopReason::Stalled);
        let seconds = (monitor.seconds() - began) / f64::from(evaluations.max(1));
        monitor.reserve_seconds(0.0);
        seconds / evaluation_seconds(&self.split.parts)
    }

    /// With more parts, cut in other places, when there is time left for them; the better of both.
    fn refined(
        self,
        layers: &Layers<'_>,
        slowness: f64,
        settings: &Settings,
        pool: Option<&rayon::ThreadPool>,
        monitor: &mut Monitor<'_>,
    ) -> Self {
        let is_open = self.stop == StopReason::Stalled && self.split.parts.len() > 1;
        if !is_open || !monitor.deadline().is_limited() {
            return self;
        }
        let limit = self.split.parts.iter().map(Part::largest).fold(0.0, f64::max);
        let mut parts = self.split.parts.clone();
        parts.extend(layers.others(limit));
        let seconds = LATE_EVALUATIONS * slowness * evaluation_seconds(&parts) + proof_seconds(&parts);
        if parts.len() == self.split.parts.len() || seconds > monitor.deadline().seconds_left() {
            return self;
        }
        let split = Split::new(self.split.ising, self.split.eps, parts);
        let x = split.joined(&self.split, &self.x);
        let mut next = Search { split, x, value: f64::INFINITY, stop: StopReason::Stalled };
        next.descend(STEPS.1, settings, pool, monitor);
        let stop = next.stop;
        Search { stop, ..if next.value < self.value { next } else { self } }
    }

    /// The certified bound.
    fn prove(self, problem: &Problem) -> Result<Solution> {
        let mut solution = Solution::new(Method::Combined, self.stop);
        // One part is the whole graph; nothing is lost then.
        if self.split.parts.len() == 1 && self.stop == StopReason::Stalled {
            solution.stop = StopReason::Converged;
        }
        solution.estimate = self.value + self.split.ising.constant();
        match self.split.certificate(&self.x).and_then(|c| c.verify(problem.polynomial()).map(|b| (c, b))) {
            Ok((certificate, bound)) => {
                if solution.stop == StopReason::Converged {
                    solution.relaxation_gap = Some((bound.phi() - solution.estimate).max(0.0));
                }
                solution.estimate = bound.phi();
                solution.upper = Some(bound);
                solution.certificate = Some(certificate);
            }
            Err(error) => solution.reason = Some(error.to_string()),
        }
        Ok(solution)
    }
}
