//! Models as Python objects.

use crate::enter::briefly;
use crate::errors;
use crate::polynomials::{Ising, Polynomial};
use crate::state;
use numpy::{AllowTypeChange, PyArray1, PyArrayLike1, PyArrayLike2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;
use zbound::io::{self, Format};
use zbound::{Alphabet, Source};

/// A binary model as read from a file: a polynomial or factor tables, with evidence.
#[pyclass(frozen, subclass, module = "zbound._zbound")]
pub(crate) struct Model {
    pub(crate) inner: Arc<zbound::Model>,
    pub(crate) path: Option<String>,
    pub(crate) names: Option<Py<PyTuple>>,
}

#[pymethods]
impl Model {
    /// Number of free spins.
    #[getter]
    fn d(&self) -> usize {
        self.inner.d()
    }

    /// Number of variables, those fixed by evidence included.
    #[getter]
    fn variables(&self) -> usize {
        self.inner.variables()
    }

    /// Names of the variables in order, or None.
    #[getter]
    fn names(&self, py: Python<'_>) -> Option<Py<PyTuple>> {
        self.names.as_ref().map(|names| names.clone_ref(py))
    }

    /// The file the model was read from, or None.
    #[getter]
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// What the reader wants you to know.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings.clone()
    }

    /// Variables fixed by evidence, with their spins (states, for variables of other than two states).
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (i, state) in self.inner.fixed().iter().enumerate() {
            let value = state.map(|s| match self.inner.cardinality(i) {
                2 => 2 * i64::from(s) - 1,
                _ => i64::from(s),
            });
            value.map(|value| dict.set_item(i, value)).transpose()?;
        }
        Ok(dict)
    }

    /// The model with some variables fixed: `{variable: -1 or +1}`, or a state where there are other than two.
    ///
    /// A variable is its name, where the model has names, or its number.
    fn with_evidence(&self, py: Python<'_>, evidence: &Bound<'_, PyDict>) -> PyResult<Model> {
        let names = self.positions(py)?;
        let number = |key: &Bound<'_, PyAny>| -> PyResult<usize> {
            if let Ok(Some(known)) = names.get_item(key) {
                return known.extract();
            }
            key.extract().map_err(|_| {
                let message =
                    format!("evidence names {key}, which is neither a name nor a number of a variable");
                errors::named(py, "ModelError", message)
            })
        };
        let pair = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<(usize, i64)> {
            Ok((number(&key)?, value.extract()?))
        };
        let evidence = evidence.iter().map(pair).collect::<PyResult<std::collections::BTreeMap<_, _>>>()?;
        let inner = briefly(py, || {
            let is_state = |i: usize| i < self.inner.variables() && self.inner.cardinality(i) != 2;
            let (states, spins): (Vec<_>, Vec<_>) = evidence.into_iter().partition(|&(i, _)| is_state(i));
            // Out of range is out of range: what does not fit becomes a value that is refused by name.
            let states: Vec<(usize, u32)> =
                states.into_iter().map(|(i, s)| (i, u32::try_from(s).unwrap_or(u32::MAX))).collect();
            let spins: Vec<(usize, i8)> =
                spins.into_iter().map(|(i, s)| (i, i8::try_from(s).unwrap_or(0))).collect();
            self.inner.as_ref().clone().with_states(&states)?.with_evidence(&spins)
        })?;
        Ok(Model { inner: Arc::new(inner), path: self.path.clone(), names: self.names(py) })
    }

    /// f over the free spins, as an `Ising` when it is pairwise and a `Polynomial` otherwise.
    fn polynomial(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let f = briefly(py, || self.inner.polynomial())?;
        let free = |names: &Py<PyTuple>| -> PyResult<Py<PyTuple>> {
            let all = names.bind(py);
            let kept = self.inner.free_variables().into_iter().map(|i| all.get_item(i));
            Ok(PyTuple::new(py, kept.collect::<PyResult<Vec<_>>>()?)?.unbind())
        };
        let names = self.names.as_ref().map(free).transpose()?;
        wrap(py, zbound::Model::from(f), None, names)
    }

    /// f at the states in the rows of `x` (or at the one state `x`), over all variables.
    ///
    /// Evidence is not applied.
    fn value<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let of = |x: &[i8]| match self.inner.source() {
            Source::Polynomial(f) => f.value(x),
            Source::Factors(f) => f.value(x),
            _ => f64::NAN,
        };
        let variables = self.inner.variables();
        let check = |row: Vec<f64>| {
            if !self.inner.is_binary() {
                let message = "the model has variables of other than two states".to_owned();
                return Err(errors::named(py, "ModelError", message));
            }
            // Files of bits and of states write 0 for the spin -1.
            let is_spin = self.inner.alphabet == Alphabet::Spins;
            let row: Vec<f64> = row.iter().map(|&s| if s == 0.0 && !is_spin { -1.0 } else { s }).collect();
            if row.len() != variables || row.iter().any(|s| s.abs() != 1.0) {
                let message = format!("expected states of {variables} spins, each -1 or +1");
                return Err(errors::named(py, "ModelError", message));
            }
            Ok(row.iter().map(|&s| s as i8).collect::<Vec<i8>>())
        };
        if let Ok(one) = x.extract::<PyArrayLike1<'_, f64, AllowTypeChange>>() {
            let row = check(one.as_array().to_vec())?;
            return Ok(of(&row).into_pyobject(py)?.into_any());
        }
        let many: PyArrayLike2<'_, f64, AllowTypeChange> = x.extract()?;
        let rows = many.as_array();
        let values: PyResult<Vec<f64>> =
            rows.rows().into_iter().map(|row| check(row.to_vec()).map(|row| of(&row))).collect();
        Ok(PyArray1::from_vec(py, values?).into_any())
    }

    /// Writes the model on its free spins; the extension names the format unless `format` does.
    #[pyo3(signature = (path, format = None))]
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        briefly(py, || {
            let known = format.map(str::parse).transpose()?.or_else(|| Format::from_path(&path));
            let unknown =
                || zbound::Error::Setting(format!("{}: name the format with format=", path.display()));
            io::write(&self.inner, &path, known.ok_or_else(unknown)?)
        })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let class = slf.get_type().name()?;
        let model = slf.get();
        let (edges, terms) = counts(&model.inner);
        let terms = if terms > 0 { format!(", terms={terms}") } else { String::new() };
        let fixed = model.inner.variables() - model.inner.d();
        let fixed = if fixed > 0 { format!(", fixed={fixed}") } else { String::new() };
        Ok(format!("{class}(d={}, edges={edges}{terms}{fixed})", model.inner.d()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Model>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __hash__(&self) -> isize {
        let (edges, terms) = counts(&self.inner);
        (self.inner.variables() * 31 + edges * 7 + terms) as isize
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        state::reduce(slf)
    }
}

impl Model {
    /// The number of every name.
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (k, name) in self.names.iter().flat_map(|names| names.bind(py).iter().enumerate()) {
            dict.set_item(name, k)?;
        }
        Ok(dict)
    }
}

/// What every class of models holds.
pub(crate) fn base(
    py: Python<'_>,
    model: zbound::Model,
    path: Option<String>,
    names: Option<&Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let names = tuple(py, model.variables(), names)?;
    Ok(Model { inner: Arc::new(model), path, names })
}

/// Names of all variables, or none.
pub(crate) fn tuple(
    py: Python<'_>,
    variables: usize,
    names: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Py<PyTuple>>> {
    let Some(names) = names else { return Ok(None) };
    let names = PyTuple::new(py, names.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
    if names.len() != variables {
        let message = format!("{} names for {variables} variables", names.len());
        return Err(errors::named(py, "ModelError", message));
    }
    Ok(Some(names.unbind()))
}

/// The Python class of a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Model,
    Ising,
    Polynomial,
}

/// An object of the most specific class for `model`.
pub(crate) fn wrap(
    py: Python<'_>,
    model: zbound::Model,
    path: Option<String>,
    names: Option<Py<PyTuple>>,
) -> PyResult<Py<PyAny>> {
    let is_free = model.d() == model.variables();
    let class = match model.source() {
        Source::Polynomial(f) if is_free && f.as_ising().is_some() => Class::Ising,
        Source::Polynomial(_) if is_free => Class::Polynomial,
        _ => Class::Model,
    };
    wrap_as(py, class, model, path, names)
}

/// An object of the class given, which must fit the model.
pub(crate) fn wrap_as(
    py: Python<'_>,
    class: Class,
    model: zbound::Model,
    path: Option<String>,
    names: Option<Py<PyTuple>>,
) -> PyResult<Py<PyAny>> {
    let base = PyClassInitializer::from(Model { inner: Arc::new(model), path, names });
    Ok(match class {
        Class::Ising => Py::new(py, base.add_subclass(Ising))?.into_any(),
        Class::Polynomial => Py::new(py, base.add_subclass(Polynomial))?.into_any(),
        Class::Model => Py::new(py, base)?.into_any(),
    })
}

/// Edges and higher terms (or tables) before evidence.
fn counts(model: &zbound::Model) -> (usize, usize) {
    match model.source() {
        Source::Polynomial(f) => (f.pairwise_part().edges().len(), f.terms().len()),
        Source::Factors(f) => {
            let of = |test: fn(usize) -> bool| f.factors().filter(|f| test(f.scope.len())).count();
            (of(|arity| arity == 2), of(|arity| arity > 2))
        }
        _ => (0, 0),
    }
}
