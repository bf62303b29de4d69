//! Moments of terms: the gradient of a bound in the coefficients of arity three and more.

use crate::features::Features;
use crate::linalg::Square;
use crate::model::{Model, Polynomial, VarSet};
use crate::query::kl::Distribution;
use crate::settings::Method;
use crate::solution::Solution;
use std::collections::HashMap;

/// `E x^A` for every term of `f`, in its order, as `method` sees it: the derivative of its bound on phi in the
/// coefficient of `x^A`. `None` when the method does not know them.
///
/// The quantum bounds read them off the moment matrix at which they were found, exact inference off the table of
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
            let solution = solution?;
            let (values, vectors) = solution.point.as_ref()?.moments(eps);
            let state = State::new(solution.features.as_ref()?, values, vectors);
            sets().map(|set| state.moment(set)).collect()
        }
    }
}

/// A moment matrix `S = U diag(values) U^T` whose entries can be found by their features.
struct State<'a> {
    position: HashMap<&'a VarSet, usize>,
    features: &'a Features,
    values: Vec<f64>,
    vectors: &'a Square,
}

impl<'a> State<'a> {
    fn new(features: &'a Features, values: Vec<f64>, vectors: &'a Square) -> Self {
        let position = features.sets().iter().enumerate().map(|(k, set)| (set, k)).collect();
        State { position, features, values, vectors }
    }

    /// The mean over the entries of S whose features differ by `set`; at the optimum they are equal.
    fn moment(&self, set: &VarSet) -> Option<f64> {
        let sets = self.features.sets();
        let partner = |i: usize| Some((i, *self.position.get(&sets[i].xor(set))?));
        let pairs: Vec<(usize, usize)> = (0..sets.len()).filter_map(partner).collect();
        let entry = |&(i, j): &(usize, usize)| -> f64 {
            let column = |k: usize| self.vectors.column(k);
            self.values.iter().enumerate().map(|(k, v)| v * column(k)[i] * column(k)[j]).sum()
        };
        let mean = pairs.iter().map(entry).sum::<f64>() / pairs.len() as f64;
        (!pairs.is_empty()).then(|| mean.clamp(-1.0, 1.0))
    }
}
