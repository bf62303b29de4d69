//! `zbound plot`: the records of a sweep as a picture.

use crate::sweep::{COLUMNS, read_lines};
use anyhow::{Context as _, Result, bail};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use zbound_figures::paper::{deviation, mean};
use zbound_figures::plot::{Axes, Chart, Mark, Panel, Point, Series, color, write};

const EXAMPLES: &str = "\
Columns: grid, curve, family, graph, d, w, eps, draw, seed, method, features, n, k, tol, solver, rho, bound, exact, \
error, marginal_error, gap, iterations, seconds, status, ... (the header of records.csv), and error_per_spin. \
Rows with the same x are averaged; the band is one standard deviation.

Examples:
  zbound plot results/records.csv --x w --y error_per_spin --out error.svg
  zbound plot results/records.jsonl --x d --y seconds --by method --log-x --log-y --out time.png
  zbound plot results/records.csv --x w --y marginal_error --panel family --out all.svg";

/// Options of `zbound plot`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// records.csv or records.jsonl of a sweep
    #[arg(value_name = "RECORDS")]
    records: PathBuf,
    /// Column on the x axis
    #[arg(long, value_name = "COLUMN")]
    x: String,
    /// Column on the y axis
    #[arg(long, value_name = "COLUMN")]
    y: String,
    /// Column that tells the curves apart [default: curve, or method for records.jsonl]
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Column that tells the panels apart
    #[arg(long, value_name = "COLUMN")]
    panel: Option<String>,
    /// Only rows whose column has this value; may be repeated
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Logarithmic x axis
    #[arg(long)]
    log_x: bool,
    /// Logarithmic y axis
    #[arg(long)]
    log_y: bool,
    /// Every record as a dot instead of means
    #[arg(long)]
    dots: bool,
    /// Picture to write: .svg or .png
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

type Row = HashMap<String, String>;

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let is_jsonl = self.records.extension().is_some_and(|e| e == "jsonl");
        let mut rows = if is_jsonl { jsonl_rows(&self.records)? } else { csv_rows(&self.records)? };
        rows.iter_mut().for_each(add_error_per_spin);
        let by = self.by.clone().unwrap_or_else(|| if is_jsonl { "method" } else { "curve" }.into());
        let filters = self.parsed_filters()?;
        for column in
            [&self.x, &self.y, &by].into_iter().chain(&self.panel).chain(filters.iter().map(|f| &f.0))
        {
            if !rows.iter().any(|row| row.contains_key(column)) {
                bail!("no column `{column}`; there are {}, error_per_spin", COLUMNS.join(", "));
            }
        }
        rows.retain(|row| filters.iter().all(|(column, value)| row.get(column) == Some(value)));
        let chart = self.chart(&rows, &by);
        if chart.panels.iter().all(|p| p.rows.iter().all(|r| r.series.is_empty())) {
            bail!("no record has a number in both `{}` and `{}`", self.x, self.y);
        }
        write(&chart, &self.out)?;
        Ok(0)
    }

    fn parsed_filters(&self) -> Result<Vec<(String, String)>> {
        let parse = |text: &String| {
            let (column, value) =
                text.split_once('=').with_context(|| format!("--where {text}: expected COLUMN=VALUE"))?;
            Ok((column.to_owned(), value.to_owned()))
        };
        self.filters.iter().map(parse).collect()
    }

    fn chart(&self, rows: &[Row], by: &str) -> Chart {
        let mut names: Vec<String> = Vec::new();
        let title = |row: &Row| self.panel.as_ref().map_or_else(String::new, |c| format!("{c} = {}", row[c]));
        for row in rows {
            let title = title(row);
            if !names.contains(&title) {
                names.push(title);
            }
        }
        let panels = names.into_iter().map(|name| {
            let rows: Vec<&Row> = rows.iter().filter(|row| title(row) == name).collect();
            let axes = Axes {
                y_label: self.y.clone(),
                y_log: self.log_y,
                zero_line: false,
                series: self.series(&rows, by),
            };
            Panel { title: name, x_label: self.x.clone(), x_log: self.log_x, rows: vec![axes] }
        });
        Chart { id: "plot".into(), panels: panels.collect(), plot_width: None }
    }

    fn series(&self, rows: &[&Row], by: &str) -> Vec<Series> {
        let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for row in rows {
            let value = |column: &str| row.get(column).and_then(|text| text.parse::<f64>().ok());
            let (Some(x), Some(y)) = (value(&self.x), value(&self.y)) else { continue };
            let name = row.get(by).cloned().unwrap_or_default();
            match curves.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push((x, y)),
                None => curves.push((name, vec![(x, y)])),
            }
        }
        let series = |(k, (name, mut points)): (usize, (String, Vec<(f64, f64)>))| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mark, points) = if self.dots {
                (Mark::Dots, points.iter().map(|&(x, y)| Point { x, y, sd: None }).collect())
            } else {
                (Mark::Line, averaged(&points))
            };
            Series { color: color(&name, k), name, mark, points }
        };
        curves.into_iter().enumerate().map(series).collect()
    }
}

/// Mean and standard deviation of the values at each x.
fn averaged(points: &[(f64, f64)]) -> Vec<Point> {
    let groups = points.chunk_by(|a, b| a.0 == b.0);
    groups
        .map(|group| {
            let values: Vec<f64> = group.iter().map(|p| p.1).collect();
            Point { x: group[0].0, y: mean(&values), sd: deviation(&values) }
        })
        .collect()
}

fn add_error_per_spin(row: &mut Row) {
    let value = |column: &str| row.get(column).and_then(|text| text.parse::<f64>().ok());
    if let (Some(error), Some(d)) = (value("error"), value("d")) {
        row.insert("error_per_spin".into(), (error / d).to_string());
    }
}

fn jsonl_rows(path: &Path) -> Result<Vec<Row>> {
    let row = |record: crate::sweep::SweepRecord| {
        let cells = record.cells("", &record.settings.method);
        COLUMNS.iter().map(|c| (*c).to_owned()).zip(cells.iter().map(|cell| cell.text())).collect()
    };
    Ok(read_lines(path)?.into_iter().map(row).collect())
}

fn csv_rows(path: &Path) -> Result<Vec<Row>> {
    let context = || path.display().to_string();
    let mut reader = csv::Reader::from_path(path).with_context(context)?;
    reader.deserialize().collect::<Result<Vec<Row>, _>>().with_context(context)
}
