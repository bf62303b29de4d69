//! `zbound verify`: what a certificate proves about a model.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::limits::parse_size;
use crate::output;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::path::PathBuf;
use zbound::Error;
use zbound::certify::{Certificate, Limits};

const EXAMPLES: &str = "\
Prints one JSON line and exits with 0, or says why not and exits with 1; an unreadable certificate, or one that \
would take more than the limits allow, is an error (2). A certificate about a model with evidence is confirmed only \
with that evidence. `zbound-check MODEL CERT` does the same with none of this program's code.

Examples:
  zbound verify model.json proof.zbc
  zbound verify grid.uai proof.zbc --evidence grid.uai.evid --memory-limit 16G";

/// Options of `zbound verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Certificate written by `zbound bound --certificate`
    #[arg(value_name = "CERT")]
    certificate: PathBuf,
    /// Memory that verification may take: bytes, or a number with K, M, G or T [default: 4 GB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory_limit: Option<u64>,
    /// Elementary operations that verification may take
    #[arg(long, value_name = "OPS", default_value_t = Limits::default().operations)]
    work_limit: f64,
}

/// The line on standard output.
#[derive(Debug, Serialize)]
struct Verdict {
    verified: bool,
    eps: f64,
    evidence: Vec<(usize, u32)>,
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
        let limits = Limits {
            memory: self.memory_limit.unwrap_or(Limits::default().memory),
            operations: self.work_limit,
        };
        match claim.confirm_model(&certificate, &model, &limits) {
            Ok(proved) => {
                output::print_json(&Verdict {
                    verified: true,
                    eps: certificate.eps,
                    evidence: proved.evidence,
                    phi_upper: proved.phi_upper,
                    log_z_upper: proved.log_z_upper,
                    phi_lower: proved.phi_lower,
                    log_z_lower: proved.log_z_lower,
                })?;
                Ok(0)
            }
            // What does not fit the limits is not refuted.
            Err(error @ (Error::Memory { .. } | Error::Setting(_))) => Err(error.into()),
            Err(error) => {
                output::complain(&error.into());
                Ok(EXIT_INCOMPLETE)
            }
        }
    }
}
