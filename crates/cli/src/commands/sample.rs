//! `zbound sample`: states drawn from the distribution.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::Result;
use std::time::Instant;
use zbound::query::sample::{SampleRecord, SampleRequest, SamplerKind, sample};

const EXAMPLES: &str = "\
Samples are independent and exact where elimination fits the limits; otherwise they are the ends of annealed chains, \
close to the distribution and not from it, which standard error says. One line per sample, one number per variable:
-1 and +1 for spins, 0 and 1 for QUBOs, else states.

Examples:
  zbound sample model.json --n 1000 --seed 7
  zbound sample grid.uai --evidence grid.uai.evid --n 10 --json";

/// Options of `zbound sample`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Number of samples
    #[arg(long, short, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::whole)]
    n: usize,
    /// Temperature: the distribution is exp(f/eps)/Z
    #[arg(
        long,
        alias = "temperature",
        value_name = "E",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    eps: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let settings = run.settings.clone();
        let request = SampleRequest { n: self.n, eps: self.eps, settings, path: Some(self.model.name()) };
        let source = self.model.clone();
        let ended = run.supervise(move |mut watch, _: crate::supervise::Board<()>| {
            let model = source.read()?;
            Ok(sample(&model, &request, &mut watch)?)
        })?;
        let Ended::Done((record, outcome)) = ended else { return Ok(run.exit_code(EXIT_INCOMPLETE)) };
        if self.json {
            output::print_json(&record)?
        } else {
            if record.sampler == SamplerKind::Annealed || record.reason.is_some() {
                let why = record.reason.as_deref().unwrap_or("samples are the ends of annealed chains");
                output::note(&format!("{}: {why}", record.sampler.name()));
            }
            output::print(&render(&record))?
        }
        Ok(run.exit_code(outcome.exit_code()))
    }
}

fn render(record: &SampleRecord) -> String {
    let line = |row: &Vec<i64>| row.iter().map(i64::to_string).collect::<Vec<_>>().join(" ") + "\n";
    record.samples.iter().map(line).collect()
}
