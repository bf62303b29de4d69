//! Where everything on a chart stands, in pixels.

use super::chart::Chart;

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Positions of the axes and the legend.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// One area per row of each panel.
    pub(super) axes: Vec<Vec<Area>>,
    /// Entries of the legend: name, colour, x, y.
    pub(super) legend: Vec<(String, String, f64, f64)>,
}

const LEFT: f64 = 66.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 32.0;
const BOTTOM: f64 = 42.0;
const BETWEEN: f64 = 16.0;
const LEGEND_LINE: f64 = 22.0;
/// Length of the line before a legend's text, with its gap.
pub(super) const LEGEND_MARK: f64 = 32.0;
/// Average width of a letter at the size of the legend.
const LETTER: f64 = 7.4;

impl Layout {
    pub(super) fn new(chart: &Chart) -> Self {
        let panels = chart.panels.len().max(1);
        let (plot_width, plot_height) = match panels {
            1 => (440.0, 300.0),
            2 => (360.0, 280.0),
            _ => (290.0, 260.0),
        };
        let (plot_width, plot_height) = match chart.plot_width {
            Some(width) => (width, 0.7 * width),
            None => (plot_width, plot_height),
        };
        let rows = chart.panels.iter().map(|p| p.rows.len()).max().unwrap_or(1).max(1);
        let plot_height = if rows > 1 { plot_height + 60.0 } else { plot_height };
        let column = LEFT + plot_width + RIGHT;
        let axes = chart.panels.iter().enumerate();
        let axes =
            axes.map(|(k, p)| rows_of(p.rows.len(), k as f64 * column + LEFT, plot_width, plot_height));
        let axes: Vec<Vec<Area>> = axes.collect();
        let width = column * panels as f64;
        let top = TOP + plot_height + BOTTOM;
        let legend = legend(chart, width, top + 0.6 * LEGEND_LINE);
        let height = legend.last().map_or(top, |entry| entry.3 + 0.5 * LEGEND_LINE);
        Layout { width, height: height.ceil(), axes, legend }
    }
}

/// The upper row takes two thirds.
fn rows_of(count: usize, x: f64, width: f64, height: f64) -> Vec<Area> {
    if count <= 1 {
        return vec![Area { x, y: TOP, width, height }];
    }
    let rest = (height - BETWEEN * (count - 1) as f64) / (count + 1) as f64;
    let mut y = TOP;
    (0..count)
        .map(|k| {
            let height = if k == 0 { 2.0 * rest } else { rest };
            let area = Area { x, y, width, height };
            y += height + BETWEEN;
            area
        })
        .collect()
}

/// Entries left to right, centred, wrapped to the width of the chart.
fn legend(chart: &Chart, width: f64, top: f64) -> Vec<(String, String, f64, f64)> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for series in chart.panels.iter().flat_map(|p| &p.rows).flat_map(|r| &r.series) {
        if !names.iter().any(|(name, _)| *name == series.name) {
            names.push((&series.name, &series.color));
        }
    }
    let length = |name: &str| LEGEND_MARK + LETTER * name.chars().count() as f64 + 18.0;
    let mut lines: Vec<(f64, Vec<(&str, &str)>)> = vec![(0.0, Vec::new())];
    for (name, color) in names {
        let full =
            lines.last().is_some_and(|(used, line)| !line.is_empty() && used + length(name) > width - 20.0);
        if full {
            lines.push((0.0, Vec::new()));
        }
        if let Some((used, line)) = lines.last_mut() {
            *used += length(name);
            line.push((name, color));
        }
    }
    let mut out = Vec::new();
    for (k, (used, line)) in lines.iter().enumerate() {
        let mut x = 0.5 * (width - used) + 8.0;
        for (name, color) in line {
            out.push(((*name).to_owned(), (*color).to_owned(), x, top + k as f64 * LEGEND_LINE));
            x += length(name);
        }
    }
    out
}
