//! Divergences from moments.

use crate::enter::Watch;
use crate::errors::to_py;
use crate::model::Model;
use numpy::{AllowTypeChange, PyArrayLike1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use zbound::query::kl::{Distribution, Law};
use zbound::{FeatureSpec, Settings};

/// Lower bounds on D(p || q); see `zbound.kl`.
#[pyfunction]
#[pyo3(signature = (p, q, *, features, eps, greedy, time_limit, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.kl")]
pub(crate) fn kl<'py>(
    py: Python<'py>,
    p: &Bound<'py, PyAny>,
    q: Option<&Bound<'py, PyAny>>,
    features: Option<&str>,
    eps: f64,
    greedy: Option<usize>,
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = features.map_or(Ok(FeatureSpec::Default), str::parse).map_err(|error| to_py(py, error))?;
    let (p, q) = (law(p)?, q.map(law).transpose()?);
    let settings = Settings::default().with_time_limit(time_limit);
    settings.validate().map_err(|error| to_py(py, error))?;
    // The tables of a distribution come before the first look at the observer.
    let watch = Watch { callback: progress, is_long: true, threads: 1 };
    let record = watch.run(py, move |observer| {
        zbound::query::kl::kl_with(&p, q.as_ref(), eps, &spec, greedy, &settings, observer)
    })?;
    let dict = PyDict::new(py);
    let tuple = |set: Vec<usize>| PyTuple::new(py, set);
    dict.set_item("eps", record.eps)?;
    dict.set_item("kl", record.kl)?;
    dict.set_item("kl_lower", record.kl_lower)?;
    dict.set_item("kl_lower_diag", record.kl_lower_diag)?;
    dict.set_item("features", record.features.into_iter().map(tuple).collect::<PyResult<Vec<_>>>()?)?;
    let steps = record.steps.map(|steps| {
        let step = |s: zbound::query::kl::KlStepRecord| {
            Ok((tuple(s.feature)?, s.kl_lower, s.kl_lower_diag, s.phi_upper))
        };
        steps.into_iter().map(step).collect::<PyResult<Vec<_>>>()
    });
    dict.set_item("steps", steps.transpose()?)?;
    dict.set_item("reason", record.reason)?;
    Ok(dict)
}

/// A model, or a table of 2^d probabilities.
fn law(object: &Bound<'_, PyAny>) -> PyResult<Law> {
    if let Ok(model) = object.cast::<Model>() {
        return Ok(Law::Gibbs(Box::new(model.get().inner.as_ref().clone())));
    }
    let table: PyArrayLike1<'_, f64, AllowTypeChange> = object.extract()?;
    let table = Distribution::new(table.as_array().to_vec());
    table.map(Law::Table).map_err(|error| to_py(object.py(), error))
}
