//! `zbound info`: what a model holds.

use crate::cli::EXIT_INCOMPLETE;
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::output;
use crate::supervise::{Ended, Run};
use anyhow::Result;
use comfy_table::{Table, presets};
use std::time::Instant;
use zbound::Model;
use zbound::exact::{self, Cost, Info, Sign};
use zbound_bench::duration;

/// Seconds that nobody waits for, ten years: beyond, figures say nothing.
const OUT_OF_REACH_SECS: f64 = 3e8;

const EXAMPLES: &str = "\
Examples:
  zbound info model.json
  zbound info grid.uai --json";

/// Options of `zbound info`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let (source, json, settings) = (self.model, self.json, run.settings.clone());
        let ended = run.supervise::<String, String>(move |_, _| {
            let model = source.read()?;
            let info = exact::info(&model)?;
            if json {
                return Ok(serde_json::to_string(&info)? + "\n");
            }
            let costs = exact::estimate_both(&model, &settings)?;
            let mut table = Table::new();
            table.load_preset(presets::NOTHING);
            table.add_rows(rows(&model, &info, &costs));
            if let Some(names) = table.column_mut(0) {
                names.set_padding((0, 1));
            }
            Ok(format!("{}\n", table.trim_fmt()))
        })?;
        let Ended::Done(text) = ended else { return Ok(run.exit_code(EXIT_INCOMPLETE)) };
        output::print(&text)?;
        Ok(run.exit_code(0))
    }
}

fn rows(model: &Model, info: &Info, (log_z, all): &(Cost, Cost)) -> Vec<[String; 2]> {
    let range = |range: Option<(f64, f64)>| {
        let range = range.filter(|(_, high)| *high > 0.0);
        range.map_or_else(|| "none".to_owned(), |(low, high)| format!("{low:.4} to {high:.4} in size"))
    };
    let fixed = match model.variables() - model.d() {
        0 => String::new(),
        count => format!(", and {count} fixed by evidence"),
    };
    let sign = match info.sign {
        Sign::Attractive => ", all attractive",
        Sign::Repulsive => ", all repulsive",
        Sign::Mixed => ", of both signs",
        _ => "",
    };
    let graph = match (info.is_forest, info.is_complete) {
        (true, _) => "a forest",
        (_, true) => "complete",
        _ => "neither a forest nor complete",
    };
    let states = match (info.min_states, info.max_states) {
        (2, 2) => String::new(),
        (low, high) if low == high => format!(", of {low} states"),
        (low, high) => format!(", of {low} to {high} states"),
    };
    let row = |name: &str, value: String| [name.to_owned(), value];
    vec![
        row(if states.is_empty() { "spins" } else { "variables" }, format!("{}{states}{fixed}", info.d)),
        row("edges", format!("{}, at most {} at a spin", info.edges, info.max_degree)),
        row("higher terms", format!("{}, at most {} spins in one factor", info.terms, info.max_arity)),
        row(
            "graph",
            format!("{graph}, {} component{}", info.components, if info.components == 1 { "" } else { "s" }),
        ),
        row("fields", range(info.fields)),
        row("couplings", range(info.couplings) + sign),
        row("constant", info.constant.map_or_else(|| "-inf".to_owned(), |c| c.to_string())),
        row("hard zeros", info.hard_zeros.to_string()),
        row("uncertainty of f", numbers::short(info.uncertainty)),
        row("induced width", format!("{}, an upper bound on the treewidth", info.induced_width)),
        row("exact log Z", work(log_z)),
        row("with marginals", work(all)),
    ]
}

/// What a computation takes.
fn work(cost: &Cost) -> String {
    if cost.seconds < OUT_OF_REACH_SECS {
        let (entries, time) = (numbers::short(cost.entries), duration(cost.seconds));
        let (name, mib) = (cost.algorithm.name(), cost.bytes as f64 / f64::from(1 << 20));
        format!("{name}, {entries} table entries, about {time} and {mib:.1} MiB")
    } else {
        "out of reach: no elimination order is cheap enough".to_owned()
    }
}
