//! One front door for exact inference.

use super::eliminate::Elimination;
use super::enumerate::{MAX_SPINS, enumerate};
use super::order::{Plan, best_plan, interaction_graph};
use super::rounding::Enclosure;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Polynomial};
use crate::observer::{Monitor, Observer};
use crate::problem::EPS_RANGE;
use crate::settings::Settings;
use crate::solution::StopReason;

/// Models up to this size are enumerated whenever they are polynomials: it takes milliseconds
/// and gives the moments of all pairs.
const ALWAYS_ENUMERATE: usize = 16;
/// Operations per table entry of elimination: three sweeps with an exponential or two each.
const OPERATIONS_PER_ENTRY: f64 = 60.0;
/// Operations per state of enumeration: three products and the search for the maximum.
const OPERATIONS_PER_STATE: f64 = 8.0;
/// Tables of this many entries could not be addressed, whatever the memory limit.
const MAX_WIDTH: usize = 40;

/// How an exact answer is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// All 2^d states.
    Enumeration,
    /// One spin after another.
    Elimination,
}

impl Algorithm {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Enumeration => "enumeration",
            Algorithm::Elimination => "elimination",
        }
    }
}

/// The exact answer, over the free spins.
///
/// `log_z = eps log sum_x exp(f/eps)` and `phi = log_z - eps d log 2`; both are `-inf` when hard
/// zeros leave no state (then there is no distribution: means and entropy are NaN, no pairs).
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Exact {
    /// `eps log E_uniform exp(f/eps)`.
    pub phi: f64,
    /// `eps log sum_x exp(f/eps)`.
    pub log_z: f64,
    /// Proved lower and upper bound on phi: rounding and the model's uncertainty included.
    pub phi_bounds: (f64, f64),
    /// Proved lower and upper bound on log_z.
    pub log_z_bounds: (f64, f64),
    /// `E x_i`.
    pub means: Vec<f64>,
    /// `(i, j, E x_i x_j)`, i < j in lexicographic order: all pairs after enumeration, the pairs
    /// within a common factor after elimination.
    pub pairwise: Vec<(u32, u32, f64)>,
    /// `-sum_x p(x) log p(x)` in nats.
    pub entropy: f64,
    /// f at `argmax`: the largest value, up to rounding.
    pub max_f: f64,
    /// A state of largest f. Enumeration returns, of equal values, the state whose number (bit i
    /// set for `x_i = +1`) is smallest; elimination prefers -1 for the spins eliminated last.
    pub argmax: Vec<i8>,
    /// What was run.
    pub algorithm: Algorithm,
    /// 2^d for enumeration, the induced width for elimination.
    pub states_or_width: u64,
    /// The elimination order.
    pub order: Option<Vec<u32>>,
    /// Always [`StopReason::Converged`]; an interrupted run is [`Error::Interrupted`].
    pub stop: StopReason,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What [`exact`] would do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// The cheaper algorithm.
    pub algorithm: Algorithm,
    /// Floating-point operations, roughly.
    pub operations: f64,
    /// Bytes at the peak.
    pub bytes: u64,
    /// Induced width of the elimination order; d - 1 for enumeration.
    pub width: usize,
}

/// What was decided, with the model in the form it needs.
enum Choice {
    Enumerate(Box<Polynomial>),
    Eliminate(Box<(FactorModel, Plan)>),
}

/// Predicts the work of [`exact`] without doing it.
///
/// # Errors
/// Bad settings.
///
/// ```
/// use zbound::{Ising, Model, Settings, exact};
/// let chain: Vec<_> = (1..100).map(|i| (i - 1, i, 0.5)).collect();
/// let model = Model::from(Ising::new(100, &[0.1; 100], &chain)?);
/// assert_eq!(exact::estimate(&model, &Settings::default())?.width, 1);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn estimate(model: &Model, settings: &Settings) -> Result<Cost> {
    settings.validate()?;
    Ok(choose(model, settings)?.1)
}

/// Computes log Z, marginals, entropy and a maximiser, by the cheaper of the two algorithms.
///
/// The same bits come out for any number of threads.
///
/// **Cost** O(2^d) for enumeration, O(sum over spins of 2^(clique size)) for elimination; see
/// [`estimate`].
///
/// # Errors
/// Bad settings or temperature; [`Error::Memory`] when the tables exceed
/// [`Settings::memory_limit`]; [`Error::Interrupted`] on cancellation or at the time limit.
///
/// ```
/// use zbound::{Ising, Model, Settings, Silent, exact};
/// let model = Model::from(Ising::new(2, &[0.0, 0.0], &[(0, 1, 1.0)])?);
/// let answer = exact::exact(&model, 1.0, &Settings::default(), &mut Silent)?;
/// assert!((answer.log_z - (4.0 * 1f64.cosh()).ln()).abs() < 1e-14);
/// assert!(answer.log_z_bounds.0 <= answer.log_z && answer.log_z <= answer.log_z_bounds.1);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn exact(model: &Model, eps: f64, settings: &Settings, observer: &mut dyn Observer) -> Result<Exact> {
    settings.validate()?;
    if !EPS_RANGE.contains(&eps) {
        let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
        return Err(Error::Setting(format!(
            "eps = {eps}: expected a temperature between {low:e} and {high:e}"
        )));
    }
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let (choice, cost) = choose(model, settings)?;
    let what = format_args!("exact elimination with tables of width {}", cost.width);
    let hint = "raise the memory limit, fix more spins by evidence, or ask for bounds instead";
    settings.require_memory(cost.bytes, what, hint)?;
    check_range(&choice, eps)?;
    let mut answer = match choice {
        Choice::Enumerate(f) => by_enumeration(&f, eps, settings, &mut monitor)?,
        Choice::Eliminate(parts) => by_elimination(&parts.0, &parts.1, eps, settings, &mut monitor)?,
    };
    answer.seconds = monitor.seconds();
    Ok(answer)
}

/// Refuses values of f that leave the range of floating point when added up and divided by eps.
fn check_range(choice: &Choice, eps: f64) -> Result<()> {
    let largest = |table: &[f64]| table.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
    let scale: f64 = match choice {
        Choice::Enumerate(f) => f.coefficients().map(|(_, v)| v.abs()).sum(),
        Choice::Eliminate(parts) => parts.0.factors().map(|f| largest(f.table)).sum(),
    };
    if scale / eps.min(1.0) < 1e300 {
        return Ok(());
    }
    Err(Error::NotApplicable(format!(
        "values of f up to {scale:e} at eps = {eps:e} exceed the range of floating point"
    )))
}

fn choose(model: &Model, settings: &Settings) -> Result<(Choice, Cost)> {
    let d = model.d();
    let states = (d as f64).exp2() * OPERATIONS_PER_STATE;
    let enumeration = |f: Polynomial| {
        let cost = Cost {
            algorithm: Algorithm::Enumeration,
            operations: states,
            bytes: (4 << 20) * settings.threads as u64,
            width: d.saturating_sub(1),
        };
        (Choice::Enumerate(Box::new(f)), cost)
    };
    let polynomial = if d <= MAX_SPINS { model.polynomial().ok() } else { None };
    if let (true, Some(f)) = (d <= ALWAYS_ENUMERATE, &polynomial) {
        return Ok(enumeration(f.clone()));
    }
    let factors = model.factors()?;
    factors.require_binary()?;
    let plan = best_plan(&interaction_graph(&factors), settings.seed);
    let operations = plan.entries * OPERATIONS_PER_ENTRY;
    let bytes = plan.bytes();
    let fits = plan.width <= MAX_WIDTH && bytes <= settings.memory_limit as f64;
    match polynomial {
        Some(f) if !fits || states < operations => Ok(enumeration(f)),
        _ => {
            let bytes = if bytes < 9e18 { bytes as u64 } else { u64::MAX };
            let cost = Cost { algorithm: Algorithm::Elimination, operations, bytes, width: plan.width };
            Ok((Choice::Eliminate(Box::new((factors, plan))), cost))
        }
    }
}

fn by_enumeration(f: &Polynomial, eps: f64, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Exact> {
    let d = f.d();
    let found = enumerate(f, eps, true, settings.threads, monitor)?;
    let argmax: Vec<i8> = (0..d).map(|i| if found.argmax >> i & 1 == 1 { 1 } else { -1 }).collect();
    let (means, pairwise, energy) =
        found.moments.map_or_else(Default::default, |m| (m.means, m.pairs, m.energy));
    // log Z/eps - E f/eps, both relative to the largest value.
    let entropy = (found.log_sum - energy / eps).max(0.0);
    let mut answer = Exact::new(d, eps, found.log_z, found.bounds.widened(f.uncertainty()));
    answer.max_f = f.value(&argmax);
    Ok(Exact { means, pairwise, entropy, argmax, states_or_width: 1 << d, ..answer })
}

fn by_elimination(
    model: &FactorModel,
    plan: &Plan,
    eps: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Exact> {
    let mut elimination = Elimination::new(model, plan, settings.threads, monitor)?;
    let argmax = elimination.maximise()?;
    let found = elimination.sum(eps)?;
    let log_z = eps * found.log_sum + model.constant();
    let bounds = found.bounds.times(eps).plus(Enclosure::point(model.constant()));
    let mut answer = Exact::new(model.d(), eps, log_z, bounds.widened(model.uncertainty()));
    answer.max_f = model.value(&argmax);
    Ok(Exact {
        means: found.means,
        pairwise: found.pairs,
        entropy: found.entropy,
        argmax,
        algorithm: Algorithm::Elimination,
        states_or_width: plan.width as u64,
        order: Some(plan.order.clone()),
        ..answer
    })
}

impl Exact {
    /// The values of log Z and phi; moments are left to the caller.
    fn new(d: usize, eps: f64, log_z: f64, bounds: Enclosure) -> Self {
        let states = Enclosure::log_states(d).times(eps);
        let phi = bounds.minus(states);
        Exact {
            phi: log_z - eps * d as f64 * std::f64::consts::LN_2,
            log_z,
            phi_bounds: (phi.low, phi.high),
            log_z_bounds: (bounds.low, bounds.high),
            means: Vec::new(),
            pairwise: Vec::new(),
            entropy: 0.0,
            max_f: f64::NEG_INFINITY,
            argmax: Vec::new(),
            algorithm: Algorithm::Enumeration,
            states_or_width: 0,
            order: None,
            stop: StopReason::Converged,
            seconds: 0.0,
        }
    }
}
