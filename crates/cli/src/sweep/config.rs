//! The configuration of a sweep.

use super::axis::Axis;
use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::path::Path;

/// A sweep: every grid of instances with every method, and how to draw the result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Seed from which the seed of every instance is derived.
    #[serde(default)]
    pub(crate) seed: u64,
    /// Draws per point of a grid.
    #[serde(default = "one_draw")]
    pub(crate) draws: usize,
    /// Compute exact values where that takes at most this many operations; 0 for never.
    #[serde(default = "exact_operations")]
    pub(crate) exact_operations: f64,
    /// Grids of instances.
    #[serde(rename = "grid")]
    pub(crate) grids: Vec<GridSpec>,
    /// Methods, each run on every instance.
    #[serde(rename = "method")]
    pub(crate) methods: Vec<MethodSpec>,
    /// How to draw the records.
    pub(crate) figure: Option<FigureSpec>,
}

fn one_draw() -> usize {
    1
}

fn exact_operations() -> f64 {
    1e9
}

/// A product of families, graphs, sizes, strengths and temperatures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridSpec {
    /// Name, for panels.
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) family: Axis<String>,
    #[serde(default = "complete")]
    pub(crate) graph: Axis<String>,
    pub(crate) d: Axis<usize>,
    /// Coupling strength; the parameters are drawn anew for each.
    #[serde(default = "zero")]
    pub(crate) w: Axis<f64>,
    /// Temperature; the same draws serve all of them.
    #[serde(default = "unit")]
    pub(crate) eps: Axis<f64>,
}

fn complete() -> Axis<String> {
    Axis::One("complete".into())
}

fn zero() -> Axis<f64> {
    Axis::One(0.0)
}

fn unit() -> Axis<f64> {
    Axis::One(1.0)
}

/// One method and its settings; every key may be a list, and all combinations are run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodSpec {
    /// A method of `zbound bound`, or `kl` / `kl-greedy`.
    pub(crate) method: String,
    /// Name of the curve; `{k}`, `{n}`, `{tau}`, `{sigma}`, `{tol}`, `{rho}` stand for the settings.
    pub(crate) curve: Option<String>,
    /// Left out unless this flag is given (`--combined`, `--greedy-large`, or `--with FLAG`).
    pub(crate) when: Option<String>,
    /// Only on these grids.
    pub(crate) grids: Option<Vec<String>>,
    /// Features as on the command line.
    pub(crate) features: Option<Axis<String>>,
    /// The first n monomials by degree: short for `features = "first:n"`.
    pub(crate) n: Option<Axis<usize>>,
    /// Features that greedy selection adds; a list gives the bound at each of them along one path.
    pub(crate) greedy: Option<Axis<usize>>,
    /// Relative gap.
    pub(crate) tol: Option<Axis<f64>>,
    /// Stop at this absolute gap instead.
    pub(crate) gap: Option<Axis<f64>>,
    pub(crate) max_iterations: Option<Axis<usize>>,
    pub(crate) time_limit: Option<f64>,
    pub(crate) solver: Option<Axis<String>>,
    pub(crate) rho: Option<Axis<String>>,
    pub(crate) pairwise: Option<Axis<String>>,
    /// Chambolle-Pock steps, as pairs.
    pub(crate) steps: Option<Vec<[f64; 2]>>,
    /// Keep the gap after every iteration.
    #[serde(default)]
    pub(crate) trace: bool,
}

/// How to draw the records of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureSpec {
    /// One line.
    pub(crate) title: String,
    /// What the reader sees, and where it departs from the paper.
    #[serde(default)]
    pub(crate) caption: String,
    /// Column on the x axis: w, eps, n, k, d or iteration.
    pub(crate) x: String,
    pub(crate) x_label: String,
    #[serde(rename = "panel")]
    pub(crate) panels: Vec<PanelSpec>,
}

/// One panel: one or two plots over the same x axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PanelSpec {
    pub(crate) title: String,
    /// The grid it shows.
    #[serde(default)]
    pub(crate) grid: String,
    /// From top to bottom.
    pub(crate) rows: Vec<Metric>,
    /// Curves to show; all when left out.
    pub(crate) curves: Option<Vec<String>>,
    /// The curve that `relative` metrics subtract.
    pub(crate) reference: Option<String>,
    /// Label of the first row's y axis, where the metric's own does not say enough.
    pub(crate) y_label: Option<String>,
}

/// What a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Metric {
    /// (bound - exact) / d.
    BoundError,
    /// mean |p - p_exact| over spins.
    MarginalError,
    /// (bound - bound of the reference curve on the same instance) / d.
    Relative,
    /// Iterations, one dot per draw.
    Iterations,
    /// The gap along the iterations, one line per draw.
    GapTrace,
}

impl Metric {
    /// Label of the y axis.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Metric::BoundError => "Normalized error in bound",
            Metric::MarginalError => "Error in marginals",
            Metric::Relative => "Relative error in bound",
            Metric::Iterations => "Iterations",
            Metric::GapTrace => "Duality gap",
        }
    }
}

impl Config {
    /// Reads a configuration file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Config::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads a configuration; what is wrong is named with its line.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let config: Config = toml::from_str(text)?;
        if config.draws == 0 {
            bail!("draws = 0: expected at least 1");
        }
        if config.grids.is_empty() || config.methods.is_empty() {
            bail!("expected at least one [[grid]] and one [[method]]");
        }
        for panel in config.figure.iter().flat_map(|f| &f.panels) {
            if !config.grids.iter().any(|grid| grid.name == panel.grid) {
                bail!("panel `{}` shows the grid `{}`, which does not exist", panel.title, panel.grid);
            }
            if panel.rows.contains(&Metric::Relative) && panel.reference.is_none() {
                bail!("panel `{}` needs the reference that `relative` subtracts", panel.title);
            }
        }
        Ok(config)
    }
}
