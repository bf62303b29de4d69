//! The distribution over forests: where it starts, how it improves, what it proves.

use super::barrier::Barrier;
use super::pairs::{all_pairs, pair};
use crate::certify::{Certificate, Component, Form};
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::relax::forest::Forest;
use crate::relax::trw::spanning::{max_spanning_forest, resistance_mixture, stars};

/// Trees take over a residual up to this size; a larger one is left to the defect.
const CARRIED: f64 = 1e-3;

/// Forests on the d spins, as pair numbers among the vertices 1..=d, with weights that sum to one.
#[derive(Clone)]
pub(super) struct Mixture {
    pub(super) forests: Vec<Vec<usize>>,
    pub(super) weights: Vec<f64>,
}

impl Mixture {
    /// Stars on complete graphs, uniform spanning forests elsewhere; no edge, no forest.
    pub(super) fn start(ising: &Ising) -> Self {
        let (d, m) = (ising.d(), ising.edges().len());
        let ends: Vec<[u32; 2]> = ising.edges().to_vec();
        let (forests, weights) = match d > 2 && m == d * (d - 1) / 2 {
            true => (stars(d, &ends), vec![1.0 / d as f64; d]),
            false => resistance_mixture(d, &ends, &mut || false),
        };
        let number = |e: &u32| {
            let [i, j] = ends[*e as usize];
            pair(i as usize + 1, j as usize + 1)
        };
        let forests = forests.iter().map(|f| f.iter().map(number).collect()).collect();
        Mixture { forests, weights }
    }

    /// The forests of a TRW certificate, or `None` for another certificate.
    pub(super) fn of_certificate(certificate: &Certificate) -> Option<Self> {
        let mut out = Mixture { forests: Vec::new(), weights: Vec::new() };
        let total: f64 = certificate.components.iter().map(|c| c.weight).sum();
        for component in &certificate.components {
            let Form::Elimination { polynomial, .. } = &component.form else { return None };
            let edges = polynomial.pairwise_part().edges().iter();
            out.forests.push(edges.map(|&[i, j]| pair(i as usize + 1, j as usize + 1)).collect());
            out.weights.push(component.weight / total);
        }
        Some(out)
    }

    /// `(1 - share) self + share other`.
    pub(super) fn mixed(&self, other: &Mixture, share: f64) -> Mixture {
        let mut out = self.clone();
        out.weights.iter_mut().for_each(|w| *w *= 1.0 - share);
        for (forest, w) in other.forests.iter().zip(&other.weights).filter(|(_, w)| **w > 0.0) {
            match out.forests.iter().position(|f| f == forest) {
                Some(at) => out.weights[at] += share * w,
                None => {
                    out.forests.push(forest.clone());
                    out.weights.push(share * w);
                }
            }
        }
        let kept: Vec<usize> = (0..out.weights.len()).filter(|&k| out.weights[k] > 1e-9).collect();
        Mixture {
            forests: kept.iter().map(|&k| out.forests[k].clone()).collect(),
            weights: kept.iter().map(|&k| out.weights[k]).collect(),
        }
    }

    /// Probability of every pair.
    pub(super) fn rho(&self, count: usize) -> Vec<f64> {
        let mut rho = vec![0.0; count];
        for (forest, w) in self.forests.iter().zip(&self.weights) {
            forest.iter().for_each(|&e| rho[e] += w);
        }
        rho
    }

    /// The conditional gradient's vertex: the maximum spanning tree under mutual information, over
    /// all pairs of spins.
    pub(super) fn vertex(barrier: &Barrier, moments: &[f64]) -> Mixture {
        let d = barrier.n - 1;
        let ends = all_pairs(d);
        let information = |&[i, j]: &[u32; 2]| {
            let e = pair(i as usize + 1, j as usize + 1);
            barrier.information(moments, e, i + 1, j + 1)
        };
        let weights: Vec<f64> = ends.iter().map(information).collect();
        let number = |e: &u32| {
            let [i, j] = ends[*e as usize];
            pair(i as usize + 1, j as usize + 1)
        };
        let tree = max_spanning_forest(d, &ends, &weights).iter().map(number).collect();
        Mixture { forests: vec![tree], weights: vec![1.0] }
    }

    /// One elimination component per forest: the tree distributions with these moments, in the
    /// units of the model. What is left of the gradient, `residual`, is shared among the trees
    /// that can carry it: it then moves the bound by its product with the moments, not by its norm.
    pub(super) fn components(
        &self,
        d: usize,
        moments: &[f64],
        residual: &[f64],
        eps: f64,
    ) -> Result<Vec<Component>> {
        let ends = all_pairs(d);
        let rho = self.rho(moments.len());
        let fields: Vec<f64> = (1..=d).map(|s| moments[pair(0, s)].atanh() + residual[pair(0, s)]).collect();
        let build = |forest: &Vec<usize>, weight: f64| {
            let mut h = fields.clone();
            let mut triples = Vec::with_capacity(forest.len());
            let mut chosen = Vec::with_capacity(forest.len());
            for &e in forest {
                let (i, j) = spins_of(e);
                let (a, b, c) = (moments[pair(0, i + 1)], moments[pair(0, j + 1)], moments[e]);
                let [along_i, along_j, coupling] = super::barrier::ratio_parameters(a, b, c);
                h[i] += along_i;
                h[j] += along_j;
                let shared = residual[e] / rho[e];
                let carried = if shared.abs() < CARRIED { shared } else { 0.0 };
                triples.push((i, j, eps * (coupling + carried)));
                chosen.push(pair_of_spins(i, j));
            }
            h.iter_mut().for_each(|v| *v *= eps);
            let tree = Ising::new(d, &h, &triples)?;
            let order = Forest::new(d, &ends, &chosen)
                .map_or_else(|| (0..d as u32).collect(), |f| f.order().to_vec());
            Ok(Component { weight, form: Form::Elimination { polynomial: Polynomial::from(tree), order } })
        };
        self.forests.iter().zip(&self.weights).map(|(f, &w)| build(f, w)).collect()
    }
}

/// The spins `i < j` of a pair number among vertices, neither of which is vertex 0.
fn spins_of(e: usize) -> (usize, usize) {
    let mut l = ((2 * e) as f64).sqrt() as usize;
    while l * (l + 1) / 2 <= e {
        l += 1;
    }
    while l * (l - 1) / 2 > e {
        l -= 1;
    }
    (e - l * (l - 1) / 2 - 1, l - 1)
}

/// Number of the pair of spins in [`all_pairs`] of d.
fn pair_of_spins(i: usize, j: usize) -> u32 {
    pair(i, j) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_numbers_name_their_spins() {
        for i in 0..9 {
            for j in i + 1..9 {
                assert_eq!(spins_of(pair(i + 1, j + 1)), (i, j));
            }
        }
    }
}
