//! What exact inference would do, and what that costs.

use super::cost::{Algorithm, Cost, Wanted};
use super::enumerate::MAX_SPINS;
use super::slice::Slicing;
use crate::error::Result;
use crate::model::{FactorModel, Model, Polynomial};
use crate::run::cost::constants::{
    ALWAYS_ENUMERATE, BUCKET_SECS, COUNTING_ENTRIES, ENUMERATION_BYTES, MARGINAL_SECS, MAXIMUM_SECS,
    STATE_SECS, STATE_SUM_SECS, SUM_SECS,
};
use crate::settings::Settings;
use crate::tables::exchange::counted;
use crate::tables::order::{Graph, frontier, search};
use crate::tables::plan::Plan;
use crate::tables::reduce::{Reduction, restrict, without_barren};

/// Work units per second: [`Cost::operations`] is in units of ten nanoseconds.
const OPERATIONS_PER_SECOND: f64 = 1e8;
/// What was decided, with the model in the form it needs.
pub(crate) enum Choice {
    Enumerate(Box<Polynomial>),
    Eliminate(Box<Planned>),
}

/// A model, what is left of it after exact reductions, and how its variables go.
pub(crate) struct Planned {
    /// The states that are left, and the model over them.
    pub(crate) reduction: Reduction,
    /// `None` when elimination is hopeless.
    pub(crate) plan: Option<Plan>,
    /// How log Z is found when the tables do not fit the memory.
    pub(crate) slicing: Option<Slicing>,
    pub(crate) width: usize,
}

impl Planned {
    /// Reduces a model and searches for an order. When nothing but log Z at temperature `eps` is wanted, variables that do
    /// not matter to it go beforehand, and interchangeable ones are counted where that is cheaper.
    pub(crate) fn new(
        factors: &FactorModel,
        log_z_alone: Option<f64>,
        seed: u64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self> {
        let mut reduction = restrict(factors)?;
        if let Some(eps) = log_z_alone {
            reduction.model = without_barren(reduction.model, eps)?;
        }
        let mut graph = Graph::of(&reduction.model);
        let mut found = search(&graph, seed, stop);
        if let Some(eps) = log_z_alone.filter(|_| found.cost > COUNTING_ENTRIES)
            && let Some(counts) = counted(&reduction.model, eps)?
        {
            let fewer = Graph::of(&counts);
            let order = search(&fewer, seed, stop);
            if order.cost < found.cost {
                (graph, found, reduction.model) = (fewer, order, counts);
            }
        }
        if found.cost == f64::INFINITY {
            let width = frontier(&graph.neighbours, &found.order);
            return Ok(Planned { reduction, plan: None, slicing: None, width });
        }
        let plan = Plan::new(&graph, reduction.model.cardinalities(), found.order);
        Ok(Planned { width: plan.width, plan: Some(plan), slicing: None, reduction })
    }

    /// Slices where the tables of what is wanted exceed `limit` bytes and slicing helps.
    pub(crate) fn sliced(
        mut self,
        wanted: Wanted,
        limit: u64,
        (seed, stop): (u64, &mut dyn FnMut() -> bool),
    ) -> Self {
        if self.bytes(wanted) > limit as f64
            && let Some(plan) = &self.plan
        {
            self.slicing = Slicing::new(&self.reduction.model, plan, limit as f64, wanted, (seed, stop));
        }
        self
    }

    /// The slices for what is wanted, if it is to be sliced.
    pub(crate) fn slicing(&self, wanted: Wanted) -> Option<&Slicing> {
        self.slicing.as_ref().filter(|slicing| slicing.wanted == wanted)
    }

    pub(crate) fn bytes(&self, wanted: Wanted) -> f64 {
        let plan = self.slicing(wanted).map(|slicing| &slicing.plan).or(self.plan.as_ref());
        plan.map_or(f64::INFINITY, |plan| plan.bytes_of(wanted.marginals, wanted.maximum))
    }

    pub(crate) fn cost(&self, wanted: Wanted) -> Cost {
        let (entries, buckets) = match (&self.plan, self.slicing(wanted)) {
            (_, Some(slicing)) => {
                let times = slicing.count();
                (times * slicing.plan.entries, times * slicing.plan.order.len() as f64)
            }
            (Some(plan), _) => (plan.entries, plan.order.len() as f64),
            (None, _) => (f64::INFINITY, 0.0),
        };
        let sweeps = 1.0 + f64::from(u8::from(wanted.marginals)) + f64::from(u8::from(wanted.maximum));
        let mut per_entry = SUM_SECS;
        per_entry += if wanted.marginals { MARGINAL_SECS } else { 0.0 };
        per_entry += if wanted.maximum { MAXIMUM_SECS } else { 0.0 };
        let seconds = entries * per_entry + buckets * sweeps * BUCKET_SECS;
        let bytes = self.bytes(wanted);
        Cost {
            algorithm: Algorithm::Elimination,
            operations: seconds * OPERATIONS_PER_SECOND,
            seconds,
            entries,
            bytes: if bytes < 9e18 { bytes as u64 } else { u64::MAX },
            width: self.width,
        }
    }
}

/// Decides how to answer; `stop` cuts the search for an order short. What is decided does not depend on the machine, its cost does.
pub(crate) fn choose(
    model: &Model,
    eps: f64,
    wanted: Wanted,
    settings: &Settings,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(Choice, Cost)> {
    let d = model.d();
    let enumerable = d <= MAX_SPINS && model.is_binary();
    let polynomial = if enumerable { model.polynomial().ok() } else { None };
    if let (true, Some(f)) = (d <= ALWAYS_ENUMERATE, &polynomial) {
        let cost = enumeration(d, wanted, settings).here(settings);
        return Ok((Choice::Enumerate(Box::new(f.clone())), cost));
    }
    let log_z_alone = (wanted == Wanted::LOG_Z).then_some(eps);
    let mut planned = Planned::new(&model.factors()?, log_z_alone, settings.seed, stop)?;
    planned = planned.sliced(wanted, settings.memory_limit, (settings.seed, stop));
    let cost = planned.cost(wanted);
    let fits = cost.bytes <= settings.memory_limit;
    match polynomial {
        Some(f) if !fits || enumeration(d, wanted, settings).seconds < cost.seconds => {
            Ok((Choice::Enumerate(Box::new(f)), enumeration(d, wanted, settings).here(settings)))
        }
        _ => Ok((Choice::Eliminate(Box::new(planned)), cost.here(settings))),
    }
}

fn enumeration(d: usize, wanted: Wanted, settings: &Settings) -> Cost {
    let states = (d as f64).exp2();
    // Blocks are independent, and threads share them evenly.
    let sum = STATE_SUM_SECS / settings.threads.max(1) as f64;
    let seconds = states * if wanted == Wanted::LOG_Z { sum } else { STATE_SECS };
    Cost {
        algorithm: Algorithm::Enumeration,
        operations: seconds * OPERATIONS_PER_SECOND,
        seconds,
        entries: states,
        bytes: ENUMERATION_BYTES * settings.threads as u64,
        width: d.saturating_sub(1),
    }
}

/// Predicts the work of [`super::exact`] without doing it.
///
/// # Errors
/// Bad settings.
///
/// ```
/// use zbound::{Ising, Model, Settings, exact};
/// let chain: Vec<_> = (1..100).map(|i| (i - 1, i, 0.5)).collect();
/// let model = Model::from(Ising::new(100, &[0.1; 100], &chain)?);
/// assert_eq!(exact::estimate(&model, &Settings::default())?.width, 1);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn estimate(model: &Model, settings: &Settings) -> Result<Cost> {
    estimate_for(model, Wanted::ALL, settings)
}

/// As [`estimate`], for what is wanted.
///
/// # Errors
/// Bad settings.
pub fn estimate_for(model: &Model, wanted: Wanted, settings: &Settings) -> Result<Cost> {
    Ok(Estimator::new(model, wanted, settings)?.cost)
}

/// As [`estimate`], for log Z alone and for everything.
///
/// # Errors
/// Bad settings.
pub fn estimate_both(model: &Model, settings: &Settings) -> Result<(Cost, Cost)> {
    let estimator = Estimator::new(model, Wanted::ALL, settings)?;
    let all = estimator.cost;
    Ok((estimator.log_z()?, all))
}

/// Predicts the work of several questions with as few searches for an order as possible.
pub(crate) struct Estimator<'m> {
    model: &'m Model,
    settings: &'m Settings,
    choice: Choice,
    /// What the first question takes.
    pub(crate) cost: Cost,
}

impl<'m> Estimator<'m> {
    /// Plans for what is wanted; the time limit of `settings` cuts the search for an order short.
    ///
    /// # Errors
    /// Bad settings.
    pub(crate) fn new(model: &'m Model, wanted: Wanted, settings: &'m Settings) -> Result<Self> {
        settings.validate()?;
        let (choice, cost) = choose(model, 1.0, wanted, settings, &mut clock(settings))?;
        Ok(Estimator { model, settings, choice, cost })
    }

    /// What log Z alone takes: along the same order, unless variables that do not matter to it go beforehand.
    ///
    /// # Errors
    /// None for models built by this library.
    pub(crate) fn log_z(self) -> Result<Cost> {
        let Choice::Eliminate(planned) = self.choice else {
            return Ok(enumeration(self.model.d(), Wanted::LOG_Z, self.settings).here(self.settings));
        };
        let model = &planned.reduction.model;
        let is_dear = planned.plan.as_ref().is_none_or(|plan| plan.entries > COUNTING_ENTRIES);
        let is_counted = is_dear && counted(model, 1.0)?.is_some();
        if planned.plan.is_none() && !is_counted {
            return Ok(self.cost);
        }
        if is_counted || without_barren(model.clone(), 1.0)?.d() < model.d() {
            let stop = &mut clock(self.settings);
            return Ok(choose(self.model, 1.0, Wanted::LOG_Z, self.settings, stop)?.1);
        }
        let stop: &mut dyn FnMut() -> bool = &mut clock(self.settings);
        let (wanted, settings) = (Wanted::LOG_Z, self.settings);
        let planned = planned.sliced(wanted, settings.memory_limit, (settings.seed, stop));
        Ok(planned.cost(wanted).here(settings))
    }
}

/// Whether the time limit has passed since now.
fn clock(settings: &Settings) -> impl FnMut() -> bool {
    let (start, limit) = (std::time::Instant::now(), settings.time_limit_secs.unwrap_or(f64::INFINITY));
    move || start.elapsed().as_secs_f64() > limit
}
