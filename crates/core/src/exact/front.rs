//! One front door for exact inference.

use super::answer::Exact;
use super::choose::{Algorithm, Choice, Cost, Planned, Wanted, choose};
use super::eliminate::Elimination;
use super::enumerate::enumerate;
use super::laws::within_radius;
use super::rounding::Enclosure;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Polynomial};
use crate::observer::{Monitor, Observer};
use crate::problem::EPS_RANGE;
use crate::settings::Settings;
use crate::tables::linear::Pool;

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
    Prepared::new(model, eps, wanted, settings, &mut monitor)?.run(settings, &mut monitor)
}

/// Work that is expected to take longer, in seconds, is announced: an hour.
const LONG_SECS: f64 = 3600.0;

/// Exact inference that is planned and not begun: the cost is known, and the search for an order is not repeated.
pub(crate) struct Prepared<'m> {
    model: &'m Model,
    eps: f64,
    wanted: Wanted,
    choice: Choice,
    /// What it will take.
    pub(crate) cost: Cost,
}

impl<'m> Prepared<'m> {
    /// Plans; the monitor cuts the search for an order short.
    ///
    /// # Errors
    /// As [`exact`].
    pub(crate) fn new(
        model: &'m Model,
        eps: f64,
        wanted: Wanted,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        check_temperature(eps)?;
        let stop = &mut || monitor.interrupted().is_some();
        let (choice, cost) = choose(model, eps, wanted, settings, stop)?;
        Ok(Prepared { model, eps, wanted, choice, cost })
    }

    /// Carries it out.
    ///
    /// # Errors
    /// As [`exact`].
    pub(crate) fn run(self, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Exact> {
        if self.cost.seconds > LONG_SECS {
            monitor.note(&self.cost.warning());
        }
        let Prepared { model, eps, wanted, choice, .. } = self;
        let mut answer = match choice {
            Choice::Enumerate(f) => by_enumeration(&f, eps, settings, monitor)?,
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
                by_elimination(&factors, &planned, eps, fits, settings, monitor)?
            }
        };
        answer.seconds = monitor.seconds();
        Ok(answer)
    }
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
    let seeded = settings.clone().with_seed(seed);
    Sampler::new(model, eps, &seeded, &mut monitor)?.draw(count, &seeded, &mut monitor)
}

/// Sampling that is planned and not begun.
pub(crate) struct Sampler {
    factors: FactorModel,
    eps: f64,
    planned: Planned,
    /// What the sweep towards the roots will take.
    pub(crate) cost: Cost,
}

impl Sampler {
    /// Plans; the monitor cuts the search for an order short.
    ///
    /// # Errors
    /// As [`exact`].
    pub(crate) fn new(
        model: &Model,
        eps: f64,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Self> {
        check_temperature(eps)?;
        let factors = model.factors()?;
        let planned = Planned::new(&factors, None, 0, &mut || monitor.interrupted().is_some())?;
        let cost = Cost { bytes: planned.cost(Wanted::MARGINALS).bytes, ..planned.cost(Wanted::LOG_Z) };
        settings.validate()?;
        Ok(Sampler { factors, eps, planned, cost })
    }

    /// `count` independent samples over the free variables, by the seed of `settings`.
    ///
    /// # Errors
    /// As [`sample`].
    pub(crate) fn draw(
        &self,
        count: usize,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Vec<Vec<u32>>> {
        let (planned, eps) = (&self.planned, self.eps);
        require(planned, Wanted::MARGINALS, settings)?;
        let Some(plan) = &planned.plan else { return Ok(Vec::new()) };
        check_tables(&self.factors, eps)?;
        let pool = super::workers::pool(settings.threads)?;
        let reduced = &planned.reduction.model;
        let elimination = Elimination { model: reduced, plan, pool: &pool };
        let up = elimination.sum(eps, true, monitor)?;
        if up.log_sum == f64::NEG_INFINITY || reduced.constant() == f64::NEG_INFINITY {
            let why = "no state has positive weight: there is nothing to sample";
            return Err(Error::NotApplicable(why.into()));
        }
        let samples = elimination.sample(&up, count, settings.seed, monitor)?;
        Ok(samples.into_iter().map(|x| planned.reduction.restore(&x)).collect())
    }
}

fn start<'o>(eps: f64, settings: &Settings, observer: &'o mut dyn Observer) -> Result<Monitor<'o>> {
    settings.validate()?;
    check_temperature(eps)?;
    Ok(Monitor::new(settings, usize::MAX, observer))
}

fn check_temperature(eps: f64) -> Result<()> {
    if EPS_RANGE.contains(&eps) {
        return Ok(());
    }
    let (low, high) = (EPS_RANGE.start(), EPS_RANGE.end());
    Err(Error::Setting(format!("eps = {eps}: expected a temperature between {low:e} and {high:e}")))
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
    let state_marginals: Vec<Vec<f64>> = means.iter().map(|m| vec![0.5 - 0.5 * m, 0.5 + 0.5 * m]).collect();
    // A ratio of sums, each off by the relative error, of the model as far as it is known.
    let radius = 2.1 * found.relative + 4.0 * f.uncertainty() / eps + 4.0 * f64::EPSILON;
    let state_bounds = state_marginals.iter().map(|law| within_radius(law, radius)).collect();
    let states_or_width = 1 << d;
    Ok(Exact { means, state_marginals, state_bounds, pairwise, entropy, states_or_width, ..answer })
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
        let best = reduction.restore(&best.states);
        answer.max_f = original.value_of(&best);
        answer.set_best(best, original.is_binary());
    }
    if wanted.marginals {
        let found = match up.filter(|_| log_z > f64::NEG_INFINITY) {
            Some(up) => Some(elimination.descend(up, monitor)?),
            None => None,
        };
        answer.set_marginals(original, reduction, found, eps);
    }
    Ok(answer)
}
