//! `zbound bench`: every method side by side, on this machine.

use crate::choices;
use crate::output;
use crate::signals::Signals;
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::PathBuf;
use zbound::generate::{Family, GenerateSpec, Graph};
use zbound::record::{BoundRecord, Status};
use zbound::{Flow, Method, Progress, Settings};
use zbound_bench::{combined, duration, methods, quantum, suite};

const EXAMPLES: &str = "\
Times are wall-clock seconds of one run each, certification included; upper bounds are on log Z.

Examples:
  zbound bench
  zbound bench quantum --d 10,30,100,300
  zbound bench combined --d 10
  zbound bench suite models/ --time-limit 10 > benchmarks.md
  zbound bench quantum --d 10,100 --first-order 0 --python .venv/bin/python
  zbound bench --graph grid --d 16,64,256 --time-limit 30 --json";

/// Options of `zbound bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to time: every method on one family, the quantum relaxation against eigendecompositions, the combined bound against its parts, or `auto` on a folder of models
    #[arg(value_enum, default_value_t = Topic::Methods)]
    topic: Topic,
    /// Folder of models for `suite`, searched with all folders in it
    #[arg(value_name = "DIR", required_if_eq("topic", "suite"))]
    folder: Option<PathBuf>,
    /// Methods of `suite`; may be repeated [default: auto]
    #[arg(long, short, value_name = "M", value_parser = choices::parser::<Method>())]
    method: Vec<Method>,
    /// Threads of `suite`
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Numbers of spins
    #[arg(long, value_delimiter = ',', default_value = "10,20,40")]
    d: Vec<usize>,
    /// Spins up to which `quantum` also runs Chambolle-Pock
    #[arg(long, value_name = "D", default_value_t = 100)]
    first_order: usize,
    /// Draws per family and strength of `combined`
    #[arg(long, value_name = "N", default_value_t = 10)]
    draws: u64,
    /// Python interpreter with QICS (`pip install qics`), for `quantum` to run it side by side
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Spins up to which `quantum` also runs QICS
    #[arg(long, value_name = "D", default_value_t = 100)]
    conic: usize,
    /// Distribution of fields and couplings, as for `zbound generate`
    #[arg(long, default_value = "logdet-mixed", value_parser = choices::parser::<Family>())]
    family: Family,
    /// Graph, as for `zbound generate`
    #[arg(long, default_value = "complete", value_parser = choices::parser::<Graph>())]
    graph: Graph,
    /// Strength of the couplings
    #[arg(long, default_value_t = 0.25)]
    w: f64,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value_t = 1e-8)]
    tol: f64,
    /// Seconds for all methods on one model together
    #[arg(long, value_name = "S", default_value_t = 20.0)]
    time_limit: f64,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Topic {
    /// Every method, side by side
    Methods,
    /// The quantum relaxation in units of one eigendecomposition
    Quantum,
    /// Mean error of the combined bound and of its parts, over families and draws
    Combined,
    /// The bracket of `auto` on every model of a folder, as a page of Markdown
    Suite,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let mut say = |message: &str| output::note(message);
        match self.topic {
            Topic::Methods => {
                let signals = Signals::take_over()?;
                let mut watch = |_: &Progress| if signals.is_caught() { Flow::Stop } else { Flow::Continue };
                let done = methods::run(&self.methods(), &mut watch)?;
                self.print(&done, || render(&done.models))?;
                Ok(done.exit_code)
            }
            Topic::Quantum => {
                let done = quantum::run(&self.quantum(), &mut say)?;
                self.print(&done, || done.render())?;
                Ok(0)
            }
            Topic::Combined => {
                let done = combined::run(&self.d, self.tol, self.seed, self.draws, &mut say)?;
                self.print(&done, || done.render())?;
                Ok(0)
            }
            Topic::Suite => {
                let signals = Signals::take_over()?;
                let mut watch = |_: &Progress| if signals.is_caught() { Flow::Stop } else { Flow::Continue };
                let done = suite::run(&self.suite(), &mut watch, &mut say)?;
                self.print(&done, || done.render())?;
                Ok(0)
            }
        }
    }

    fn print(&self, comparison: &impl Serialize, table: impl FnOnce() -> String) -> Result<()> {
        if self.json { output::print_json(comparison) } else { output::print(&table()) }
    }

    fn methods(&self) -> methods::Plan {
        let (family, graph) = (self.family, self.graph);
        let draw = GenerateSpec { family, graph, d: 0, w: self.w, seed: self.seed };
        methods::Plan { sizes: self.d.clone(), draw, tol: self.tol, time_limit: self.time_limit }
    }

    fn suite(&self) -> suite::Plan {
        suite::Plan {
            folder: self.folder.clone().unwrap_or_default(),
            time_limit: self.time_limit,
            methods: self.method.clone(),
            settings: Settings::default().with_tol(self.tol).with_seed(self.seed).with_threads(self.threads),
        }
    }

    fn quantum(&self) -> quantum::Plan<'_> {
        quantum::Plan {
            sizes: &self.d,
            tol: self.tol,
            seed: self.seed,
            first_order: self.first_order,
            python: self.python.as_deref(),
            conic: self.conic,
        }
    }
}

/// One row per model and method that ran.
fn render(models: &[BoundRecord]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header(["d", "edges", "method", "upper", "gap", "iterations", "eig", "time", "status"]);
    for record in models {
        for result in record.results.iter().filter(|r| r.status != Status::NotApplicable) {
            let number = |value: Option<f64>, digits: usize| {
                value.map_or_else(|| "-".to_owned(), |v| crate::decimal::round_up_display(v, digits))
            };
            table.add_row([
                record.model.d.to_string(),
                record.model.edges.to_string(),
                result.method.name().to_owned(),
                number(result.log_z.upper, 4),
                result.relaxation_gap.map_or_else(|| "-".to_owned(), |gap| format!("{gap:.1e}")),
                result.iterations.to_string(),
                result.eigendecompositions.to_string(),
                duration(result.seconds),
                result.status.name().to_owned(),
            ]);
        }
    }
    for column in [0, 1, 3, 4, 5, 6, 7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}
