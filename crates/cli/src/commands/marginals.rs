//! `zbound marginals`: proved intervals for the probabilities of single spins.

use super::bound::{MethodArg, choice};
use crate::decimal::{round_down_display, round_up_display};
use crate::input::ModelArgs;
use crate::output;
use crate::progress::Watch;
use anyhow::Result;
use zbound::query::marginals::{MarginalsRecord, marginals};
use zbound::run::BoundRequest;
use zbound::{Method, Settings};
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
    #[arg(long, short, value_name = "M")]
    method: Vec<MethodArg>,
    /// Variable, numbered from 0; may be repeated [default: all]
    #[arg(long, value_name = "I")]
    spin: Vec<usize>,
    /// Temperature: the probabilities are those of exp(f/eps)
    #[arg(long, value_name = "E", default_value_t = 1.0, allow_negative_numbers = true)]
    eps: f64,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value_t = 1e-6, allow_negative_numbers = true)]
    tol: f64,
    /// Seconds for all variables together; those that are not reached have the interval [0, 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    time_limit: Option<f64>,
    /// Threads for independent sub-problems; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let mut request = BoundRequest::default();
        request.methods = choice(&self.method)?;
        request.eps = self.eps;
        request.path = Some(self.model.name());
        request.settings = Settings::default()
            .with_tol(self.tol)
            .with_time_limit(self.time_limit)
            .with_threads(self.threads);
        request.validate()?;
        let model = self.model.read()?;
        let spins = (!self.spin.is_empty()).then_some(&self.spin[..]);
        let mut watch = Watch::new()?;
        let (record, outcome) = marginals(&model, spins, &request, &mut watch)?;
        watch.finish();
        match self.json {
            true => output::print_json(&record)?,
            false => output::print(&render(&record))?,
        }
        Ok(outcome.exit_code())
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
