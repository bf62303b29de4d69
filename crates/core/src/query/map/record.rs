//! `zbound map` as a document: the maximum in the units of the file.

use super::report::MapRequest;
use crate::certify::Interval;
use crate::error::Result;
use crate::exact::entry_bracket;
use crate::model::{Model, Source, Units};
use crate::record::Status;
use serde::{Deserialize, Serialize};

/// What an upper bound rests on. Only a relaxation's comes with a certificate; the others are proved in the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Proof {
    /// A dual point of one relaxation.
    Relaxation,
    /// Exact elimination.
    Elimination,
    /// Relaxations of parts that cover the cube.
    Branching,
    /// Mini-buckets at a low temperature.
    MiniBuckets,
    /// The coefficients or table entries alone.
    Coefficients,
}

impl Proof {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Proof::Relaxation => "relaxation",
            Proof::Elimination => "elimination",
            Proof::Branching => "branching",
            Proof::MiniBuckets => "mini-buckets",
            Proof::Coefficients => "coefficients",
        }
    }
}

/// Value of [`MapRecord::schema`].
pub const MAP_SCHEMA: &str = "zbound.map/1";

/// The document `zbound.map/1`. Values are those of f, cut weights for max-cut files, and `-E` for
/// formats that hold a minimised energy E; variables are numbered as in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapRecord {
    /// Always [`MAP_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The file as the user named it.
    pub path: Option<String>,
    /// Proved upper bound on the maximum.
    pub upper: Option<f64>,
    /// Value of `assignment`; null when the model forbids it.
    pub value: Option<f64>,
    /// The best assignment found, per variable as the file writes states: -1 and +1 for spins and sides of a cut, 0 and 1
    /// for bits, else numbers of states.
    pub assignment: Vec<i64>,
    /// How the solve ended.
    pub status: Status,
    /// Whether `upper` is proved.
    pub certified: bool,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// `(upper - value) / max(|upper|, |value|)`: 0 when the assignment is proved to be optimal.
    #[serde(default)]
    pub relative_gap: Option<f64>,
    /// What proves `upper`: `relaxation`, `elimination`, `branching`, `mini-buckets` or `coefficients`.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// Parts of the cube that were bounded, when it was split.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nodes: Option<usize>,
    /// Distance from `upper` to a feasible value of the same relaxation.
    pub relaxation_gap: Option<f64>,
    /// Iterations of the outermost loop.
    pub iterations: usize,
    /// Cuts in the proof.
    pub cuts: usize,
    /// Energy of `assignment`, for minimised formats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub energy: Option<f64>,
    /// Proved lower bound on the energy, for minimised formats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub energy_lower: Option<f64>,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// What was found about the free variables, in units of f.
pub(super) struct Answer {
    pub(super) upper: Option<f64>,
    pub(super) proof: Proof,
    pub(super) states: Vec<u32>,
    pub(super) status: Status,
    pub(super) reason: Option<String>,
    pub(super) relaxation_gap: Option<f64>,
    pub(super) iterations: usize,
    pub(super) cuts: usize,
    pub(super) nodes: Option<usize>,
    pub(super) seconds: f64,
}

impl Answer {
    /// An answer that is nothing but an assignment and a bound.
    pub(super) fn new(upper: Option<f64>, proof: Proof, states: Vec<u32>, status: Status) -> Self {
        Answer {
            upper,
            proof,
            states,
            status,
            reason: None,
            relaxation_gap: None,
            iterations: 0,
            cuts: 0,
            nodes: None,
            seconds: 0.0,
        }
    }
}

/// `max f` is at most the sum of the largest entries of all tables, or of the magnitudes of all coefficients.
pub(super) fn entry_bound(model: &Model) -> Result<f64> {
    if matches!(model.source(), Source::Factors(_)) {
        return Ok(entry_bracket(&model.factors()?).1);
    }
    let f = model.polynomial()?;
    let mut bound = Interval::point(f.uncertainty());
    f.visit(|set, v| bound = bound + Interval::point(if set.is_empty() { v } else { v.abs() }));
    Ok(bound.hi)
}

/// f at a joint state of the free variables.
pub(super) fn value_of(model: &Model, states: &[u32]) -> Result<f64> {
    let spins = || -> Vec<i8> { states.iter().map(|&s| if s == 1 { 1 } else { -1 }).collect() };
    Ok(match model.source() {
        Source::Factors(_) => model.factors()?.value_of(states),
        Source::Polynomial(_) => model.polynomial()?.value(&spins()),
    })
}

pub(super) fn record(model: &Model, request: &MapRequest, mut answer: Answer) -> Result<MapRecord> {
    // A bound worse than what the entries say by themselves is none.
    let entries = entry_bound(model)?;
    if answer.upper.is_none_or(|upper| entries < upper) {
        (answer.upper, answer.proof) = (Some(entries).filter(|v| v.is_finite()), Proof::Coefficients);
    }
    let beta = match model.units {
        Units::Energy { beta } => beta,
        _ => 1.0,
    };
    let upper = answer.upper.map(|u| (Interval::point(u) / Interval::point(beta)).hi);
    let value = Some(value_of(model, &answer.states)? / beta).filter(|v| v.is_finite());
    let is_energy = matches!(model.units, Units::Energy { .. });
    let negated = |v: Option<f64>| v.filter(|_| is_energy).map(|v| -v);
    let no_state = value.is_none().then(|| "the best assignment found has weight zero".to_owned());
    let relative_gap = upper.zip(value).map(|(upper, value)| {
        let size = upper.abs().max(value.abs());
        if upper > value { (upper - value) / size } else { 0.0 }
    });
    Ok(MapRecord {
        schema: MAP_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        path: request.path.clone(),
        upper,
        value,
        assignment: model.spell(&answer.states),
        status: if upper.is_some() { answer.status } else { Status::Uncertified },
        certified: upper.is_some(),
        seconds: answer.seconds,
        relative_gap,
        proof: upper.is_some().then_some(answer.proof),
        nodes: answer.nodes,
        relaxation_gap: answer.relaxation_gap.map(|g| g / beta),
        iterations: answer.iterations,
        cuts: answer.cuts,
        energy: negated(value),
        energy_lower: negated(upper),
        reason: no_state.or(answer.reason),
    })
}
