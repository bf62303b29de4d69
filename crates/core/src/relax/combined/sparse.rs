//! The combined bound of sparse models of more than some forty spins: components of bounded width.
//!
//! Strips of the graph are summed exactly and split the model between them (`subgraphs/`), which is best at low
//! temperatures; weighted mini-buckets hold the whole graph in one component and are best at high ones. Both get a short
//! trial, side by side where there are threads for it, and the better one the rest of the time.

use super::parts::better;
use super::subgraphs;
use crate::aside::Aside;
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::Result;
use crate::model::{FactorModel, Ising};
use crate::observer::{Monitor, Silent};
use crate::problem::Problem;
use crate::relax::wmb;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};

/// Share of the time left for each of the two trials.
const TRIAL: f64 = 0.15;
/// Variables of a mini-bucket besides the eliminated one without a time limit.
const WIDTH: usize = 10;

/// The better of both.
///
/// # Errors
/// Parameters that leave floating point.
pub(super) fn solve(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let Some(left) = monitor.seconds_left() else {
        let bounded = Settings { ibound: settings.ibound.or(Some(WIDTH)), ..settings.clone() };
        let buckets = mini_buckets(problem, &bounded, monitor)?;
        let strips = strips(problem, ising, settings, monitor)?;
        return Ok(better(strips, buckets));
    };
    let trial = settings.for_part(monitor.deadline(), Some(TRIAL * left));
    let (buckets, trial) = both(problem, ising, &trial, monitor)?;
    let strips_win = value(&trial) < value(&buckets);
    let best = better(trial, buckets);
    if monitor.interrupted().is_some() {
        return Ok(best);
    }
    let rest = settings.for_part(monitor.deadline(), None);
    let last = if strips_win {
        strips(problem, ising, &rest, monitor)?
    } else if settings.threads > 1 {
        // Mini-buckets of one side have no work for a second thread.
        let (buckets, strips) = both(problem, ising, &rest, monitor)?;
        better(buckets, strips)
    } else {
        mini_buckets(problem, &rest, monitor)?
    };
    let stop = last.stop;
    Ok(Solution { stop, ..better(last, best) })
}

/// Mini-buckets and strips, side by side where there are threads for it and otherwise each in the time of `settings`.
fn both(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, Solution)> {
    if settings.threads < 2 {
        let buckets = mini_buckets(problem, settings, monitor)?;
        return Ok((buckets, strips(problem, ising, settings, monitor)?));
    }
    let ends = settings.ends().within(None);
    let mut aside = settings.for_part(&ends, None);
    (aside.threads, aside.memory_limit) = (settings.threads - 1, settings.memory_limit / 2);
    let own =
        Settings { threads: 1, memory_limit: settings.memory_limit / 2, ..settings.for_part(&ends, None) };
    std::thread::scope(|scope| {
        let work = Aside::begin(scope, || {
            let mut silent = Silent;
            let mut monitor = Monitor::new(&aside, usize::MAX, &mut silent);
            strips(problem, ising, &aside, &mut monitor)
        });
        let buckets = mini_buckets(problem, &own, monitor);
        let strips = work.end(|| {
            if buckets.is_err() || monitor.interrupted() == Some(StopReason::Cancelled) {
                ends.cancel();
            }
        });
        Ok((buckets?, strips?))
    })
}

fn value(solution: &Solution) -> f64 {
    solution.upper.map_or(f64::INFINITY, |bound| bound.phi())
}

/// Strips, if the graph has any.
fn strips(
    problem: &Problem,
    ising: &Ising,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let mut observer = monitor.relay();
    let mut own = Monitor::new(settings, usize::MAX, &mut observer);
    let found = subgraphs::solve(problem, ising, settings, &mut own)?;
    Ok(found.unwrap_or_else(|| Solution::new(Method::Combined, StopReason::Stalled)))
}

/// The whole graph in one component.
fn mini_buckets(problem: &Problem, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Solution> {
    let (f, eps) = (problem.polynomial(), problem.eps());
    let tables = FactorModel::from(f);
    let mut solution = Solution::new(Method::Combined, StopReason::Stalled);
    let mut offer = |elimination| {
        let form = Form::WeightedElimination { polynomial: f.clone(), elimination };
        let components = vec![Component { weight: 1.0, form }];
        let certificate = Certificate { eps, slack: Slack::default(), components, witness: None };
        match certificate.verify(f) {
            Ok(bound) if bound.phi() < value(&solution) => {
                solution.estimate = bound.phi();
                solution.upper = Some(bound);
                solution.certificate = Some(certificate);
            }
            Ok(_) => {}
            Err(error) => solution.reason = Some(error.to_string()),
        }
        solution.upper
    };
    let stop = wmb::upper_alone(&tables, eps, settings, &mut monitor.relay(), &mut offer);
    // Passes that gain nothing any more leave open how far the split is from its best.
    solution.stop = if stop == StopReason::Converged { StopReason::Stalled } else { stop };
    Ok(solution)
}
