//! Tasks of `zbound.exact` on an executor: slices of log Z as small messages.

use crate::enter::Watch;
use crate::errors::to_py;
use crate::model::Model;
use pyo3::prelude::*;
use std::sync::Arc;
use zbound::Settings;

/// Lower bound, upper bound, value.
type Triple = (f64, f64, f64);

/// Fixed variables with their states, order of the others, seconds and width of one slice.
type Plan = (Vec<(usize, Vec<u32>)>, Vec<usize>, f64, usize);

fn settings(py: Python<'_>, time_limit: Option<f64>, memory_limit: Option<u64>) -> PyResult<Settings> {
    let mut settings = Settings::default().with_time_limit(time_limit);
    settings.memory_limit = memory_limit.unwrap_or(settings.memory_limit);
    settings.validate().map_err(|error| to_py(py, error))?;
    Ok(settings)
}

/// Cuts log Z into slices that fit the memory.
#[pyfunction(name = "_slice_plan")]
#[pyo3(signature = (model, *, time_limit, memory_limit))]
pub(crate) fn slice_plan(
    py: Python<'_>,
    model: &Model,
    time_limit: Option<f64>,
    memory_limit: Option<u64>,
) -> PyResult<Plan> {
    let settings = settings(py, time_limit, memory_limit)?;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: None, is_long: true, threads: 1 };
    let plan = watch.run(py, move |_| zbound::exact::slices(&inner, &settings))?;
    Ok((plan.fixed, plan.order, plan.cost.seconds, plan.cost.width))
}

/// Bounds on eps log Z of one slice; see `zbound.slicing.run_slice`.
#[pyfunction(name = "_slice_solve")]
#[pyo3(signature = (model, states, order, *, eps, time_limit, memory_limit))]
pub(crate) fn slice_solve(
    py: Python<'_>,
    model: &Model,
    states: Vec<(usize, u32)>,
    order: Vec<usize>,
    eps: f64,
    time_limit: Option<f64>,
    memory_limit: Option<u64>,
) -> PyResult<(f64, f64)> {
    let settings = settings(py, time_limit, memory_limit)?;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: None, is_long: true, threads: 1 };
    let found = watch
        .run(py, move |observer| zbound::exact::slice(&inner, &states, &order, eps, &settings, observer))?;
    Ok(found.log_z_bounds)
}

/// phi and eps log Z of all slices together.
#[pyfunction(name = "_slice_total")]
pub(crate) fn slice_total(
    py: Python<'_>,
    model: &Model,
    rows: Vec<(f64, f64)>,
    eps: f64,
) -> PyResult<(Triple, Triple)> {
    let whole = zbound::exact::sum(&model.inner, &rows, eps).map_err(|error| to_py(py, error))?;
    let triple = |bounds: (f64, f64), value: f64| (bounds.0, bounds.1, value);
    Ok((triple(whole.phi_bounds, whole.phi), triple(whole.log_z_bounds, whole.log_z)))
}
