//! Moments of terms: the gradient of a bound in the coefficients of arity three and more.

use crate::certify::MomentMatrix;
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
            let state = State::new(solution?.certificate.as_ref()?.moment_matrix()?);
            sets().map(|set| state.moment(set)).collect()
        }
    }
}

/// A moment matrix whose entries can be found by their features.
struct State<'a> {
    position: HashMap<&'a VarSet, usize>,
    matrix: MomentMatrix<'a>,
}

impl<'a> State<'a> {
    fn new(matrix: MomentMatrix<'a>) -> Self {
        let position = matrix.features.sets().iter().enumerate().map(|(k, set)| (set, k)).collect();
        State { position, matrix }
    }

    /// The mean over the entries of S whose features differ by `set`; at the optimum they are equal.
    fn moment(&self, set: &VarSet) -> Option<f64> {
        let MomentMatrix { features, eigen, values, scale } = &self.matrix;
        let sets = features.sets();
        let partner = |i: usize| Some((i, *self.position.get(&sets[i].xor(set))?));
        let pairs: Vec<(usize, usize)> = (0..sets.len()).filter_map(partner).collect();
        let entry = |&(i, j): &(usize, usize)| -> f64 {
            let column = |k: usize| eigen.vectors.column(k);
            let product = values.iter().enumerate().map(|(k, v)| v * column(k)[i] * column(k)[j]);
            scale[i] * scale[j] * product.sum::<f64>()
        };
        let mean = pairs.iter().map(entry).sum::<f64>() / pairs.len() as f64;
        (!pairs.is_empty()).then(|| mean.clamp(-1.0, 1.0))
    }
}
