//! What a plot shows, apart from how.

/// Panels side by side under one legend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    /// Prefix of the identifiers inside the SVG, unique on a page.
    pub(crate) id: String,
    pub(crate) panels: Vec<Panel>,
}

/// Plots over one x axis, from top to bottom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) x_log: bool,
    pub(crate) rows: Vec<Axes>,
}

/// One pair of axes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axes {
    pub(crate) y_label: String,
    pub(crate) y_log: bool,
    /// Whether to draw a line at y = 0.
    pub(crate) zero_line: bool,
    pub(crate) series: Vec<Series>,
}

/// Points that belong together. Series of one name share colour and legend entry.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) color: String,
    pub(crate) mark: Mark,
    pub(crate) points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A line with a dot at each point and a band of one standard deviation.
    Line,
    /// A thin line without dots.
    Trace,
    /// Dots.
    Dots,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Standard deviation, for the band.
    pub(crate) sd: Option<f64>,
}

/// The colours of the paper, and a fixed one for every other name.
pub(crate) fn color(curve: &str, position: usize) -> String {
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
