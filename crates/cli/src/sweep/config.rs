//! The configuration of a sweep, with the figure that is drawn of it.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use std::path::Path;

/// A sweep and how to draw it.
pub(crate) type Config = zbound::sweep::Config<FigureSpec>;

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

/// Reads a configuration file.
pub(crate) fn read_config(path: &Path) -> Result<Config> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse_config(&text).with_context(|| path.display().to_string())
}

/// Reads a configuration; what is wrong is named with its line.
pub(crate) fn parse_config(text: &str) -> Result<Config> {
    let config: Config = toml::from_str(text)?;
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
