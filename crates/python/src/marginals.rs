//! Certified intervals around marginals.

use crate::enter::Watch;
use crate::errors::{named, to_py};
use crate::model::Model;
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use std::sync::Arc;
use zbound::{Features, Problem, Settings, VarSet};

/// Proved intervals around `P(x_i = +1)`; see `zbound.marginal_intervals`.
#[pyfunction]
#[pyo3(signature = (model, variables, *, eps, tol, time_limit, progress))]
pub(crate) fn marginal_intervals<'py>(
    py: Python<'py>,
    model: &Model,
    variables: Option<Vec<usize>>,
    eps: f64,
    tol: f64,
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let inner = Arc::clone(&model.inner);
    let variables = variables.unwrap_or_else(|| (0..inner.variables()).collect());
    if let Some(i) = variables.iter().find(|&&i| i >= inner.variables()) {
        let message = format!("variable {i} is out of range: the model has {}", inner.variables());
        return Err(named(py, "SettingError", message));
    }
    let settings = Settings::default().with_tol(tol).with_time_limit(time_limit);
    settings.validate().map_err(|error| to_py(py, error))?;
    let watch = Watch { callback: progress, is_long: true, threads: 1 };
    let flat = watch.run(py, move |observer| {
        let f = inner.polynomial()?;
        // Nothing here has a moment matrix.
        let features = Features::new(f.d(), vec![VarSet::EMPTY])?;
        let problem = Problem::new(f, features)?.with_temperature(eps)?;
        let mut position = vec![None; inner.variables()];
        inner.free_variables().into_iter().enumerate().for_each(|(k, i)| position[i] = Some(k));
        let spins: Vec<usize> = variables.iter().filter_map(|&i| position[i]).collect();
        let intervals = zbound::query::marginals::marginal_intervals(&problem, &spins, &settings, observer)?;
        let mut found = intervals.into_iter();
        let interval = |&i: &usize| match inner.fixed()[i] {
            Some(state) => [f64::from(state); 2],
            None => found.next().unwrap_or([0.0, 1.0]),
        };
        Ok(variables.iter().flat_map(interval).collect::<Vec<f64>>())
    })?;
    let rows = flat.len() / 2;
    PyArray1::from_vec(py, flat).reshape([rows, 2])
}
