//! `zbound marginals` as a document: proved intervals for the probabilities of single spins.

use super::intervals::share_of;
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::exact::Wanted;
use crate::model::Model;
use crate::observer::{Flow, Observer, Progress};
use crate::record::Status;
use crate::run::bound;
use crate::run::{BoundRequest, MethodChoice, cost};
use crate::run::{Outcome, Report};
use crate::settings::Method;
use serde::{Deserialize, Serialize};
use std::time::Instant;

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
    /// Methods that bounded the two halves of the partition function.
    pub methods: Vec<Method>,
    /// One interval per variable asked for, numbered as in the file.
    pub marginals: Vec<MarginalRecord>,
    /// `converged`, or why some variables were not reached.
    pub status: Status,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

impl MarginalsRecord {
    /// What is known before any bound: fixed variables, and `[0, 1]` for all others. It is the answer of a run that has
    /// to end before the first interval.
    ///
    /// # Errors
    /// A variable out of range.
    pub fn unreached(model: &Model, variables: Option<&[usize]>, request: &BoundRequest) -> Result<Self> {
        let variables = in_range(model, variables)?;
        let marginals = variables.iter().map(|&i| {
            let [lower, upper] = known(model, i).unwrap_or([0.0, 1.0]);
            MarginalRecord { variable: i, lower, upper }
        });
        Ok(MarginalsRecord {
            schema: MARGINALS_SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            path: request.path.clone(),
            eps: request.eps,
            methods: Vec::new(),
            marginals: marginals.collect(),
            status: Status::TimeLimit,
            seconds: 0.0,
            reason: Some(UNREACHED.into()),
        })
    }
}

/// Said when variables were left out.
const UNREACHED: &str = "variables that were not reached have the interval [0, 1]";

/// The variables asked for.
fn in_range(model: &Model, variables: Option<&[usize]>) -> Result<Vec<usize>> {
    let count = model.variables();
    let variables = variables.map_or_else(|| (0..count).collect(), <[usize]>::to_vec);
    match variables.iter().find(|&&i| i >= count) {
        Some(i) => Err(Error::Setting(format!("variable {i} is out of range: the model has {count}"))),
        None => Ok(variables),
    }
}

/// The probability of a fixed variable, twice.
fn known(model: &Model, variable: usize) -> Option<[f64; 2]> {
    model.fixed()[variable].map(|spin| if spin > 0 { [1.0; 2] } else { [0.0; 2] })
}

/// A proved interval around `P(x_i = +1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginalRecord {
    /// The variable i.
    pub variable: usize,
    /// Proved lower bound.
    pub lower: f64,
    /// Proved upper bound.
    pub upper: f64,
}

/// Proves intervals around `P(x_i = +1)` for the `variables` of a model, all of them when `None`.
///
/// With the spin fixed to either value, `L <= eps log Z <= U` gives
/// `1 / (1 + exp((U_- - L_+) / eps)) <= P <= 1 / (1 + exp((L_- - U_+) / eps))`. Methods are those of `request`; `auto`
/// stands for exact inference where that is cheap, otherwise mean field from below and trees (models
/// with larger terms: the quantum bound) from above. Fixed variables have probability 0 or 1; a variable
/// that is not reached before the time limit, or after the observer stops the run, has `[0, 1]`.
///
/// **Cost** two bounds per variable.
///
/// # Errors
/// As [`bound`]; a variable out of range, a model without states.
///
/// ```
/// use zbound::query::marginals::marginals;
/// use zbound::run::BoundRequest;
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.5, 0.0], &[(0, 1, 0.2)])?);
/// let (record, _) = marginals(&model, None, &BoundRequest::default(), &mut Silent)?;
/// let exact = 1.0 / (1.0 + (-1.0f64).exp());
/// assert!(record.marginals[0].lower <= exact && exact <= record.marginals[0].upper);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn marginals(
    model: &Model,
    variables: Option<&[usize]>,
    request: &BoundRequest,
    observer: &mut dyn Observer,
) -> Result<(MarginalsRecord, Outcome)> {
    request.validate()?;
    let variables = in_range(model, variables)?;
    let start = Instant::now();
    let mut request = request.clone();
    let methods = chosen(model, &request);
    request.methods = MethodChoice::List(methods.clone());
    request.want_pairwise = false;
    request.want_certificate = false;
    let ends = request.settings.ends();
    request.settings = request.settings.for_part(&ends, None);
    let (mut intervals, mut stop, mut hurried) = (Vec::new(), None, false);
    for (done, &variable) in variables.iter().enumerate() {
        if observer.observe(&Progress::at(start.elapsed().as_secs_f64())) == Flow::Stop {
            stop = Some(Status::Cancelled);
        }
        stop = stop.or_else(|| ends.stop().map(Status::from));
        // The time left is shared by the two bounds of every variable to come.
        let waiting = 2.0 * (variables.len() - done) as f64;
        request.settings.time_limit_secs = ends.is_limited().then(|| ends.seconds_left() / waiting);
        let [lower, upper] = match (known(model, variable), stop) {
            (Some(known), _) => known,
            (None, Some(_)) => [0.0, 1.0],
            (None, None) => interval(model, variable, &request, &mut hurried, observer)?,
        };
        intervals.push(MarginalRecord { variable, lower, upper });
    }
    let outcome = match stop {
        Some(Status::Cancelled) => Outcome::Cancelled,
        _ => Outcome::Complete,
    };
    let record = MarginalsRecord {
        methods,
        marginals: intervals,
        status: stop.or(hurried.then_some(Status::TimeLimit)).unwrap_or(Status::Converged),
        seconds: start.elapsed().as_secs_f64(),
        reason: match (stop, hurried) {
            (Some(_), _) => Some(UNREACHED.into()),
            (None, true) => Some("the time limit ended bounds early: their intervals are wide".into()),
            (None, false) => None,
        },
        ..MarginalsRecord::unreached(model, Some(&[]), &request)?
    };
    Ok((record, outcome))
}

/// Seconds that exact inference may take for it to be done twice per variable.
const CHEAP_SECS: f64 = 0.1;

fn exact_is_cheap(model: &Model, request: &BoundRequest) -> bool {
    let settings = &request.settings;
    cost::exact(model, Wanted::LOG_Z, settings)
        .is_some_and(|cost| cost.seconds <= CHEAP_SECS && cost.fits(settings))
}

/// The methods behind every interval.
fn chosen(model: &Model, request: &BoundRequest) -> Vec<Method> {
    let pairwise = || model.majorant(request.eps).is_ok_and(|(f, _)| f.as_ising().is_some());
    match &request.methods {
        MethodChoice::List(methods) => methods.clone(),
        MethodChoice::All => Method::ALL.to_vec(),
        MethodChoice::Auto if exact_is_cheap(model, request) => vec![Method::Exact],
        MethodChoice::Auto if pairwise() => vec![Method::MeanField, Method::Trw],
        MethodChoice::Auto => vec![Method::MeanField, Method::Wmb, Method::Quantum],
    }
}

fn interval(
    model: &Model,
    variable: usize,
    request: &BoundRequest,
    hurried: &mut bool,
    observer: &mut dyn Observer,
) -> Result<[f64; 2]> {
    let mut half = |spin: i8| -> Result<Interval> {
        let fixed = model.clone().with_evidence(&[(variable, spin)])?;
        let report = bound(&fixed, request, observer)?;
        *hurried |= report.record.results.iter().any(|r| r.status == Status::TimeLimit);
        Ok(bracket(&report))
    };
    let (plus, minus) = (half(1)?, half(-1)?);
    let impossible = |half: Interval| half.hi == f64::NEG_INFINITY;
    match (impossible(plus), impossible(minus)) {
        (true, true) => Err(Error::NotApplicable("no state has positive weight".into())),
        (true, false) => Ok([0.0, 0.0]),
        (false, true) => Ok([1.0, 1.0]),
        (false, false) => Ok(share_of(plus, minus, request.eps)),
    }
}

/// What a report proves about phi; minus infinity twice when no state is left.
fn bracket(report: &Report) -> Interval {
    let results = &report.record.results;
    let none =
        |r: &crate::record::MethodRecord| r.certified && r.phi.lower.is_none() && r.phi.upper.is_none();
    if results.iter().any(none) {
        return Interval::point(f64::NEG_INFINITY);
    }
    let best = &report.record.best.phi;
    Interval { lo: best.lower.unwrap_or(f64::NEG_INFINITY), hi: best.upper.unwrap_or(f64::INFINITY) }
}
