//! Assignments of states: factor tables of any arity and cardinality, hard zeros.

use super::population::{Effort, Population};
use super::spins;
use super::tables::Tables;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The state of every variable.
    pub states: Vec<u32>,
    /// `f(states)`; `-inf` when no assignment of positive weight was found.
    pub value: f64,
}

/// The best assignment found, never worse than any of `starts`: of positive weight first, then of large f.
///
/// Deterministic for a seed and any number of threads, unless the time limit ends it; without a time limit it
/// ends after a fixed effort.
///
/// **Cost** O(degree) per change of a variable.
///
/// # Errors
/// Bad settings, or a start that is not an assignment.
///
/// ```
/// use zbound::{FactorModel, Settings, Silent, search};
/// let mut model = FactorModel::with_cardinalities(&[3, 2])?;
/// model.push(&[0, 1], &[0.0, 1.0, f64::NEG_INFINITY, 3.0, 4.0, 2.0])?;
/// let found = search::search(&model, &[], &Settings::default(), &mut Silent)?;
/// assert_eq!((found.states, found.value), (vec![1, 1], 4.0));
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn search(
    model: &FactorModel,
    starts: &[Vec<u32>],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Found> {
    settings.validate()?;
    let fits = |start: &Vec<u32>| {
        start.len() == model.d() && start.iter().zip(model.cardinalities()).all(|(s, q)| s < q)
    };
    if let Some(k) = starts.iter().position(|start| !fits(start)) {
        return Err(Error::Setting(format!("start {k} of the search is not an assignment of the model")));
    }
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    Ok(best_states(model, starts, Effort::full(settings), &mut monitor))
}

/// As [`search`] with an effort and a clock of the caller's.
pub(crate) fn best_states(
    model: &FactorModel,
    starts: &[Vec<u32>],
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Found {
    let states = elites(model, starts, effort, monitor).swap_remove(0);
    Found { value: model.value_of(&states), states }
}

/// Several good assignments of positive weight with their values, best first.
pub(crate) fn modes(model: &FactorModel, effort: Effort, monitor: &mut Monitor<'_>) -> Vec<(Vec<u32>, f64)> {
    let found = elites(model, &[], effort, monitor);
    let valued = found.into_iter().map(|states| (model.value_of(&states), states));
    valued.filter(|(value, _)| value.is_finite()).map(|(value, states)| (states, value)).collect()
}

/// The best assignments, best first, at least one.
fn elites(
    model: &FactorModel,
    starts: &[Vec<u32>],
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Vec<Vec<u32>> {
    let is_pairwise = model.is_binary() && model.factors().all(|f| f.scope.len() <= 2);
    let polynomial = if is_pairwise { model.to_polynomial().ok() } else { None };
    let found = match (polynomial, Tables::new(model)) {
        (Some(f), _) => spins::elites(&f, starts, effort, monitor),
        (None, Some(tables)) => Population::new(&tables, effort).search(starts, monitor),
        (None, None) => return vec![starts.first().cloned().unwrap_or_else(|| vec![0; model.d()])],
    };
    found.into_iter().map(|elite| elite.states).collect()
}
