//! Couplings from NumPy and SciPy: each pair once, or a symmetric matrix.

use crate::errors;
use numpy::{AllowTypeChange, PyArrayLike1, PyArrayLike2};
use pyo3::prelude::*;

/// One coupling `(i, j, J_ij)`.
pub(crate) type Triple = (usize, usize, f64);

/// Reads J, a dense or SciPy sparse d x d matrix, symmetric with zero diagonal or strictly upper.
///
/// A dense zero is no edge; a stored zero of a sparse matrix is an edge with coupling 0.
pub(crate) fn from_matrix(py: Python<'_>, d: usize, matrix: &Bound<'_, PyAny>) -> PyResult<Vec<Triple>> {
    if matrix.hasattr("tocoo")? { from_sparse(py, d, matrix) } else { from_dense(py, d, matrix) }
}

fn from_dense(py: Python<'_>, d: usize, matrix: &Bound<'_, PyAny>) -> PyResult<Vec<Triple>> {
    let array: PyArrayLike2<'_, f64, AllowTypeChange> = matrix.extract()?;
    let view = array.as_array();
    check_shape(py, d, (view.nrows(), view.ncols()))?;
    let (mut upper, mut is_upper, mut difference) = (Vec::new(), true, None);
    for i in 0..d {
        if view[(i, i)] != 0.0 {
            return Err(on_diagonal(py, i, view[(i, i)]));
        }
        for j in i + 1..d {
            let (above, below) = (view[(i, j)], view[(j, i)]);
            is_upper &= below == 0.0;
            if above != below {
                difference.get_or_insert((i, j));
            }
            if above != 0.0 {
                upper.push((i, j, above));
            }
        }
    }
    match difference {
        Some(at) if !is_upper => Err(asymmetric(py, at)),
        _ => Ok(upper),
    }
}

fn from_sparse(py: Python<'_>, d: usize, matrix: &Bound<'_, PyAny>) -> PyResult<Vec<Triple>> {
    let coo = matrix.call_method0("tocoo")?;
    check_shape(py, d, coo.getattr("shape")?.extract()?)?;
    let rows: PyArrayLike1<'_, i64, AllowTypeChange> = coo.getattr("row")?.extract()?;
    let columns: PyArrayLike1<'_, i64, AllowTypeChange> = coo.getattr("col")?.extract()?;
    let values: PyArrayLike1<'_, f64, AllowTypeChange> = coo.getattr("data")?.extract()?;
    let (mut upper, mut lower) = (Vec::new(), Vec::new());
    let (rows, columns, values) = (rows.as_array(), columns.as_array(), values.as_array());
    for ((&i, &j), &v) in rows.iter().zip(&columns).zip(&values) {
        let (i, j) = (i as usize, j as usize);
        match i.cmp(&j) {
            std::cmp::Ordering::Less => upper.push((i, j, v)),
            std::cmp::Ordering::Greater => lower.push((j, i, v)),
            std::cmp::Ordering::Equal if v != 0.0 => return Err(on_diagonal(py, i, v)),
            std::cmp::Ordering::Equal => {}
        }
    }
    one_triangle(py, summed(upper), summed(lower))
}

/// Edges `(m, 2)` with one value each, as triples.
pub(crate) fn from_edges(
    py: Python<'_>,
    edges: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
) -> PyResult<Vec<Triple>> {
    let edges: PyArrayLike2<'_, i64, AllowTypeChange> = edges.extract()?;
    let values: PyArrayLike1<'_, f64, AllowTypeChange> = values.extract()?;
    let (edges, values) = (edges.as_array(), values.as_array());
    let no_edges = edges.is_empty() && values.is_empty();
    if !no_edges && (edges.ncols() != 2 || edges.nrows() != values.len()) {
        let message = format!(
            "edges of shape ({}, {}) with {} couplings: expected (m, 2) with m",
            edges.nrows(),
            edges.ncols(),
            values.len()
        );
        return Err(errors::named(py, "ModelError", message));
    }
    let index = |v: i64| {
        usize::try_from(v)
            .map_err(|_| errors::named(py, "ModelError", format!("edges name the variable {v}")))
    };
    edges.rows().into_iter().zip(&values).map(|(row, &v)| Ok((index(row[0])?, index(row[1])?, v))).collect()
}

fn check_shape(py: Python<'_>, d: usize, shape: (usize, usize)) -> PyResult<()> {
    if shape == (d, d) {
        return Ok(());
    }
    let message = format!("J has shape {shape:?} for {d} fields, expected ({d}, {d})");
    Err(errors::named(py, "ModelError", message))
}

fn on_diagonal(py: Python<'_>, i: usize, value: f64) -> PyErr {
    let message = format!("J[{i}, {i}] is {value}: the diagonal must be zero (x_i^2 = 1 is a constant)");
    errors::named(py, "ModelError", message)
}

/// Repeated entries of a sparse matrix mean their sum.
fn summed(mut entries: Vec<Triple>) -> Vec<Triple> {
    entries.sort_by_key(|&(i, j, _)| (i, j));
    entries.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    entries
}

/// The upper triangle, once the lower one is empty or equal to it; both are sorted.
fn one_triangle(py: Python<'_>, upper: Vec<Triple>, lower: Vec<Triple>) -> PyResult<Vec<Triple>> {
    if lower.is_empty() || upper == lower {
        return Ok(upper);
    }
    let differs = upper.iter().zip(&lower).find(|(a, b)| a != b);
    let rest = || upper.get(lower.len()).or_else(|| lower.get(upper.len()));
    let at = match differs {
        Some((a, b)) => (a.0, a.1).min((b.0, b.1)),
        None => rest().map_or((0, 0), |&(i, j, _)| (i, j)),
    };
    Err(asymmetric(py, at))
}

fn asymmetric(py: Python<'_>, (i, j): (usize, usize)) -> PyErr {
    let message = format!(
        "J[{i}, {j}] and J[{j}, {i}] differ: expected a symmetric matrix with zero diagonal, or a strictly upper one"
    );
    errors::named(py, "ModelError", message)
}
