//! What is asked: a function, a temperature and a feature vector.

use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::Polynomial;

/// The problem every relaxation solves: bound `Phi_eps(f) = eps log E_x[exp(f(x)/eps)]`, x uniform
/// on {-1,+1}^d, with moments of the features phi.
///
/// ```
/// use zbound::{Features, Ising, Problem};
/// let model = Ising::new(2, &[0.5, -0.5], &[(0, 1, 1.0)])?;
/// let problem = Problem::new(model, Features::degree(2, 1))?.with_temperature(0.5)?;
/// assert_eq!(problem.eps(), 0.5);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    polynomial: Polynomial,
    features: Features,
    eps: f64,
}

/// Legal temperatures: outside, `f/eps` or `n/eps` leaves the range in which bounds stay finite.
pub const EPS_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

impl Problem {
    /// The problem at temperature 1.
    ///
    /// # Errors
    /// A feature that names a variable the model does not have.
    pub fn new(f: impl Into<Polynomial>, features: Features) -> Result<Self> {
        let polynomial = f.into();
        let d = polynomial.d();
        if let Some(set) = features.sets().iter().find(|set| set.largest() >= Some(d)) {
            return Err(Error::Features(format!("feature {set} is out of range for d = {d}")));
        }
        Ok(Problem { polynomial, features, eps: 1.0 })
    }

    /// The same problem at temperature `eps`.
    ///
    /// # Errors
    /// A temperature outside [`EPS_RANGE`]; for eps = 0 use [`crate::query::map`].
    pub fn with_temperature(mut self, eps: f64) -> Result<Self> {
        if !EPS_RANGE.contains(&eps) {
            return Err(Error::Setting(format!(
                "eps = {eps}: expected a temperature between {:e} and {:e} (for the limit eps = 0 use `map`)",
                EPS_RANGE.start(),
                EPS_RANGE.end()
            )));
        }
        self.eps = eps;
        Ok(self)
    }

    /// f.
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// phi.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The temperature.
    pub fn eps(&self) -> f64 {
        self.eps
    }

    /// Number of spins.
    pub fn d(&self) -> usize {
        self.polynomial.d()
    }

    /// The same model and temperature with other features.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn with_features(&self, features: Features) -> Result<Self> {
        Problem::new(self.polynomial.clone(), features)?.with_temperature(self.eps)
    }
}
