//! Brackets over inverse temperature.

use crate::enter::Watch;
use crate::errors::to_py;
use crate::model::Model;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use zbound::Settings;
use zbound::run::{Betas, BoundRequest, MethodChoice, ScanPoint};

/// Bounds on log Z(beta); see `zbound.temperature_scan`.
#[pyfunction]
#[pyo3(signature = (model, betas, *, methods, tol, time_limit, threads, memory_limit, seed, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.temperature_scan")]
pub(crate) fn temperature_scan<'py>(
    py: Python<'py>,
    model: &Model,
    betas: Vec<f64>,
    methods: Vec<String>,
    tol: f64,
    time_limit: Option<f64>,
    threads: usize,
    memory_limit: Option<u64>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let resolve = || -> zbound::Result<(Betas, BoundRequest)> {
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::from_names(&methods)?;
        request.path = model.path.clone();
        let limit = memory_limit.unwrap_or(request.settings.memory_limit);
        request.settings = Settings::default()
            .with_tol(tol)
            .with_time_limit(time_limit)
            .with_threads(threads)
            .with_memory_limit(limit)
            .with_seed(seed);
        request.validate()?;
        Ok((Betas::new(betas)?, request))
    };
    let (betas, request) = resolve().map_err(|error| to_py(py, error))?;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: progress, is_long: true, threads };
    let record =
        watch.run(py, move |observer| zbound::run::scan(&inner, &betas, &request, observer, &mut |_| {}))?;
    let points = &record.points;
    let column = |of: fn(&ScanPoint) -> Option<f64>| {
        PyArray1::from_vec(py, points.iter().map(|p| of(p).unwrap_or(f64::NAN)).collect())
    };
    let side = |method: Option<zbound::Method>, from_others: bool| match method {
        _ if from_others => Some("convexity"),
        method => method.map(|m| m.name()),
    };
    let dict = PyDict::new(py);
    dict.set_item("betas", column(|p| Some(p.beta)))?;
    dict.set_item("lower", column(|p| p.log_z.lower))?;
    dict.set_item("upper", column(|p| p.log_z.upper))?;
    dict.set_item("estimate", column(|p| p.log_z.estimate))?;
    dict.set_item("seconds", column(|p| Some(p.seconds)))?;
    let lower_methods: Vec<_> = points.iter().map(|p| side(p.lower_method, p.lower_from_others)).collect();
    let upper_methods: Vec<_> = points.iter().map(|p| side(p.upper_method, p.upper_from_others)).collect();
    dict.set_item("lower_methods", lower_methods)?;
    dict.set_item("upper_methods", upper_methods)?;
    dict.set_item("statuses", points.iter().map(|p| p.status.name()).collect::<Vec<_>>())?;
    Ok(dict)
}
