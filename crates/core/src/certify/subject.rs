//! Proofs about factor tables, and the choice of what a certificate is about.

use super::bound::{CertifiedBound, Side, entropy_of};
use super::certificate::{Certificate, Form, Slack, Witness};
use super::claim::Claim;
use super::interval::{Interval, add_down, add_up, mul_up, sum_up};
use super::limits::{Cost, Limits};
use super::verify::{CUSHION, check_eps};
use super::{elimination, tables};
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Source};

impl Certificate {
    /// Proves an upper bound on `eps log Z` of factor tables (on `max f` when eps is 0) from a [`Form::Tables`].
    ///
    /// **Cost** one pass over the cliques of the elimination.
    ///
    /// # Errors
    /// [`Error::Certificate`] when the data prove nothing; [`Error::Memory`] or [`Error::Setting`] when replaying would
    /// exceed the default [`Limits`].
    pub fn verify_tables(&self, model: &FactorModel) -> Result<CertifiedBound> {
        self.upper_tables(model, self.eps, &Limits::default())
    }

    /// Proves a lower bound on `eps log Z` of factor tables from a witness about tables.
    ///
    /// # Errors
    /// As [`Certificate::verify_tables`].
    pub fn verify_lower_tables(&self, model: &FactorModel) -> Result<CertifiedBound> {
        let Some(witness) = &self.witness else {
            return Err(Error::Certificate("there is no witness, so no lower bound".into()));
        };
        if let Witness::Tree(tree) = witness {
            return tree.lower(&Model::new(Source::Factors(model.clone())), self.eps, &Limits::default());
        }
        witness.bound_tables(model, self.eps, &Limits::default())
    }

    fn upper_tables(&self, model: &FactorModel, eps: f64, limits: &Limits) -> Result<CertifiedBound> {
        publish(model, self.table_value(model, eps, limits)?, eps, Side::Upper)
    }

    /// Encloses what a proof about tables shows; `-inf` when no state has positive weight.
    fn table_value(&self, model: &FactorModel, eps: f64, limits: &Limits) -> Result<Interval> {
        check_eps(eps)?;
        let ([component], true) = (&self.components[..], self.slack == Slack::default()) else {
            return Err(Error::Certificate("a proof about tables is one component without slack".into()));
        };
        let Form::Tables(elimination) = &component.form else {
            return Err(Error::Certificate("a proof about a polynomial is no proof about tables".into()));
        };
        limits.allow(tables::weighted_cost(model, elimination, None)?)?;
        tables::replay(model, elimination, None, eps, Side::Upper)
    }

    /// Upper bound on `eps log Z` of a leaf of a tree, `-inf` when it has no state of positive weight.
    pub(super) fn leaf_upper(&self, model: &Model, eps: f64, limits: &Limits) -> Result<f64> {
        if !self.is_about_tables() {
            let f = model.polynomial()?;
            limits.allow(self.upper_cost(&f)?)?;
            return self.upper_at(&f, eps).map(CertifiedBound::log_z);
        }
        let tables = model.factors()?;
        let value = self.table_value(&tables, eps, limits)?;
        if value.hi == f64::NEG_INFINITY {
            return Ok(value.hi);
        }
        publish(&tables, value, eps, Side::Upper).map(CertifiedBound::log_z)
    }

    /// Whether it proves that no state of a part has positive weight.
    pub(crate) fn shows_impossible(&self, part: &Model) -> bool {
        self.leaf_upper(part, self.eps, &Limits::default()).is_ok_and(|upper| upper == f64::NEG_INFINITY)
    }

    /// Whether the upper bound is about factor tables.
    pub fn is_about_tables(&self) -> bool {
        matches!(&self.components[..], [component] if matches!(component.form, Form::Tables(_)))
    }

    /// Everything this certificate proves about `model`, ready to be written: each side about the model's tables or its
    /// polynomial, as its data are. Hard zeros are raised for upper bounds on a polynomial as [`Model::majorant`] does.
    ///
    /// # Errors
    /// As [`Certificate::verify`], [`Certificate::verify_lower`], [`Certificate::verify_tables`] and
    /// [`Certificate::verify_lower_tables`] for the sides that are there; a certificate with no side.
    pub fn verify_model(&self, model: &Model) -> Result<Claim> {
        self.verify_model_within(model, None, &Limits::default())
    }

    /// As [`Certificate::verify_model`] within other limits, hard zeros raised to `floor` if it is given.
    ///
    /// # Errors
    /// As [`Certificate::verify_model`].
    pub fn verify_model_within(&self, model: &Model, floor: Option<f64>, limits: &Limits) -> Result<Claim> {
        if self.components.is_empty() && self.witness.is_none() {
            return Err(Error::Certificate("there is neither a component nor a witness".into()));
        }
        let evidence = model.fixed().iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s)));
        let mut claim = Claim { d: model.d(), evidence: evidence.collect(), ..Claim::default() };
        if !self.components.is_empty() {
            let upper = match self.tree()? {
                Some(tree) => tree.upper(model, self.eps, limits)?,
                None if self.is_about_tables() => self.upper_tables(&model.factors()?, self.eps, limits)?,
                None => {
                    let (f, floor) = match floor {
                        Some(floor) => (model.raised(Some(floor))?, Some(floor)),
                        None => model.majorant(self.eps)?,
                    };
                    claim.zero_floor = floor;
                    limits.allow(self.upper_cost(&f)?)?;
                    self.verify(&f)?
                }
            };
            (claim.phi_upper, claim.log_z_upper) = (Some(upper.phi()), Some(upper.log_z()));
        }
        if let Some(witness) = &self.witness {
            let lower = witness.bound(model, self.eps, limits)?;
            (claim.phi_lower, claim.log_z_lower) = (Some(lower.phi()), Some(lower.log_z()));
        }
        Ok(claim)
    }

    /// What [`Certificate::verify`] takes, from shapes alone.
    fn upper_cost(&self, f: &crate::model::Polynomial) -> Result<Cost> {
        let mut total = Cost::default();
        let squares = self.slack.squares.iter().map(|s| s.matrix.n());
        let matrices =
            self.components.iter().map(|c| (c.form.matrix_size(), matches!(c.form, Form::Tangent { .. })));
        for (n, tangent) in squares.map(|n| (n, false)).chain(matrices) {
            let n = n as f64;
            let (products, copies) = if tangent { (7.0, 6.0) } else { (3.0, 2.0) };
            total = total
                .then(Cost { operations: products * n * n * n, bytes: 8.0 * copies * n * n + 16.0 * n * n });
        }
        for component in &self.components {
            total = total.then(match &component.form {
                Form::Elimination { polynomial, order } => elimination::cost(polynomial, order)?,
                Form::WeightedElimination { polynomial, elimination } => {
                    elimination::cost_of_weighted(polynomial, elimination)?
                }
                _ => Cost::default(),
            });
        }
        let dense = if self.stores_all_pairs(f.d()) { 8.0 * ((f.d() + 1) as f64).powi(2) } else { 0.0 };
        Ok(Cost { bytes: total.bytes + dense, ..total })
    }
}

impl Witness {
    /// What the witness proves of a model, about its tables or its polynomial.
    pub(super) fn bound(&self, model: &Model, eps: f64, limits: &Limits) -> Result<CertifiedBound> {
        if let Witness::Tree(tree) = self {
            return tree.lower(model, eps, limits);
        }
        if self.is_about_tables() {
            return self.bound_tables(&model.factors()?, eps, limits);
        }
        let f = model.polynomial()?;
        if let Witness::Elimination { order } = self {
            limits.allow(elimination::cost(&f, order)?)?;
        }
        self.bound_polynomial(&f, eps)
    }

    fn bound_tables(&self, model: &FactorModel, eps: f64, limits: &Limits) -> Result<CertifiedBound> {
        check_eps(eps)?;
        let value = match self {
            Witness::Tables { elimination, allowed } => {
                let allowed = allowed.as_deref();
                limits.allow(tables::weighted_cost(model, elimination, allowed)?)?;
                tables::replay(model, elimination, allowed, eps, Side::Lower)?
            }
            Witness::States { states } => tables::states(model, states)?,
            Witness::StateProduct { probabilities } => tables::state_product(model, probabilities, eps)?,
            Witness::Blocks { blocks, fields } => {
                limits.allow(tables::blocks_cost(model, blocks)?)?;
                tables::blocks(model, blocks, fields, eps)?
            }
            _ => return Err(Error::Certificate("the witness is not about tables".into())),
        };
        publish(model, value, eps, Side::Lower)
    }
}

/// Adds the uncertainty of the model, and a little more, so that a checker with other roundings still confirms the bound.
fn publish(model: &FactorModel, value: Interval, eps: f64, side: Side) -> Result<CertifiedBound> {
    let tables = model.factors().map(|f| largest_finite(f.table));
    let own = [model.constant().abs(), eps * model.d() as f64, value.lo.abs(), value.hi.abs()];
    let scale = sum_up(tables.chain(own));
    let width = add_up(value.hi, -value.lo);
    let pad = add_up(mul_up(2.0, width), add_up(mul_up(CUSHION, scale), model.uncertainty()));
    let bound = match side {
        Side::Upper => add_up(value.hi, pad),
        Side::Lower => add_down(value.lo, -pad),
    };
    CertifiedBound::from_log_z(bound, entropy_of(eps, model.cardinalities()), side)
}

/// Largest finite absolute value.
fn largest_finite(table: &[f64]) -> f64 {
    table.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()))
}

impl Claim {
    /// Re-derives every bound about `model` and compares, as [`Claim::confirm`] does, the evidence included.
    ///
    /// # Errors
    /// [`Error::Certificate`] when some claimed bound is not proved or the evidence is not the model's;
    /// [`Error::Memory`] or [`Error::Setting`] when that would exceed `limits`.
    pub fn confirm_model(&self, certificate: &Certificate, model: &Model, limits: &Limits) -> Result<Claim> {
        let given = model.fixed().iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s)));
        let mut named = self.evidence.clone();
        named.sort_unstable();
        named.dedup();
        if named != given.collect::<Vec<_>>() {
            return Err(Error::Certificate(if named.is_empty() {
                "it is about the model without the evidence given".into()
            } else {
                format!("it is about the model under evidence {named:?}, which is not what was given")
            }));
        }
        if model.d() != self.d {
            return Err(Error::Certificate(format!(
                "it is for {} free variables, the model has {}",
                self.d,
                model.d()
            )));
        }
        let proved = certificate.verify_model_within(model, self.zero_floor, limits)?;
        self.compare(&proved)?;
        Ok(proved)
    }
}
