//! The entropies `E_k(m) >= -D(p || uniform)` of any law p with moments m: trees, von Neumann, Gaussian.
//!
//! Each is concave with a closed conjugate, so each is a component of the dual decomposition.

use super::curvature::Curvature;
use super::pairs::{
    half_log_odds, information, information_curvature, information_gradient, spin_curvature, spin_entropy,
};
use super::space::{Block, Space};
use crate::relax::forest::Forest;
use crate::spectral::{Eigen, EigenWork, Square, eigh, multiply};

/// One bound on the entropy, relative to the uniform law.
#[derive(Clone)]
pub(super) enum Entropy {
    /// `sum_i H_i - sum_{e in forest} I_e - d log 2`, edges as positions in [`Space::pairs`].
    Forest(Forest),
    /// `-(1/n) tr Sigma log Sigma`.
    Quantum(Block),
    /// `(1/2) log det(Sigma + diag(0, I)/3) + (d/2) log(pi e/2) - d log 2`.
    LogDet(Block),
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
    pub(super) common: Vec<f64>,
    /// Gradient of every mutual information.
    pub(super) pulls: Vec<[f64; 3]>,
}

impl Evaluation {
    /// Appends the entropy of a forest.
    pub(super) fn push_forest(&mut self, space: &Space, forest: &[u32]) {
        let first = self.gradients.len();
        self.gradients.extend_from_slice(&self.common);
        let gradient = &mut self.gradients[first..];
        for &e in forest {
            let at = space.pair_moments[e as usize];
            (0..3).for_each(|p| gradient[at[p] as usize] -= self.pulls[e as usize][p]);
        }
        let shared: f64 = forest.iter().map(|&e| self.information[e as usize]).sum();
        self.values.push(self.independent - shared);
        self.spectra.push(None);
    }
}

/// Spectral entropies below this weight are left out of the curvature, to which they would add nothing.
const NEGLIGIBLE: f64 = 1e-6;
/// Step of the trapezoid rule for the second derivative of `x log x`, in the logarithm of its
/// variable; the error is `exp(-2 pi^2 / step)`.
const QUADRATURE: f64 = 2.0;

/// How far beyond the spectrum the rule goes, likewise; what is cut off is `exp(-tail)`.
const TAIL: f64 = 8.0;

/// Evaluates all entropies; `None` outside their domain.
///
/// **Cost** O(moments) per forest, one eigendecomposition per spectral entropy.
pub(super) fn evaluate(
    list: &[Entropy],
    space: &Space,
    m: &[f64],
    work: &mut EigenWork,
) -> Option<Evaluation> {
    let count = space.len();
    let triple = |at: &[u32; 3]| at.map(|p| m[p as usize]);
    let mut common = vec![0.0; count];
    let mut independent = 0.0;
    for number in space.spins() {
        independent += spin_entropy(m[number]);
        common[number] = -half_log_odds(m[number]);
    }
    let mut out = Evaluation {
        values: Vec::with_capacity(list.len()),
        gradients: Vec::with_capacity(count * list.len()),
        information: space.pair_moments.iter().map(|at| information(triple(at))).collect(),
        independent,
        spectra: Vec::with_capacity(list.len()),
        common,
        pulls: space.pair_moments.iter().map(|at| information_gradient(triple(at))).collect(),
    };
    for entropy in list {
        let mut gradient = vec![0.0; count];
        let (eigen, value) = match entropy {
            Entropy::Forest(forest) => {
                out.push_forest(space, forest.edges());
                continue;
            }
            Entropy::Quantum(block) => {
                let n = block.n() as f64;
                let eigen = decompose(&block.fill(m, 1.0), work)?;
                block.gather(&function(&eigen, f64::ln), -1.0 / n, &mut gradient);
                let value = -eigen.values.iter().map(|v| v * v.ln()).sum::<f64>() / n;
                (eigen, value)
            }
            Entropy::LogDet(block) => {
                let eigen = decompose(&raised(block, m), work)?;
                block.gather(&function(&eigen, f64::recip), 0.5, &mut gradient);
                let logs: f64 = eigen.values.iter().map(|v| v.ln()).sum();
                (eigen, 0.5 * logs + gaussian_offset(block.n() - 1))
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
/// **Cost** O(pairs) for all forests; n^4/4 per node of the quadrature for a quantum entropy.
pub(super) fn add_curvature(
    list: &[Entropy],
    space: &Space,
    m: &[f64],
    weights: &[f64],
    spectra: &[Option<Eigen>],
    into: &mut Curvature,
) {
    let (rho, total) = edge_probabilities(list, weights, space.pairs.len());
    for number in space.spins() {
        into.add(number, number, total * spin_curvature(m[number]));
    }
    for (at, &rho) in space.pair_moments.iter().zip(&rho).filter(|(_, rho)| **rho > 0.0) {
        let block = information_curvature(at.map(|p| m[p as usize]));
        for p in 0..3 {
            (0..=p).for_each(|q| into.add(at[p] as usize, at[q] as usize, rho * block[p][q]));
        }
    }
    for ((entropy, &weight), eigen) in list.iter().zip(weights).zip(spectra) {
        let Some(eigen) = eigen else { continue };
        if weight < NEGLIGIBLE {
            continue;
        }
        match entropy {
            Entropy::Quantum(block) => {
                block.add_curvature(&logarithm(eigen, weight / block.n() as f64), into)
            }
            Entropy::LogDet(block) => {
                let root = (0.5 * weight).sqrt();
                block.add_curvature(&[function(eigen, |v| root / v)], into);
            }
            Entropy::Forest(_) => {}
        }
    }
}

/// Probability of every pair in the mixture of forests, and the total weight of forests.
pub(super) fn edge_probabilities(list: &[Entropy], weights: &[f64], pairs: usize) -> (Vec<f64>, f64) {
    let (mut rho, mut total) = (vec![0.0; pairs], 0.0);
    for (entropy, w) in list.iter().zip(weights) {
        if let Entropy::Forest(forest) = entropy {
            forest.edges().iter().for_each(|&e| rho[e as usize] += w);
            total += w;
        }
    }
    (rho, total)
}

/// `Sigma + diag(0, I) / 3`.
pub(super) fn raised(block: &Block, m: &[f64]) -> Square {
    let n = block.n();
    let mut out = block.fill(m, 1.0);
    out.data_mut().iter_mut().step_by(n + 1).skip(1).for_each(|v| *v += 1.0 / 3.0);
    out
}

fn gaussian_offset(d: usize) -> f64 {
    let one = 0.5 * (std::f64::consts::PI * std::f64::consts::E / 2.0).ln() - std::f64::consts::LN_2;
    d as f64 * one
}

/// `U g(values) U^T`.
pub(super) fn function(eigen: &Eigen, g: impl Fn(f64) -> f64) -> Square {
    let n = eigen.values.len();
    let mut scaled = eigen.vectors.clone();
    for (column, &v) in scaled.data_mut().chunks_exact_mut(n).zip(&eigen.values) {
        let factor = g(v);
        column.iter_mut().for_each(|u| *u *= factor);
    }
    let mut out = Square::zeros(n);
    multiply::square_by_transpose(&scaled, &eigen.vectors, &mut out);
    out.symmetrize();
    out
}

fn decompose(a: &Square, work: &mut EigenWork) -> Option<Eigen> {
    let mut eigen = Eigen::default();
    (eigh(a, &mut eigen, work) && eigen.values[0] > 0.0).then_some(eigen)
}

/// Matrices t with `sum t D t` the derivative of `weight log Sigma` along D, from
/// `log' = int_0^inf (Sigma + s)^-1 D (Sigma + s)^-1 ds` by the trapezoid rule in log s.
fn logarithm(eigen: &Eigen, weight: f64) -> Vec<Square> {
    let (low, high) = (eigen.values[0].ln() - TAIL, eigen.values[eigen.values.len() - 1].ln() + TAIL);
    let nodes = ((high - low) / QUADRATURE).ceil() as usize + 1;
    let node = |k: usize| {
        let s = (low + QUADRATURE * k as f64).exp();
        let root = (weight * QUADRATURE * s).sqrt();
        function(eigen, |v| root / (v + s))
    };
    (0..nodes).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;

    #[test]
    fn derivatives_of_every_entropy_agree_with_finite_differences() {
        let features = Features::degree(3, 2);
        let space = Space::new(3, vec![features.clone()]);
        let own = |f: &Features| space.block(f).unwrap();
        let list = [
            Entropy::Forest(Forest::new(3, &space.pairs, &[0, 2]).unwrap()),
            Entropy::Quantum(own(&features)),
            Entropy::LogDet(own(&Features::degree(3, 1))),
        ];
        let m: Vec<f64> = (0..space.len()).map(|k| 0.15 * (3.0 * k as f64).cos()).collect();
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
            for (e, weights) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].iter().enumerate() {
                let slope = (up.values[e] - down.values[e]) / (2.0 * h);
                assert!((slope - here.gradients[e * count + k]).abs() < 1e-8, "entropy {e}, moment {k}");
                let mut curvature = Curvature::new(count, 1).unwrap();
                curvature.clear();
                add_curvature(&list, &space, &m, weights, &here.spectra, &mut curvature);
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
