//! What a model looks like, without solving anything.

use crate::error::Result;
use crate::model::{Model, Source};
use crate::tables::order::{Graph, frontier, search};
use crate::tables::plan::Plan;

/// Signs of the couplings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Sign {
    /// All couplings are >= 0.
    Attractive,
    /// All couplings are <= 0.
    Repulsive,
    /// Both signs occur.
    Mixed,
    /// There is no coupling, or the model has hard zeros.
    None,
}

/// The shape and scale of a model, over its free spins.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Info {
    /// Free spins.
    pub d: usize,
    /// Fewest states of a free variable, 2 without one.
    pub min_states: u32,
    /// Most states of a free variable, 2 without one.
    pub max_states: u32,
    /// Variables in the file.
    pub variables: usize,
    /// Pairs of spins with a common factor or term.
    pub edges: usize,
    /// Terms of arity three and more of the polynomial; 0 when hard zeros leave none.
    pub terms: usize,
    /// Most spins in one factor or term.
    pub max_arity: usize,
    /// Factor tables; nonzero coefficients for a model given as a polynomial.
    pub factors: usize,
    /// Table entries that are hard zeros.
    pub hard_zeros: usize,
    /// Most neighbours of a spin.
    pub max_degree: usize,
    /// Connected components, isolated spins included.
    pub components: usize,
    /// Width of the best elimination order found: an upper bound on the treewidth.
    pub induced_width: usize,
    /// Smallest and largest |h_i|; `None` without a spin or with hard zeros.
    pub fields: Option<(f64, f64)>,
    /// Smallest and largest |J_ij| over pair terms; `None` without one or with hard zeros.
    pub couplings: Option<(f64, f64)>,
    /// Signs of the couplings.
    pub sign: Sign,
    /// Whether the graph has no cycle.
    pub is_forest: bool,
    /// Whether every pair is an edge.
    pub is_complete: bool,
    /// Whether no factor or term has more than two spins.
    pub is_pairwise: bool,
    /// The constant, `None` when it is `-inf` (contradictory evidence).
    pub constant: Option<f64>,
    /// Bound on the error of f from rounded logarithms.
    pub uncertainty: f64,
    /// Whether the file holds factor tables.
    pub from_tables: bool,
}

/// Describes a model.
///
/// **Cost** a few elimination orders; linear in the size of sparse models.
///
/// ```
/// use zbound::{Ising, Model, exact};
/// let model = Model::from(Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (1, 2, -1.0)])?);
/// let info = exact::info(&model)?;
/// assert!(info.is_forest && info.induced_width == 1 && info.sign == exact::Sign::Mixed);
/// # Ok::<(), zbound::Error>(())
/// ```
///
/// # Errors
/// None for models built by this library.
pub fn info(model: &Model) -> Result<Info> {
    let factors = model.factors()?;
    let polynomial = model.polynomial().ok();
    let graph = Graph::of(&factors);
    let d = factors.d();
    let edges = graph.neighbours.iter().map(Vec::len).sum::<usize>() / 2;
    let components = graph.components().len();
    let pairwise = polynomial.as_ref().map(|f| f.pairwise_part());
    let couplings: Vec<f64> = pairwise.map_or(&[][..], |f| f.couplings()).to_vec();
    let nonzero: Vec<f64> = couplings.into_iter().filter(|v| *v != 0.0).collect();
    let induced_width = width(&graph);
    let max_arity = factors.factors().map(|f| f.scope.len()).max().unwrap_or(0);
    Ok(Info {
        d,
        min_states: factors.cardinalities().iter().copied().min().unwrap_or(2),
        max_states: factors.cardinalities().iter().copied().max().unwrap_or(2),
        variables: model.variables(),
        edges,
        terms: polynomial.as_ref().map_or(0, |f| f.terms().len()),
        max_arity,
        factors: factors.len(),
        hard_zeros: factors.factors().flat_map(|f| f.table).filter(|v| **v == f64::NEG_INFINITY).count(),
        max_degree: graph.neighbours.iter().map(Vec::len).max().unwrap_or(0),
        components,
        induced_width,
        fields: pairwise.and_then(|f| range(f.fields())),
        couplings: range(&nonzero),
        sign: sign(&nonzero),
        is_forest: edges + components == d,
        is_complete: edges == d * d.saturating_sub(1) / 2,
        is_pairwise: max_arity <= 2,
        constant: Some(factors.constant()).filter(|c| c.is_finite()),
        uncertainty: factors.uncertainty(),
        from_tables: matches!(model.source(), Source::Factors(_)),
    })
}

/// Width of the best order found.
fn width(graph: &Graph) -> usize {
    let found = search(graph, 0, &mut || false);
    if found.cost == f64::INFINITY {
        frontier(&graph.neighbours, &found.order)
    } else {
        Plan::new(graph, &vec![2; graph.len()], found.order).width
    }
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let sizes = || values.iter().map(|v| v.abs());
    Some((sizes().reduce(f64::min)?, sizes().reduce(f64::max)?))
}

fn sign(nonzero: &[f64]) -> Sign {
    match (nonzero.iter().any(|v| *v > 0.0), nonzero.iter().any(|v| *v < 0.0)) {
        (true, true) => Sign::Mixed,
        (true, false) => Sign::Attractive,
        (false, true) => Sign::Repulsive,
        (false, false) => Sign::None,
    }
}
