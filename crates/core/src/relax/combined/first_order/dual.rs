//! What a point proves: the decomposition `f + cuts + z^T S z = sum_k w_k f_k` read off its weights and multipliers.

use super::factor::Factor;
use super::objective::{Evaluation, Objective, Theta};
use crate::certify::{Certificate, Component, Form, Slack, SumOfSquares};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::linalg::{Eigen, EigenWork, Square, dot, eigh, multiply, symmetric};
use crate::model::{Ising, Polynomial};
use crate::relax::combined::gaussian::Gaussian;
use crate::relax::combined::graphs::Graph;
use crate::relax::cuts::Cycle;

/// A component of less weight is left out.
const LEAST_WEIGHT: f64 = 1e-7;

/// The decomposition, in units of eps.
pub(super) struct Dual {
    /// What it proves, without the model's constant and before rounding.
    pub(super) bound: f64,
    /// What the negative eigenvalues of S cost.
    pub(super) shortfall: f64,
    /// Mean multiplier of the unit diagonal.
    pub(super) mean_multiplier: f64,
    cuts: Vec<(Cycle, f64)>,
    /// S and its eigenpairs.
    square: Square,
    pub(super) eigen: Eigen,
    /// Weight and fields and couplings of every graph.
    graphs: Vec<(f64, Graph, Vec<f64>, Vec<f64>)>,
    /// Pairs of spins by edge.
    edges: Vec<[u32; 2]>,
    /// Weight of log-det and half the inverse of its matrix.
    log_det: Option<(f64, Square)>,
    pub(super) gaussian: Gaussian,
}

impl Dual {
    /// Reads the decomposition off a point; `None` when a factorisation fails.
    ///
    /// **Cost** one eigendecomposition, an inverse and three products of n x n matrices.
    pub(super) fn new(objective: &Objective, factor: &Factor, at: &Evaluation) -> Option<Self> {
        let (n, entropies) = (factor.n, &objective.entropies);
        let weights = pruned(&at.at.weights);
        let mut matrix = match &objective.theta {
            Theta::Dense(square) => square.clone(),
            Theta::Sparse(theta) => {
                let mut square = Square::zeros(n);
                objective.scatter(theta, &mut square);
                square
            }
        };
        let mut coefficients = vec![0.0; at.x.len()];
        let mut bound = 0.0;
        let mut cuts = Vec::new();
        for cut in &objective.cuts.list {
            let y = objective.cuts.multiplier(cut, &at.x);
            if y > 0.0 {
                cut.add(y, &mut coefficients);
                bound += y;
                cuts.push((cut.cycle.clone(), y));
            }
        }
        objective.scatter(&coefficients, &mut matrix);
        let mut graphs = Vec::new();
        for (k, graph) in entropies.graphs.iter().enumerate().filter(|(k, _)| weights[k + 1] > 0.0) {
            let (w, (fields, couplings)) = (weights[k + 1], entropies.parameters(&at.at, k));
            bound += w * graph.log_mean_exp(&mut fields.clone(), &mut couplings.clone());
            subtract(&mut matrix, w, &fields, graph, &couplings, &entropies.edges);
            graphs.push((w, graph.clone(), fields, couplings));
        }
        let log_det = if weights[0] > 0.0 {
            let (half, phi) = gaussian_component(factor, &objective.gaussian, at.at.values[0])?;
            bound += weights[0] * phi;
            for (k, (v, m)) in matrix.data_mut().iter_mut().zip(half.data()).enumerate() {
                if !k.is_multiple_of(n + 1) {
                    *v += weights[0] * m;
                }
            }
            Some((weights[0], half))
        } else {
            None
        };
        let mut product = vec![0.0; factor.rows.len()];
        multiply::tall_times(&factor.rows, factor.rank, matrix.data(), n, &mut product, false);
        let mut mean_multiplier = 0.0;
        let mut square = matrix;
        square.data_mut().iter_mut().for_each(|v| *v = -*v);
        for k in 0..n {
            let y = dot(&product[factor.rank * k..factor.rank * (k + 1)], factor.row(k));
            square.data_mut()[k * (n + 1)] += y;
            bound += y;
            mean_multiplier += y / n as f64;
        }
        square.symmetrize();
        let mut eigen = Eigen::default();
        if !eigh(&square, &mut eigen, &mut EigenWork::default()) {
            return None;
        }
        let shortfall = n as f64 * (-eigen.values[0]).max(0.0);
        bound += shortfall;
        let edges = entropies.edges.clone();
        bound.is_finite().then_some(Dual {
            bound,
            shortfall,
            mean_multiplier,
            cuts,
            square,
            eigen,
            graphs,
            edges,
            log_det,
            gaussian: objective.gaussian.clone(),
        })
    }

    /// The graphs that it uses.
    pub(super) fn graphs(&self) -> impl Iterator<Item = &Graph> {
        self.graphs.iter().map(|part| &part.1)
    }

    /// The data of the proof in the model's units.
    ///
    /// # Errors
    /// Parameters that leave floating point.
    pub(super) fn certificate(mut self, eps: f64) -> Result<Certificate> {
        let n = self.square.n();
        let features = Features::degree(n - 1, 1);
        let scale = |a: &mut Square| a.data_mut().iter_mut().for_each(|v| *v *= eps);
        scale(&mut self.square);
        self.eigen.values.iter_mut().for_each(|v| *v *= eps);
        let cuts = self.cuts.iter().map(|(cycle, y)| cycle.cut(eps * y)).collect();
        let square = SumOfSquares { features, matrix: self.square, eigen: self.eigen };
        let mut components = Vec::new();
        for (weight, graph, mut fields, couplings) in self.graphs {
            fields.iter_mut().for_each(|h| *h *= eps);
            let coupling = |e: u32| {
                let [i, j] = self.edges[e as usize].map(|i| i as usize);
                (i, j, eps * couplings[e as usize])
            };
            let couplings: Vec<_> = graph.edges().into_iter().map(coupling).collect();
            let polynomial = Polynomial::from(Ising::new(n - 1, &fields, &couplings)?);
            components
                .push(Component { weight, form: Form::Elimination { polynomial, order: graph.order() } });
        }
        if let Some((weight, mut half)) = self.log_det {
            scale(&mut half);
            let mut eigen = Eigen::default();
            if !eigh(&half, &mut eigen, &mut EigenWork::default()) {
                return Err(Error::Certificate("an eigendecomposition failed".into()));
            }
            let lambda: Vec<f64> = half.diagonal().collect();
            half.data_mut().iter_mut().for_each(|v| *v = -*v);
            half.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = 0.0);
            let noise = self.gaussian.noise();
            components.push(Component { weight, form: Form::LogDet { noise, lambda, matrix: half, eigen } });
        }
        Ok(Certificate { eps, slack: Slack { cuts, squares: vec![square] }, components, witness: None })
    }
}

/// The weights without the smallest, summing to one.
fn pruned(weights: &[f64]) -> Vec<f64> {
    let keep = |w: &f64| if *w < LEAST_WEIGHT { 0.0 } else { *w };
    let total: f64 = weights.iter().map(keep).sum();
    weights.iter().map(|w| keep(w) / total).collect()
}

/// Takes a graph's component off the matrix.
fn subtract(
    matrix: &mut Square,
    w: f64,
    fields: &[f64],
    graph: &Graph,
    couplings: &[f64],
    edges: &[[u32; 2]],
) {
    let n = matrix.n();
    let mut less = |k: usize, l: usize, v: f64| {
        matrix.data_mut()[k + n * l] -= 0.5 * w * v;
        matrix.data_mut()[l + n * k] -= 0.5 * w * v;
    };
    fields.iter().enumerate().for_each(|(i, h)| less(0, i + 1, *h));
    for e in graph.edges() {
        let [i, j] = edges[e as usize].map(|i| i as usize);
        less(i + 1, j + 1, couplings[e as usize]);
    }
}

/// `M = (Sigma + s diag(0, I))^-1 / 2` and Phi of the component `-M` off the diagonal, given its entropy.
fn gaussian_component(factor: &Factor, gaussian: &Gaussian, entropy: f64) -> Option<(Square, f64)> {
    let n = factor.n;
    let sigma = factor.moments();
    let mut raised = sigma.clone();
    raised.data_mut().iter_mut().step_by(n + 1).skip(1).for_each(|v| *v += gaussian.variance);
    raised.symmetrize();
    if !symmetric::cholesky(&mut raised) {
        return None;
    }
    let lower = symmetric::lower_inverse(&raised);
    let mut half = Square::zeros(n);
    multiply::transposed_left(lower.data(), lower.data(), n, n, half.data_mut());
    half.data_mut().iter_mut().for_each(|v| *v *= 0.5);
    half.symmetrize();
    let diagonal: f64 = half.diagonal().zip(sigma.diagonal()).map(|(a, b)| a * b).sum();
    let phi = entropy - (half.dot(&sigma) - diagonal);
    Some((half, phi))
}
