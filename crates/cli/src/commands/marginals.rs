//! `zbound marginals`: proved intervals for the probabilities of single spins.

use crate::choices;
use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::{round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::Result;
use std::time::Instant;
use zbound::Method;
use zbound::query::marginals::{MarginalsRecord, marginals};
use zbound::record::Status;
use zbound::run::{BoundRequest, MethodChoice};
use zbound_bench::duration;

const EXAMPLES: &str = "\
Every interval comes from proved bounds on log Z with the spin fixed to either value. auto takes exact inference
where that is cheap, otherwise mean-field from below and trw (quantum for models with larger terms) from above.

Examples:
  zbound marginals model.json
  zbound marginals model.json --spin 0 --spin 3 --json
  zbound marginals grid.uai --evidence grid.uai.evid --method combined --method mean-field --time-limit 60";

/// Digits of printed probabilities.
const DECIMALS: usize = 9;

/// Options of `zbound marginals`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Method of `zbound bound`; may be repeated, one for each side at least [default: auto]
    #[arg(long, short, value_name = "M", value_parser = choices::methods())]
    method: Vec<String>,
    /// Variable, numbered from 0; may be repeated [default: all]
    #[arg(long, value_name = "I")]
    spin: Vec<usize>,
    /// Temperature: the probabilities are those of exp(f/eps)
    #[arg(long, value_name = "E", default_value_t = 1.0, allow_negative_numbers = true)]
    eps: f64,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value_t = 1e-6, allow_negative_numbers = true)]
    tol: f64,
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
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::from_names(&self.method)?;
        request.eps = self.eps;
        request.path = Some(self.model.name());
        request.settings = run.settings.clone().with_tol(self.tol);
        request.validate()?;
        let (source, spins) = (self.model.clone(), self.spin.clone());
        let ended = run.supervise(move |mut watch, board| {
            let model = source.read()?;
            let spins = (!spins.is_empty()).then_some(&spins[..]);
            board.post(MarginalsRecord::unreached(&model, spins, &request)?);
            Ok(marginals(&model, spins, &request, &mut watch)?)
        })?;
        let (mut record, code) = match ended {
            Ended::Nothing => return Ok(run.exit_code(EXIT_INCOMPLETE)),
            Ended::Done((record, outcome)) => (record, outcome.exit_code()),
            Ended::Left(record) => (record, 0),
        };
        if run.is_stopped() {
            record.status = Status::Cancelled;
        }
        if self.json {
            output::print_json(&record)?
        } else {
            output::print(&render(&record))?
        }
        Ok(run.exit_code(code))
    }
}

fn render(record: &MarginalsRecord) -> String {
    let width = record.marginals.iter().map(|m| m.variable.to_string().len()).max().unwrap_or(1);
    let mut text: String = record
        .marginals
        .iter()
        .map(|m| {
            let (low, high) = (round_down_display(m.lower, DECIMALS), round_up_display(m.upper, DECIMALS));
            format!("{low} <= P(x_{:<width$} = +1) <= {high}\n", m.variable)
        })
        .collect();
    if let Some(reason) = &record.reason {
        text += &format!("{reason}\n");
    }
    let widest = record.marginals.iter().map(|m| m.upper - m.lower).fold(0.0, f64::max);
    let methods: Vec<&str> = record.methods.iter().copied().map(Method::name).collect();
    let (status, seconds) = (record.status.name(), duration(record.seconds));
    text + &format!("widest interval {widest:.1e}   ({}, {status}, {seconds})\n", methods.join(" + "))
}
