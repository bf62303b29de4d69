//! `zbound-check MODEL CERT`: confirms a certificate of zbound with its own reader, its own arithmetic
//! and plain loops. It shares no code with zbound and trusts nothing in the certificate.
//!
//! Exit code 0 and one line of JSON when every claim is proved; 1 and the reason when not; 2 for unreadable files.

mod bounds;
mod cert;
mod interval;
mod json;
mod model;
mod spectrum;
mod sums;
mod tangent;

use interval::at;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [flag] if flag == "--version" => Ok(format!("zbound-check {}", env!("CARGO_PKG_VERSION"))),
        [model, certificate] => check(model, certificate),
        _ => Err((2, "usage: zbound-check MODEL CERT".into())),
    };
    match outcome {
        Ok(line) => println!("{line}"),
        Err((code, reason)) => {
            eprintln!("zbound-check: {reason}");
            return ExitCode::from(code);
        }
    }
    ExitCode::SUCCESS
}

/// An error that says `why`, unless `fine`. What must hold is what is written, so that NaN fails.
fn require(fine: bool, why: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(why.to_owned()) }
}

/// The line for stdout, or an exit code and a reason.
fn check(model_path: &str, certificate_path: &str) -> Result<String, (u8, String)> {
    let unreadable = |path: &str, what: String| (2, format!("{path}: {what}"));
    let bytes = std::fs::read(certificate_path).map_err(|e| unreadable(certificate_path, e.to_string()))?;
    let certificate = cert::parse(&bytes).map_err(|e| unreadable(certificate_path, e))?;
    let text = std::fs::read_to_string(model_path).map_err(|e| unreadable(model_path, e.to_string()))?;
    let model = model::read(model_path, &text, &certificate.evidence, certificate.zero_floor);
    let model = model.map_err(|e| unreadable(model_path, e))?;
    confirm(&certificate, &model).map_err(|reason| (1, format!("rejected: {reason}")))
}

/// Re-derives every claimed bound; the line for stdout.
fn confirm(certificate: &cert::Certificate, model: &model::Model) -> Result<String, String> {
    let (c, eps) = (certificate, certificate.eps);
    require(eps >= 0.0 && eps.is_finite(), &format!("eps = {eps} is not a temperature"))?;
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
