//! Pickling: a model as plain Python values, so that it can cross to another process.

use crate::errors;
use crate::model::{Class, Model, wrap, wrap_as};
use crate::polynomials::Polynomial;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zbound::{Alphabet, FactorModel, Source, Units, VarSet};

/// Coefficients or tables, the part of the state that depends on the kind of model.
type Tables = Vec<(Vec<usize>, Vec<f64>)>;

/// `(restore, state)` for `__reduce__`.
pub(crate) fn reduce<'py>(object: &Bound<'py, Model>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let (py, model) = (object.py(), object.get());
    let inner = &model.inner;
    let (kind, constant, uncertainty, tables): (&str, f64, f64, Tables) = match inner.source() {
        Source::Polynomial(f) => {
            let list = f.coefficients().map(|(set, v)| (set.iter().collect(), vec![v])).collect();
            let kind = if object.is_instance_of::<Polynomial>() { "polynomial" } else { "ising" };
            (kind, 0.0, f.uncertainty(), list)
        }
        Source::Factors(f) => {
            let scope = |s: &[u32]| s.iter().map(|&i| i as usize).collect();
            let list = f.factors().map(|f| (scope(f.scope), f.table.to_vec())).collect();
            ("factors", f.constant(), f.uncertainty(), list)
        }
        _ => return Err(errors::named(py, "ModelError", "this kind of model cannot be pickled".into())),
    };
    let units = match inner.units {
        Units::Cut => ("cut", 1.0),
        Units::Energy { beta } if inner.alphabet == Alphabet::Bits => ("energy of bits", beta),
        Units::Energy { beta } => ("energy", beta),
        _ => ("plain", 1.0),
    };
    let cardinalities: Vec<usize> = (0..inner.variables()).map(|i| inner.cardinality(i) as usize).collect();
    let domains = (cardinalities, inner.fixed().to_vec());
    let numbers = (inner.variables(), constant, uncertainty);
    let names = model.names.as_ref().map(|names| names.clone_ref(py));
    let state = (kind, numbers, tables, domains, units, inner.warnings.clone(), model.path.clone(), names);
    let restore = py.import("zbound._zbound")?.getattr("_restore")?;
    Ok((restore, state.into_pyobject(py)?))
}

/// Rebuilds a pickled model.
#[pyfunction(name = "_restore")]
#[allow(clippy::too_many_arguments, reason = "one per field of the pickled state")]
pub(crate) fn restore(
    py: Python<'_>,
    kind: &str,
    numbers: (usize, f64, f64),
    tables: Tables,
    domains: (Vec<usize>, Vec<Option<u32>>),
    units: (String, f64),
    warnings: Vec<String>,
    path: Option<String>,
    names: Option<Py<PyTuple>>,
) -> PyResult<Py<PyAny>> {
    let build = || -> zbound::Result<zbound::Model> {
        let (variables, constant, uncertainty) = numbers;
        let source = match kind {
            "polynomial" | "ising" => {
                let sets = tables.iter().flat_map(|(set, v)| v.iter().map(move |&v| (set, v)));
                let sets = sets.map(|(set, v)| (VarSet::from_iter(set.iter().copied()), v));
                let f = zbound::Polynomial::from_coefficients(variables, sets)?;
                Source::Polynomial(f.with_uncertainty(uncertainty)?)
            }
            _ => {
                let mut model = FactorModel::with_cardinalities(&domains.0)?;
                model.add_constant(constant);
                // Adding rounds up by one place.
                model.add_uncertainty(uncertainty.next_down());
                tables.iter().try_for_each(|(scope, table)| model.push(scope, table))?;
                Source::Factors(model)
            }
        };
        let evidence: Vec<(usize, u32)> =
            domains.1.iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s))).collect();
        zbound::Model::new(source).with_states(&evidence)
    };
    let mut model = build().map_err(|error| errors::to_py(py, error))?;
    model.warnings = warnings;
    model.units = match units.0.as_str() {
        "cut" => Units::Cut,
        "energy" | "energy of bits" => Units::Energy { beta: units.1 },
        _ => Units::Plain,
    };
    if units.0 == "energy of bits" && matches!(model.source(), Source::Polynomial(_)) {
        model.alphabet = Alphabet::Bits;
    }
    // Anyone may write a pickle: only a polynomial on free spins may claim to be one.
    match model.source() {
        Source::Polynomial(_) if kind == "polynomial" && model.d() == model.variables() => {
            wrap_as(py, Class::Polynomial, model, path, names)
        }
        _ => wrap(py, model, path, names),
    }
}
