//! What a certificate says about a model, and whether that is so.

use super::certificate::Certificate;
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// What a certificate file says of itself: the spins it speaks of and the bounds it is for.
///
/// A claim read from a file is only the file's word: see [`Claim::confirm`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Free variables.
    pub d: usize,
    /// Variables of the model's file that are fixed, with their states.
    pub evidence: Vec<(usize, u32)>,
    /// Log value to which zero table entries were raised (only upper bounds survive that).
    pub zero_floor: Option<f64>,
    /// `phi <=` this.
    pub phi_upper: Option<f64>,
    /// `phi >=` this.
    pub phi_lower: Option<f64>,
    /// `eps log Z <=` this.
    pub log_z_upper: Option<f64>,
    /// `eps log Z >=` this.
    pub log_z_lower: Option<f64>,
}

impl Certificate {
    /// Everything this certificate proves about `f`, ready to be written: `fixed` is the evidence per variable
    /// of the model's file (`f` speaks of the free ones), empty when there is none.
    ///
    /// # Errors
    /// As [`Certificate::verify`] and [`Certificate::verify_lower`], for the sides that are there; a certificate
    /// with no side; evidence that does not leave as many spins as f has.
    pub fn claim(&self, f: &Polynomial, fixed: &[Option<u32>]) -> Result<Claim> {
        let evidence: Vec<(usize, u32)> =
            fixed.iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s))).collect();
        if !fixed.is_empty() && fixed.len() - evidence.len() != f.d() {
            return Err(Error::Certificate("the evidence does not fit the model".into()));
        }
        if self.components.is_empty() && self.witness.is_none() {
            return Err(Error::Certificate("there is neither a component nor a witness".into()));
        }
        let upper = (!self.components.is_empty()).then(|| self.verify(f)).transpose()?;
        let lower = self.witness.is_some().then(|| self.verify_lower(f)).transpose()?;
        Ok(Claim {
            d: f.d(),
            evidence,
            zero_floor: None,
            phi_upper: upper.map(|b| b.phi()),
            phi_lower: lower.map(|b| b.phi()),
            log_z_upper: upper.map(|b| b.log_z()),
            log_z_lower: lower.map(|b| b.log_z()),
        })
    }
}

impl Claim {
    /// Re-derives every bound from `certificate` and compares: what is proved must be at least as strong as
    /// what is claimed. Returns the proved bounds.
    ///
    /// # Errors
    /// [`Error::Certificate`] when some claimed bound is not proved.
    pub fn confirm(&self, certificate: &Certificate, f: &Polynomial) -> Result<Claim> {
        if f.d() != self.d {
            return Err(Error::Certificate(format!(
                "it is for {} free spins, the model has {}",
                self.d,
                f.d()
            )));
        }
        let proved = certificate.claim(f, &[])?;
        self.compare(&proved)?;
        Ok(proved)
    }

    /// Every bound claimed must be among those proved, and no stronger.
    pub(super) fn compare(&self, proved: &Claim) -> Result<()> {
        let above = |claimed: Option<f64>, proved: Option<f64>| match (claimed, proved) {
            (None, _) => true,
            (Some(claimed), Some(proved)) => proved <= claimed,
            (Some(_), None) => false,
        };
        let negate = |x: Option<f64>| x.map(|v| -v);
        if !above(self.phi_upper, proved.phi_upper) || !above(self.log_z_upper, proved.log_z_upper) {
            return Err(Error::Certificate("the upper bound it proves is above the one it claims".into()));
        }
        if !above(negate(self.phi_lower), negate(proved.phi_lower))
            || !above(negate(self.log_z_lower), negate(proved.log_z_lower))
        {
            return Err(Error::Certificate("the lower bound it proves is below the one it claims".into()));
        }
        Ok(())
    }
}
