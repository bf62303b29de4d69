//! What the choice of methods looks at.

use super::cost::constants::DENSE_EDGES_PER_SPIN;
use crate::model::{Ising, Model, Polynomial, Source};
use crate::relax::is_balanced;

/// What kind of model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Pairwise with few edges per spin.
    Sparse,
    /// Pairwise with many.
    Dense,
    /// Larger terms, hard zeros, or more than two states.
    Tables,
}

/// The size of a model, as far as costs depend on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// Variables.
    pub(crate) d: usize,
    /// Pairs with a coupling.
    pub(crate) edges: usize,
    /// Whether some spin has a field: without any, trees have a symmetric optimum that takes few steps.
    pub(crate) has_fields: bool,
    /// Whether a change of signs makes every coupling attractive.
    pub(crate) is_balanced: bool,
    /// Mean size of a coupling.
    pub(crate) coupling: f64,
    /// Entries of all tables, or of those that a polynomial would have.
    pub(crate) entries: f64,
    /// Rows of the smallest moment matrix, when f or something above it is a polynomial.
    pub(crate) features: Option<usize>,
}

/// Whether spectral methods suit the graph better than trees.
pub(crate) fn is_dense(f: &Ising) -> bool {
    f.edges().len() > DENSE_EDGES_PER_SPIN * f.d()
}

impl Shape {
    /// Of a model, with f over its free spins where that is a polynomial.
    pub(crate) fn new(model: &Model, polynomial: Option<&Polynomial>) -> Self {
        let d = model.d();
        let ising = polynomial.and_then(|f| f.as_ising());
        let kind = match ising {
            Some(f) if is_dense(f) => Kind::Dense,
            Some(_) => Kind::Sparse,
            None => Kind::Tables,
        };
        let edges = ising.map_or(0, |f| f.edges().len());
        let sizes = |f: &Ising| f.couplings().iter().map(|c| c.abs()).sum::<f64>();
        let coupling = ising.map_or(0.0, |f| sizes(f) / edges.max(1) as f64);
        let has_fields = ising.is_none_or(|f| f.fields().iter().any(|h| *h != 0.0));
        let is_balanced = ising.is_some_and(is_balanced);
        let entries = match model.source() {
            Source::Factors(tables) => tables.factors().map(|f| f.table.len()).sum::<usize>() as f64,
            Source::Polynomial(f) => {
                let of_terms = f.terms().iter().map(|(set, _)| (set.len() as f64).exp2());
                of_terms.sum::<f64>() + 4.0 * f.pairwise_part().edges().len() as f64 + 2.0 * d as f64
            }
        };
        let features = polynomial.map(|f| if ising.is_some() { 1 + d } else { 1 + d + f.terms().len() });
        Shape { kind, d, edges, has_fields, is_balanced, coupling, entries, features }
    }
}
