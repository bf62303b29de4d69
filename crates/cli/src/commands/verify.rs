//! `zbound verify`: what a certificate proves about a model.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::output;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::path::PathBuf;
use zbound::certify::{Certificate, Claim};
use zbound::{Error, Model};

const EXAMPLES: &str = "\
Prints one JSON line and exits with 0, or says why not and exits with 1; an unreadable certificate is an
error (2). `zbound-check MODEL CERT` does the same with none of this program's code.

Example:
  zbound verify model.json proof.zbc";

/// Options of `zbound verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Certificate written by `zbound bound --certificate`
    #[arg(value_name = "CERT")]
    certificate: PathBuf,
}

/// The line on standard output.
#[derive(Debug, Serialize)]
struct Verdict {
    verified: bool,
    eps: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    phi_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_z_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phi_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_z_lower: Option<f64>,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let (certificate, claim) = Certificate::read(&self.certificate)
            .with_context(|| format!("cannot read the certificate {}", self.certificate.display()))?;
        let model = self.model.read()?;
        if self.model.evidence.is_none() && !claim.evidence.is_empty() {
            output::warn(&format!(
                "the certificate is about the model with {} variable(s) fixed",
                claim.evidence.len()
            ));
        }
        match verify(model, &certificate, &claim) {
            Ok(proved) => {
                output::print_json(&Verdict {
                    verified: true,
                    eps: certificate.eps,
                    phi_upper: proved.phi_upper,
                    log_z_upper: proved.log_z_upper,
                    phi_lower: proved.phi_lower,
                    log_z_lower: proved.log_z_lower,
                })?;
                Ok(0)
            }
            Err(error) => {
                output::complain(&error.into());
                Ok(EXIT_INCOMPLETE)
            }
        }
    }
}

/// What `certificate` proves about `model` under the evidence it names.
fn verify(model: Model, certificate: &Certificate, claim: &Claim) -> Result<Claim, Error> {
    let given: Vec<(usize, u32)> =
        model.fixed().iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s))).collect();
    if !given.is_empty() && given != claim.evidence {
        return Err(Error::Certificate("it is about the same model under other evidence".into()));
    }
    let model = model.with_states(&claim.evidence)?;
    if claim.zero_floor.is_some() && certificate.witness.is_some() {
        return Err(Error::Certificate("a bound from below on raised table entries proves nothing".into()));
    }
    claim.confirm(certificate, &model.raised(claim.zero_floor)?)
}
