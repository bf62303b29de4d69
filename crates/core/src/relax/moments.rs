//! Moments of terms: the gradient of a bound in the coefficients of arity three and more.

use crate::certify::{Certificate, Form};
use crate::linalg::Eigen;
use crate::model::{Model, Polynomial, VarSet};
use crate::query::kl::Distribution;
use crate::settings::Method;
use crate::solution::Solution;
use std::collections::HashMap;

/// `E x^A` for every term of `f`, in its order, as `method` sees it: the derivative of its bound on phi in the
/// coefficient of `x^A`. `None` when the method does not know them.
///
/// The quantum bounds read them off the moment matrix behind their certificate, exact inference off the table of
/// all states (at most 20 spins).
///
/// **Cost** `n^2` per term for n features.
///
/// ```
/// use zbound::relax::{Quantum, Relaxation, term_moments};
/// use zbound::{FeatureSpec, Method, Polynomial, Problem, Settings, VarSet};
/// let f = Polynomial::from_coefficients(3, [(VarSet::from_iter([0, 1, 2]), 0.7)])?;
/// let problem = Problem::new(f.clone(), FeatureSpec::Degree(3).resolve(&f)?)?;
/// let solution = Quantum::default().solve(&problem, &Settings::default())?;
/// let moments = term_moments(&f, 1.0, Method::Quantum, Some(&solution)).unwrap();
/// assert!((moments[0] - 0.7f64.tanh()).abs() < 1e-6);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn term_moments(
    f: &Polynomial,
    eps: f64,
    method: Method,
    solution: Option<&Solution>,
) -> Option<Vec<f64>> {
    let sets = || f.terms().iter().map(|(set, _)| set);
    match method {
        Method::Exact => {
            let moments = Distribution::gibbs(&Model::from(f.clone()), eps).ok()?.moments();
            let position = |set: &VarSet| set.iter().fold(0, |bits, i| bits | 1usize << i);
            Some(sets().map(|set| moments[position(set)]).collect())
        }
        _ => {
            let state = State::new(solution?.certificate.as_ref()?)?;
            sets().map(|set| state.moment(set)).collect()
        }
    }
}

/// A moment matrix `S = W U diag(values) U^T W` with W diagonal.
struct State<'a> {
    position: HashMap<&'a VarSet, usize>,
    sets: &'a [VarSet],
    eigen: &'a Eigen,
    values: Vec<f64>,
    scale: Vec<f64>,
}

impl<'a> State<'a> {
    fn new(certificate: &'a Certificate) -> Option<Self> {
        let eps = certificate.eps;
        let found = certificate.components.iter().find_map(|component| match &component.form {
            Form::Spectral { features, eigen, .. } => {
                let n = features.len() as f64;
                let values = gibbs(&eigen.values, n / eps).map(|w| n * w).collect();
                Some((features, eigen, values, vec![1.0; features.len()]))
            }
            Form::WeightedSpectral { features, eta, eigen, .. } => {
                let total: f64 = eta.iter().sum();
                let scale = eta.iter().map(|v| (v / total).powf(-0.5)).collect();
                Some((features, eigen, gibbs(&eigen.values, 1.0 / eps).collect(), scale))
            }
            Form::Tangent { features, point, .. } => {
                Some((features, point, point.values.clone(), vec![1.0; features.len()]))
            }
            _ => None,
        });
        let (features, eigen, values, scale) = found?;
        let sets = features.sets();
        let position = sets.iter().enumerate().map(|(k, set)| (set, k)).collect();
        Some(State { position, sets, eigen, values, scale })
    }

    /// The mean over the entries of S whose features differ by `set`; at the optimum they are equal.
    fn moment(&self, set: &VarSet) -> Option<f64> {
        let partner = |i: usize| Some((i, *self.position.get(&self.sets[i].xor(set))?));
        let pairs: Vec<(usize, usize)> = (0..self.sets.len()).filter_map(partner).collect();
        let entry = |&(i, j): &(usize, usize)| -> f64 {
            let column = |k: usize| self.eigen.vectors.column(k);
            let product = self.values.iter().enumerate().map(|(k, v)| v * column(k)[i] * column(k)[j]);
            self.scale[i] * self.scale[j] * product.sum::<f64>()
        };
        let mean = pairs.iter().map(entry).sum::<f64>() / pairs.len() as f64;
        (!pairs.is_empty()).then(|| mean.clamp(-1.0, 1.0))
    }
}

/// `exp(t lambda) / sum exp(t lambda)`.
fn gibbs(lambda: &[f64], t: f64) -> impl Iterator<Item = f64> {
    let top = lambda.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
    let weight = move |l: &f64| (t * (l - top)).exp();
    let total: f64 = lambda.iter().map(weight).sum();
    lambda.iter().map(move |l| weight(l) / total)
}
