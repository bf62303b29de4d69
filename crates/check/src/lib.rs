//! The checker behind `zbound-check`: it shares no code with zbound and trusts nothing in a certificate.

// `!(x < limit)` is how NaN is refused.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

mod bethe;
mod blocks;
mod bounds;
mod cert;
mod cert_read;
mod cert_tables;
mod cost;
mod evidence;
mod forest;
mod interval;
mod json;
mod layer;
mod limits;
mod model;
mod model_file;
mod soft;
mod sparse;
mod spectrum;
mod states;
mod sums;
mod table;
mod tangent;
mod tree;
mod weighted;

use limits::Stop;
pub use limits::{Limits, parse_size};

/// Temperatures of certificates; 0 stands for max f. Beyond them products of a temperature leave the range of floats.
const EPS_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Why nothing was confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The certificate cannot be read.
    Certificate(String),
    /// The model cannot be read.
    Model(String),
    /// The evidence cannot be read.
    Evidence(String),
    /// All can be read, and a claim is not proved.
    Rejected(String),
    /// Checking would exceed a limit.
    Limit(String),
}

/// What is to be confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name of the model's file; its extension is the format.
    pub model_path: &'a str,
    /// The model.
    pub model: &'a str,
    /// The evidence the certificate must be about; `None` when there is none.
    pub evidence: Option<&'a str>,
    /// The certificate.
    pub certificate: &'a [u8],
    /// What the check may take.
    pub limits: Limits,
}

/// An error that says `why`, unless `fine`. What must hold is what is written, so that NaN fails.
fn require(fine: bool, why: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(why.to_owned()) }
}

/// Confirms every claim of `certificate` about the model in `text`, without evidence and within default limits; the
/// answer is one line of JSON.
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
    let limits = Limits::default();
    check_with(&Request { model_path, model: text, evidence: None, certificate, limits })
}

/// As [`check`], with evidence and limits.
///
/// # Errors
/// As [`check`]; a certificate about other evidence; work beyond the limits.
pub fn check_with(request: &Request<'_>) -> Result<String, Refusal> {
    let certificate = cert_read::parse(request.certificate).map_err(Refusal::Certificate)?;
    let file = model_file::read(request.model_path, request.model).map_err(Refusal::Model)?;
    let evidence = request.evidence.map_or(Ok(Vec::new()), |text| evidence::read(text, &file.states));
    let evidence = evidence.map_err(Refusal::Evidence)?;
    let mut named = certificate.evidence.clone();
    named.sort_unstable();
    named.dedup();
    if named != evidence {
        let why = format!("it is about evidence {named:?}, given is {evidence:?}");
        return Err(Refusal::Rejected(why));
    }
    let verdict = confirm(&certificate, &file, &evidence, &request.limits);
    verdict.map_err(|stop| match stop {
        Stop::Rejected(why) => Refusal::Rejected(why),
        Stop::Limit(why) => Refusal::Limit(why),
    })
}

/// Re-derives every claimed bound; the line for stdout.
fn confirm(
    c: &cert::Certificate,
    file: &model_file::File,
    evidence: &[(usize, usize)],
    limits: &Limits,
) -> Result<String, Stop> {
    let eps = c.eps;
    let range = EPS_RANGE.contains(&eps) || eps == 0.0;
    require(range, &format!("eps = {eps:e} is neither 0 nor between 1e-12 and 1e12"))?;
    let subject = model::Subject::new(file, evidence)?;
    let d = subject.states.len();
    require(d == c.d, &format!("it is for {} free variables, the model has {d}", c.d))?;
    let entropy = bounds::entropy(eps, &subject.states);
    let mut proved = String::new();
    let mut compare = |name: &str, claimed: Option<f64>, own: f64, holds: fn(f64, f64) -> bool| {
        let Some(claimed) = claimed else { return Ok::<_, String>(()) };
        require(holds(own, claimed), &format!("{name}: {claimed:?} is claimed, {own:?} is proved"))?;
        proved += &format!(",\"{name}\":{claimed:?}");
        Ok(())
    };
    if c.phi[0].is_some() || c.log_z[0].is_some() {
        let bound = bounds::upper(&c.proof, &subject, (eps, c.zero_floor), limits)?;
        compare("phi_upper", c.phi[0], bound.phi(entropy).hi, |own, claimed| own <= claimed)?;
        compare("log_z_upper", c.log_z[0], bound.log_z(entropy).hi, |own, claimed| own <= claimed)?;
    }
    if c.phi[1].is_some() || c.log_z[1].is_some() {
        let witness = c.witness.as_ref().ok_or("a lower bound is claimed without a witness")?;
        let bound = bounds::lower(witness, &subject, eps, limits)?;
        compare("phi_lower", c.phi[1], bound.phi(entropy).lo, |own, claimed| own >= claimed)?;
        compare("log_z_lower", c.log_z[1], bound.log_z(entropy).lo, |own, claimed| own >= claimed)?;
    }
    require(!proved.is_empty(), "it claims nothing")?;
    let pairs: Vec<String> = evidence.iter().map(|(i, state)| format!("[{i},{state}]")).collect();
    Ok(format!("{{\"verified\":true,\"eps\":{eps:?},\"evidence\":[{}]{proved}}}", pairs.join(",")))
}
