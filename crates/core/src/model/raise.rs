//! A polynomial above a model with hard zeros.

use super::factors::FactorModel;
use super::loaded::{Model, Source};
use super::polynomial::Polynomial;
use crate::error::{Error, Result};

/// A raised zero lies this many temperatures below the largest entry of every table (and never above
/// a positive entry): such a state keeps at most e^-20 = 2e-9 of that entry's weight.
const DEPTH: f64 = 20.0;

impl FactorModel {
    /// The floor to which [`Model::majorant`] raises hard zeros at temperature `eps`; `None` when there is
    /// no hard zero.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when some table is zero everywhere: then Z = 0.
    pub fn zero_floor(&self, eps: f64) -> Result<Option<f64>> {
        let impossible = || Error::NotApplicable("no state has positive weight".into());
        if self.constant() == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let mut floor = f64::INFINITY;
        for factor in self.factors() {
            let positive = || factor.table.iter().copied().filter(|v| v.is_finite());
            let low = positive().reduce(f64::min).ok_or_else(impossible)?;
            let high = positive().reduce(f64::max).ok_or_else(impossible)?;
            floor = floor.min(low).min(high - DEPTH * eps);
        }
        Ok(self.has_hard_zeros().then_some(floor))
    }

    /// The model with every hard zero raised to `floor`: pointwise at least f, so upper bounds on it hold
    /// for f; lower bounds do not.
    ///
    /// # Errors
    /// A floor that is not finite.
    pub fn raise_zeros(&self, floor: f64) -> Result<FactorModel> {
        if !floor.is_finite() {
            return Err(Error::Model(format!("the floor of zero table entries is {floor}")));
        }
        let cardinalities: Vec<usize> = self.cardinalities().iter().map(|&q| q as usize).collect();
        let mut raised = FactorModel::with_cardinalities(&cardinalities)?;
        raised.add_constant(self.constant());
        raised.add_uncertainty(self.uncertainty());
        for factor in self.factors() {
            let scope: Vec<usize> = factor.scope.iter().map(|&i| i as usize).collect();
            let raise = |v: &f64| if *v == f64::NEG_INFINITY { floor } else { *v };
            raised.push(&scope, &factor.table.iter().map(raise).collect::<Vec<_>>())?;
        }
        Ok(raised)
    }
}

impl Model {
    /// A polynomial g >= f over the free spins, on which upper-bound methods work, and the floor to which
    /// zero table entries were raised to get it (`None`: g = f).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when no state has positive weight.
    ///
    /// ```
    /// use zbound::{FactorModel, Model, Source};
    /// let mut tables = FactorModel::new(2);
    /// tables.push(&[0, 1], &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5])?;
    /// let (g, floor) = Model::new(Source::Factors(tables)).majorant(1.0)?;
    /// assert!(floor == Some(-19.5) && (g.value(&[1, 1]) - 0.5).abs() < 1e-12);
    /// # Ok::<(), zbound::Error>(())
    /// ```
    pub fn majorant(&self, eps: f64) -> Result<(Polynomial, Option<f64>)> {
        let floor = match self.source() {
            Source::Factors(_) => self.factors()?.zero_floor(eps)?,
            Source::Polynomial(_) => None,
        };
        Ok((self.raised(floor)?, floor))
    }

    /// The polynomial over the free spins, zero table entries raised to `floor` if one is given: what a
    /// certificate that names a floor speaks of.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when there are hard zeros and no floor.
    pub fn raised(&self, floor: Option<f64>) -> Result<Polynomial> {
        match floor {
            Some(floor) => self.factors()?.raise_zeros(floor)?.to_polynomial(),
            None => self.polynomial(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::VarSet;

    #[test]
    fn raised_model_is_above_the_model_everywhere() {
        let zero = f64::NEG_INFINITY;
        let mut tables = FactorModel::new(3);
        tables.push(&[0, 1, 2], &[zero, 1.0, -40.0, zero, 2.0, zero, 0.25, -1.0]).unwrap();
        tables.push(&[2], &[zero, 0.5]).unwrap();
        for eps in [1e-3, 1.0, 1e3] {
            let (g, floor) = Model::new(Source::Factors(tables.clone())).majorant(eps).unwrap();
            assert!(
                floor.unwrap() <= -40.0
                    && g.terms().iter().any(|(set, _)| *set == VarSet::from_iter([0, 1, 2]))
            );
            for bits in 0..8 {
                let x: Vec<i8> = (0..3).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
                assert!(g.value(&x) + g.uncertainty() >= tables.value(&x), "{x:?} at eps = {eps}");
            }
        }
    }

    #[test]
    fn a_model_without_states_is_named() {
        let mut tables = FactorModel::new(1);
        tables.push(&[0], &[f64::NEG_INFINITY; 2]).unwrap();
        let message = Model::new(Source::Factors(tables)).majorant(1.0).unwrap_err().to_string();
        assert!(message.contains("no state"), "{message}");
    }
}
