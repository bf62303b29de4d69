//! The checker behind `zbound-check`: it shares no code with zbound and trusts nothing in a certificate.

mod bounds;
mod cert;
mod interval;
mod json;
mod model;
mod spectrum;
mod sums;
mod tangent;

use interval::at;

/// Temperatures of certificates; 0 stands for max f. Beyond them products of a temperature leave the range of floats.
const EPS_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Why nothing was confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The certificate cannot be read.
    Certificate(String),
    /// The model cannot be read.
    Model(String),
    /// Both can be read, and a claim is not proved.
    Rejected(String),
}

/// An error that says `why`, unless `fine`. What must hold is what is written, so that NaN fails.
fn require(fine: bool, why: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(why.to_owned()) }
}

/// Confirms every claim of `certificate` about the model in `text`, whose format `model_path` names; the answer is
/// one line of JSON.
///
/// # Errors
/// What cannot be read, and what is not proved.
///
/// ```
/// use zbound_check::{Refusal, check};
/// let refusal = check("m.json", "{\"d\": 1}", b"not a certificate").unwrap_err();
/// assert!(matches!(refusal, Refusal::Certificate(_)));
/// ```
pub fn check(model_path: &str, text: &str, certificate: &[u8]) -> Result<String, Refusal> {
    let certificate = cert::parse(certificate).map_err(Refusal::Certificate)?;
    let model = model::read(model_path, text, &certificate.evidence, certificate.zero_floor);
    confirm(&certificate, &model.map_err(Refusal::Model)?).map_err(Refusal::Rejected)
}

/// Re-derives every claimed bound; the line for stdout.
fn confirm(certificate: &cert::Certificate, model: &model::Model) -> Result<String, String> {
    let (c, eps) = (certificate, certificate.eps);
    let range = EPS_RANGE.contains(&eps) || eps == 0.0;
    require(range, &format!("eps = {eps:e} is neither 0 nor between 1e-12 and 1e12"))?;
    require(model.d == c.d, &format!("it is for {} free spins, the model has {}", c.d, model.d))?;
    let (entropy, mut bounds) = (bounds::entropy(eps, model.d), String::new());
    let mut compare = |name: &str, claimed: Option<f64>, own: f64, holds: fn(f64, f64) -> bool| {
        let Some(claimed) = claimed else { return Ok::<_, String>(()) };
        require(holds(own, claimed), &format!("{name}: {claimed:?} is claimed, {own:?} is proved"))?;
        bounds += &format!(",\"{name}\":{claimed:?}");
        Ok(())
    };
    if c.phi[0].is_some() || c.log_z[0].is_some() {
        let proved = bounds::upper(c, model)?;
        compare("phi_upper", c.phi[0], proved, |own, claimed| own <= claimed)?;
        compare("log_z_upper", c.log_z[0], (at(proved) + entropy).hi, |own, claimed| own <= claimed)?;
    }
    if c.phi[1].is_some() || c.log_z[1].is_some() {
        let witness = c.witness.as_ref().ok_or("a lower bound is claimed without a witness")?;
        require(c.zero_floor.is_none(), "a lower bound is claimed with zero entries raised")?;
        let proved = bounds::lower(witness, model, eps)?;
        compare("phi_lower", c.phi[1], proved, |own, claimed| own >= claimed)?;
        compare("log_z_lower", c.log_z[1], (at(proved) + entropy).lo, |own, claimed| own >= claimed)?;
    }
    require(!bounds.is_empty(), "it claims nothing")?;
    Ok(format!("{{\"verified\":true,\"eps\":{eps:?}{bounds}}}"))
}
