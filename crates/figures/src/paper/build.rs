//! From curves to a chart.

use super::data::{Curve, FigureData};
use crate::plot::{Axes, Chart, Mark, Panel, Point, Series, color};
use crate::spec::{FigureSpec, Metric};

/// Points of a trace that are drawn at most; the eye sees no more.
const TRACE_POINTS: usize = 250;

/// The plot of a figure.
#[must_use]
pub fn chart(id: &str, spec: &FigureSpec, data: &FigureData) -> Chart {
    let panels = spec.panels.iter().zip(&data.panels).map(|(panel, rows)| Panel {
        title: panel.title.clone(),
        x_label: spec.x_label.clone(),
        x_log: false,
        rows: panel
            .rows
            .iter()
            .zip(rows)
            .enumerate()
            .map(|(k, (&metric, curves))| {
                let label = panel.y_label.as_deref().filter(|_| k == 0).unwrap_or(metric.label());
                axes(metric, label, curves)
            })
            .collect(),
    });
    Chart { id: id.to_owned(), panels: panels.collect(), plot_width: None }
}

fn axes(metric: Metric, y_label: &str, curves: &[Curve]) -> Axes {
    let series = |(k, curve): (usize, &Curve)| match metric {
        Metric::GapTrace => traces(curve, k),
        Metric::Iterations => vec![dots(curve, k)],
        _ => vec![line(curve, k)],
    };
    Axes {
        y_label: y_label.to_owned(),
        y_log: metric == Metric::GapTrace,
        zero_line: matches!(metric, Metric::BoundError | Metric::MarginalError | Metric::Relative),
        series: curves.iter().enumerate().flat_map(series).collect(),
    }
}

fn line(curve: &Curve, k: usize) -> Series {
    let points = curve.means().into_iter().zip(curve.deviations());
    let points = points.map(|((x, y), sd)| Point { x, y, sd }).collect();
    Series { name: curve.name.clone(), color: color(&curve.name, k), mark: Mark::Line, points }
}

fn dots(curve: &Curve, k: usize) -> Series {
    let values = curve.points.iter().flat_map(|(x, values)| values.iter().map(|&y| (*x, y)));
    let points = values.map(|(x, y)| Point { x, y, sd: None }).collect();
    Series { name: curve.name.clone(), color: color(&curve.name, k), mark: Mark::Dots, points }
}

fn traces(curve: &Curve, k: usize) -> Vec<Series> {
    let series = |trace: &Vec<f64>| {
        let step = trace.len().div_ceil(TRACE_POINTS).max(1);
        let last = trace.len().saturating_sub(1);
        let kept = trace.iter().enumerate().filter(|(t, gap)| (t % step == 0 || *t == last) && **gap > 0.0);
        let points = kept.map(|(t, &gap)| Point { x: (t + 1) as f64, y: gap, sd: None }).collect();
        Series { name: curve.name.clone(), color: color(&curve.name, k), mark: Mark::Trace, points }
    };
    curve.traces.iter().map(series).collect()
}
