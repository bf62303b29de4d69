//! `zbound verify`: what a certificate proves about a model.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::output;
use anyhow::Result;
use serde::Serialize;
use std::path::PathBuf;
use zbound::certify::Certificate;
use zbound::record::{log_z_down, log_z_up};
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
#[derive(Debug, Default, Serialize)]
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
        let certificate = Certificate::read(&self.certificate)?;
        let model = self.model.read()?;
        match verdict(&model, &certificate) {
            Ok(verdict) => output::print_json(&verdict).map(|()| 0),
            Err(error @ (Error::Certificate(_) | Error::Features(_) | Error::NotApplicable(_))) => {
                output::complain(&error.into());
                Ok(EXIT_INCOMPLETE)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Everything the certificate proves; a side it does not speak of is left out.
fn verdict(model: &Model, certificate: &Certificate) -> Result<Verdict, Error> {
    let (eps, d) = (certificate.eps, model.d());
    let mut verdict = Verdict { verified: true, eps, ..Verdict::default() };
    if !certificate.components.is_empty() {
        let phi = certificate.verify(&model.majorant(eps)?.0)?.phi();
        verdict.phi_upper = Some(phi);
        verdict.log_z_upper = Some(log_z_up(phi, eps, d));
    }
    if certificate.witness.is_some() {
        // A polynomial above the model proves nothing from below: hard zeros are refused here.
        let phi = certificate.verify_lower(&model.polynomial()?)?.phi();
        verdict.phi_lower = Some(phi);
        verdict.log_z_lower = Some(log_z_down(phi, eps, d));
    }
    match verdict.phi_upper.or(verdict.phi_lower) {
        Some(phi) if phi.is_finite() => Ok(verdict),
        Some(_) => Err(Error::Certificate("it proves no finite bound".into())),
        None => Err(Error::Certificate("it proves nothing: no component and no witness".into())),
    }
}
