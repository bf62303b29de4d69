//! Branching beyond one process: tasks that are small messages, and the sum of their answers.
//!
//! A coordinator holds parts of the state space, hands out those that contribute most to the width and replaces each by
//! the parts that come back. Every answer depends on the part and the task alone, so it does not matter where it was
//! computed, or how often.

use super::Goal;
use super::grow::Growth;
use super::leaf::Rule;
use crate::certify::{Side, sum_of_parts};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::settings::{Method, Settings};

/// A part of the state space and what is proved of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Variables of the model's file and their states.
    pub states: Vec<(usize, u32)>,
    /// `eps log` of the sum over the part is at least this.
    pub lower: f64,
    /// `eps log` of the sum over the part is at most this; `-inf` when no state has positive weight.
    pub upper: f64,
    /// Whether the sum is known up to rounding.
    pub is_exact: bool,
}

/// What a task is to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Task {
    /// Temperature.
    pub eps: f64,
    /// Rounds, at least one: each splits the few leaves that matter most.
    pub splits: usize,
    /// The bound of parts: `quantum`, `logdet`, `trw`, `combined` or `wmb`; tried and chosen when there is none.
    pub method: Option<Method>,
    /// Everything else; threads do not change the answer.
    pub settings: Settings,
}

impl Task {
    /// Splits at temperature `eps`, with default settings.
    pub fn new(eps: f64, splits: usize) -> Self {
        Task { eps, splits, method: None, settings: Settings::default() }
    }
}

/// Splits the part of `model` in which `states` are fixed, and bounds what comes out: disjoint parts that cover it,
/// and the method that bounded them.
///
/// # Errors
/// States that do not fit the model, a method that does not apply, bad settings.
///
/// ```
/// use zbound::query::branch::{Task, expand, total};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.0; 2], &[(0, 1, 1.0)])?);
/// let (parts, _) = expand(&model, &[], &Task::new(1.0, 1), &mut Silent)?;
/// let (lower, upper) = total(&parts, 1.0);
/// let exact = (2.0 * 1f64.exp() + 2.0 * (-1f64).exp()).ln();
/// assert!(lower <= exact && exact <= upper);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn expand(
    model: &Model,
    states: &[(usize, u32)],
    task: &Task,
    observer: &mut dyn Observer,
) -> Result<(Vec<Part>, Method)> {
    let part = model.clone().with_states(states)?;
    let rule = task.method.map(rule).transpose()?;
    // The last iteration finds that there are enough.
    let settings = task.settings.clone().with_max_iterations(Some(task.splits.saturating_add(1).max(2)));
    settings.validate()?;
    let mut monitor = Monitor::new(&settings, usize::MAX, observer);
    let goal = Goal::default();
    let mut growth = Growth::with_rule(&part, task.eps, &goal, rule, &settings, &mut monitor)?;
    growth.run(&goal, &mut monitor)?;
    let method = match growth.bounder.rule {
        Rule::Relaxation(method) => method,
        Rule::MiniBuckets => Method::Wmb,
    };
    let free = part.free_variables();
    let leaves = growth.into_tree().leaves();
    let parts = leaves.into_iter().map(|(path, known)| Part {
        states: states.iter().copied().chain(path.iter().map(|&(v, s)| (free[v as usize], s))).collect(),
        lower: known.lower,
        upper: known.upper,
        is_exact: known.is_exact,
    });
    Ok((parts.collect(), method))
}

/// Certified sides of `eps log Z` of disjoint parts together.
pub fn total(parts: &[Part], eps: f64) -> (f64, f64) {
    let (low, high): (Vec<f64>, Vec<f64>) = parts.iter().map(|p| (p.lower, p.upper)).unzip();
    (sum_of_parts(&low, eps, Side::Lower), sum_of_parts(&high, eps, Side::Upper))
}

fn rule(method: Method) -> Result<Rule> {
    match method {
        Method::Quantum | Method::LogDet | Method::Trw | Method::Combined => Ok(Rule::Relaxation(method)),
        Method::Wmb => Ok(Rule::MiniBuckets),
        other => Err(Error::Setting(format!(
            "method {} does not bound parts: expected quantum, logdet, trw, combined or wmb",
            other.name()
        ))),
    }
}
