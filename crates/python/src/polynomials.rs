//! The classes of models whose f is a polynomial: pairwise (`Ising`) and of any arity (`Polynomial`).

use crate::couplings;
use crate::enter::briefly;
use crate::errors;
use crate::model::{Model, base};
use numpy::{AllowTypeChange, PyArray1, PyArray2, PyArrayLike1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use zbound::{Source, VarSet};

/// A pairwise model `f(x) = c + h.x + sum_{i<j} J_ij x_i x_j` on spins in {-1, +1}.
#[pyclass(frozen, extends = Model, module = "zbound._zbound")]
pub(crate) struct Ising;

/// A model `f(x) = sum_A theta_A x^A` with terms of any arity on spins in {-1, +1}.
#[pyclass(frozen, extends = Model, module = "zbound._zbound")]
pub(crate) struct Polynomial;

#[pymethods]
impl Ising {
    #[new]
    #[pyo3(signature = (h, J = None, *, constant = 0.0, names = None))]
    #[allow(non_snake_case, reason = "the contract calls the matrix J")]
    fn new(
        py: Python<'_>,
        h: PyArrayLike1<'_, f64, AllowTypeChange>,
        J: Option<&Bound<'_, PyAny>>,
        constant: f64,
        names: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let fields = h.as_array().to_vec();
        let triples = J.map_or(Ok(Vec::new()), |matrix| couplings::from_matrix(py, fields.len(), matrix))?;
        ising(py, &fields, &triples, constant, names)
    }

    /// The model with couplings `values[k]` on the pairs `edges[k] = (i, j)`; a zero keeps its edge.
    #[staticmethod]
    #[pyo3(signature = (h, edges, values, *, constant = 0.0, names = None))]
    fn from_edges(
        py: Python<'_>,
        h: PyArrayLike1<'_, f64, AllowTypeChange>,
        edges: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        constant: f64,
        names: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Self>> {
        let triples = couplings::from_edges(py, edges, values)?;
        Py::new(py, ising(py, &h.as_array().to_vec(), &triples, constant, names)?)
    }

    /// The constant c.
    #[getter]
    fn constant(slf: &Bound<'_, Self>) -> f64 {
        pairwise_part(slf.as_super()).constant()
    }

    /// Fields h, shape (d,).
    #[getter]
    fn fields<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(slf.py(), pairwise_part(slf.as_super()).fields())
    }

    /// Edges i < j in lexicographic order, shape (m, 2).
    #[getter]
    fn edges<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        edges(slf.py(), pairwise_part(slf.as_super()))
    }

    /// Couplings, one per edge, shape (m,).
    #[getter]
    fn couplings<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(slf.py(), pairwise_part(slf.as_super()).couplings())
    }
}

#[pymethods]
impl Polynomial {
    #[new]
    #[pyo3(signature = (d, coefficients, *, names = None))]
    fn new(
        py: Python<'_>,
        d: usize,
        coefficients: &Bound<'_, PyDict>,
        names: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let mut list = Vec::with_capacity(coefficients.len());
        for (key, value) in coefficients {
            let members: Vec<usize> = key.extract()?;
            let set: VarSet = members.iter().copied().filter(|&i| i < d).collect();
            if set.len() != members.len() {
                let message =
                    format!("term {members:?} repeats a variable or names one that d = {d} does not have");
                return Err(errors::named(py, "ModelError", message));
            }
            list.push((set, value.extract::<f64>()?));
        }
        let mut seen = std::collections::HashSet::new();
        if let Some((set, _)) = list.iter().find(|(set, _)| !seen.insert(set.clone())) {
            return Err(errors::named(py, "ModelError", format!("term {set} is given twice")));
        }
        let f = briefly(py, || zbound::Polynomial::from_coefficients(d, list))?;
        let base = base(py, f.into(), None, names)?;
        Ok(PyClassInitializer::from(base).add_subclass(Polynomial))
    }

    /// Every coefficient as `{(i, ...): value}`, the constant under `()`.
    #[getter]
    fn coefficients<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(slf.py());
        if let Source::Polynomial(f) = slf.as_super().get().inner.source() {
            for (set, value) in f.coefficients() {
                dict.set_item(PyTuple::new(slf.py(), set.iter().collect::<Vec<_>>())?, value)?;
            }
        }
        Ok(dict)
    }
}

fn ising(
    py: Python<'_>,
    fields: &[f64],
    triples: &[couplings::Triple],
    constant: f64,
    names: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyClassInitializer<Ising>> {
    let model = briefly(py, || zbound::Ising::new(fields.len(), fields, triples)?.with_constant(constant))?;
    let base = base(py, model.into(), None, names)?;
    Ok(PyClassInitializer::from(base).add_subclass(Ising))
}

/// The pairwise part of a model whose class says that it is a polynomial.
fn pairwise_part<'a>(model: &'a Bound<'_, Model>) -> &'a zbound::Ising {
    match model.get().inner.source() {
        Source::Polynomial(f) => f.pairwise_part(),
        _ => unreachable!("an Ising object is made from a polynomial"),
    }
}

fn edges<'py>(py: Python<'py>, model: &zbound::Ising) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let flat: Vec<i64> = model.edges().iter().flatten().map(|&i| i64::from(i)).collect();
    PyArray1::from_vec(py, flat).reshape([model.edges().len(), 2])
}
