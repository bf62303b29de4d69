//! `zbound reproduce`: the figures of the paper, from nothing but this program.

use super::sweep::{RunArgs, exit_code, report as say, write_plan};
use crate::output;
use crate::sweep::{Plan, RunSummary, Store, run};
use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use zbound::io::write_atomic;
use zbound_figures::paper::{FIGURES, Figure, Finding};
use zbound_figures::plot;
use zbound_figures::report::{self, Metadata, Section, summary};
use zbound_figures::spec::Config;

const EXAMPLES: &str = "\
Figures: logp_1, comp_2, comp_rho_fixed_2, KL_1, comp_1, comp_rho_fixed_1, comp_3, hierarchies_greedy_1, \
hierarchies_greedy_2a, hierarchies_greedy_2b, comp_large_d, CP_gap_iter, CP_iter_d, CP_gap_iter_ho, CP_iter_n

Writes DIR/report.html, DIR/claims.json, DIR/run.json, DIR/records.jsonl and for each figure a folder with \
records.csv, the plot as SVG and PNG, and its claims.

Examples:
  zbound reproduce comp_2 --out results
  zbound reproduce all --out results --draws 2
  zbound reproduce all --out results --resume --combined";

/// Options of `zbound reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The paper's label of a figure, or `all`
    #[arg(value_name = "FIGURE|all", required = true)]
    figures: Vec<String>,
    /// Folder for everything that is written
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    run: RunArgs,
    /// Add the curve of the combined bound
    #[arg(long)]
    combined: bool,
    /// Add greedy selection at d = 30, which the paper left out for its cost
    #[arg(long)]
    greedy_large: bool,
}

/// A figure on its way.
struct Work {
    figure: Figure,
    config: Config,
    plan: Plan,
}

/// The claims of one figure, as a file.
#[derive(Debug, Serialize)]
struct Claims<'a> {
    figure: &'a str,
    findings: &'a [Finding],
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let works = self.works()?;
        let mut store = Store::open(&self.out, self.run.resume)?;
        let plans: Vec<&Plan> = works.iter().map(|work| &work.plan).collect();
        let done = run(&plans, &mut store, self.run.workers())?;
        let mut sections = Vec::new();
        for work in &works {
            sections.push(write_figure(&self.out, work, &store)?);
        }
        let claims: Vec<Claims<'_>> =
            sections.iter().map(|s| Claims { figure: &s.id, findings: &s.findings }).collect();
        write_json(&self.out.join("claims.json"), &claims)?;
        let metadata = metadata(&works, &done);
        write_json(&self.out.join("run.json"), &metadata)?;
        report::write(&self.out.join("report.html"), &sections, &metadata)?;
        output::print(&summary(&sections))?;
        say(&done, &self.out);
        Ok(exit_code(&done))
    }

    fn works(&self) -> Result<Vec<Work>> {
        let all = self.figures.iter().any(|name| name == "all");
        if let Some(name) = self.figures.iter().find(|n| *n != "all" && !FIGURES.iter().any(|f| f.id == **n))
        {
            let known: Vec<_> = FIGURES.iter().map(|f| f.id).collect();
            bail!("unknown figure `{name}`; known: all, {}", known.join(", "));
        }
        let mut with = Vec::new();
        if self.combined {
            with.push("combined".to_owned());
        }
        if self.greedy_large {
            with.push("greedy-large".to_owned());
        }
        let overrides = self.run.overrides(with);
        let chosen = FIGURES.iter().filter(|f| all || self.figures.iter().any(|name| name == f.id));
        chosen
            .map(|&figure| {
                let config = figure.config()?;
                let plan = Plan::new(&config, &overrides)?;
                Ok(Work { figure, config, plan })
            })
            .collect()
    }
}

/// Writes the folder of one figure.
fn write_figure(out: &Path, work: &Work, store: &Store) -> Result<Section> {
    let id = work.figure.id;
    let folder = out.join(id);
    write_plan(&folder, &work.plan, store)?;
    let spec = work.config.figure.as_ref().with_context(|| format!("{id} has no [figure]"))?;
    let (section, chart) = Section::new(id, spec, &work.plan, |key| store.get(key));
    for extension in ["svg", "png"] {
        plot::write(&chart, &folder.join(format!("{id}.{extension}")))?;
    }
    write_json(&folder.join("claims.json"), &Claims { figure: id, findings: &section.findings })?;
    Ok(section)
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    write_atomic(path, |out| out.write_all(text.as_bytes()))?;
    Ok(())
}

fn metadata(works: &[Work], summary: &RunSummary) -> Metadata {
    let keys: String = works.iter().flat_map(|w| &w.plan.jobs).map(|job| job.key.as_str()).collect();
    let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    Metadata {
        version: env!("CARGO_PKG_VERSION"),
        command: std::env::args().skip(1).fold("zbound".to_owned(), |line, arg| line + " " + &arg),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        cpu: cpu_name(),
        threads: summary.workers,
        finished,
        wall_seconds: summary.seconds,
        computed: summary.computed,
        reused: summary.reused,
        plan: crate::sweep::hash(&keys),
    }
}

/// The processor as the system names it.
fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    line.and_then(|l| l.split_once(':'))
        .map_or_else(|| "unknown processor".into(), |(_, n)| n.trim().to_owned())
}
