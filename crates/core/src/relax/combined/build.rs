//! The program of a model: moments, first inequalities, first entropies.

use super::entropy::Entropy;
use super::program::{Program, Triple};
use super::space::Space;
use crate::certify::{Certificate, Form};
use crate::error::Result;
use crate::features::Features;
use crate::model::{Ising, VarSet};
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::{resistance_mixture, stars};
use std::collections::HashMap;

/// Spins up to which every triangle inequality is present from the start.
pub(super) const ALL_TRIANGLES: usize = 16;

/// Moments of all pairs of spins and of products of `spectral` features; entropies of forests, of the
/// spectral features, and log-det.
pub(super) fn dense(
    ising: &Ising,
    eps: f64,
    spectral: &[Features],
    trw: Option<&Certificate>,
) -> Result<Program> {
    let d = ising.d();
    let linear = Features::degree(d, 1);
    let mut sets = linear.sets().to_vec();
    for set in spectral.iter().flat_map(|f| f.sets()) {
        if !sets.contains(set) {
            sets.push(set.clone());
        }
    }
    let space = Space::new(d, vec![Features::new(d, sets)?]);
    let mut entropies: Vec<Entropy> = spectral.iter().filter_map(|f| space.block(f)).map(Entropy::Quantum).collect();
    entropies.extend(space.block(&linear).map(Entropy::LogDet));
    let forests = forests(ising, &space, trw);
    entropies.extend(forests.iter().filter_map(|f| Forest::new(d, &space.pairs, f)).map(Entropy::Forest));
    let first = if d <= ALL_TRIANGLES { d as u32 } else { 1 };
    let triples = triples(d as u32 + 1, first).filter_map(|v| Triple::new(&space, v)).collect();
    let theta = parameters(ising, &space, eps);
    Ok(Program { space, theta, triples, entropies })
}

/// `theta / eps` by moment.
fn parameters(ising: &Ising, space: &Space, eps: f64) -> Vec<f64> {
    let mut theta = vec![0.0; space.len()];
    let mut set = |monomial: VarSet, v: f64| {
        if let Some(number) = space.find(&monomial) {
            theta[number as usize] = v / eps;
        }
    };
    ising.fields().iter().enumerate().for_each(|(i, &h)| set(VarSet::singleton(i), h));
    ising.triples().for_each(|(i, j, v)| set(VarSet::pair(i, j), v));
    theta
}

/// Triples `k < l < m < n` of vertices with `k < first`.
fn triples(n: u32, first: u32) -> impl Iterator<Item = [u32; 3]> {
    (0..first).flat_map(move |k| {
        (k + 1..n).flat_map(move |l| (l + 1..n).map(move |m| [k, l, m]))
    })
}

/// The forests of a TRW certificate; else stars on complete graphs, uniform spanning forests elsewhere.
fn forests(ising: &Ising, space: &Space, trw: Option<&Certificate>) -> Vec<Vec<u32>> {
    let position: HashMap<[u32; 2], u32> =
        space.pairs.iter().enumerate().map(|(e, &ends)| (ends, e as u32)).collect();
    let lists = match trw.and_then(certified) {
        Some(lists) => lists,
        None => first_forests(ising),
    };
    let number = |list: Vec<[u32; 2]>| {
        let mut forest: Vec<u32> = list.iter().filter_map(|ends| position.get(ends).copied()).collect();
        forest.sort_unstable();
        forest
    };
    let mut forests: Vec<Vec<u32>> = lists.into_iter().map(number).collect();
    forests.sort();
    forests.dedup();
    forests
}

fn certified(certificate: &Certificate) -> Option<Vec<Vec<[u32; 2]>>> {
    let edges = |form: &Form| match form {
        Form::Elimination { polynomial, .. } => Some(polynomial.pairwise_part().edges().to_vec()),
        _ => None,
    };
    certificate.components.iter().map(|c| edges(&c.form)).collect()
}

fn first_forests(ising: &Ising) -> Vec<Vec<[u32; 2]>> {
    let (d, ends) = (ising.d(), ising.edges());
    let lists = match d > 2 && ends.len() == d * (d - 1) / 2 {
        true => stars(d, ends),
        false => resistance_mixture(d, ends, &mut || false).0,
    };
    lists.iter().map(|f| f.iter().map(|&e| ends[e as usize]).collect()).collect()
}
