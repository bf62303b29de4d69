//! Slices of log Z as tasks: each is the model with a few states fixed, solved wherever there is room, and the answers
//! are numbers that add up.

use super::answer::Exact;
use super::checks::{check_tables, check_temperature, start};
use super::choose::Planned;
use super::cost::{Algorithm, Cost, Wanted};
use super::eliminate::Elimination;
use super::join::total;
use super::rounding::Enclosure;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;
use crate::tables::order::Graph;
use crate::tables::plan::Plan;
use crate::tables::reduce::restrict;

/// log Z cut into slices that fit the memory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Slices {
    /// Variables that are fixed, and the states that each of them takes in turn; none when no slicing is needed.
    pub fixed: Vec<(usize, Vec<u32>)>,
    /// Order of elimination of the variables that are left.
    pub order: Vec<usize>,
    /// What one slice takes.
    pub cost: Cost,
}

impl Slices {
    /// Number of slices.
    pub fn count(&self) -> usize {
        self.fixed.iter().map(|f| f.1.len()).product()
    }

    /// The states that are fixed in slice `k` of [`Self::count`].
    pub fn states(&self, k: usize) -> Vec<(usize, u32)> {
        let mut rest = k;
        let mut state = |(v, states): &(usize, Vec<u32>)| {
            let state = states[rest % states.len()];
            rest /= states.len();
            (*v, state)
        };
        self.fixed.iter().map(&mut state).collect()
    }
}

/// Plans log Z in slices of at most [`Settings::memory_limit`] bytes each. Variables are those of the file.
///
/// # Errors
/// [`Error::Memory`] when no few slices fit; bad settings.
///
/// ```
/// use zbound::{Ising, Model, Settings, Silent, exact};
/// let ring: Vec<_> = (0..40).map(|i| (i.min((i + 1) % 40), i.max((i + 1) % 40), 0.3)).collect();
/// let model = Model::from(Ising::new(40, &[0.1; 40], &ring)?);
/// // The widest table has four entries of eight bytes, and two of them are there at once.
/// let settings = Settings::default().with_memory_limit(40);
/// let plan = exact::slices(&model, &settings)?;
/// let solve = |k| exact::slice(&model, &plan.states(k), &plan.order, 1.0, &settings, &mut Silent);
/// let parts = (0..plan.count()).map(|k| Ok(solve(k)?.log_z_bounds)).collect::<zbound::Result<Vec<_>>>()?;
/// let whole = exact::exact(&model, 1.0, &Settings::default(), &mut Silent)?;
/// let (low, high) = exact::sum(&model, &parts, 1.0)?.log_z_bounds;
/// assert!(plan.count() > 1 && low <= whole.log_z && whole.log_z <= high && high - low < 1e-10);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn slices(model: &Model, settings: &Settings) -> Result<Slices> {
    settings.validate()?;
    let mut silent = crate::Silent;
    let mut monitor = Monitor::new(settings, usize::MAX, &mut silent);
    let stop: &mut dyn FnMut() -> bool = &mut || monitor.interrupted().is_some();
    let planned = Planned::new(&model.factors()?, None, settings.seed, stop)?;
    let planned = planned.sliced(Wanted::LOG_Z, settings.memory_limit, (settings.seed, stop));
    super::checks::require(&planned, Wanted::LOG_Z, settings)?;
    let mut cost = planned.cost(Wanted::LOG_Z);
    let Some(plan) = &planned.plan else {
        return Err(Error::NotApplicable("no elimination order is cheap enough".into()));
    };
    let free = model.free_variables();
    let reduction = &planned.reduction;
    let name = |v: u32| free[reduction.variables[v as usize] as usize];
    let Some(slicing) = planned.slicing(Wanted::LOG_Z) else {
        let order = plan.order.iter().map(|&v| name(v)).collect();
        return Ok(Slices { fixed: Vec::new(), order, cost });
    };
    let states = |v: u32| reduction.states[reduction.variables[v as usize] as usize].clone();
    let fixed: Vec<(usize, Vec<u32>)> = slicing.fixed.iter().map(|f| (name(f.0), states(f.0))).collect();
    let is_fixed = |v: &u32| slicing.fixed.iter().any(|f| f.0 == *v);
    let kept: Vec<u32> = (0..reduction.model.d() as u32).filter(|v| !is_fixed(v)).collect();
    let order = slicing.plan.order.iter().map(|&k| name(kept[k as usize])).collect();
    let count = slicing.count();
    (cost.seconds, cost.operations, cost.entries) =
        (cost.seconds / count, cost.operations / count, cost.entries / count);
    Ok(Slices { fixed, order, cost })
}

/// log Z of one slice: the model with `states` fixed, eliminated along `order`, which need not name all variables.
///
/// # Errors
/// States that the model does not have; otherwise as [`super::exact`].
pub fn slice(
    model: &Model,
    states: &[(usize, u32)],
    order: &[usize],
    eps: f64,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Exact> {
    let mut monitor = start(eps, settings, observer)?;
    let part = model.clone().with_states(states)?;
    let factors = part.factors()?;
    check_tables(&factors, eps)?;
    let reduction = restrict(&factors)?;
    let reduced = &reduction.model;
    let order = named(&part, order, &reduction.variables)?;
    let plan = Plan::new(&Graph::of(reduced), reduced.cardinalities(), order);
    let what = format_args!("a slice with tables of width {}", plan.width);
    settings.require_memory(plan.bytes() as u64, what, "raise the memory limit")?;
    let pool = super::workers::pool(settings.threads)?;
    let (mut log_z, mut bounds) = (f64::NEG_INFINITY, Enclosure::point(f64::NEG_INFINITY));
    if reduced.constant() > f64::NEG_INFINITY {
        let up = Elimination { model: reduced, plan: &plan, pool: &pool }.sum(eps, false, &mut monitor)?;
        (log_z, bounds) = up.total(eps, reduced.constant());
    }
    if log_z > f64::NEG_INFINITY {
        bounds = bounds.widened(reduced.uncertainty());
    }
    let mut answer = Exact::new(factors.cardinalities(), eps, log_z, bounds);
    answer.algorithm = Algorithm::Elimination;
    answer.states_or_width = plan.width as u64;
    answer.seconds = monitor.seconds();
    Ok(answer)
}

/// Variables of the file as variables of what is left after reductions, each once, those not named last.
fn named(part: &Model, order: &[usize], left: &[u32]) -> Result<Vec<u32>> {
    let mut place = vec![u32::MAX; part.variables()];
    let free = part.free_variables();
    for (k, &v) in left.iter().enumerate() {
        place[free[v as usize]] = k as u32;
    }
    let mut out = Vec::with_capacity(left.len());
    let mut take = |v: usize| {
        let k = std::mem::replace(&mut place[v], u32::MAX);
        out.extend((k != u32::MAX).then_some(k));
    };
    if let Some(&v) = order.iter().find(|&&v| v >= part.variables()) {
        let variables = part.variables();
        return Err(Error::Model(format!("the order names variable {v}, the model has {variables}")));
    }
    order.iter().for_each(|&v| take(v));
    (0..part.variables()).for_each(&mut take);
    Ok(out)
}

/// log Z of the whole model from proved bounds on that of each of its slices.
///
/// # Errors
/// Bounds that are not numbers or cross; a temperature out of range.
pub fn sum(model: &Model, slices: &[(f64, f64)], eps: f64) -> Result<Exact> {
    check_temperature(eps)?;
    if let Some((low, high)) = slices.iter().find(|(low, high)| !(low <= high && *high < f64::INFINITY)) {
        return Err(Error::Model(format!("bounds {low} and {high} are not those of a slice")));
    }
    let part = |&(low, high): &(f64, f64)| {
        let value = if low > f64::NEG_INFINITY { 0.5 * low + 0.5 * high } else { low };
        (value, Enclosure { low, high })
    };
    let values: Vec<(f64, Enclosure)> = slices.iter().map(part).collect();
    let (log_z, bounds) = total(&values, eps);
    let mut answer = Exact::new(&model.free_cardinalities(), eps, log_z, bounds);
    answer.algorithm = Algorithm::Elimination;
    Ok(answer)
}
