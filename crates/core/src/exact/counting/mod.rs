//! log Z of models with many hard zeros by search: weighted model counting.
//!
//! Elimination pays for every joint state of its tables, possible or not. Where hard zeros leave few of them, a search pays for those
//! alone: it decides one variable at a time, propagates what follows (every zero of a table is a clause), learns a clause from every
//! conflict, splits what is left into components that share no clause, and counts each component once ([`cache`]), as the
//! solvers for #SAT do (Bayardo and Pehoushek 2000; Sang, Bacchus, Beame, Kautz and Pitassi 2004; Thurley 2006). The sum is exact up to
//! rounding: all numbers are positive, so that relative errors of products add up and those of sums do not grow.

mod cache;
mod clauses;
mod component;
mod count;
mod trail;

use self::clauses::{Formula, Weight};
use self::count::Count;
use super::answer::Exact;
use super::checks::{check_tables, check_temperature};
use super::rounding::{Enclosure, U};
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model};
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;
use crate::tables::reduce;

/// Share of the memory limit that counts of components may take.
const CACHE_SHARE: f64 = 0.5;

/// A model with hard zeros whose variables have at most two states left.
pub(crate) struct Counting {
    cardinalities: Vec<u32>,
    /// Over the variables that have two states left.
    reduced: FactorModel,
}

impl Counting {
    /// `None` where a search has nothing to gain: no zeros, or more than two states.
    pub(crate) fn of(model: &Model) -> Option<Self> {
        let factors = model.factors().ok().filter(|f| f.has_hard_zeros())?;
        let reduced = reduce::restrict(&factors).ok()?.model;
        let is_applicable = reduced.is_binary() && reduced.has_hard_zeros();
        is_applicable.then(|| Counting { cardinalities: factors.cardinalities().to_vec(), reduced })
    }

    /// log Z with a rigorous enclosure, without marginals.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when weights leave the range or tables are too large for clauses; [`Error::Interrupted`].
    pub(crate) fn solve(&self, eps: f64, settings: &Settings, observer: &mut dyn Observer) -> Result<Exact> {
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        check_temperature(eps)?;
        check_tables(&self.reduced, eps)?;
        let too_large =
            || Error::NotApplicable("tables with hard zeros are too large to be counted over".into());
        let formula = Formula::new(&self.reduced, eps).ok_or_else(too_large)?;
        let bytes = (CACHE_SHARE * settings.memory_limit as f64) as usize;
        let count = match Count::new(&formula, bytes) {
            Some(mut count) => count.run(&mut monitor)?,
            None => Weight::ZERO,
        };
        let mut exact = self.answer(count, &formula, eps)?;
        exact.seconds = monitor.seconds();
        Ok(exact)
    }

    fn answer(&self, count: Weight, formula: &Formula, eps: f64) -> Result<Exact> {
        if count.is_zero() {
            let nothing = Enclosure::point(f64::NEG_INFINITY);
            return Ok(Exact::new(&self.cardinalities, eps, f64::NEG_INFINITY, nothing));
        }
        let relative = 1.01 * U * count.roundings;
        if !(relative < 1e-2) {
            return Err(Error::NotApplicable("the count errs by more than a hundredth".into()));
        }
        // log(1 + t) lies within 1.1 |t| of 0 for such t.
        let log = Interval::point(count.number.value).log()
            + Interval::point(count.number.exponent as f64) * Interval::LN_2
            + Interval::around(0.0, 1.1 * relative)
            + formula.offset;
        let log_z = Interval::point(self.reduced.constant())
            + Interval::point(eps) * log
            + Interval::around(0.0, self.reduced.uncertainty());
        let bounds = Enclosure { low: log_z.lo, high: log_z.hi };
        Ok(Exact::new(&self.cardinalities, eps, log_z.center_radius().0, bounds))
    }
}

#[cfg(test)]
mod tests;
