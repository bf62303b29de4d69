//! Solves: from keyword arguments to a request, from a report to plain Python values.

use crate::certificate::Certificate;
use crate::enter::Watch;
use crate::errors::{in_python_terms, to_py};
use crate::history::History;
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::Arc;
use zbound::record::{MethodRecord, Sides};
use zbound::relax::term_moments;
use zbound::run::{BoundRequest, MethodChoice, Report};
use zbound::{FeatureSpec, Settings, Solution};

/// Free spins up to which one step of a solve takes far less than the time between two polls.
pub(crate) const SHORT_SPINS: usize = 32;

/// Bounds by the methods named; see `zbound.bound`.
#[pyfunction]
#[pyo3(signature = (model, *, methods, eps, features, tol, max_iterations, time_limit, threads, solver, rho, pairwise, greedy, ibound, memory_limit, seed, target_gap, pair_moments, want_certificate, progress))]
#[allow(clippy::too_many_arguments, reason = "one per keyword of zbound.bound")]
pub(crate) fn bound<'py>(
    py: Python<'py>,
    model: &Model,
    methods: Vec<String>,
    eps: f64,
    features: Option<&str>,
    tol: f64,
    max_iterations: Option<usize>,
    time_limit: Option<f64>,
    threads: usize,
    solver: &str,
    rho: &str,
    pairwise: &str,
    greedy: &str,
    ibound: Option<usize>,
    memory_limit: Option<u64>,
    seed: u64,
    target_gap: Option<f64>,
    pair_moments: bool,
    want_certificate: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let resolve = || -> zbound::Result<BoundRequest> {
        let mut settings = Settings::default()
            .with_tol(tol)
            .with_max_iterations(max_iterations)
            .with_time_limit(time_limit)
            .with_threads(threads)
            .with_solver(solver.parse()?)
            .with_rho(rho.parse()?)
            .with_pairwise(pairwise.parse()?)
            .with_greedy(greedy.parse()?)
            .with_ibound(ibound)
            .with_seed(seed);
        settings.memory_limit = memory_limit.unwrap_or(settings.memory_limit);
        if methods.is_empty() {
            return Err(zbound::Error::Setting("no method given".into()));
        }
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::from_names(&methods)?;
        request.eps = eps;
        request.features = features.map_or(Ok(FeatureSpec::Default), str::parse)?;
        request.target_gap = target_gap;
        request.want_pairwise = pair_moments;
        request.want_certificate = want_certificate;
        request.path = model.path.clone();
        request.settings = settings;
        request.validate()?;
        Ok(request)
    };
    let request = resolve().map_err(|error| to_py(py, error))?;
    let is_long = model.inner.d() > SHORT_SPINS || request.features != FeatureSpec::Default;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: progress, is_long, threads };
    // One method has one bracket: its history is not worth the documents.
    let is_one = matches!(&request.methods, MethodChoice::List(methods) if methods.len() == 1);
    let (report, history) = watch.run(py, move |observer| {
        if is_one {
            return Ok((zbound::run::bound(&inner, &request, observer)?, Vec::new()));
        }
        let mut history = History::new(observer);
        let report = zbound::run::bound(&inner, &request, &mut history)?;
        Ok((report, history.rows))
    })?;
    let dict = report_dict(py, report, &model.inner, pair_moments)?;
    let rows = history.len();
    let cells = history.into_iter().flatten().collect();
    dict.set_item("history", PyArray1::from_vec(py, cells).reshape([rows, 3])?)?;
    Ok(dict)
}

/// Exact inference; see `zbound.exact`.
#[pyfunction]
#[pyo3(signature = (model, *, eps, time_limit, threads, memory_limit, progress))]
pub(crate) fn exact<'py>(
    py: Python<'py>,
    model: &Model,
    eps: f64,
    time_limit: Option<f64>,
    threads: usize,
    memory_limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = Settings::default().with_time_limit(time_limit).with_threads(threads);
    settings.memory_limit = memory_limit.unwrap_or(settings.memory_limit);
    settings.validate().map_err(|error| to_py(py, error))?;
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: progress, is_long: model.inner.d() > SHORT_SPINS, threads };
    let answer = watch.run(py, move |observer| zbound::exact::exact(&inner, eps, &settings, observer))?;
    let free = model.inner.free_variables();
    let means = answer.means.iter().map(|m| (0.5 * (1.0 + m)).clamp(0.0, 1.0)).collect::<Vec<_>>();
    let is_binary = model.inner.is_binary();
    let marginals = is_binary.then(|| PyArray1::from_vec(py, model.inner.expand(&means, f64::from)));
    let best = model.inner.expand(&answer.best, |state| state);
    let argmax: Vec<i64> =
        best.into_iter().map(|s| if is_binary { 2 * i64::from(s) - 1 } else { i64::from(s) }).collect();
    let pairs = answer.pairwise.iter().map(|&(i, j, v)| (free[i as usize], free[j as usize], v));
    let dict = PyDict::new(py);
    dict.set_item("phi", (answer.phi_bounds.0, answer.phi_bounds.1, answer.phi))?;
    dict.set_item("log_z", (answer.log_z_bounds.0, answer.log_z_bounds.1, answer.log_z))?;
    dict.set_item("marginals", marginals)?;
    let states =
        (!answer.state_marginals.is_empty()).then(|| model.inner.state_laws(&answer.state_marginals));
    dict.set_item("state_marginals", state_arrays(py, states))?;
    dict.set_item("pairwise", pair_arrays(py, pairs)?)?;
    dict.set_item("entropy", answer.entropy)?;
    dict.set_item("max_f", answer.max_f)?;
    dict.set_item("argmax", PyArray1::from_vec(py, argmax))?;
    dict.set_item("algorithm", answer.algorithm.name())?;
    dict.set_item("states_or_width", answer.states_or_width)?;
    dict.set_item("seconds", answer.seconds)?;
    Ok(dict)
}

fn report_dict<'py>(
    py: Python<'py>,
    report: Report,
    model: &Arc<zbound::Model>,
    want_terms: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (record, dict) = (report.record, PyDict::new(py));
    let f = if want_terms { model.polynomial().ok().filter(|f| !f.terms().is_empty()) } else { None };
    let results = PyList::empty(py);
    for (result, solution) in record.results.into_iter().zip(report.solutions) {
        let terms = f.as_ref().map(|f| term_dict(py, f, record.eps, &result, solution.as_ref(), model));
        let entry = result_dict(py, result, solution, model)?;
        entry.set_item("terms", terms.transpose()?.flatten())?;
        results.append(entry)?;
    }
    dict.set_item("results", results)?;
    dict.set_item("eps", record.eps)?;
    dict.set_item("model", (record.model.path, record.model.d, record.model.edges, record.model.terms))?;
    let (best, name) = (record.best, |m: Option<zbound::Method>| m.map(|m| m.name()));
    dict.set_item("log_z", (best.log_z.lower, best.log_z.upper))?;
    dict.set_item("phi", (best.phi.lower, best.phi.upper))?;
    dict.set_item("best_methods", (name(best.lower_method), name(best.upper_method)))?;
    dict.set_item("best_estimate", (best.estimate, name(best.estimate_method)))?;
    dict.set_item("advice", record.advice)?;
    Ok(dict)
}

fn result_dict<'py>(
    py: Python<'py>,
    record: MethodRecord,
    solution: Option<Solution>,
    model: &Arc<zbound::Model>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let sides = |s: Sides| (s.lower, s.upper, s.estimate);
    dict.set_item("method", record.method.name())?;
    dict.set_item("phi", sides(record.phi))?;
    dict.set_item("log_z", sides(record.log_z))?;
    dict.set_item("relaxation_gap", record.relaxation_gap)?;
    dict.set_item("status", record.status.name())?;
    dict.set_item("certified", record.certified)?;
    dict.set_item("solver", record.solver.map(|s| s.name()))?;
    dict.set_item("iterations", record.iterations)?;
    dict.set_item("eigendecompositions", record.eigendecompositions)?;
    dict.set_item("seconds", record.seconds)?;
    let tuple = |set: Vec<usize>| PyTuple::new(py, set);
    let features = record.features.map(|sets| sets.into_iter().map(tuple).collect::<PyResult<Vec<_>>>());
    dict.set_item("features", features.transpose()?)?;
    let steps = record.steps.map(|steps| {
        steps.into_iter().map(|s| Ok((tuple(s.feature)?, s.phi_upper))).collect::<PyResult<Vec<_>>>()
    });
    dict.set_item("steps", steps.transpose()?)?;
    dict.set_item("marginals", record.marginals.map(|m| PyArray1::from_vec(py, m)))?;
    dict.set_item("state_marginals", state_arrays(py, record.state_marginals))?;
    let pairs = record.pairwise.map(|pairs| pair_arrays(py, pairs.into_iter()));
    dict.set_item("pairwise", pairs.transpose()?)?;
    dict.set_item("reason", record.reason.map(|r| in_python_terms(&r)))?;
    let (trace, certificate) = solution.map_or((Vec::new(), None), |s| (s.trace, s.certificate));
    let rows = trace.len();
    let cells = trace
        .into_iter()
        .flat_map(|p| [p.iteration as f64, p.lower, p.upper, p.seconds, p.eigendecompositions as f64]);
    dict.set_item("trace", PyArray1::from_vec(py, cells.collect()).reshape([rows, 5])?)?;
    dict.set_item("certificate", certificate.map(|c| solved(c, model)))?;
    Ok(dict)
}

/// `{(i, ...): E x^A}` over the terms of arity three and more, for methods that know them.
fn term_dict<'py>(
    py: Python<'py>,
    f: &zbound::Polynomial,
    eps: f64,
    record: &MethodRecord,
    solution: Option<&Solution>,
    model: &zbound::Model,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(moments) = term_moments(f, eps, record.method, solution) else { return Ok(None) };
    let (dict, free) = (PyDict::new(py), model.free_variables());
    for ((set, _), moment) in f.terms().iter().zip(moments) {
        dict.set_item(PyTuple::new(py, set.iter().map(|i| free[i]).collect::<Vec<_>>())?, moment)?;
    }
    Ok(Some(dict))
}

fn solved(certificate: zbound::certify::Certificate, model: &Arc<zbound::Model>) -> Certificate {
    Certificate::solved(certificate, model, None)
}

/// One array of probabilities per variable.
fn state_arrays<'py>(py: Python<'py>, laws: Option<Vec<Vec<f64>>>) -> Option<Vec<Bound<'py, PyArray1<f64>>>> {
    laws.map(|laws| laws.into_iter().map(|law| PyArray1::from_vec(py, law)).collect())
}

/// `(edges (m, 2), values (m,))`.
type PairArrays<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray1<f64>>);

fn pair_arrays<'py>(
    py: Python<'py>,
    pairs: impl Iterator<Item = (usize, usize, f64)>,
) -> PyResult<PairArrays<'py>> {
    let (mut edges, mut values) = (Vec::new(), Vec::new());
    for (i, j, value) in pairs {
        edges.extend([i as i64, j as i64]);
        values.push(value);
    }
    let edges = PyArray1::from_vec(py, edges).reshape([values.len(), 2])?;
    Ok((edges, PyArray1::from_vec(py, values)))
}
