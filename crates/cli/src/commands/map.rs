//! `zbound map`: the zero-temperature case.

use super::bound::check_directory;
use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::{decimals_for, round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::output;
use crate::progress::Watch;
use anyhow::Result;
use std::path::PathBuf;
use zbound::query::map::{Cuts, MapRecord, MapRequest, map};
use zbound::{FeatureSpec, Settings};

const EXAMPLES: &str = "\
The bound is on the largest f, in the units of the file: a cut weight for max-cut files, -E for formats that
hold a minimised energy E (then the energy and its lower bound are printed as well).

Examples:
  zbound map model.json
  zbound map G1.txt --json
  zbound map model.json --cuts triangle
  zbound map tree.json --features edges --certificate proof.zbc";

/// Options of `zbound map`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Features of the moment matrix: degree:K, first:N, all, edges or a JSON list of variable sets
    /// [default: 1 and every x_i, plus what the model's terms need]
    #[arg(long, value_name = "SPEC")]
    features: Option<FeatureSpec>,
    /// Inequalities that tighten the bound of a pairwise model
    #[arg(long, value_enum, default_value_t = CutsArg::None)]
    cuts: CutsArg,
    /// Relative gap at which the relaxation is solved
    #[arg(long, value_name = "T", default_value_t = 1e-6, allow_negative_numbers = true)]
    tol: f64,
    /// Seconds after which to stop with what is proved
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Seed of starting points and hyperplanes
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the certificate to FILE
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CutsArg {
    None,
    Pairwise,
    Triangle,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let request = MapRequest {
            features: self.features.clone().unwrap_or_default(),
            cuts: match self.cuts {
                CutsArg::None => Cuts::None,
                CutsArg::Pairwise => Cuts::Pairwise,
                CutsArg::Triangle => Cuts::Triangle,
            },
            settings: Settings::default()
                .with_tol(self.tol)
                .with_time_limit(self.time_limit)
                .with_seed(self.seed),
            path: Some(self.model.name()),
        };
        request.settings.validate()?;
        if let Some(path) = &self.certificate {
            check_directory(path)?;
        }
        let model = self.model.read()?;
        let mut watch = Watch::new()?;
        let report = map(&model, &request, &mut watch)?;
        watch.finish();
        match self.json {
            true => output::print_json(&report.record)?,
            false => output::print(&render(&report.record))?,
        }
        let code = report.outcome.exit_code();
        if let Some(path) = &self.certificate
            && !report.write_certificate(&model, path)?
        {
            output::warn("no certificate was written: nothing is proved");
            return Ok(code.max(EXIT_INCOMPLETE));
        }
        Ok(code)
    }
}

fn render(record: &MapRecord) -> String {
    let decimals = decimals_for(record.upper.into_iter().chain(record.value));
    let upper = record.upper.map_or_else(|| "inf".to_owned(), |v| round_up_display(v, decimals));
    let value = record.value.map_or_else(|| "-inf".to_owned(), |v| round_down_display(v, decimals));
    let spins: Vec<String> = record.assignment.iter().map(i8::to_string).collect();
    let mut text = format!("assignment {}\n", spins.join(" "));
    if let (Some(energy), Some(lower)) = (record.energy, record.energy_lower) {
        let (low, high) = (round_down_display(lower, decimals), round_up_display(energy, decimals));
        text += &format!("{low} <= min E <= {high}\n");
    }
    if let Some(reason) = &record.reason {
        text += &format!("{reason}\n");
    }
    let (status, seconds) = (record.status.name(), record.seconds);
    text + &format!("{value} <= max f <= {upper}   ({status}, {seconds:.2} s)\n")
}
