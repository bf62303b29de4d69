//! `zbound map`: the zero-temperature case.

use super::bound::check_certificate;
use crate::choices;
use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::{decimals_for, round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use crate::table::short;
use anyhow::Result;
use std::path::PathBuf;
use std::time::Instant;
use zbound::FeatureSpec;
use zbound::query::map::{Cuts, MapRecord, MapReport, MapRequest, map};
use zbound_bench::duration;

const EXAMPLES: &str = "\
Unless --cuts or --features asks for one relaxation, whatever closes the gap is tried: exact elimination, \
branch and bound with triangle cuts, mini-buckets for tables, and the integrality of integer data. The assignment is \
in the file's own letters: -1 and +1 for spins and sides of a cut, 0 and 1 for QUBOs, else states. A certificate \
proves the bound as it is before integrality rounds it.

The bound is on the largest f, in the units of the file: a cut weight for max-cut files, -E for formats that \
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
    #[arg(long, value_name = "SPEC", value_parser = numbers::read::<FeatureSpec>)]
    features: Option<FeatureSpec>,
    /// The relaxation alone, with inequalities that tighten the bound of a pairwise model
    #[arg(long, value_parser = choices::parser::<Cuts>())]
    cuts: Option<Cuts>,
    /// Relative gap at which the relaxation is solved
    #[arg(long, value_name = "T", default_value = "1e-6", allow_negative_numbers = true, value_parser = numbers::real)]
    tol: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Write the certificate to FILE
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let request = MapRequest {
            features: self.features.clone().unwrap_or_default(),
            cuts: self.cuts.unwrap_or_default(),
            close: self.cuts.is_none() && self.features.is_none(),
            want_certificate: self.certificate.is_some(),
            settings: run.settings.clone().with_tol(self.tol),
            path: Some(self.model.name()),
        };
        request.settings.validate()?;
        if let Some(path) = &self.certificate {
            check_certificate(path, &self.model)?;
        }
        let source = self.model.clone();
        let ended = run.supervise(move |mut watch, board| {
            let model = source.read()?;
            board.post(MapReport::from_coefficients(&model, &request)?);
            let report = map(&model, &request, &mut watch)?;
            Ok((model, report))
        })?;
        let (report, model) = match ended {
            Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
            Ended::Done((model, report)) => (report, Some(model)),
            Ended::Left(report) => (report, None),
        };
        if self.json {
            output::print_json(&report.record)?
        } else {
            output::print(&render(&report.record))?
        }
        let mut code = report.outcome.exit_code();
        let written = |path| model.as_ref().map_or(Ok(false), |model| report.write_certificate(model, path));
        if let Some(path) = &self.certificate
            && !written(path)?
        {
            output::warn(if model.is_some() {
                "no certificate was written: nothing is proved"
            } else {
                "no certificate was written: the run ended before its proof was ready (more --time-limit)"
            });
            code = code.max(EXIT_INCOMPLETE);
        } else if self.certificate.is_some() && report.record.relative_gap.is_some_and(|gap| gap > self.tol) {
            output::note(
                "a certificate is that of one relaxation; without --certificate other proofs close the gap too",
            );
        }
        Ok(run.exit_code(code))
    }
}

fn render(record: &MapRecord) -> String {
    let decimals = decimals_for(record.upper.into_iter().chain(record.value));
    let upper = record.upper.map_or_else(|| "inf".to_owned(), |v| round_up_display(v, decimals));
    let value = record.value.map_or_else(|| "-inf".to_owned(), |v| round_down_display(v, decimals));
    let spins: Vec<String> = record.assignment.iter().map(i64::to_string).collect();
    let mut text = format!("assignment {}\n", spins.join(" "));
    if let (Some(energy), Some(lower)) = (record.energy, record.energy_lower) {
        let (low, high) = (round_down_display(lower, decimals), round_up_display(energy, decimals));
        text += &format!("{low} <= min E <= {high}\n");
    }
    if let Some(reason) = &record.reason {
        text += &format!("{reason}\n");
    }
    let (status, seconds) = (record.status.name(), record.seconds);
    let proof = record.proof.map_or("nothing proved", |proof| proof.name());
    let gap = record.relative_gap.map_or_else(String::new, |gap| format!("relative gap {}, ", short(gap)));
    let time = duration(seconds);
    text + &format!("{value} <= max f <= {upper}   ({gap}{proof}, {status}, {time})\n")
}
