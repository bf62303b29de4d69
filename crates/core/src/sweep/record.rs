//! What a sweep stores: one record per instance and method, and its flat form for tables.

use super::hash::short_hash;
use super::plan::Job;
use super::settings::{MethodSettings, VERSION};
use crate::model::Model;
use crate::record::{MethodRecord, Sides};
use serde::{Deserialize, Serialize};

/// A model at a temperature; equal instances are equal bit for bit on every platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// Family of `zbound generate`; empty for a given model.
    pub family: String,
    /// Graph of `zbound generate`; empty for a given model.
    pub graph: String,
    /// Free spins.
    pub d: usize,
    /// Coupling strength.
    pub w: f64,
    /// Temperature.
    pub eps: f64,
    /// Number of the draw, from 0.
    pub draw: usize,
    /// Seed of `zbound generate`; a hash of a given model.
    pub seed: u64,
    /// File or name of a given model; left out for a random one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Instance {
    /// A given model at temperature 1.
    pub(super) fn of_model(name: &str, model: &Model) -> Self {
        // Debug text has every digit of every number: models with one hash are one model.
        let seed = short_hash(&format!("{:?} {:?}", model.source(), model.fixed()));
        let (family, graph, d) = (String::new(), String::new(), model.d());
        Instance { family, graph, d, w: 0.0, eps: 1.0, draw: 0, seed, model: Some(name.to_owned()) }
    }
}

/// One instance with one method. Bounds are on phi, as in the paper; for `kl` they are on the
/// Kullback-Leibler divergence of p from the uniform law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRecord {
    /// Hash of (instance, method, settings, version).
    pub key: String,
    /// Version of this library.
    pub version: String,
    /// What was solved.
    pub instance: Instance,
    /// How.
    pub settings: MethodSettings,
    /// Bounds on phi as `zbound bound` gives them; empty for `kl`.
    #[serde(default)]
    pub phi: Sides,
    /// Bounds on `eps log Z`; empty for `kl`.
    #[serde(default)]
    pub log_z: Sides,
    /// Certified upper bound on phi (lower bound on the divergence for `kl`).
    pub bound: Option<f64>,
    /// The exact value, where it was computed.
    pub exact: Option<f64>,
    /// `bound - exact`.
    pub error: Option<f64>,
    /// `mean_i |p_i - exact p_i|`.
    pub marginal_error: Option<f64>,
    /// Distance to a feasible primal value of the same relaxation.
    pub gap: Option<f64>,
    /// Features of the moment matrix.
    pub n: Option<usize>,
    /// Iterations of the outermost loop.
    pub iterations: usize,
    /// Wall-clock seconds of this method; null for points inside a longer greedy path.
    pub seconds: Option<f64>,
    /// A status of `zbound bound`, or `error`.
    pub status: String,
    /// Whether every side given is proved, and at least one is given.
    pub certified: bool,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
    /// The gap after each iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<f64>,
}

/// Status of a job that ended in an error or a panic.
pub const ERROR_STATUS: &str = "error";

impl SweepRecord {
    /// A record without a result.
    pub(super) fn empty(job: &Job, status: &str, reason: Option<String>) -> Self {
        SweepRecord {
            key: job.key.clone(),
            version: VERSION.into(),
            instance: job.instance.clone(),
            settings: job.settings.clone(),
            phi: Sides::default(),
            log_z: Sides::default(),
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
            phi: result.phi,
            log_z: result.log_z,
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
    pub fn is_final(&self) -> bool {
        !["not-applicable", ERROR_STATUS, "cancelled"].contains(&self.status.as_str())
    }
}

/// Columns of the flat form.
pub const COLUMNS: [&str; 41] = [
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
    "log_z_lower",
    "log_z_upper",
    "log_z_estimate",
    "phi_lower",
    "phi_upper",
    "phi_estimate",
    "bound",
    "exact",
    "error",
    "marginal_error",
    "gap",
    "iterations",
    "seconds",
    "status",
    "certified",
    "reason",
    "model",
    "version",
    "key",
];

/// A value of the flat form.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Missing.
    Null,
    /// A number.
    Number(f64),
    /// A whole number that must keep all its digits.
    Whole(u64),
    /// True or false.
    Flag(bool),
    /// A word or a sentence.
    Text(String),
}

impl Cell {
    /// As written in a CSV file; floats read back bit for bit.
    pub fn text(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Number(x) => format!("{x:?}"),
            Cell::Whole(x) => x.to_string(),
            Cell::Flag(x) => x.to_string(),
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
    pub fn cells(&self, grid: &str, curve: &str) -> Vec<Cell> {
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
            text(s.solver.map(|v| v.name().to_owned()).as_ref()),
            text(s.rho.map(|v| v.name().to_owned()).as_ref()),
            text(s.pairwise.map(|v| v.name().to_owned()).as_ref()),
            number(s.tau),
            number(s.sigma),
            number(self.log_z.lower),
            number(self.log_z.upper),
            number(self.log_z.estimate),
            number(self.phi.lower),
            number(self.phi.upper),
            number(self.phi.estimate),
            number(self.bound),
            number(self.exact),
            number(self.error),
            number(self.marginal_error),
            number(self.gap),
            whole(Some(self.iterations)),
            number(self.seconds),
            Cell::Text(self.status.clone()),
            Cell::Flag(self.certified),
            text(self.reason.as_ref()),
            text(i.model.as_ref()),
            Cell::Text(self.version.clone()),
            Cell::Text(self.key.clone()),
        ]
    }
}
