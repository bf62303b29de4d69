//! What is refused before any work is done: temperatures, values and tables out of range.

use super::choose::Planned;
use super::cost::Wanted;
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::{Monitor, Observer};
use crate::problem::EPS_RANGE;
use crate::settings::Settings;

/// A monitor for one run, of settings and a temperature that are allowed.
pub(super) fn start<'o>(
    eps: f64,
    settings: &Settings,
    observer: &'o mut dyn Observer,
) -> Result<Monitor<'o>> {
    settings.validate()?;
    check_temperature(eps)?;
    Ok(Monitor::new(settings, usize::MAX, observer))
}

pub(super) fn check_temperature(eps: f64) -> Result<()> {
    if EPS_RANGE.contains(&eps) {
        return Ok(());
    }
    let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
    Err(Error::Setting(format!("eps = {eps}: expected a temperature between {low:e} and {high:e}")))
}

/// [`Error::Memory`] unless the tables fit.
pub(super) fn require(planned: &Planned, wanted: Wanted, settings: &Settings) -> Result<()> {
    let bytes = planned.bytes(wanted);
    let bytes = if bytes < 9e18 { bytes as u64 } else { u64::MAX };
    let what = format_args!("exact elimination with tables of width {}", planned.width);
    let hint = "raise the memory limit, fix more variables by evidence, or ask for bounds instead";
    settings.require_memory(bytes, what, hint)
}

/// Refuses values of f that leave the range of floating point when added up and divided by eps.
pub(super) fn check_range(scale: f64, eps: f64) -> Result<()> {
    if scale / eps.min(1.0) < 1e300 {
        return Ok(());
    }
    Err(Error::NotApplicable(format!(
        "values of f up to {scale:e} at eps = {eps:e} exceed the range of floating point"
    )))
}

pub(super) fn check_tables(model: &FactorModel, eps: f64) -> Result<()> {
    let largest = |table: &[f64]| table.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
    check_range(model.factors().map(|f| largest(f.table)).sum(), eps)
}
