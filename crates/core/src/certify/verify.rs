//! From certificate to bound: the one place where a [`CertifiedBound`] is made.

use super::bound::{CertifiedBound, Side, entropy};
use super::certificate::{Certificate, Component, Form, Slack, Witness};
use super::defect::{Defect, magnitude};
use super::interval::{Interval, add_down, add_up, mul_up, sum_up};
use super::limits::Limits;
use super::tree::Tree;
use super::{elimination, logdet, slack, sparse, spectral, tangent, weighted, witness};
use crate::error::{Error, Result};
use crate::features::{Features, MAX_FEATURES};
use crate::model::{Model, Polynomial};
use crate::problem::EPS_RANGE;

/// A bound on some `Phi(f_k)`.
pub(crate) struct Upper {
    /// At least `Phi(f_k)`.
    pub(crate) value: f64,
    /// Magnitude of what was added up.
    pub(crate) scale: f64,
}

/// Published bounds are wider than proved by this much of everything that was added up, so that
/// a checker with another order of summation still confirms them. It is 256 roundings.
pub(super) const CUSHION: f64 = f64::EPSILON * 128.0;

impl Certificate {
    /// Proves an upper bound on `Phi(f)` at temperature [`Certificate::eps`] (on `max f` when that is 0):
    /// `Phi(f) <= sum_k w_k Phi(f_k) + D`, with D the l1 norm of what the decomposition leaves over.
    ///
    /// ```
    /// use zbound::certify::{Certificate, Component, Form, Slack};
    /// use zbound::{Ising, Polynomial};
    /// // A chain is its own proof: sum out the spins from one end.
    /// let f: Polynomial = Ising::new(3, &[0.1, 0.0, -0.2], &[(0, 1, 0.5), (1, 2, -1.0)])?.into();
    /// let form = Form::Elimination { polynomial: f.clone(), order: vec![0, 1, 2] };
    /// let components = vec![Component { weight: 1.0, form }];
    /// let certificate = Certificate { eps: 1.0, slack: Slack::default(), components, witness: None };
    /// let bound = certificate.verify(&f)?;
    /// let exact = (0..8).map(|k| {
    ///     let x = [0, 1, 2].map(|i| if k >> i & 1 == 1 { 1 } else { -1 });
    ///     f.value(&x).exp()
    /// });
    /// let log_z = exact.sum::<f64>().ln();
    /// assert!(bound.log_z() >= log_z && bound.log_z() - log_z < 1e-11);
    /// # Ok::<(), zbound::Error>(())
    /// ```
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

    /// Proves a lower bound on `Phi(f)` from the witness: `Phi(f) >= E_q f - eps D(q || uniform)`.
    ///
    /// # Errors
    /// [`Error::Certificate`] when there is no witness or it does not fit the model.
    pub fn verify_lower(&self, f: &Polynomial) -> Result<CertifiedBound> {
        let Some(witness) = &self.witness else {
            return Err(Error::Certificate("there is no witness, so no lower bound".into()));
        };
        witness.bound_polynomial(f, self.eps)
    }

    pub(super) fn upper_at(&self, f: &Polynomial, eps: f64) -> Result<CertifiedBound> {
        check_eps(eps)?;
        if let Some(tree) = self.tree()? {
            return tree.upper(&Model::from(f.clone()), eps, &Limits::default());
        }
        let weights = self.normalized_weights()?;
        // A table of all pairs is smaller and faster than a map of most of them.
        let is_dense = f.pairwise_part().edges().len() > f.d() * f.d() / 8;
        let mut defect = Defect::new(f.d(), is_dense || self.stores_all_pairs(f.d()));
        defect.add_polynomial(Interval::ONE, f);
        let mut value = add_up(f.uncertainty(), slack::add(&self.slack, f.d(), &mut defect)?);
        let mut scale = vec![magnitude(f), eps * (f.d() + 1) as f64];
        scale.extend(self.slack.cuts.iter().map(|cut| 2.0 * cut.cycle.len() as f64 * cut.multiplier));
        for (component, &weight) in self.components.iter().zip(&weights) {
            let upper = settle(&component.form, weight, eps, f.d(), &mut defect)?;
            value = add_up(value, (weight * Interval::point(upper.value)).hi);
            scale.push(mul_up(weight.hi, upper.scale));
        }
        value = add_up(value, defect.bound_up());
        scale.push(value.abs());
        let upper = add_up(value, mul_up(CUSHION, sum_up(scale.into_iter())));
        CertifiedBound::from_phi(upper, entropy(eps, f.d()), Side::Upper)
    }

    /// The tree that is the whole upper bound, if it is one.
    ///
    /// # Errors
    /// A tree beside other components or slack.
    pub(super) fn tree(&self) -> Result<Option<&Tree<Certificate>>> {
        match &self.components[..] {
            [Component { form: Form::Tree(tree), .. }] if self.slack == Slack::default() => Ok(Some(tree)),
            parts if parts.iter().any(|c| matches!(c.form, Form::Tree(_))) => {
                Err(Error::Certificate("a tree is one component without slack".into()))
            }
            _ => Ok(None),
        }
    }

    /// Whether some matrix is as large as (1, x): then so may be the table of defects.
    pub(super) fn stores_all_pairs(&self, d: usize) -> bool {
        let squares = self.slack.squares.iter().map(|s| s.matrix.n());
        let matrices = self.components.iter().map(|c| c.form.matrix_size());
        squares.chain(matrices).any(|n| n > d)
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

impl Witness {
    /// What the witness proves of a polynomial.
    pub(super) fn bound_polynomial(&self, f: &Polynomial, eps: f64) -> Result<CertifiedBound> {
        check_eps(eps)?;
        if let Witness::Tree(tree) = self {
            return tree.lower(&Model::from(f.clone()), eps, &Limits::default());
        }
        let value = witness::enclose(self, f, eps)? - Interval::point(f.uncertainty());
        let scale = [f.l1_norm(), f.pairwise_part().constant().abs(), eps * f.d() as f64, value.lo.abs()];
        // On a star every leaf widens what the checker knows of the centre, and every expectation uses it.
        let growth = if let Witness::Forest { .. } = self { 1.0 + f.d() as f64 / 256.0 } else { 1.0 };
        let lower = add_down(value.lo, -mul_up(CUSHION * growth, sum_up(scale.into_iter())));
        CertifiedBound::from_phi(lower, entropy(eps, f.d()), Side::Lower)
    }
}

pub(super) fn check_eps(eps: f64) -> Result<()> {
    if eps != 0.0 && !EPS_RANGE.contains(&eps) {
        let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
        return Err(Error::Certificate(format!(
            "eps = {eps:e} is neither 0 nor between {low:e} and {high:e}"
        )));
    }
    Ok(())
}

/// Subtracts `weight f_k` from the defect and bounds `Phi(f_k)`.
fn settle(form: &Form, weight: Interval, eps: f64, d: usize, defect: &mut Defect) -> Result<Upper> {
    match form {
        Form::Spectral { features, matrix, eigen } => {
            defect.add_quadratic(-weight, features, matrix)?;
            spectral::upper(matrix, eigen, eps)
        }
        Form::WeightedSpectral { features, eta, matrix, eigen } => {
            defect.add_quadratic(-weight, features, matrix)?;
            weighted::upper(eta, matrix, eigen, eps)
        }
        Form::Elimination { polynomial, order } => {
            check_spins(polynomial, d)?;
            defect.add_polynomial(-weight, polynomial);
            let phi = elimination::enclose(polynomial, order, eps)?;
            Ok(eliminated(phi, magnitude(polynomial) + eps * d as f64))
        }
        Form::WeightedElimination { polynomial, elimination } => {
            check_spins(polynomial, d)?;
            defect.add_polynomial(-weight, polynomial);
            let phi = elimination::weighted_up(polynomial, elimination, eps)?;
            Ok(eliminated(phi, magnitude(polynomial) + eps * d as f64))
        }
        Form::LogDet { noise, lambda, matrix, eigen } => {
            if matrix.n() != d + 1 || d >= MAX_FEATURES {
                return Err(Error::Certificate(format!("a log-det matrix of size {}", matrix.n())));
            }
            defect.add_quadratic(-weight, &Features::degree(d, 1), matrix)?;
            logdet::upper(noise, lambda, matrix, eigen, eps)
        }
        Form::Tangent { features, eta, point, matrix, eigen } => {
            defect.add_quadratic(-weight, features, matrix)?;
            if eps == 0.0 {
                return tangent::upper(matrix, eigen, None);
            }
            let tangent = tangent::tangent(eta, point, eps)?;
            defect.add_quadratic(-(weight * Interval::point(tangent.eps)), features, &tangent.gradient)?;
            tangent::upper(matrix, eigen, Some(&tangent))
        }
        Form::SparseDual { polynomial, diagonal, order } => {
            check_spins(polynomial, d)?;
            defect.add_polynomial(-weight, polynomial);
            sparse::upper(polynomial, diagonal, order)
        }
        Form::Constant { value } => {
            defect.add_pair(0, 0, -(weight * Interval::point(*value)));
            Ok(Upper { value: *value, scale: value.abs() })
        }
        Form::Tables(_) | Form::Tree(_) => {
            Err(Error::Certificate("a component is not about a polynomial".into()))
        }
    }
}

/// The upper end, and as much again as rounding has widened it: shifts may be larger than anything else.
fn eliminated(phi: Interval, scale: f64) -> Upper {
    let width = add_up(phi.hi, -phi.lo);
    Upper { value: add_up(phi.hi, mul_up(2.0, width)), scale: phi.magnitude() + scale }
}

fn check_spins(polynomial: &Polynomial, d: usize) -> Result<()> {
    if polynomial.d() != d {
        return Err(Error::Certificate(format!("a component has {} spins, the model {d}", polynomial.d())));
    }
    Ok(())
}
