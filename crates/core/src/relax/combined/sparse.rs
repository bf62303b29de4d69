//! The combined bound of sparse models of more than some forty spins: components of bounded width.
//!
//! Strips of the graph are summed exactly and split the model between them (`subgraphs/`), which is best at low
//! temperatures; weighted mini-buckets hold the whole graph in one component and are best at high ones. Both get a short
//! trial, and the better one the rest of the time.

use super::parts::better;
use super::subgraphs;
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::Result;
use crate::model::{FactorModel, Ising};
use crate::observer::Monitor;
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
    let part = |monitor: &Monitor<'_>| settings.for_part(monitor.deadline(), Some(TRIAL * left));
    let buckets = mini_buckets(problem, &part(monitor), monitor)?;
    let trial = strips(problem, ising, &part(monitor), monitor)?;
    let strips_win = value(&trial) < value(&buckets);
    let rest = settings.for_part(monitor.deadline(), None);
    let last = if monitor.interrupted().is_some() {
        None
    } else if strips_win {
        Some(strips(problem, ising, &rest, monitor)?)
    } else {
        Some(mini_buckets(problem, &rest, monitor)?)
    };
    let best = better(trial, buckets);
    let Some(last) = last else { return Ok(best) };
    let stop = last.stop;
    Ok(Solution { stop, ..better(last, best) })
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
