//! What the dense parts of a certificate take.

use crate::cert::{Form, Proof};
use crate::limits::Cost;

/// Bytes of one coefficient of the defect: a set, an interval and their place in a tree.
const COEFFICIENT: f64 = 120.0;

/// Products of matrices, and coefficients of the defect.
pub(crate) fn of_matrices(proof: &Proof) -> Cost {
    let squares = proof.squares.iter().map(|s| (s.matrix.n, false));
    let forms = proof.components.iter().filter_map(|(_, form)| match form {
        Form::Spectral(q) | Form::Weighted(q) | Form::LogDet(q, _) => Some((q.matrix.n, false)),
        Form::Tangent(q, _) => Some((q.matrix.n, true)),
        Form::Elimination(..) | Form::SparseDual(..) | Form::Constant(_) => None,
        Form::WeightedElimination(..) | Form::Tables(_) | Form::Tree(_) => None,
    });
    squares.chain(forms).fold(Cost::default(), |total, (n, tangent)| {
        let n = n as f64;
        let (products, copies) = if tangent { (8.0, 10.0) } else { (2.0, 2.0) };
        let work = products * n * n * n + 400.0 * n * n;
        total.and(Cost { work, memory: 8.0 * copies * n * n + COEFFICIENT * n * n / 2.0 })
    })
}
