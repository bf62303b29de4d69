//! What a plot shows, apart from how.

/// Panels side by side under one legend.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Prefix of the identifiers inside the SVG, unique on a page.
    pub id: String,
    /// From left to right.
    pub panels: Vec<Panel>,
    /// Width of a panel's axes in pixels; a size that suits the number of panels by default.
    pub plot_width: Option<f64>,
}

/// Plots over one x axis, from top to bottom.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x_label: String,
    /// Whether the x axis is logarithmic.
    pub x_log: bool,
    /// From top to bottom.
    pub rows: Vec<Axes>,
}

/// One pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Axes {
    /// Beside it.
    pub y_label: String,
    /// Whether the y axis is logarithmic.
    pub y_log: bool,
    /// Whether to draw a line at y = 0.
    pub zero_line: bool,
    /// What is drawn, the last on top.
    pub series: Vec<Series>,
}

/// Points that belong together. Series of one name share colour and legend entry.
#[derive(Clone, Debug)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// As SVG takes it.
    pub color: String,
    /// How it is drawn.
    pub mark: Mark,
    /// By increasing x.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line with a dot at each point and a band of one standard deviation.
    Line,
    /// A thin line without dots.
    Trace,
    /// Dots.
    Dots,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// On the x axis.
    pub x: f64,
    /// On the y axis.
    pub y: f64,
    /// Standard deviation, for the band.
    pub sd: Option<f64>,
}

/// The colours of the paper, and a fixed one for every other name.
#[must_use]
pub fn color(curve: &str, position: usize) -> String {
    const PALETTE: [&str; 8] =
        ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf"];
    let known = match curve {
        "quantum" => "#1f77b4",
        "quantum-diag" => "#ff7f0e",
        "quantum-greedy" | "greedy" => "#2ca02c",
        "logdet" | "log-det" => "#d62728",
        "trw" | "TRW" => "#9467bd",
        "greedy_3" => "#e377c2",
        "greedy_6" => "#7f7f7f",
        "greedy_8" => "#bcbd22",
        "greedy_10" => "#17becf",
        "combined" => "#8c564b",
        _ => PALETTE[position % PALETTE.len()],
    };
    known.to_owned()
}
