//! A polynomial above a model with hard zeros.

use super::factors::FactorModel;
use super::loaded::{Model, Source};
use super::polynomial::Polynomial;
use crate::error::{Error, Result};

/// A raised zero lies this many temperatures below its table's largest entry (and never above its
/// smallest positive one): such a state keeps at most e^-20 = 2e-9 of that entry's weight.
const DEPTH: f64 = 20.0;

impl FactorModel {
    /// The model with every hard zero raised to a finite floor: pointwise at least f, so upper
    /// bounds on it hold for f; lower bounds do not.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when some table is zero everywhere: then Z = 0.
    pub fn raise_zeros(&self, eps: f64) -> Result<FactorModel> {
        let impossible = || Error::NotApplicable("no state has positive weight".into());
        if self.constant() == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let mut raised = FactorModel::new(self.d());
        raised.add_constant(self.constant());
        raised.add_uncertainty(self.uncertainty());
        for factor in self.factors() {
            let positive = || factor.table.iter().copied().filter(|v| v.is_finite());
            let (low, high) = (positive().fold(f64::INFINITY, f64::min), positive().fold(f64::NAN, f64::max));
            if high.is_nan() {
                return Err(impossible());
            }
            let floor = low.min(high - DEPTH * eps);
            let scope: Vec<usize> = factor.scope.iter().map(|&i| i as usize).collect();
            raised.push(&scope, &factor.table.iter().map(|v| v.max(floor)).collect::<Vec<_>>())?;
        }
        Ok(raised)
    }
}

impl Model {
    /// A polynomial g >= f over the free spins at which upper-bound methods work, and whether it
    /// differs from f: zero table entries are raised to a floor that depends on `eps` alone, so a
    /// certificate can be checked against the file.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when no state has positive weight, or when g has entries beyond the
    /// range of floating point.
    ///
    /// ```
    /// use zbound::{FactorModel, Model, Source};
    /// let mut tables = FactorModel::new(2);
    /// tables.push(&[0, 1], &[0.0, f64::NEG_INFINITY, f64::NEG_INFINITY, 0.5])?;
    /// let (g, raised) = Model::new(Source::Factors(tables)).majorant(1.0)?;
    /// assert!(raised && (g.value(&[1, 1]) - 0.5).abs() < 1e-12);
    /// # Ok::<(), zbound::Error>(())
    /// ```
    pub fn majorant(&self, eps: f64) -> Result<(Polynomial, bool)> {
        match self.source() {
            Source::Factors(_) => {
                let tables = self.factors()?;
                match tables.has_hard_zeros() || tables.constant() == f64::NEG_INFINITY {
                    true => Ok((tables.raise_zeros(eps)?.to_polynomial()?, true)),
                    false => Ok((tables.to_polynomial()?, false)),
                }
            }
            Source::Polynomial(_) => Ok((self.polynomial()?, false)),
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
            let (g, raised) = Model::new(Source::Factors(tables.clone())).majorant(eps).unwrap();
            assert!(raised && g.terms().iter().any(|(set, _)| *set == VarSet::from_iter([0, 1, 2])));
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
