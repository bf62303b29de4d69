//! `zbound-check MODEL CERT`: confirms a certificate of zbound with its own reader, its own arithmetic
//! and plain loops. It shares no code with zbound and trusts nothing in the certificate.
//!
//! Exit code 0 and one line of JSON when every claimed bound is proved; 1 and the reason when not;
//! 2 when a file cannot be read.

mod bounds;
mod cert;
mod interval;
mod json;
mod model;
mod spectrum;
mod sums;
mod tangent;

use cert::Certificate;
use interval::at;
use std::process::ExitCode;

enum Failure {
    Unreadable(String),
    Rejected(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [flag] if flag == "--version" => {
            println!("zbound-check {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        [model, certificate] => check(model, certificate),
        _ => Err(Failure::Unreadable("usage: zbound-check MODEL CERT".into())),
    };
    match outcome {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(Failure::Rejected(reason)) => {
            eprintln!("zbound-check: rejected: {reason}");
            ExitCode::from(1)
        }
        Err(Failure::Unreadable(reason)) => {
            eprintln!("zbound-check: {reason}");
            ExitCode::from(2)
        }
    }
}

fn check(model_path: &str, certificate_path: &str) -> Result<String, Failure> {
    let unreadable = |path: &str, what: String| Failure::Unreadable(format!("{path}: {what}"));
    let bytes = std::fs::read(certificate_path).map_err(|e| unreadable(certificate_path, e.to_string()))?;
    let certificate = cert::parse(&bytes).map_err(|e| unreadable(certificate_path, e))?;
    let text = std::fs::read_to_string(model_path).map_err(|e| unreadable(model_path, e.to_string()))?;
    let reading = model::Reading { evidence: &certificate.evidence, zero_floor: certificate.zero_floor };
    let model = model::read(model_path, &text, &reading).map_err(|e| unreadable(model_path, e))?;
    confirm(&certificate, &model).map_err(Failure::Rejected)
}

/// Re-derives every claimed bound; the line for stdout.
fn confirm(certificate: &Certificate, model: &model::Model) -> Result<String, String> {
    let (c, eps) = (certificate, certificate.eps);
    if !(eps >= 0.0 && eps.is_finite()) {
        return Err(format!("eps = {eps} is not a temperature"));
    }
    if model.d != c.d {
        return Err(format!("it is for {} free spins, the model has {}", c.d, model.d));
    }
    let entropy = bounds::entropy(eps, model.d);
    let mut line = format!("{{\"verified\":true,\"eps\":{eps:?}");
    if c.phi_upper.is_some() || c.log_z_upper.is_some() {
        let proved = bounds::upper(c, model)?;
        for (name, claimed, own) in
            [("phi_upper", c.phi_upper, proved), ("log_z_upper", c.log_z_upper, (at(proved) + entropy).hi)]
        {
            let Some(claimed) = claimed else { continue };
            if !(own <= claimed) {
                return Err(format!("{name}: {claimed:?} is claimed, {own:?} is proved"));
            }
            line += &format!(",\"{name}\":{claimed:?}");
        }
    }
    if c.phi_lower.is_some() || c.log_z_lower.is_some() {
        let witness = c.witness.as_ref().ok_or("a lower bound is claimed without a witness")?;
        if c.zero_floor.is_some() {
            return Err("a lower bound is claimed with zero entries raised".into());
        }
        let proved = bounds::lower(witness, model, eps)?;
        for (name, claimed, own) in
            [("phi_lower", c.phi_lower, proved), ("log_z_lower", c.log_z_lower, (at(proved) + entropy).lo)]
        {
            let Some(claimed) = claimed else { continue };
            if !(own >= claimed) {
                return Err(format!("{name}: {claimed:?} is claimed, {own:?} is proved"));
            }
            line += &format!(",\"{name}\":{claimed:?}");
        }
    }
    if !line.contains("_upper") && !line.contains("_lower") {
        return Err("it claims nothing".into());
    }
    Ok(line + "}")
}
