//! The configuration of a sweep, with the figure that is drawn of it.

use anyhow::{Result, bail};
use serde::Deserialize;

/// A sweep and how to draw it.
pub type Config = zbound::sweep::Config<FigureSpec>;

/// How to draw the records of a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// One line.
    pub title: String,
    /// What the reader sees, and where it departs from the paper.
    #[serde(default)]
    pub caption: String,
    /// Column on the x axis: w, eps, n, k, d or iteration.
    pub x: String,
    /// Below the x axis.
    pub x_label: String,
    /// From left to right.
    #[serde(rename = "panel")]
    pub panels: Vec<PanelSpec>,
}

/// One panel: one or two plots over the same x axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelSpec {
    /// Above it.
    pub title: String,
    /// The grid it shows.
    #[serde(default)]
    pub grid: String,
    /// From top to bottom.
    pub rows: Vec<Metric>,
    /// Curves to show; all when left out.
    pub curves: Option<Vec<String>>,
    /// The curve that `relative` metrics subtract.
    pub reference: Option<String>,
    /// Label of the first row's y axis, where the metric's own does not say enough.
    pub y_label: Option<String>,
}

/// What a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
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
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Metric::BoundError => "Normalized error in bound",
            Metric::MarginalError => "Error in marginals",
            Metric::Relative => "Relative error in bound",
            Metric::Iterations => "Iterations",
            Metric::GapTrace => "Duality gap",
        }
    }
}

/// Reads a configuration; what is wrong is named with its line.
///
/// # Errors
/// What is not a configuration, and panels that show what does not exist.
pub fn parse(text: &str) -> Result<Config> {
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
