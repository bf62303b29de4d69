//! Sweeps: plans and records of [`zbound::sweep`], which the command line uses too.

use crate::enter::{Watch, briefly};
use crate::model::Model;
use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use zbound::sweep::{COLUMNS, Cell, Config, Job, Overrides, Plan, SweepRecord, solve, tasks};
use zbound::{Error, Result, StopReason};

/// `(jobs of one instance as JSON, name of its model)`.
type Task = (String, Option<String>);

/// `(key of the record, grid, curve)` of a row.
type Row = (String, String, String);

/// The tasks of several configurations together, and the rows they give; see `zbound.sweep`.
#[pyfunction(name = "_sweep_plan")]
pub(crate) fn sweep_plan(
    py: Python<'_>,
    configs: Vec<(String, bool)>,
    models: HashMap<String, PyRef<'_, Model>>,
) -> PyResult<(Vec<Task>, Vec<Row>)> {
    let models: HashMap<String, zbound::Model> =
        models.into_iter().map(|(name, model)| (name, model.inner.as_ref().clone())).collect();
    briefly(py, move || {
        let mut jobs = Vec::new();
        for (text, is_toml) in &configs {
            let config = config(text, *is_toml)?;
            jobs.extend(Plan::with_models(&config, &Overrides::default(), &models)?.jobs);
        }
        let task = |jobs: &Vec<&Job>| (json(jobs), jobs[0].instance.model.clone());
        let tasks = tasks(jobs.iter(), |_| false).0.iter().map(task).collect();
        Ok((tasks, jobs.into_iter().map(|job| (job.key, job.grid, job.curve)).collect()))
    })
}

fn config(text: &str, is_toml: bool) -> Result<Config> {
    let setting = |why: String| Error::Setting(why);
    if is_toml {
        toml::from_str(text).map_err(|e| setting(e.to_string()))
    } else {
        serde_json::from_str(text).map_err(|e| {
            // Line and column are of a text that the user never saw.
            let message = e.to_string();
            setting(message.split(" at line ").next().unwrap_or_default().to_owned())
        })
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

/// The records of one task as lines of JSON: `(key, line)`.
#[pyfunction(name = "_sweep_solve")]
pub(crate) fn sweep_solve(
    py: Python<'_>,
    task: &str,
    model: Option<&Model>,
) -> PyResult<Vec<(String, String)>> {
    let jobs: Vec<Job> = briefly(py, || {
        serde_json::from_str(task).map_err(|e| Error::Setting(format!("not a task of a sweep: {e}")))
    })?;
    let model = model.map(|model| model.inner.clone());
    let watch = Watch { callback: None, is_long: true, threads: 1 };
    let records = watch.run(py, move |observer| {
        let jobs: Vec<&Job> = jobs.iter().collect();
        solve(&jobs, model.as_deref(), observer).ok_or(Error::Interrupted(StopReason::Cancelled))
    })?;
    Ok(records.into_iter().map(|record| (record.key.clone(), json(&record))).collect())
}

/// The flat form of a record, as `records.csv` has it.
#[pyfunction(name = "_sweep_row")]
pub(crate) fn sweep_row<'py>(
    py: Python<'py>,
    line: &str,
    grid: &str,
    curve: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let record: SweepRecord = briefly(py, || {
        serde_json::from_str(line).map_err(|e| Error::Setting(format!("not a record of a sweep: {e}")))
    })?;
    let row = PyDict::new(py);
    for (column, cell) in COLUMNS.iter().zip(record.cells(grid, curve)) {
        let value = match cell {
            Cell::Null => py.None().into_bound(py),
            Cell::Number(x) => x.into_bound_py_any(py)?,
            Cell::Whole(x) => x.into_bound_py_any(py)?,
            Cell::Flag(x) => x.into_bound_py_any(py)?,
            Cell::Text(x) => x.into_bound_py_any(py)?,
        };
        row.set_item(column, value)?;
    }
    Ok(row)
}
