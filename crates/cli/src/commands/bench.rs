//! `zbound bench`: every method side by side, on this machine.

use crate::choices;
use crate::numbers;
use crate::output;
use crate::signals::Signals;
use anyhow::{Result, bail};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zbound::generate::{Family, GenerateSpec, Graph};
use zbound::io::write_atomic;
use zbound::record::{BoundRecord, Status};
use zbound::{Flow, Method, Observer, Progress, Settings};
use zbound_bench::{combined, duration, methods, quantum, suite};

const EXAMPLES: &str = "\
Times are wall-clock seconds of one run each, certification included; upper bounds are on log Z.

Examples:
  zbound bench
  zbound bench quantum --d 10,30,100,300
  zbound bench combined --d 10
  zbound bench suite models/ --time-limit 10 > benchmarks.md
  zbound bench suite models/ --time-limit 10,60 -m wmb --store runs.jsonl --out page.md
  zbound bench quantum --d 10,100 --first-order 0 --python .venv/bin/python
  zbound bench --graph grid --d 16,64,256 --time-limit 30 --json";

/// Options of `zbound bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to time: every method on one family, the quantum relaxation against eigendecompositions, the combined bound against its parts, or `auto` on a folder of models
    #[arg(value_enum, default_value_t = Topic::Methods)]
    topic: Topic,
    /// Folders of models for `suite`, searched with all folders in them
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Also generated models of every family, for `suite`
    #[arg(long)]
    generated: bool,
    /// Page that `suite` writes instead of printing it, with a plot of closed models against time beside it
    #[arg(long, value_name = "FILE.md")]
    out: Option<PathBuf>,
    /// File of runs of `suite`, as JSON lines: those in it are not repeated, new ones are added
    #[arg(long, value_name = "FILE.jsonl")]
    store: Option<PathBuf>,
    /// Methods that `suite` runs alone beside `auto`; may be repeated
    #[arg(long, short, value_name = "M", value_parser = choices::parser::<Method>())]
    method: Vec<Method>,
    /// Threads of `suite`
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::count)]
    threads: usize,
    /// Numbers of spins
    #[arg(long, value_delimiter = ',', default_value = "10,20,40", allow_negative_numbers = true, value_parser = numbers::count)]
    d: Vec<usize>,
    /// Spins up to which `quantum` also runs Chambolle-Pock
    #[arg(long, value_name = "D", default_value_t = 100, allow_negative_numbers = true, value_parser = numbers::whole)]
    first_order: usize,
    /// Draws per family and strength of `combined`
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true, value_parser = numbers::seed)]
    draws: u64,
    /// Python interpreter with other programs, to run them side by side: QICS for `quantum`; pyGMs, pyAgrum, QICS and CVXPY for `suite` (`pip install pygms pyagrum qics cvxpy`), where they are installed
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Spins up to which `quantum` also runs QICS
    #[arg(long, value_name = "D", default_value_t = 100, allow_negative_numbers = true, value_parser = numbers::whole)]
    conic: usize,
    /// Distribution of fields and couplings, as for `zbound generate`
    #[arg(long, default_value = "logdet-mixed", value_parser = choices::parser::<Family>())]
    family: Family,
    /// Graph, as for `zbound generate`
    #[arg(long, default_value = "complete", value_parser = choices::parser::<Graph>())]
    graph: Graph,
    /// Strength of the couplings
    #[arg(long, default_value_t = 0.25, allow_negative_numbers = true, value_parser = numbers::real)]
    w: f64,
    /// Seed
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = numbers::seed)]
    seed: u64,
    /// Relative gap at which a method has converged
    #[arg(long, value_name = "T", default_value = "1e-8", allow_negative_numbers = true, value_parser = numbers::real)]
    tol: f64,
    /// Seconds for all methods on one model together; `suite` takes several, separated by commas
    #[arg(long, value_name = "S", value_delimiter = ',', default_value = "20", allow_negative_numbers = true, value_parser = numbers::real)]
    time_limit: Vec<f64>,
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
                self.run_suite(&mut watch, &mut say)?;
                Ok(if signals.is_caught() { 130 } else { 0 })
            }
        }
    }

    fn print(&self, comparison: &impl Serialize, table: impl FnOnce() -> String) -> Result<()> {
        if self.json { output::print_json(comparison) } else { output::print(&table()) }
    }

    fn methods(&self) -> methods::Plan {
        let (family, graph) = (self.family, self.graph);
        let draw = GenerateSpec { family, graph, d: 0, w: self.w, seed: self.seed };
        let time_limit = self.time_limit.first().copied().unwrap_or(0.0);
        methods::Plan { sizes: self.d.clone(), draw, tol: self.tol, time_limit }
    }

    fn run_suite(&self, watch: &mut dyn Observer, say: &mut dyn FnMut(&str)) -> Result<()> {
        if self.folders.is_empty() && !self.generated {
            bail!("bench suite: give a folder of models, or --generated");
        }
        let done = suite::run(&self.suite(), watch, say)?;
        let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
        let command = format!("zbound {command}");
        let Some(out) = &self.out else { return self.print(&done, || done.render(None, &command)) };
        let picture = profile(&done, &out.with_extension("svg"))?;
        write_atomic(out, |file| file.write_all(done.render(picture.as_deref(), &command).as_bytes()))?;
        Ok(())
    }

    fn suite(&self) -> suite::Plan {
        suite::Plan {
            folders: self.folders.clone(),
            generated: self.generated,
            limits: self.time_limit.clone(),
            python: self.python.clone(),
            store: self.store.clone(),
            methods: self.method.clone(),
            settings: Settings::default()
                .with_tol(self.tol)
                .with_seed(self.seed)
                .with_threads(self.threads)
                .with_memory_limit(crate::limits::default_memory()),
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

/// Draws how many models are closed against time and returns the name of the file.
#[cfg(feature = "figures")]
fn profile(suite: &suite::Suite, path: &Path) -> Result<Option<String>> {
    zbound_figures::plot::write(&zbound_figures::profile::chart(&curves(suite)), path)?;
    Ok(path.file_name().map(|name| name.to_string_lossy().into_owned()))
}

/// Without the crates that draw there is no picture.
#[cfg(not(feature = "figures"))]
fn profile(_: &suite::Suite, _: &Path) -> Result<Option<String>> {
    Ok(None)
}

#[cfg(feature = "figures")]
fn curves(suite: &suite::Suite) -> Vec<zbound_figures::profile::Curve> {
    let curve =
        |c: suite::Curve| zbound_figures::profile::Curve { name: c.tool, gap: c.gap, points: c.points };
    suite.profile().into_iter().map(curve).collect()
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
