//! One front door for exact inference.

use super::choose::{Algorithm, Choice, Planned, Wanted, choose};
use super::descend::Marginals;
use super::eliminate::Elimination;
use super::enumerate::enumerate;
use super::rounding::Enclosure;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Polynomial};
use crate::observer::{Monitor, Observer};
use crate::problem::EPS_RANGE;
use crate::settings::Settings;
use crate::solution::StopReason;
use crate::tables::linear::Pool;
use crate::tables::order::interaction_graph;
use crate::tables::reduce::Reduction;

/// The exact answer, over the free variables.
///
/// `log_z = eps log sum_x exp(f/eps)` and `phi = log_z - eps sum_i log q_i`; both are `-inf` when hard
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
    /// `E x_i` when all variables are spins; empty when not, or when marginals were not wanted.
    pub means: Vec<f64>,
    /// `P(x_i = s)`, a list of states per variable; empty when marginals were not wanted.
    pub state_marginals: Vec<Vec<f64>>,
    /// `(i, j, E x_i x_j)`, i < j in lexicographic order: all pairs after enumeration, the pairs
    /// within a common factor after elimination.
    pub pairwise: Vec<(u32, u32, f64)>,
    /// `-sum_x p(x) log p(x)` in nats; NaN when marginals were not wanted.
    pub entropy: f64,
    /// f at `best`: the largest value, up to rounding; NaN when it was not wanted.
    pub max_f: f64,
    /// A state of largest f. Enumeration returns, of equal values, the state whose number (bit i
    /// set for state 1) is smallest; elimination prefers low states for the variables eliminated last.
    pub best: Vec<u32>,
    /// The same as spins, when all variables are spins.
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

/// Computes log Z, marginals, entropy and a maximiser, by the cheaper of the two algorithms.
///
/// The same bits come out for any number of threads.
///
/// **Cost** O(2^d) for enumeration, O(sum over variables of the joint states of its clique) for elimination;
/// see [`super::estimate`]. Where the memory limit allows log Z alone, there are no marginals, no entropy and
/// no maximiser.
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
    exact_with(model, eps, Wanted::ALL, settings, observer)
}

/// As [`exact`], for what is wanted: log Z alone costs a quarter of the time and a fraction of the memory.
///
/// # Errors
/// As [`exact`].
pub fn exact_with(
    model: &Model,
    eps: f64,
    wanted: Wanted,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Exact> {
    let mut monitor = start(eps, settings, observer)?;
    let (choice, _) = choose(model, eps, wanted, settings, &mut || monitor.interrupted().is_some())?;
    let mut answer = match choice {
        Choice::Enumerate(f) => by_enumeration(&f, eps, settings, &mut monitor)?,
        Choice::Eliminate(planned) => {
            let factors = model.factors()?;
            check_tables(&factors, eps)?;
            let needs = |wanted| planned.bytes(wanted) <= settings.memory_limit as f64;
            let fits = Wanted {
                marginals: wanted.marginals && needs(Wanted { marginals: true, maximum: false }),
                maximum: wanted.maximum && needs(Wanted { marginals: false, maximum: true }),
            };
            let mut planned = *planned;
            if fits == Wanted::LOG_Z && wanted != Wanted::LOG_Z {
                // What is left to do is less work in less memory.
                let stop = &mut || monitor.interrupted().is_some();
                planned =
                    Planned::new(&factors, Some(eps), settings.seed, stop)?.sliced(settings.memory_limit);
            }
            by_elimination(&factors, &planned, eps, fits, settings, &mut monitor)?
        }
    };
    answer.seconds = monitor.seconds();
    Ok(answer)
}

/// Draws `count` independent samples from `exp(f/eps)/Z`: a list of states per sample.
///
/// **Cost** one sweep of elimination, then `count` times the number of factors. Hard zeros are respected.
///
/// # Errors
/// As [`exact`]; [`Error::NotApplicable`] when no state has positive weight.
///
/// ```
/// use zbound::{Ising, Model, Settings, Silent, exact};
/// let model = Model::from(Ising::new(2, &[0.0, 0.0], &[(0, 1, 9.0)])?);
/// let samples = exact::sample(&model, 1.0, 20, 7, &Settings::default(), &mut Silent)?;
/// assert!(samples.iter().all(|x| x[0] == x[1]));
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn sample(
    model: &Model,
    eps: f64,
    count: usize,
    seed: u64,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<Vec<u32>>> {
    let mut monitor = start(eps, settings, observer)?;
    let factors = model.factors()?;
    let planned = Planned::new(&factors, None, settings.seed, &mut || monitor.interrupted().is_some())?;
    require(&planned, Wanted { marginals: true, maximum: false }, settings)?;
    let Some(plan) = &planned.plan else { return Ok(Vec::new()) };
    check_tables(&factors, eps)?;
    let pool = super::workers::pool(settings.threads)?;
    let reduced = &planned.reduction.model;
    let elimination = Elimination { model: reduced, plan, pool: &pool };
    let up = elimination.sum(eps, true, &mut monitor)?;
    if up.log_sum == f64::NEG_INFINITY || reduced.constant() == f64::NEG_INFINITY {
        return Err(Error::NotApplicable("no state has positive weight: there is nothing to sample".into()));
    }
    let samples = elimination.sample(&up, count, seed, &mut monitor)?;
    Ok(samples.into_iter().map(|x| planned.reduction.restore(&x)).collect())
}

fn start<'o>(eps: f64, settings: &Settings, observer: &'o mut dyn Observer) -> Result<Monitor<'o>> {
    settings.validate()?;
    if !EPS_RANGE.contains(&eps) {
        let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
        return Err(Error::Setting(format!(
            "eps = {eps}: expected a temperature between {low:e} and {high:e}"
        )));
    }
    Ok(Monitor::new(settings, usize::MAX, observer))
}

/// [`Error::Memory`] unless the tables fit.
fn require(planned: &Planned, wanted: Wanted, settings: &Settings) -> Result<()> {
    let bytes = planned.bytes(wanted);
    let bytes = if bytes < 9e18 { bytes as u64 } else { u64::MAX };
    let what = format_args!("exact elimination with tables of width {}", planned.width);
    let hint = "raise the memory limit, fix more variables by evidence, or ask for bounds instead";
    settings.require_memory(bytes, what, hint)
}

/// Refuses values of f that leave the range of floating point when added up and divided by eps.
fn check_range(scale: f64, eps: f64) -> Result<()> {
    if scale / eps.min(1.0) < 1e300 {
        return Ok(());
    }
    Err(Error::NotApplicable(format!(
        "values of f up to {scale:e} at eps = {eps:e} exceed the range of floating point"
    )))
}

fn check_tables(model: &FactorModel, eps: f64) -> Result<()> {
    let largest = |table: &[f64]| table.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(v.abs()));
    check_range(model.factors().map(|f| largest(f.table)).sum(), eps)
}

fn by_enumeration(f: &Polynomial, eps: f64, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Exact> {
    check_range(f.coefficients().map(|(_, v)| v.abs()).sum(), eps)?;
    let d = f.d();
    let found = enumerate(f, eps, true, settings.threads, monitor)?;
    let best: Vec<u32> = (0..d).map(|i| (found.argmax >> i & 1) as u32).collect();
    let (means, pairwise, energy) =
        found.moments.map_or_else(Default::default, |m| (m.means, m.pairs, m.energy));
    // log Z/eps - E f/eps, both relative to the largest value.
    let entropy = (found.log_sum - energy / eps).max(0.0);
    let mut answer = Exact::new(&vec![2; d], eps, found.log_z, found.bounds.widened(f.uncertainty()));
    answer.set_best(best, true);
    answer.max_f = f.value(&answer.argmax);
    let state_marginals = means.iter().map(|m| vec![0.5 - 0.5 * m, 0.5 + 0.5 * m]).collect();
    Ok(Exact { means, state_marginals, pairwise, entropy, states_or_width: 1 << d, ..answer })
}

/// Answers what `wanted` names, which fits the memory.
fn by_elimination(
    original: &FactorModel,
    planned: &Planned,
    eps: f64,
    wanted: Wanted,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Exact> {
    require(planned, Wanted::LOG_Z, settings)?;
    let (reduction, model) = (&planned.reduction, &planned.reduction.model);
    let Some(plan) = &planned.plan else {
        return Err(Error::NotApplicable("no elimination order is cheap enough".into()));
    };
    let pool: Pool = super::workers::pool(settings.threads)?;
    let elimination = Elimination { model, plan, pool: &pool };
    let best = if wanted.maximum { Some(elimination.maximise(monitor)?) } else { None };
    let nothing = (f64::NEG_INFINITY, Enclosure::point(f64::NEG_INFINITY));
    let (mut up, mut total) = (None, nothing);
    if model.constant() > f64::NEG_INFINITY {
        total = match &planned.slicing {
            Some(slicing) if wanted == Wanted::LOG_Z => slicing.sum(model, eps, &pool, monitor)?,
            _ => {
                let found = elimination.sum(eps, wanted.marginals, monitor)?;
                let total = found.total(eps, model.constant());
                up = Some(found);
                total
            }
        };
    }
    let (log_z, mut bounds) = total;
    if log_z > f64::NEG_INFINITY {
        bounds = bounds.widened(model.uncertainty());
    }
    let mut answer = Exact::new(original.cardinalities(), eps, log_z, bounds);
    answer.algorithm = Algorithm::Elimination;
    answer.states_or_width = plan.width as u64;
    let order = reduction.restore_order(&plan.order);
    // Variables summed out beforehand are not in the plan.
    answer.order = (order.len() == original.d()).then_some(order);
    if let Some(best) = best {
        let best = reduction.restore(&best);
        answer.max_f = original.value_of(&best);
        answer.set_best(best, original.is_binary());
    }
    if wanted.marginals {
        let found = match up.filter(|_| log_z > f64::NEG_INFINITY) {
            Some(up) => Some(elimination.descend(up, monitor)?),
            None => None,
        };
        answer.set_marginals(original, reduction, found);
    }
    Ok(answer)
}

impl Exact {
    /// The values of log Z and phi; moments are left to the caller.
    fn new(cardinalities: &[u32], eps: f64, log_z: f64, bounds: Enclosure) -> Self {
        let states = Enclosure::log_states(cardinalities);
        let phi = bounds.minus(states.times(eps));
        Exact {
            phi: log_z - eps * 0.5 * (states.low + states.high),
            log_z,
            phi_bounds: (phi.low, phi.high),
            log_z_bounds: (bounds.low, bounds.high),
            means: Vec::new(),
            state_marginals: Vec::new(),
            pairwise: Vec::new(),
            entropy: f64::NAN,
            max_f: f64::NAN,
            best: Vec::new(),
            argmax: Vec::new(),
            algorithm: Algorithm::Enumeration,
            states_or_width: 0,
            order: None,
            stop: StopReason::Converged,
            seconds: 0.0,
        }
    }

    /// Whether marginals were wanted, fit the memory limit, and exist.
    pub fn has_marginals(&self) -> bool {
        !self.entropy.is_nan()
    }

    fn set_best(&mut self, best: Vec<u32>, spins: bool) {
        if spins {
            self.argmax = best.iter().map(|&s| if s == 1 { 1 } else { -1 }).collect();
        }
        self.best = best;
    }

    /// Marginals over the original variables; none exist when no state has positive weight.
    fn set_marginals(&mut self, original: &FactorModel, reduction: &Reduction, found: Option<Marginals>) {
        let spins = original.is_binary();
        let Some(found) = found else {
            let none = |&q: &u32| vec![f64::NAN; q as usize];
            self.state_marginals = original.cardinalities().iter().map(none).collect();
            if spins {
                self.means = vec![f64::NAN; original.d()];
            }
            return;
        };
        self.entropy = found.entropy;
        self.state_marginals = reduction.restore_marginals(original.cardinalities(), &found.states);
        if spins {
            self.means = self.state_marginals.iter().map(|p| p[1] - p[0]).collect();
            let name = |i: u32| reduction.variables[i as usize];
            self.pairwise = found.pairs.into_iter().map(|(i, j, v)| (name(i), name(j), v)).collect();
            self.add_fixed_pairs(original, reduction);
        }
    }

    /// Pairs of a common factor of which one spin has a single state left.
    fn add_fixed_pairs(&mut self, original: &FactorModel, reduction: &Reduction) {
        if reduction.variables.len() == original.d() {
            return;
        }
        let is_free: Vec<bool> = reduction.states.iter().map(|s| s.len() > 1).collect();
        for (i, list) in interaction_graph(original).into_iter().enumerate() {
            for j in list.into_iter().filter(|&j| j as usize > i) {
                if !is_free[i] || !is_free[j as usize] {
                    self.pairwise.push((i as u32, j, self.means[i] * self.means[j as usize]));
                }
            }
        }
        self.pairwise.sort_unstable_by_key(|&(i, j, _)| (i, j));
    }
}
