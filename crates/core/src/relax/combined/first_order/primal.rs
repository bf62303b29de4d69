//! Feasible values of the relaxation that a bound belongs to.
//!
//! Its entropies are log-det, those of all forests, and those of the two-trees in the bound's decomposition; its inequalities
//! are all triangles. Moments of a factor that are drawn towards the uniform law until every triangle
//! inequality holds are feasible, whatever the factor, and their value is at most the bound.

use super::factor::Factor;
use super::grow::Informations;
use super::objective::{Objective, Theta};
use crate::linalg::symmetric;
use crate::relax::combined::graphs::Graph;
use crate::relax::cuts::violated;
use rand_chacha::ChaCha8Rng;

/// Moments stay this far inside the inequalities, where every logarithm is finite.
const INSIDE: f64 = 1e-12;
/// Probabilities below this are rounding.
const FLOOR: f64 = 1e-15;

/// `<theta, m> + min_k E_k(m)` at feasible moments close to those of the factor, for the relaxation with these graphs;
/// `None` when a factorisation fails. The objective is left with these graphs.
///
/// **Cost** two comparisons per triple of vertices, a Cholesky factorisation and d^2 entropies of pairs.
pub(super) fn feasible_value(
    objective: &mut Objective,
    factor: &Factor,
    graphs: &[Graph],
    random: &mut ChaCha8Rng,
) -> Option<f64> {
    let (n, d) = (factor.n, objective.d);
    let mut moments = factor.moments();
    let worst = violated(&moments, 0..n, 0.0, 1).first().map_or(0.0, |found| -found.0);
    let shrink = (1.0 - INSIDE) / (1.0 + worst);
    let x: Vec<f64> = objective.pairs.ends.iter().map(|&ends| factor.moment(ends)).collect();
    let linear = match &objective.theta {
        Theta::Dense(square) => square.dot(&moments),
        Theta::Sparse(theta) => theta.iter().zip(&x).map(|(t, x)| t * x).sum(),
    };
    let Objective { entropies, pairs, gaussian, team, .. } = objective;
    entropies.graphs = graphs.to_vec();
    (entropies.shrink, entropies.floor) = (shrink, FLOOR);
    let of_graphs = entropies.of_graphs(&x, team).values.into_iter().fold(f64::INFINITY, f64::min);
    let informations = Informations::new(moments.clone(), shrink, FLOOR);
    let of_tree = informations.tree(0.0, random, entropies, pairs).map_or(0.0, |tree| tree.0);
    moments.data_mut().iter_mut().for_each(|v| *v *= shrink);
    let raised = |k: usize| if k == 0 { 1.0 } else { 1.0 + gaussian.variance };
    moments.data_mut().iter_mut().step_by(n + 1).enumerate().for_each(|(k, v)| *v = raised(k));
    let of_gaussian = 0.5 * symmetric::log_det(&moments)? + d as f64 * gaussian.entropy;
    let value = shrink * linear + of_graphs.min(of_tree).min(of_gaussian);
    value.is_finite().then_some(value)
}
