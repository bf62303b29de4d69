//! Certified intervals for the laws of single variables and of pairs.
//!
//! [`marginals`] is what the command line and the Python package call: one exact elimination where that fits, else
//! brackets of log Z with variables fixed, in rounds that narrow every interval in turn.

mod cells;
mod local;
mod neighbourhoods;
mod one_pass;
mod record;
mod rounds;
mod walks;

pub use record::{MARGINALS_SCHEMA, MarginalRecord, MarginalsRecord, PairRecord};

use crate::error::{Error, Result};
use crate::model::Model;
use crate::observer::Observer;
use crate::record::Status;
use crate::run::{BoundRequest, Outcome};
use crate::settings::Method;
use cells::Cells;
use one_pass::Attempt;
use std::time::Instant;

/// What is asked: which laws, and how the bounds behind them are found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginalsRequest {
    /// Variables of the file, all of them when `None`; with pairs and no list, none.
    pub variables: Option<Vec<usize>>,
    /// Pairs of different variables whose joint laws are wanted.
    pub pairs: Vec<(usize, usize)>,
    /// Whether laws of spins are listed by state too.
    pub want_states: bool,
    /// Methods, temperature and limits.
    pub bound: BoundRequest,
}

impl MarginalsRequest {
    /// The variables asked for.
    ///
    /// # Errors
    /// A variable out of range.
    fn variables(&self, model: &Model) -> Result<Vec<usize>> {
        let count = model.variables();
        let list = match &self.variables {
            Some(list) => list.clone(),
            None if self.pairs.is_empty() => (0..count).collect(),
            None => Vec::new(),
        };
        let ends = self.pairs.iter().flat_map(|&(i, j)| [i, j]);
        if let Some(i) = list.iter().copied().chain(ends).find(|&i| i >= count) {
            return Err(Error::Setting(format!("variable {i} is out of range: the model has {count}")));
        }
        if let Some((i, _)) = self.pairs.iter().find(|(i, j)| i == j) {
            return Err(Error::Setting(format!("pair {i},{i}: expected two different variables")));
        }
        Ok(list)
    }
}

/// Proves intervals around the probabilities that `request` names.
///
/// One elimination with a sweep back gives every law at once where its cost fits the limits (`auto`) or where `exact` is
/// the only method asked for; joint laws of pairs then take one more for every state of their first variables. Otherwise
/// every variable's states are fixed in turn and log Z is bracketed, `L_s <= eps log Z_s <= U_s`, so that
/// `1 / (1 + sum_t exp((U_t - L_s)/eps)) <= P(x_i = s) <= 1 / (1 + sum_t exp((L_t - U_s)/eps))`, t the other states; under a
/// time limit in rounds, each with more time than the last. Before that, every law of a single variable is cut by what is
/// round it (self-avoiding walks, differences of table entries), which needs no log Z and is all there is time for
/// when variables are many. `post` is given the document whenever it has become better.
///
/// # Errors
/// As [`crate::run::bound`]; a variable out of range, a pair of one variable, a model without states.
///
/// ```
/// use zbound::query::marginals::{MarginalsRequest, marginals};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.5, 0.0], &[(0, 1, 0.2)])?);
/// let (record, _) = marginals(&model, &MarginalsRequest::default(), &mut Silent, &mut |_| {})?;
/// let exact = 1.0 / (1.0 + (-1.0f64).exp());
/// let (low, high) = (record.marginals[0].lower.unwrap(), record.marginals[0].upper.unwrap());
/// assert!(low <= exact && exact <= high && high - low < 1e-9);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn marginals(
    model: &Model,
    request: &MarginalsRequest,
    observer: &mut dyn Observer,
    post: &mut dyn FnMut(&MarginalsRecord),
) -> Result<(MarginalsRecord, Outcome)> {
    request.bound.validate()?;
    let start = Instant::now();
    let mut cells = Cells::new(model, request, request.variables(model)?);
    let ends = request.bound.settings.ends();
    let mut notes = Notes::default();
    match one_pass::attempt(model, request, &mut cells, &ends, observer)? {
        Attempt::Done => notes.methods = vec![Method::Exact],
        Attempt::Stopped(stop) => {
            notes = Notes::stopped(stop.into(), "exact inference did not end in time");
            notes.methods = vec![Method::Exact];
        }
        Attempt::Refused => {
            let mut show = |cells: &Cells<'_>, notes: &Notes| {
                post(&MarginalsRecord::new(request, cells, notes, start.elapsed().as_secs_f64()));
            };
            notes = rounds::run(model, request, &mut cells, &ends, observer, &mut show)?;
        }
    }
    let outcome = match notes.status {
        Status::Cancelled => Outcome::Cancelled,
        _ => Outcome::Complete,
    };
    Ok((MarginalsRecord::new(request, &cells, &notes, start.elapsed().as_secs_f64()), outcome))
}

/// How the work went.
#[derive(Clone, Debug)]
struct Notes {
    /// Whether every law was cut by what is round its variable.
    neighbourhoods: bool,
    methods: Vec<Method>,
    status: Status,
    reason: Option<String>,
}

impl Default for Notes {
    fn default() -> Self {
        Notes { neighbourhoods: false, methods: Vec::new(), status: Status::Converged, reason: None }
    }
}

impl Notes {
    fn stopped(status: Status, why: &str) -> Self {
        let reason = Some(format!("{why}: what was not reached has the interval [0, 1]"));
        Notes { status, reason, ..Notes::default() }
    }
}
