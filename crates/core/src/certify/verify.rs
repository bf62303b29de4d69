//! From certificate to bound: the one place where a [`CertifiedBound`] is made.

use super::certificate::{Certificate, CertifiedBound, Form};
use super::defect::Defect;
use super::interval::{Interval, add_up, mul_up, sum_up};
use super::spectral;
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// A bound on some `Phi(f_k)`.
pub(crate) struct Upper {
    /// At least `Phi(f_k)`.
    pub(crate) value: f64,
    /// Magnitude of what was added up.
    pub(crate) scale: f64,
}

/// Published bounds are wider than proved by this much of everything that was added up, so that
/// a checker with another order of summation still confirms them. It is 256 roundings.
const CUSHION: f64 = f64::EPSILON * 128.0;

impl Certificate {
    /// Proves an upper bound on `Phi(f)` at temperature [`Certificate::eps`] (on `max f` when that is 0):
    /// `Phi(f) <= sum_k w_k Phi(f_k) + D`, with D the l1 norm of what the decomposition leaves over.
    ///
    /// **Cost** per dense matrix two matrix products, less than one eigendecomposition; O(n^2) else.
    ///
    /// # Errors
    /// [`Error::Certificate`] when the data prove nothing: no component, negative weights or
    /// multipliers, eigenvectors far from orthonormal, a matrix that is not positive definite.
    pub fn verify(&self, f: &Polynomial) -> Result<CertifiedBound> {
        self.upper_at(f, self.eps)
    }

    /// Proves an upper bound on `max f` from the same data, whatever the temperature.
    ///
    /// # Errors
    /// As [`Certificate::verify`].
    pub fn map_bound(&self, f: &Polynomial) -> Result<CertifiedBound> {
        self.upper_at(f, 0.0)
    }

    fn upper_at(&self, f: &Polynomial, eps: f64) -> Result<CertifiedBound> {
        check_eps(eps)?;
        let weights = self.normalized_weights()?;
        let mut defect = Defect::new(f.d(), self.components.iter().any(|c| c.form.is_dense()));
        defect.add_polynomial(Interval::ONE, f);
        let (mut value, mut scale) = (f.uncertainty(), vec![f.l1_norm(), f.pairwise_part().constant().abs()]);
        for (component, &weight) in self.components.iter().zip(&weights) {
            subtract(&component.form, weight, &mut defect)?;
            let upper = form_upper(&component.form, f.d(), eps)?;
            value = add_up(value, (weight * Interval::point(upper.value)).hi);
            scale.push(mul_up(weight.hi, upper.scale));
        }
        value = add_up(value, defect.bound_up());
        scale.push(value.abs());
        value = add_up(value, mul_up(CUSHION, sum_up(scale.into_iter())));
        CertifiedBound::proved(value)
    }

    /// `w_k / sum w` as intervals.
    fn normalized_weights(&self) -> Result<Vec<Interval>> {
        if self.components.is_empty() {
            return Err(Error::Certificate("there is no component, so no upper bound".into()));
        }
        if let Some(c) = self.components.iter().find(|c| !(c.weight >= 0.0 && c.weight.is_finite())) {
            return Err(Error::Certificate(format!("a component has weight {}", c.weight)));
        }
        let total = self.components.iter().fold(Interval::ZERO, |sum, c| sum + Interval::point(c.weight));
        if !(total.lo > 0.0 && total.hi.is_finite()) {
            return Err(Error::Certificate("the weights do not have a positive sum".into()));
        }
        if self.components.len() == 1 {
            return Ok(vec![Interval::ONE]);
        }
        Ok(self.components.iter().map(|c| Interval::point(c.weight) / total).collect())
    }
}

fn check_eps(eps: f64) -> Result<()> {
    if !(eps >= 0.0 && eps.is_finite()) {
        return Err(Error::Certificate(format!("eps = {eps} is not a temperature")));
    }
    Ok(())
}

/// `delta <- delta - weight f_k`.
fn subtract(form: &Form, weight: Interval, defect: &mut Defect) -> Result<()> {
    match form {
        Form::Spectral { features, matrix, .. } => defect.add_quadratic(-weight, features, matrix)?,
        _ => return Err(Error::Certificate("unknown form".into())),
    }
    Ok(())
}

fn form_upper(form: &Form, _d: usize, eps: f64) -> Result<Upper> {
    match form {
        Form::Spectral { matrix, eigen, .. } => spectral::upper(matrix, eigen, eps),
        _ => Err(Error::Certificate("unknown form".into())),
    }
}
