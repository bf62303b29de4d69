//! The entropies `E_k(m) >= -D(p || uniform)` of any law p with moments m: trees, von Neumann, Gaussian.
//!
//! Each is concave with a closed conjugate, so each is a component of the dual decomposition.

use super::clusters::ClusterValues;
use super::curvature::Curvature;
use super::gaussian::Gaussian;
use super::graphs::{Graph, Mixture};
use super::pairs::{
    half_log_odds, information, information_curvature, information_gradient, spin_curvature, spin_entropy,
};
use super::rotated;
use super::space::{Block, Space};
use super::spectra::{decompose, function, logarithm, raised};
use super::triples;
use crate::linalg::{Eigen, EigenWork};

/// One bound on the entropy, relative to the uniform law.
#[derive(Clone)]
pub(super) enum Entropy {
    /// `sum_i H_i - sum_e n_e I_e - sum_c J_c - d log 2` of a forest or two-tree.
    Graph(Graph),
    /// `-(1/n) tr Sigma log Sigma`.
    Quantum(Block),
    /// `(1/2) log det(Sigma + s diag(0, I)) + d c`, s and c as the noise says.
    LogDet(Block, Gaussian),
}

/// Values, gradients and what they were made of, at one point.
pub(super) struct Evaluation {
    pub(super) values: Vec<f64>,
    /// Gradients by the moments, one after the other.
    pub(super) gradients: Vec<f64>,
    /// Mutual information of every pair.
    pub(super) information: Vec<f64>,
    /// `sum_i H_i - d log 2`.
    pub(super) independent: f64,
    /// Eigenpairs of the matrix of a spectral entropy.
    pub(super) spectra: Vec<Option<Eigen>>,
    /// Gradient of `independent`.
    pub(super) independent_gradient: Vec<f64>,
    /// Gradient of every mutual information.
    pub(super) information_gradients: Vec<[f64; 3]>,
    /// The same of every cluster.
    pub(super) clusters: ClusterValues,
}

impl Evaluation {
    /// Appends the entropy of a graph.
    pub(super) fn push(&mut self, space: &Space, graph: &Graph) {
        let first = self.gradients.len();
        self.gradients.extend_from_slice(&self.independent_gradient);
        let gradient = &mut self.gradients[first..];
        graph.each_pair(|e, n| {
            let at = space.pair_moments[e];
            (0..3).for_each(|p| gradient[at[p] as usize] -= n * self.information_gradients[e][p]);
        });
        graph.each_cluster(|c| {
            let at = space.clusters.moments[c];
            (0..6).for_each(|p| gradient[at[p] as usize] -= self.clusters.gradients[c][p]);
        });
        let shared = graph.information(&self.information, &self.clusters.information);
        self.values.push(self.independent - shared);
        self.spectra.push(None);
    }
}

/// Spectral entropies below this weight are left out of the curvature, to which they would add nothing.
const NEGLIGIBLE: f64 = 1e-6;

/// Evaluates all entropies; `None` outside their domain.
///
/// **Cost** O(moments) per graph, one eigendecomposition per spectral entropy.
pub(super) fn evaluate(
    list: &[Entropy],
    space: &Space,
    m: &[f64],
    work: &mut EigenWork,
) -> Option<Evaluation> {
    let count = space.len();
    let triple = |at: &[u32; 3]| at.map(|p| m[p as usize]);
    let mut independent_gradient = vec![0.0; count];
    let mut independent = 0.0;
    for number in space.spins() {
        independent += spin_entropy(m[number]);
        independent_gradient[number] = -half_log_odds(m[number]);
    }
    let mut out = Evaluation {
        values: Vec::with_capacity(list.len()),
        gradients: Vec::with_capacity(count * list.len()),
        information: space.pair_moments.iter().map(|at| information(triple(at))).collect(),
        independent,
        spectra: Vec::with_capacity(list.len()),
        independent_gradient,
        information_gradients: space.pair_moments.iter().map(|at| information_gradient(triple(at))).collect(),
        clusters: space.clusters.evaluate(m),
    };
    for entropy in list {
        let mut gradient = vec![0.0; count];
        let (eigen, value) = match entropy {
            Entropy::Graph(graph) => {
                out.push(space, graph);
                continue;
            }
            Entropy::Quantum(block) => {
                let n = block.n() as f64;
                let eigen = decompose(&block.fill(m, 1.0), work)?;
                block.gather(&function(&eigen, f64::ln), -1.0 / n, &mut gradient);
                let value = -eigen.values.iter().map(|v| v * v.ln()).sum::<f64>() / n;
                (eigen, value)
            }
            Entropy::LogDet(block, gaussian) => {
                let eigen = decompose(&raised(block, gaussian, m), work)?;
                block.gather(&function(&eigen, f64::recip), 0.5, &mut gradient);
                let logs: f64 = eigen.values.iter().map(|v| v.ln()).sum();
                (eigen, 0.5 * logs + gaussian.entropy * (block.n() - 1) as f64)
            }
        };
        out.values.push(value);
        out.gradients.extend_from_slice(&gradient);
        out.spectra.push(Some(eigen));
    }
    out.values.iter().chain(&out.gradients).all(|v| v.is_finite()).then_some(out)
}

/// Adds minus the second derivative of `sum_k w_k E_k`.
///
/// **Cost** O(pairs) for all graphs; for a quantum entropy n^4/4 per node of the quadrature, or less
/// where entries share moments ([`rotated`]).
pub(super) fn add_curvature(
    list: &[Entropy],
    space: &Space,
    m: &[f64],
    weights: &[f64],
    at: &Evaluation,
    into: &mut Curvature,
) {
    let mixture = Mixture::new(list, weights, space);
    for number in space.spins() {
        into.add(number, number, mixture.total * spin_curvature(m[number]));
    }
    for (of, &share) in space.pair_moments.iter().zip(&mixture.pairs).filter(|(_, share)| **share != 0.0) {
        let block = information_curvature(of.map(|p| m[p as usize]));
        for p in 0..3 {
            (0..=p).for_each(|q| into.add(of[p] as usize, of[q] as usize, share * block[p][q]));
        }
    }
    for (c, &share) in mixture.clusters.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let of = space.clusters.moments[c];
        let block = triples::information_curvature(&at.clusters.laws[c], of.map(|p| m[p as usize]));
        for p in 0..6 {
            (0..=p).for_each(|q| into.add(of[p] as usize, of[q] as usize, share * block[p][q]));
        }
    }
    for ((entropy, &weight), eigen) in list.iter().zip(weights).zip(&at.spectra) {
        let Some(eigen) = eigen else { continue };
        if weight < NEGLIGIBLE {
            continue;
        }
        match entropy {
            Entropy::Quantum(block) => {
                let weight = weight / block.n() as f64;
                if !rotated::add_logarithm(block, eigen, weight, into) {
                    block.add_curvature(&logarithm(eigen, weight), into);
                }
            }
            Entropy::LogDet(block, _) => {
                let root = (0.5 * weight).sqrt();
                block.add_curvature(&[function(eigen, |v| root / v)], into);
            }
            Entropy::Graph(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::relax::combined::clusters::Clusters;
    use crate::relax::combined::separate::triangles;
    use crate::relax::combined::two_tree::tests::example;
    use crate::relax::forest::Forest;

    #[test]
    fn derivatives_of_every_entropy_agree_with_finite_differences() {
        let features = Features::degree(5, 2);
        let mut space = Space::new(5, vec![features.clone()]);
        space.clusters = Clusters::new(&space, &triangles(&space));
        let own = |f: &Features| space.block(f).unwrap();
        let list = [
            Entropy::Graph(Graph::Forest(Forest::new(5, &space.pairs, &[0, 2, 4]).unwrap())),
            Entropy::Graph(Graph::TwoTree(example(&space))),
            Entropy::Quantum(own(&features)),
            Entropy::LogDet(own(&Features::degree(5, 1)), Gaussian::new(1.0)),
        ];
        let m: Vec<f64> = (0..space.len()).map(|k| 0.1 * (3.0 * k as f64).cos()).collect();
        let mut work = EigenWork::default();
        let mut at = |k: usize, by: f64| {
            let mut moved = m.clone();
            moved[k] += by;
            evaluate(&list, &space, &moved, &mut work).unwrap()
        };
        let (count, h) = (space.len(), 1e-5);
        let here = at(0, 0.0);
        for k in 0..count {
            let (up, down) = (at(k, h), at(k, -h));
            for e in 0..list.len() {
                let weights: Vec<f64> = (0..list.len()).map(|l| f64::from(u8::from(l == e))).collect();
                let slope = (up.values[e] - down.values[e]) / (2.0 * h);
                assert!((slope - here.gradients[e * count + k]).abs() < 1e-8, "entropy {e}, moment {k}");
                let mut curvature = Curvature::new(count, 1).unwrap();
                curvature.clear();
                add_curvature(&list, &space, &m, &weights, &here, &mut curvature);
                for l in 0..count {
                    let second = (down.gradients[e * count + l] - up.gradients[e * count + l]) / (2.0 * h);
                    let own = curvature.at(k, l);
                    // The quadrature is accurate to exp(-8).
                    assert!((second - own).abs() < 2e-3 * (1.0 + own.abs()), "{e} {k} {l}: {second} {own}");
                }
            }
        }
    }
}
