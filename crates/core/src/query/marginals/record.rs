//! `zbound marginals` as a document.

use super::cells::{Cell, Cells};
use super::{MarginalsRequest, Notes};
use crate::error::Result;
use crate::model::Model;
use crate::record::Status;
use crate::settings::Method;
use serde::{Deserialize, Serialize};

/// Value of [`MarginalsRecord::schema`].
pub const MARGINALS_SCHEMA: &str = "zbound.marginals/1";

/// The document `zbound.marginals/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginalsRecord {
    /// Always [`MARGINALS_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The file as the user named it.
    pub path: Option<String>,
    /// Temperature.
    pub eps: f64,
    /// Methods behind the intervals; none where the driver chose them.
    pub methods: Vec<Method>,
    /// Whether intervals were cut by what is round each variable: self-avoiding walks, or differences of table entries.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub neighbourhoods: bool,
    /// One law per variable asked for, numbered as in the file.
    pub marginals: Vec<MarginalRecord>,
    /// One joint law per pair asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pairs: Vec<PairRecord>,
    /// `(variable, state)` of everything that is given.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<(usize, u32)>,
    /// `converged`, or which limit ended the work.
    pub status: Status,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// Proved intervals around the law of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginalRecord {
    /// The variable i.
    pub variable: usize,
    /// Proved lower bound on `P(x_i = +1)`; null when the variable has other than two states.
    pub lower: Option<f64>,
    /// Proved upper bound on it.
    pub upper: Option<f64>,
    /// `[lower, upper]` for every state, when there are other than two or on request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub states: Option<Vec<[f64; 2]>>,
}

impl MarginalRecord {
    /// Intervals by state, whether they are listed or follow from those of two.
    pub fn law(&self) -> Vec<[f64; 2]> {
        match (&self.states, self.lower, self.upper) {
            (Some(states), _, _) => states.clone(),
            (None, Some(lower), Some(upper)) => {
                let one = crate::certify::Interval::ONE;
                let minus = one - crate::certify::Interval { lo: lower, hi: upper };
                vec![[minus.lo.max(0.0), minus.hi.min(1.0)], [lower, upper]]
            }
            _ => Vec::new(),
        }
    }
}

/// Proved intervals around the joint law of two variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRecord {
    /// The variables i and j.
    pub variables: (usize, usize),
    /// `[lower, upper]` around `P(x_i = s, x_j = t)` at `table[s][t]`.
    pub table: Vec<Vec<[f64; 2]>>,
}

impl MarginalsRecord {
    /// What is known before any bound: fixed variables, and `[0, 1]` for all others. It is the answer of a run that has
    /// to end before the first interval.
    ///
    /// # Errors
    /// A variable out of range.
    pub fn unreached(model: &Model, request: &MarginalsRequest) -> Result<Self> {
        let cells = Cells::new(model, request, request.variables(model)?);
        let notes = Notes::stopped(Status::TimeLimit, "the run ended before the first bound");
        Ok(Self::new(request, &cells, &notes, 0.0))
    }

    pub(super) fn new(request: &MarginalsRequest, cells: &Cells<'_>, notes: &Notes, seconds: f64) -> Self {
        let model = cells.model;
        let evidence = model.fixed().iter().enumerate().filter_map(|(i, state)| state.map(|s| (i, s)));
        MarginalsRecord {
            schema: MARGINALS_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            path: request.bound.path.clone(),
            eps: request.bound.eps,
            methods: notes.methods.clone(),
            neighbourhoods: notes.neighbourhoods,
            marginals: cells.singles.iter().map(|cell| single(cell, request.want_states)).collect(),
            pairs: cells.pairs.iter().map(pair).collect(),
            evidence: evidence.collect(),
            status: notes.status,
            seconds,
            reason: notes.reason.clone(),
        }
    }

    /// The widest interval of the document.
    pub fn widest(&self) -> f64 {
        let singles = self.marginals.iter().flat_map(MarginalRecord::law);
        let pairs = self.pairs.iter().flat_map(|pair| pair.table.iter().flatten().copied());
        singles.chain(pairs).map(|[low, high]| high - low).fold(0.0, f64::max)
    }
}

fn single(cell: &Cell, want_states: bool) -> MarginalRecord {
    let is_spin = cell.law.len() == 2;
    MarginalRecord {
        variable: cell.first,
        lower: is_spin.then(|| cell.law[1][0]),
        upper: is_spin.then(|| cell.law[1][1]),
        states: (!is_spin || want_states).then(|| cell.law.clone()),
    }
}

fn pair(cell: &Cell) -> PairRecord {
    let (j, states) = cell.second.unwrap_or((cell.first, 1));
    let table = cell.law.chunks((states as usize).max(1)).map(<[[f64; 2]]>::to_vec).collect();
    PairRecord { variables: (cell.first, j), table }
}
