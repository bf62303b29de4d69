//! Branching: Z is the sum over the leaves of a decision tree, and both sides converge as it grows.
//!
//! The leaf that contributes most to the width of the bracket is split into the states of one variable (`choose`);
//! the parts are bounded (`leaf`) or, where that is cheap, summed exactly, as is the `whole`. A node keeps its own
//! bounds until those of its children are better (`tree`), so the bracket never widens.

mod checkpoint;
mod choose;
mod grow;
mod leaf;
mod polish;
mod root;
mod task;
#[cfg(test)]
mod tests;
mod tree;
mod whole;

pub use self::task::{Part, Task, expand, total};

use self::grow::Growth;
use crate::certify::CertifiedBound;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};
use std::path::PathBuf;

/// Share of the time that is kept for the verification of the tree, when its certificate is wanted.
const PROOF_SHARE: f64 = 0.25;

/// Splits from which on lower bounds are raised at the end: where fewer were done, a part takes too long for that.
const POLISHED: usize = 8;

/// What a search is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Goal {
    /// Width of the bracket of `eps log Z` at which to stop.
    pub(crate) target_gap: Option<f64>,
    /// Whether leaves are to keep their proofs.
    pub(crate) want_certificate: bool,
    /// Where the tree is kept, so that a run that was killed goes on from there.
    pub(crate) checkpoint: Option<PathBuf>,
}

/// Bounds `eps log Z` of a model from both sides until the goal or a limit.
///
/// **Cost** one bound of the model per node; an iteration splits a fixed number of leaves.
///
/// # Errors
/// Bad settings, a checkpoint of another model, and [`Error::Interrupted`] when time ended before the first bound.
pub(crate) fn branch(
    model: &Model,
    eps: f64,
    goal: &Goal,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    settings.validate()?;
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let left = monitor.seconds_left().unwrap_or(0.0);
    // Every leaf is verified once more at the end.
    let proof = if goal.want_certificate { PROOF_SHARE * left } else { 0.0 };
    monitor.reserve_seconds(proof + polish::SHARE * left);
    let mut growth = Growth::new(model, eps, goal, settings, &mut monitor)?;
    let mut stop = growth.run(goal, &mut monitor)?;
    if stop == StopReason::TimeLimit && growth.tree.splits() >= POLISHED {
        // Parts that are under way when the time is up are given up, which takes a moment.
        monitor.reserve_seconds(proof + 0.1 * polish::SHARE * left);
        growth.polish(&mut monitor)?;
        growth.save()?;
    } else if stop == StopReason::TimeLimit {
        monitor.reserve_seconds(proof);
        growth.bounder.settings.deadline = monitor.deadline().clone();
        stop = growth.run(goal, &mut monitor)?;
    }
    let tree = growth.into_tree();
    let cardinalities = model.free_cardinalities();
    let mut solution = Solution::new(Method::Branch, stop);
    let (lower, upper) = tree.bracket();
    if upper == f64::NEG_INFINITY {
        return Err(Error::NotApplicable("no state has positive weight".into()));
    }
    solution.upper = CertifiedBound::of_whole(upper, eps, &cardinalities, true);
    solution.lower = CertifiedBound::of_whole(lower, eps, &cardinalities, false);
    if goal.want_certificate {
        let certificate = tree.certificate(eps);
        let claim = certificate.verify_model(model)?;
        let whole = |value: Option<f64>, up| CertifiedBound::of_whole(value?, eps, &cardinalities, up);
        solution.upper = whole(claim.log_z_upper, true);
        solution.lower = whole(claim.log_z_lower, false);
        solution.certificate = Some(certificate);
    }
    if let (Some(upper), Some(lower)) = (solution.upper, solution.lower) {
        solution.relaxation_gap = Some((upper.log_z() - lower.log_z()).max(0.0));
        solution.estimate = 0.5 * (upper.phi() + lower.phi());
    }
    let reached = |gap: f64| goal.target_gap.is_some_and(|target| gap <= target);
    let met = solution.relaxation_gap.is_some_and(reached);
    solution.settle(settings.tol, eps);
    if met && solution.stop == StopReason::Stalled {
        (solution.stop, solution.reason) = (StopReason::MaxIterations, None);
    }
    solution.reason = match (met, solution.stop) {
        (true, StopReason::MaxIterations) => Some("the gap asked for was reached".into()),
        _ => solution.reason,
    };
    solution.iterations = tree.splits();
    solution.seconds = monitor.seconds();
    solution.trace = monitor.trace;
    Ok(solution)
}
