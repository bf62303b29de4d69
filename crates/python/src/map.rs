//! Zero temperature: the maximum of f.

use crate::certificate::Certificate;
use crate::enter::Watch;
use crate::errors::{in_python_terms, to_py};
use crate::model::Model;
use crate::solve::SHORT_SPINS;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use zbound::query::map::{Cuts, MapRequest};
use zbound::{FeatureSpec, Settings};

/// A certified bound on max f and a good assignment; see `zbound.map`.
#[pyfunction]
#[pyo3(signature = (model, *, features, cuts, tol, max_iterations, time_limit, memory_limit, seed, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.map")]
pub(crate) fn map<'py>(
    py: Python<'py>,
    model: &Model,
    features: Option<&str>,
    cuts: Option<&str>,
    tol: f64,
    max_iterations: Option<usize>,
    time_limit: Option<f64>,
    memory_limit: Option<u64>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let resolve = || -> zbound::Result<MapRequest> {
        let mut settings = Settings::default()
            .with_tol(tol)
            .with_max_iterations(max_iterations)
            .with_time_limit(time_limit)
            .with_seed(seed);
        settings.memory_limit = memory_limit.unwrap_or(settings.memory_limit);
        settings.validate()?;
        let close = cuts.is_none() && features.is_none();
        let features = features.map_or(Ok(FeatureSpec::Default), str::parse)?;
        let cuts = cuts.map_or(Ok(Cuts::None), str::parse)?;
        let path = model.path.clone();
        Ok(MapRequest { features, cuts, close, settings, path, ..MapRequest::default() })
    };
    let request = resolve().map_err(|error| to_py(py, error))?;
    let is_long = model.inner.d() > SHORT_SPINS || request.features != FeatureSpec::Default;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: progress, is_long, threads: 1 };
    let report = watch.run(py, move |observer| zbound::query::map::map(&inner, &request, observer))?;
    let (record, dict) = (report.record, PyDict::new(py));
    dict.set_item("upper", record.upper)?;
    dict.set_item("value", record.value)?;
    // Spins and bits are bytes; numbers of states may not be.
    match record.assignment.iter().map(|&x| i8::try_from(x)).collect::<Result<Vec<i8>, _>>() {
        Ok(small) => dict.set_item("assignment", PyArray1::from_vec(py, small))?,
        Err(_) => dict.set_item("assignment", PyArray1::from_vec(py, record.assignment))?,
    }
    dict.set_item("relative_gap", record.relative_gap)?;
    dict.set_item("proof", record.proof.map(|proof| proof.name()))?;
    dict.set_item("nodes", record.nodes)?;
    dict.set_item("status", record.status.name())?;
    dict.set_item("certified", record.certified)?;
    dict.set_item("relaxation_gap", record.relaxation_gap)?;
    dict.set_item("iterations", record.iterations)?;
    dict.set_item("seconds", record.seconds)?;
    dict.set_item("cuts", record.cuts)?;
    dict.set_item("energy", record.energy)?;
    dict.set_item("energy_lower", record.energy_lower)?;
    dict.set_item("reason", record.reason.map(|r| in_python_terms(&r)))?;
    dict.set_item(
        "certificate",
        report.certificate.map(|c| Certificate::solved(c, &model.inner, report.zero_floor)),
    )?;
    Ok(dict)
}
