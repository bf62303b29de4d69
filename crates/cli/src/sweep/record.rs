//! What a sweep stores: one record per instance and method, and its flat form for tables.

use super::plan::Job;
use super::settings::{MethodSettings, VERSION};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zbound::io::write_atomic;
use zbound::record::MethodRecord;

/// A random model at a temperature; equal instances are equal bit for bit on every platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Instance {
    pub(crate) family: String,
    pub(crate) graph: String,
    pub(crate) d: usize,
    pub(crate) w: f64,
    pub(crate) eps: f64,
    /// Number of the draw, from 0.
    pub(crate) draw: usize,
    /// Seed of `zbound generate`.
    pub(crate) seed: u64,
}

/// One instance with one method. Bounds are on phi, as in the paper; for `kl` they are on the
/// Kullback-Leibler divergence of p from the uniform law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SweepRecord {
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) instance: Instance,
    pub(crate) settings: MethodSettings,
    /// Certified upper bound on phi (lower bound on the divergence for `kl`).
    pub(crate) bound: Option<f64>,
    /// The exact value, where it was computed.
    pub(crate) exact: Option<f64>,
    /// `bound - exact`.
    pub(crate) error: Option<f64>,
    /// `mean_i |p_i - exact p_i|`.
    pub(crate) marginal_error: Option<f64>,
    /// Distance to a feasible primal value of the same relaxation.
    pub(crate) gap: Option<f64>,
    /// Features of the moment matrix.
    pub(crate) n: Option<usize>,
    pub(crate) iterations: usize,
    /// Wall-clock seconds of this method; null for points inside a longer greedy path.
    pub(crate) seconds: Option<f64>,
    /// A status of `zbound bound`, or `error`.
    pub(crate) status: String,
    pub(crate) certified: bool,
    pub(crate) reason: Option<String>,
    /// The gap after each iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) trace: Vec<f64>,
}

/// Status of a job that ended in an error or a panic.
pub(crate) const ERROR_STATUS: &str = "error";

impl SweepRecord {
    /// A record without a result.
    pub(super) fn empty(job: &Job, status: &str, reason: Option<String>) -> Self {
        SweepRecord {
            key: job.key.clone(),
            version: VERSION.into(),
            instance: job.instance.clone(),
            settings: job.settings.clone(),
            bound: None,
            exact: None,
            error: None,
            marginal_error: None,
            gap: None,
            n: None,
            iterations: 0,
            seconds: None,
            status: status.into(),
            certified: false,
            reason,
            trace: Vec::new(),
        }
    }

    /// The record of a method's result.
    pub(super) fn new(job: &Job, result: &MethodRecord) -> Self {
        SweepRecord {
            bound: result.phi.upper,
            gap: result.relaxation_gap,
            n: result.features.as_ref().map(Vec::len),
            iterations: result.iterations,
            seconds: Some(result.seconds),
            certified: result.certified,
            ..Self::empty(job, result.status.name(), result.reason.clone())
        }
    }

    /// Whether resuming may take this record as it is. What did not apply is cheap to try again, and
    /// may apply in another build.
    pub(super) fn is_final(&self) -> bool {
        !["not-applicable", ERROR_STATUS, "cancelled"].contains(&self.status.as_str())
    }
}

/// Columns of the flat form.
pub(crate) const COLUMNS: [&str; 33] = [
    "grid",
    "curve",
    "family",
    "graph",
    "d",
    "w",
    "eps",
    "draw",
    "seed",
    "method",
    "features",
    "n",
    "k",
    "tol",
    "target_gap",
    "max_iterations",
    "time_limit",
    "solver",
    "rho",
    "pairwise",
    "tau",
    "sigma",
    "bound",
    "exact",
    "error",
    "marginal_error",
    "gap",
    "iterations",
    "seconds",
    "status",
    "certified",
    "version",
    "key",
];

/// A value of the flat form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Missing.
    Null,
    Number(f64),
    /// A whole number that must keep all its digits.
    Whole(u64),
    Text(String),
}

impl Cell {
    /// As written in a CSV file; floats read back bit for bit.
    pub(crate) fn text(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Number(x) => format!("{x:?}"),
            Cell::Whole(x) => x.to_string(),
            Cell::Text(text) => text.clone(),
        }
    }
}

fn number(value: Option<f64>) -> Cell {
    value.map_or(Cell::Null, Cell::Number)
}

fn whole(value: Option<usize>) -> Cell {
    value.map_or(Cell::Null, |v| Cell::Whole(v as u64))
}

fn text(value: Option<&String>) -> Cell {
    value.map_or(Cell::Null, |v| Cell::Text(v.clone()))
}

impl SweepRecord {
    /// The flat form, in the order of [`COLUMNS`].
    pub(crate) fn cells(&self, grid: &str, curve: &str) -> Vec<Cell> {
        let (i, s) = (&self.instance, &self.settings);
        vec![
            Cell::Text(grid.into()),
            Cell::Text(curve.into()),
            Cell::Text(i.family.clone()),
            Cell::Text(i.graph.clone()),
            whole(Some(i.d)),
            Cell::Number(i.w),
            Cell::Number(i.eps),
            whole(Some(i.draw)),
            Cell::Whole(i.seed),
            Cell::Text(s.method.clone()),
            text(s.features.as_ref()),
            whole(self.n),
            whole(s.k),
            Cell::Number(s.tol),
            number(s.gap),
            whole(s.max_iterations),
            number(s.time_limit),
            text(s.solver.as_ref()),
            text(s.rho.as_ref()),
            text(s.pairwise.as_ref()),
            number(s.tau),
            number(s.sigma),
            number(self.bound),
            number(self.exact),
            number(self.error),
            number(self.marginal_error),
            number(self.gap),
            whole(Some(self.iterations)),
            number(self.seconds),
            Cell::Text(self.status.clone()),
            Cell::Text(self.certified.to_string()),
            Cell::Text(self.version.clone()),
            Cell::Text(self.key.clone()),
        ]
    }
}

/// Writes `records.csv` (and `records.parquet` in builds that have it) into `folder`.
pub(crate) fn write_tables(folder: &Path, rows: &[Vec<Cell>]) -> Result<()> {
    write_atomic(&folder.join("records.csv"), |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS)?;
        for row in rows {
            csv.write_record(row.iter().map(Cell::text))?;
        }
        csv.flush()
    })?;
    #[cfg(feature = "parquet")]
    super::parquet::write(&folder.join("records.parquet"), rows)?;
    Ok(())
}
