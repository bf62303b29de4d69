//! `zbound sweep`: a grid of instances and methods.

use crate::output;
use crate::sweep::{Overrides, Plan, RunSummary, Store, read_config, run, write_tables};
use anyhow::Result;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
A configuration names grids of random instances and the methods to run on each:
  draws = 10
  [[grid]]
  family = [\"trw-mixed\", \"trw-attractive\"]
  graph = \"grid\"
  d = [16, 25]
  w = { from = 0.0, to = 1.0, points = 11 }
  [[method]]
  method = \"quantum\"
  [[method]]
  method = \"trw\"
  rho = [\"uniform\", \"optimized\"]
  curve = \"trw ({rho})\"
A grid may also name files, `model = [\"a.uai\", \"b.json\"]`, or seeds of `zbound generate`, `seed = [1, 2, 3]`. \
The folder experiments/ has one such file for every figure of the paper.

Examples:
  zbound sweep mine.toml --out results
  zbound sweep mine.toml --out results --resume
  zbound plot results/records.csv --x w --y error --by curve --out mine.svg";

/// Options of `zbound sweep`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Configuration of the sweep
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Folder for records.jsonl and records.csv
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    run: RunArgs,
    /// Include the methods marked `when = FLAG`
    #[arg(long = "with", value_name = "FLAG")]
    with: Vec<String>,
}

/// How a sweep runs.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Keep the records that are there and compute the rest
    #[arg(long)]
    pub(crate) resume: bool,
    /// Draws per point instead of the configuration's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    draws: Option<u32>,
    /// Base seed instead of the configuration's
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Instances solved side by side [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
}

impl RunArgs {
    /// What these options change in a configuration.
    pub(crate) fn overrides(&self, with: Vec<String>) -> Overrides {
        Overrides { draws: self.draws.map(|n| n as usize), seed: self.seed, with }
    }

    /// Threads to use.
    pub(crate) fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(cores, usize::from)
    }
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let config = read_config(&self.config)?;
        let plan = Plan::new(&config, &self.run.overrides(self.with.clone()))?;
        let mut store = Store::open(&self.out, self.run.resume)?;
        let summary = run(&[&plan], &mut store, self.run.workers())?;
        write_plan(&self.out, &plan, &store)?;
        report(&summary, &self.out);
        Ok(exit_code(&summary))
    }
}

/// Writes the tables of one plan into `folder`.
pub(crate) fn write_plan(folder: &Path, plan: &Plan, store: &Store) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let cells = |job: &crate::sweep::Job| Some(store.get(&job.key)?.cells(&job.grid, &job.curve));
    let rows: Vec<_> = plan.jobs.iter().filter_map(cells).collect();
    write_tables(folder, &rows)
}

/// Says what was done.
pub(crate) fn report(summary: &RunSummary, out: &Path) {
    let RunSummary { reused, computed, errors, workers, seconds, interrupted } = *summary;
    output::note(&format!(
        "{computed} records computed in {seconds:.1} s on {workers} threads, {reused} reused; in {}",
        out.display()
    ));
    if errors > 0 {
        output::warn(&format!("{errors} records are errors; their `reason` in records.jsonl says why"));
    }
    if interrupted.is_some() {
        output::warn("stopped early; the same command with --resume continues");
    }
}

/// 130 after Ctrl-C, 143 after SIGTERM, 1 when a record is an error.
pub(crate) fn exit_code(summary: &RunSummary) -> u8 {
    match (summary.interrupted, summary.errors) {
        (Some(code), _) => code,
        (None, 0) => 0,
        (None, _) => crate::cli::EXIT_INCOMPLETE,
    }
}
