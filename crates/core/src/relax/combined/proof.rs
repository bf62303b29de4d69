//! From a point's multipliers to the data of a proof.

use super::dual::Split;
use super::entropy::{Entropy, evaluate};
use super::graphs::Graph;
use super::program::{Point, Program};
use super::spectra::{function, raised};
use crate::certify::{Certificate, Component, Cut, Form, Slack, SumOfSquares};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use crate::model::{Ising, Polynomial};
use crate::relax::cuts::Triangle;
use crate::relax::cuts::quad::SIGNS;

/// Sets the smallest multipliers to zero, as many as move the bound by no more than `allowance`: most
/// inequalities are slack, and a proof need not list them.
pub(super) fn prune(point: &mut Point, allowance: f64) {
    let mut sorted: Vec<f64> = point.nu.as_flattened().to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut moved, mut least) = (0.0, 0.0);
    for v in sorted {
        // A cut has four coefficients of size one.
        moved += 4.0 * v;
        if moved > allowance {
            break;
        }
        least = v;
    }
    point.nu.as_flattened_mut().iter_mut().filter(|v| **v <= least).for_each(|v| *v = 0.0);
}

/// The decomposition `f + cuts + phi^T S phi = sum_k w_k f_k` in the model's units.
///
/// **Cost** two eigendecompositions per block, one per spectral entropy.
pub(super) fn certificate(program: &Program, point: &Point, eps: f64) -> Result<Certificate> {
    let slack = Slack { cuts: cuts(program, point, eps), squares: squares(program, point, eps)? };
    let mut work = EigenWork::default();
    let at = evaluate(&program.entropies, &program.space, &point.m, &mut work)
        .ok_or_else(|| Error::Certificate("an entropy could not be evaluated".into()))?;
    let split = Split::new(program, point, &at);
    let mut components = Vec::with_capacity(split.weights.len());
    for (k, (entropy, &weight)) in program.entropies.iter().zip(&split.weights).enumerate() {
        let form = match entropy {
            Entropy::Graph(graph) => {
                let (fields, couplings) = split.parameters(program, &at, k);
                model(program, graph, fields, &couplings, eps)?
            }
            Entropy::Quantum(block) => {
                let n = block.n() as f64;
                let sigma = decompose(&block.fill(&point.m, 1.0))?;
                let matrix = function(&sigma, |v| eps * v.ln() / n);
                let eigen = decompose(&matrix)?;
                Form::Spectral { features: block.features.clone(), matrix, eigen }
            }
            Entropy::LogDet(block, gaussian) => {
                let inverse = function(&decompose(&raised(block, gaussian, &point.m))?, |v| 0.5 * eps / v);
                let lambda: Vec<f64> = inverse.diagonal().collect();
                let mut matrix = inverse.clone();
                matrix.data_mut().iter_mut().for_each(|v| *v = -*v);
                matrix.data_mut().iter_mut().step_by(block.n() + 1).for_each(|v| *v = 0.0);
                Form::LogDet { noise: gaussian.noise(), lambda, matrix, eigen: decompose(&inverse)? }
            }
        };
        components.push(Component { weight, form });
    }
    Ok(Certificate { eps, slack, components, witness: None })
}

fn decompose(a: &Square) -> Result<Eigen> {
    let mut eigen = Eigen::default();
    if eigh(a, &mut eigen, &mut EigenWork::default()) {
        Ok(eigen)
    } else {
        Err(Error::Certificate("an eigendecomposition failed".into()))
    }
}

fn squares(program: &Program, point: &Point, eps: f64) -> Result<Vec<SumOfSquares>> {
    let one = |(block, s): (&super::space::Block, &Square)| {
        let data = s.data().iter().map(|v| eps * v).collect();
        let matrix = Square::from_column_major(block.n(), data);
        let eigen = decompose(&matrix)?;
        Ok(SumOfSquares { features: block.features.clone(), matrix, eigen })
    };
    program.space.blocks.iter().zip(&point.squares).map(one).collect()
}

fn cuts(program: &Program, point: &Point, eps: f64) -> Vec<Cut> {
    let mut cuts = Vec::with_capacity(4 * program.triples.len());
    for (triple, nu) in program.triples.iter().zip(&point.nu) {
        let own = nu.iter().zip(SIGNS).filter(|(v, _)| **v > 0.0);
        cuts.extend(own.map(|(v, signs)| Triangle { vertices: triple.vertices, signs }.cut(eps * v)));
    }
    cuts
}

/// The model on a graph with these parameters.
fn model(
    program: &Program,
    graph: &Graph,
    mut fields: Vec<f64>,
    couplings: &[f64],
    eps: f64,
) -> Result<Form> {
    let space = &program.space;
    fields.iter_mut().for_each(|h| *h *= eps);
    let coupling = |e: u32| {
        let [i, j] = space.pairs[e as usize].map(|i| i as usize);
        (i, j, eps * couplings[e as usize])
    };
    let couplings: Vec<_> = graph.edges().into_iter().map(coupling).collect();
    let polynomial = Polynomial::from(Ising::new(space.d, &fields, &couplings)?);
    Ok(Form::Elimination { polynomial, order: graph.order() })
}
