//! Records grouped into the curves of a figure.

use crate::spec::{FigureSpec, Metric, PanelSpec};
use std::collections::HashMap;
use zbound::sweep::{Instance, Plan, SweepRecord};

/// Everything a figure shows: per panel and row, the curves.
#[derive(Clone, Debug)]
pub struct FigureData {
    /// Panels, rows of a panel, curves of a row.
    pub panels: Vec<Vec<Vec<Curve>>>,
}

/// The values of one curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// In the legend.
    pub name: String,
    /// By increasing x: the values of all draws.
    pub points: Vec<(f64, Vec<f64>)>,
    /// The gap along the iterations, one per draw, where the metric is a trace.
    pub traces: Vec<Vec<f64>>,
}

impl Curve {
    /// x and the mean over draws.
    #[must_use]
    pub fn means(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|(x, values)| (*x, mean(values))).collect()
    }

    /// x and the standard deviation over draws (n - 1), where there are at least two.
    #[must_use]
    pub fn deviations(&self) -> Vec<Option<f64>> {
        self.points.iter().map(|(_, values)| deviation(values)).collect()
    }
}

/// The arithmetic mean.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard deviation of a sample (n - 1).
#[must_use]
pub fn deviation(values: &[f64]) -> Option<f64> {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

impl FigureData {
    /// Groups the records of `plan`; `record` finds one by the key of its job.
    pub fn new<'a>(
        spec: &FigureSpec,
        plan: &'a Plan,
        record: impl Fn(&str) -> Option<&'a SweepRecord>,
    ) -> Self {
        let rows: Vec<Row<'_>> = plan
            .jobs
            .iter()
            .filter_map(|job| Some(Row { grid: &job.grid, curve: &job.curve, record: record(&job.key)? }))
            .collect();
        let panel = |panel: &PanelSpec| {
            panel.rows.iter().map(|&metric| curves(&rows, panel, metric, &spec.x)).collect()
        };
        FigureData { panels: spec.panels.iter().map(panel).collect() }
    }

    /// A curve of a panel and row.
    #[must_use]
    pub fn curve(&self, panel: usize, row: usize, name: &str) -> Option<&Curve> {
        self.panels.get(panel)?.get(row)?.iter().find(|curve| curve.name == name)
    }
}

struct Row<'a> {
    grid: &'a str,
    curve: &'a str,
    record: &'a SweepRecord,
}

fn curves(rows: &[Row<'_>], panel: &PanelSpec, metric: Metric, x: &str) -> Vec<Curve> {
    let reference = reference_bounds(rows, panel);
    let mut out: Vec<Curve> = Vec::new();
    for row in rows.iter().filter(|row| row.grid == panel.grid) {
        let shown = panel.curves.as_ref().is_none_or(|names| names.iter().any(|name| name == row.curve));
        if !shown || metric == Metric::Relative && panel.reference.as_deref() == Some(row.curve) {
            continue;
        }
        let k = out.iter().position(|curve| curve.name == row.curve).unwrap_or_else(|| {
            out.push(Curve { name: row.curve.to_owned(), points: Vec::new(), traces: Vec::new() });
            out.len() - 1
        });
        if metric == Metric::GapTrace {
            out[k].traces.push(row.record.trace.clone());
        } else if let (Some(x), Some(y)) = (x_of(row.record, x), y_of(row.record, metric, &reference)) {
            let points = &mut out[k].points;
            match points.iter_mut().find(|(known, _)| *known == x) {
                Some((_, values)) => values.push(y),
                None => points.push((x, vec![y])),
            }
        }
    }
    out.iter_mut().for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    out.retain(|curve| !curve.points.is_empty() || curve.traces.iter().any(|t| !t.is_empty()));
    if let Some(order) = &panel.curves {
        out.sort_by_key(|curve| order.iter().position(|name| *name == curve.name));
    }
    out
}

/// Bounds of the reference curve by instance.
fn reference_bounds(rows: &[Row<'_>], panel: &PanelSpec) -> HashMap<String, f64> {
    let Some(name) = &panel.reference else { return HashMap::new() };
    let rows = rows.iter().filter(|row| row.curve == name && row.grid == panel.grid);
    rows.filter_map(|row| Some((instance_name(&row.record.instance), row.record.bound?))).collect()
}

fn instance_name(instance: &Instance) -> String {
    format!("{instance:?}")
}

fn x_of(record: &SweepRecord, column: &str) -> Option<f64> {
    match column {
        "w" => Some(record.instance.w),
        "eps" => Some(record.instance.eps),
        "d" => Some(record.instance.d as f64),
        "n" => record.n.map(|n| n as f64),
        "k" => record.settings.k.map(|k| k as f64),
        _ => None,
    }
}

fn y_of(record: &SweepRecord, metric: Metric, reference: &HashMap<String, f64>) -> Option<f64> {
    let d = record.instance.d as f64;
    match metric {
        Metric::BoundError => record.error.map(|error| error / d),
        Metric::MarginalError => record.marginal_error,
        Metric::Relative => {
            let base = reference.get(&instance_name(&record.instance))?;
            record.bound.map(|bound| (bound - base) / d)
        }
        Metric::Iterations => (record.iterations > 0).then_some(record.iterations as f64),
        Metric::GapTrace => None,
    }
}
