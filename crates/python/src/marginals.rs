//! Certified intervals around marginals, and samples.

use crate::enter::Watch;
use crate::errors::{in_python_terms, to_py};
use crate::model::Model;
use crate::solve::SHORT_SPINS;
use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use zbound::Settings;
use zbound::query::marginals::{MarginalsRequest, marginals};
use zbound::query::sample::{SampleRequest, sample as draw};
use zbound::run::{BoundRequest, MethodChoice};

/// Proved intervals around the laws of variables and pairs; see `zbound.marginal_intervals`.
#[pyfunction]
#[pyo3(signature = (model, variables, *, methods, pairs, eps, tol, time_limit, threads, memory_limit, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.marginal_intervals")]
pub(crate) fn marginal_intervals<'py>(
    py: Python<'py>,
    model: &Model,
    variables: Option<Vec<usize>>,
    methods: Vec<String>,
    pairs: Vec<(usize, usize)>,
    eps: f64,
    tol: f64,
    time_limit: Option<f64>,
    threads: usize,
    memory_limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let resolve = || -> zbound::Result<MarginalsRequest> {
        let mut bound = BoundRequest::default();
        bound.methods = MethodChoice::from_names(&methods)?;
        bound.eps = eps;
        bound.settings = Settings::default().with_tol(tol).with_time_limit(time_limit).with_threads(threads);
        bound.settings.memory_limit = memory_limit.unwrap_or(bound.settings.memory_limit);
        bound.path = model.path.clone();
        bound.validate()?;
        Ok(MarginalsRequest { variables, pairs, want_states: true, bound })
    };
    let request = resolve().map_err(|error| to_py(py, error))?;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: progress, is_long: true, threads };
    let (record, _) = watch.run(py, move |observer| marginals(&inner, &request, observer, &mut |_| {}))?;
    let table = |law: Vec<[f64; 2]>| {
        let rows = law.len();
        PyArray1::from_vec(py, law.into_iter().flatten().collect::<Vec<f64>>()).reshape([rows, 2])
    };
    let (numbers, laws) = (PyList::empty(py), PyList::empty(py));
    for marginal in &record.marginals {
        numbers.append(marginal.variable)?;
        laws.append(table(marginal.law())?)?;
    }
    let joint = PyDict::new(py);
    for pair in record.pairs {
        let (rows, columns) = (pair.table.len(), pair.table.first().map_or(0, Vec::len));
        let cells: Vec<f64> = pair.table.into_iter().flatten().flatten().collect();
        joint.set_item(pair.variables, PyArray1::from_vec(py, cells).reshape([rows, columns, 2])?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("variables", numbers)?;
    dict.set_item("laws", laws)?;
    dict.set_item("pairs", joint)?;
    dict.set_item("methods", record.methods.iter().map(|m| m.name()).collect::<Vec<_>>())?;
    dict.set_item("status", record.status.name())?;
    dict.set_item("seconds", record.seconds)?;
    dict.set_item("reason", record.reason.map(|r| in_python_terms(&r)))?;
    Ok(dict)
}

/// States drawn from the model; see `zbound.sample`.
#[pyfunction]
#[pyo3(signature = (model, n, *, seed, eps, time_limit, threads, memory_limit, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.sample")]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    model: &Model,
    n: usize,
    seed: u64,
    eps: f64,
    time_limit: Option<f64>,
    threads: usize,
    memory_limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = Settings::default().with_time_limit(time_limit).with_threads(threads).with_seed(seed);
    settings.memory_limit = memory_limit.unwrap_or(settings.memory_limit);
    settings.validate().map_err(|error| to_py(py, error))?;
    let request = SampleRequest { n, eps, settings, path: model.path.clone() };
    let inner = Arc::clone(&model.inner);
    let is_long = inner.d() > SHORT_SPINS || n > 1000;
    let watch = Watch { callback: progress, is_long, threads };
    let (record, _) = watch.run(py, move |observer| draw(&inner, &request, observer))?;
    let (rows, columns) = (record.samples.len(), model.inner.variables());
    let cells: Vec<i64> = record.samples.into_iter().flatten().collect();
    let dict = PyDict::new(py);
    dict.set_item("states", PyArray1::from_vec(py, cells).reshape([rows, columns])?)?;
    dict.set_item("kind", record.sampler.name())?;
    dict.set_item("seed", record.seed)?;
    dict.set_item("status", record.status.name())?;
    dict.set_item("seconds", record.seconds)?;
    dict.set_item("reason", record.reason.map(|r| in_python_terms(&r)))?;
    Ok(dict)
}
