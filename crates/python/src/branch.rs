//! Tasks of `zbound.branch`: parts of the state space as small messages.

use crate::enter::Watch;
use crate::errors::to_py;
use crate::model::Model;
use pyo3::prelude::*;
use std::sync::Arc;
use zbound::query::branch::{Part, Task, expand, total};

/// States that are fixed, lower and upper bound, whether the sum is exact.
type Row = (Vec<(usize, u32)>, f64, f64, bool);

/// Splits one part; see `zbound.branching.run_task`.
#[pyfunction(name = "_branch_expand")]
#[pyo3(signature = (model, states, *, eps, splits, method, time_limit, memory_limit, seed))]
#[allow(clippy::too_many_arguments, reason = "one per field of a task")]
pub(crate) fn branch_expand(
    py: Python<'_>,
    model: &Model,
    states: Vec<(usize, u32)>,
    eps: f64,
    splits: usize,
    method: Option<&str>,
    time_limit: Option<f64>,
    memory_limit: Option<u64>,
    seed: u64,
) -> PyResult<(Vec<Row>, &'static str)> {
    let mut task = Task::new(eps, splits);
    task.method = method.map(str::parse).transpose().map_err(|error| to_py(py, error))?;
    task.settings = task.settings.with_time_limit(time_limit).with_seed(seed);
    task.settings.memory_limit = memory_limit.unwrap_or(task.settings.memory_limit);
    let inner = Arc::clone(&model.inner);
    let watch = Watch { callback: None, is_long: true, threads: 1 };
    let (parts, method) = watch.run(py, move |observer| expand(&inner, &states, &task, observer))?;
    let rows = parts.into_iter().map(|p| (p.states, p.lower, p.upper, p.is_exact)).collect();
    Ok((rows, method.name()))
}

/// Certified sides of eps log Z of disjoint parts together.
#[pyfunction(name = "_branch_total")]
pub(crate) fn branch_total(rows: Vec<(f64, f64)>, eps: f64) -> (f64, f64) {
    let part = |(lower, upper)| Part { states: Vec::new(), lower, upper, is_exact: false };
    total(&rows.into_iter().map(part).collect::<Vec<_>>(), eps)
}
