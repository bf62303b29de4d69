//! `zbound kl`: lower bounds on divergences from moments.

use crate::cli::EXIT_INCOMPLETE;
use crate::decimal::round_down_display;
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::{Context as _, Result};
use std::path::Path;
use std::path::PathBuf;
use std::time::Instant;
use zbound::FeatureSpec;
use zbound::query::kl::{Distribution, KlRecord, Law, kl_with};

const EXAMPLES: &str = "\
p is the Gibbs distribution of MODEL, exp(f/eps), and q is uniform unless --q names another. Both may be tables:
a JSON list of 2^d probabilities in which bit i of the position (0-based) is set when x_i = +1.

Examples:
  zbound kl model.json --features degree:1
  zbound kl model.json --features degree:1 --greedy 5 --json
  zbound kl model.json --features all --q other.json";

/// Options of `zbound kl`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Features of the moment matrices: degree:K, first:N, all, edges or a JSON list of variable sets
    /// [default: 1 and every x_i, plus what the model's terms need]
    #[arg(long, value_name = "SPEC", value_parser = numbers::read::<FeatureSpec>)]
    features: Option<FeatureSpec>,
    /// Temperature of models
    #[arg(
        long,
        alias = "temperature",
        value_name = "E",
        default_value_t = 1.0,
        allow_negative_numbers = true,
        value_parser = numbers::real
    )]
    eps: f64,
    /// The second distribution: a model or a table [default: uniform]
    #[arg(long, value_name = "MODEL|TABLE")]
    q: Option<PathBuf>,
    /// Features to add greedily
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = numbers::whole)]
    greedy: Option<usize>,
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
        let (eps, greedy, json) = (self.eps, self.greedy, self.json);
        let settings = run.settings.clone();
        let ended = run.supervise::<_, ()>(move |mut watch, _| {
            let p = law(&self.model)?;
            let other = |path: &PathBuf| {
                let args = ModelArgs { model: path.clone(), format: None, ..self.model.clone() };
                law(&args).context("--q")
            };
            let q = self.q.as_ref().map(other).transpose()?;
            let features = self.features.unwrap_or_default();
            Ok(kl_with(&p, q.as_ref(), eps, &features, greedy, &settings, &mut watch)?)
        })?;
        let Ended::Done(record) = ended else { return Ok(run.exit_code(EXIT_INCOMPLETE)) };
        if json {
            output::print_json(&record)?
        } else {
            output::print(&render(&record))?
        }
        Ok(run.exit_code(0))
    }
}

/// A model, or a table when a JSON file holds a list.
fn law(args: &ModelArgs) -> Result<Law> {
    if let Some(text) = list(&args.model)? {
        let table = Distribution::from_json(&text).with_context(|| args.name())?;
        return Ok(Law::Table(table));
    }
    Ok(Law::Gibbs(Box::new(args.read()?)))
}

/// The text of a JSON file whose first character opens a list.
fn list(path: &Path) -> Result<Option<String>> {
    if path.extension().is_none_or(|e| e != "json") {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path).map_err(|e| zbound::Error::io(path, e))?;
    Ok(Some(text).filter(|t| t.trim_start_matches('\u{feff}').trim_start().starts_with('[')))
}

fn render(record: &KlRecord) -> String {
    let number = |v: Option<f64>| v.map_or_else(|| "inf".to_owned(), |v| format!("{v:.9}"));
    let bound = |v: Option<f64>| v.map_or_else(|| "inf".to_owned(), |v| round_down_display(v, 9));
    let mut text = String::new();
    for step in record.steps.iter().flatten() {
        text += &format!("+ {:?}: {}\n", step.feature, bound(step.kl_lower));
    }
    if let Some(reason) = &record.reason {
        text += &format!("{reason}\n");
    }
    let (lower, diag) = (bound(record.kl_lower), bound(record.kl_lower_diag));
    text + &format!(
        "{} features: {lower} (diagonal metric {diag}) <= D(p||q) = {}\n",
        record.features.len(),
        number(record.kl)
    )
}
