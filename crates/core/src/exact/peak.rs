//! The largest value of f alone, by elimination, with a proved bound.

use super::choose::Planned;
use super::cost::{Cost, Wanted};
use super::eliminate::Elimination;
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::settings::Settings;

/// A state of largest f.
pub(crate) struct Peak {
    /// By variable.
    pub(crate) states: Vec<u32>,
    /// Proved bound on f, its uncertainty included.
    pub(crate) upper: f64,
    /// The order of all variables, when it is one of the model as it was given.
    pub(crate) order: Option<Vec<u32>>,
}

/// A maximisation that is planned and not begun.
pub(crate) struct PreparedPeak {
    planned: Planned,
    /// Variables of the model as it was given.
    d: usize,
    /// What it will take.
    pub(crate) cost: Cost,
}

impl PreparedPeak {
    /// Plans; the monitor cuts the search for an order short.
    ///
    /// # Errors
    /// None for models built by this library.
    pub(crate) fn new(tables: &FactorModel, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Self> {
        let stop = &mut || monitor.interrupted().is_some();
        let planned = Planned::new(tables, None, settings.seed, stop)?;
        let cost = planned.cost(Wanted::MAXIMUM);
        Ok(PreparedPeak { planned, d: tables.d(), cost })
    }

    /// Whether no state has positive weight: hard zeros alone show it.
    pub(crate) fn is_impossible(&self) -> bool {
        self.planned.reduction.model.constant() == f64::NEG_INFINITY
    }

    /// Finds the maximum.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::Interrupted`], and [`Error::NotApplicable`] without a plan or a state of positive weight.
    pub(crate) fn run(self, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Peak> {
        let what = format_args!("exact maximisation with tables of width {}", self.planned.width);
        settings.require_memory(self.cost.bytes, what, "raise the memory limit")?;
        let Some(plan) = &self.planned.plan else {
            return Err(Error::NotApplicable("no elimination order is cheap enough".into()));
        };
        let (reduction, model) = (&self.planned.reduction, &self.planned.reduction.model);
        let pool = super::workers::pool(settings.threads)?;
        let best = Elimination { model, plan, pool: &pool }.maximise(monitor)?;
        if self.is_impossible() || model.value_of(&best.states) == f64::NEG_INFINITY {
            return Err(Error::NotApplicable("no state has positive weight".into()));
        }
        let constant = Interval::point(model.constant()) + Interval::point(model.uncertainty());
        let upper = (Interval::point(best.upper) + constant).hi;
        let order = reduction.restore_order(&plan.order);
        let order = (order.len() == self.d).then_some(order);
        Ok(Peak { states: reduction.restore(&best.states), upper, order })
    }
}
