//! The curves on a page.

use super::Moment;
use crate::plot::{Axes, Chart, Mark, Panel, Point, Series, color};
use zbound::Method;
use zbound::record::{BoundRecord, MethodRecord};
use zbound::run::ScanRecord;

/// Colours that are readable on white and on black.
pub(super) const LOWER: &str = "#3b86c8";
/// The same for upper bounds.
pub(super) const UPPER: &str = "#df5540";

/// Width of axes that read well on a telephone and, scaled, in a column of a wide window.
const NARROW: f64 = 310.0;

/// Variables up to which marginals are drawn.
const SHOWN_VARIABLES: usize = 2000;

fn point(x: f64, y: f64) -> Point {
    Point { x, y, sd: None }
}

fn chart(id: &str, panel: Panel) -> Chart {
    Chart { id: id.into(), panels: vec![panel], plot_width: Some(NARROW) }
}

/// Both sides of the bracket against time, as steps; `None` when nothing ever was proved.
pub(super) fn over_time(history: &[Moment]) -> Option<Chart> {
    let side = |name: &str, color: &str, of: fn(&Moment) -> Option<f64>| {
        let mut points: Vec<Point> = Vec::new();
        for moment in history {
            let Some(value) = of(moment) else { continue };
            if let Some(last) = points.last().copied() {
                points.push(point(moment.seconds, last.y));
            }
            points.push(point(moment.seconds, value));
        }
        Series { name: name.into(), color: color.into(), mark: Mark::Line, points }
    };
    let series =
        vec![side("proved upper bound", UPPER, |m| m.upper), side("proved lower bound", LOWER, |m| m.lower)];
    if series.iter().all(|s| s.points.is_empty()) {
        return None;
    }
    let axes = Axes { y_label: "log Z".into(), series, ..Axes::default() };
    let panel = Panel { x_label: "seconds".into(), x_log: true, rows: vec![axes], ..Panel::default() };
    Some(chart("time", panel))
}

/// P(x_i = +1) over the variables, and whether it is exact; `None` when no method has it.
pub(super) fn marginals(record: &BoundRecord) -> Option<(bool, Chart)> {
    let has = |r: &&MethodRecord| r.marginals.as_ref().is_some_and(|m| m.len() <= SHOWN_VARIABLES);
    let exact = record.results.iter().find(|r| r.method == Method::Exact && has(r));
    let best = [record.best.lower_method, record.best.upper_method];
    let shown: Vec<&MethodRecord> = match exact {
        Some(exact) => vec![exact],
        None => {
            let known: Vec<&MethodRecord> = record.results.iter().filter(has).collect();
            let behind = known.iter().copied().filter(|r| best.contains(&Some(r.method)));
            let behind: Vec<&MethodRecord> = behind.collect();
            // The last methods of a run are the strongest.
            if behind.is_empty() { known.into_iter().rev().take(1).collect() } else { behind }
        }
    };
    let series = |(k, r): (usize, &&MethodRecord)| {
        let values = r.marginals.iter().flatten().enumerate();
        let points = values.map(|(i, p)| point(i as f64, *p)).collect();
        let name = r.method.name().to_owned();
        Series { color: if k == 0 { LOWER } else { UPPER }.into(), name, mark: Mark::Dots, points }
    };
    let series: Vec<Series> = shown.iter().enumerate().map(series).collect();
    if series.is_empty() {
        return None;
    }
    let axes = Axes { y_label: "P(x = +1)".into(), series, ..Axes::default() };
    let panel = Panel { x_label: "variable".into(), rows: vec![axes], ..Panel::default() };
    Some((exact.is_some(), chart("marginals", panel)))
}

/// Brackets over inverse temperature: log Z above, the width of the bracket below.
#[must_use]
pub fn scan_chart(record: &ScanRecord) -> Chart {
    let mut points: Vec<_> = record.points.iter().collect();
    points.sort_by(|a, b| a.beta.total_cmp(&b.beta));
    let curve = |name: &str, color: String, of: &dyn Fn(&zbound::run::ScanPoint) -> Option<f64>| {
        let points = points.iter().filter_map(|p| Some(point(p.beta, of(p)?))).collect();
        Series { name: name.into(), color, mark: Mark::Line, points }
    };
    let sides = vec![
        curve("proved upper bound", UPPER.into(), &|p| p.log_z.upper),
        curve("proved lower bound", LOWER.into(), &|p| p.log_z.lower),
    ];
    let width = curve("upper - lower", color("combined", 0), &|p| Some(p.log_z.upper? - p.log_z.lower?));
    let rows = vec![
        Axes { y_label: "log Z".into(), series: sides, ..Axes::default() },
        Axes { y_label: "width".into(), series: vec![width], ..Axes::default() },
    ];
    let panel = Panel { x_label: "beta".into(), rows, ..Panel::default() };
    Chart { id: "scan".into(), panels: vec![panel], plot_width: None }
}
