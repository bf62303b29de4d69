//! Models from files, from bytes and from the seeded generator.

use crate::enter::briefly;
use crate::model::{tuple, wrap};
use pyo3::prelude::*;
use std::path::PathBuf;
use zbound::generate::{Family, GenerateSpec, Graph};
use zbound::io::{self, ReadOptions};

/// Reads a model file; see `zbound.read`.
#[pyfunction]
#[pyo3(signature = (path, format = None, beta = 1.0, evidence = None))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    beta: f64,
    evidence: Option<PathBuf>,
) -> PyResult<Py<PyAny>> {
    let model = briefly(py, || {
        let format = format.map(str::parse).transpose()?;
        io::read(&path, &ReadOptions { format, beta, evidence })
    })?;
    wrap(py, model, Some(path.display().to_string()), None)
}

/// Reads a model from bytes; see `zbound.read_bytes`.
#[pyfunction]
#[pyo3(signature = (data, format, beta = 1.0, names = None))]
pub(crate) fn read_bytes(
    py: Python<'_>,
    data: &[u8],
    format: &str,
    beta: f64,
    names: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = ReadOptions { beta, ..ReadOptions::default() };
    let model = briefly(py, || io::read_bytes("memory", data, format.parse()?, &options))?;
    let names = tuple(py, model.variables(), names)?;
    wrap(py, model, None, names)
}

/// Draws a random model; see `zbound.generate`.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    family: &str,
    graph: &str,
    d: usize,
    w: Option<f64>,
    seed: u64,
) -> PyResult<Py<PyAny>> {
    let model = briefly(py, || {
        let (family, graph): (Family, Graph) = (family.parse()?, graph.parse()?);
        if w.is_none() && family.needs_strength() {
            let message = format!("family {} needs the strength of its couplings: give w", family.name());
            return Err(zbound::Error::Setting(message));
        }
        zbound::generate::generate(&GenerateSpec { family, graph, d, w: w.unwrap_or(0.0), seed })
    })?;
    wrap(py, model.into(), None, None)
}
