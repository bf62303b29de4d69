//! One front door for exact inference.

use super::answer::Exact;
use super::checks::{check_range, check_tables, check_temperature, require, start};
use super::choose::{Choice, Planned, choose};
use super::cost::{Algorithm, Cost, Wanted};
use super::eliminate::Elimination;
use super::enumerate::enumerate;
use super::join::Whole;
use super::laws::within_radius;
use super::rounding::Enclosure;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Polynomial};
use crate::observer::{Monitor, Observer};
use crate::run::cost::constants::ALWAYS_ENUMERATE;
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

/// Work that is expected to take longer, in seconds, is announced: a minute.
const LONG_SECS: f64 = 60.0;

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
        let Prepared { model, eps, wanted, choice, cost } = self;
        let mut answer = match choice {
            Choice::Enumerate(f) => {
                announce(&cost, monitor);
                by_enumeration(&f, eps, wanted, settings, monitor)?
            }
            Choice::Eliminate(planned) => {
                let factors = model.factors()?;
                check_tables(&factors, eps)?;
                let needs = |wanted| planned.bytes(wanted) <= settings.memory_limit as f64;
                let mut fits = Wanted {
                    marginals: wanted.marginals && needs(Wanted::MARGINALS),
                    maximum: wanted.maximum && needs(Wanted::MAXIMUM),
                };
                if needs(wanted) {
                    // In slices, if need be.
                    fits = wanted;
                }
                let mut planned = *planned;
                if fits == Wanted::LOG_Z && wanted != Wanted::LOG_Z {
                    // What is left to do is less work in less memory.
                    let (seed, limit) = (settings.seed, settings.memory_limit);
                    let stop = &mut || monitor.interrupted().is_some();
                    planned = Planned::new(&factors, Some(eps), seed, stop)?;
                    planned = planned.sliced(Wanted::LOG_Z, limit, (seed, stop));
                }
                announce(&planned.cost(fits), monitor);
                by_elimination(&factors, &planned, eps, fits, settings, monitor)?
            }
        };
        answer.seconds = monitor.seconds();
        Ok(answer)
    }
}

fn by_enumeration(
    f: &Polynomial,
    eps: f64,
    wanted: Wanted,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Exact> {
    check_range(f.coefficients().map(|(_, v)| v.abs()).sum(), eps)?;
    let d = f.d();
    // Next to nothing on a small model, and then all of the answer is there.
    let want_moments = wanted != Wanted::LOG_Z || d <= ALWAYS_ENUMERATE;
    let found = enumerate(f, eps, want_moments, settings.threads, monitor)?;
    if !want_moments {
        let mut answer = Exact::new(&vec![2; d], eps, found.log_z, found.bounds.widened(f.uncertainty()));
        answer.states_or_width = 1 << d;
        return Ok(answer);
    }
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

/// Tells of work that takes long.
fn announce(cost: &Cost, monitor: &mut Monitor<'_>) {
    if cost.seconds > LONG_SECS {
        monitor.note(&cost.warning());
    }
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
    require(planned, wanted, settings)?;
    let (reduction, model) = (&planned.reduction, &planned.reduction.model);
    let Some(plan) = &planned.plan else {
        return Err(Error::NotApplicable("no elimination order is cheap enough".into()));
    };
    let pool: Pool = super::workers::pool(settings.threads)?;
    let Whole { value: log_z, mut bounds, marginals, best } = match planned.slicing(wanted) {
        Some(slicing) if model.constant() > f64::NEG_INFINITY => slicing.solve(model, eps, &pool, monitor)?,
        _ => in_one_piece(&Elimination { model, plan, pool: &pool }, eps, wanted, monitor)?,
    };
    if log_z > f64::NEG_INFINITY {
        bounds = bounds.widened(model.uncertainty());
    }
    let mut answer = Exact::new(original.cardinalities(), eps, log_z, bounds);
    answer.algorithm = Algorithm::Elimination;
    answer.states_or_width = plan.width as u64;
    let order = reduction.restore_order(&plan.order);
    // Variables summed out beforehand are not in the plan.
    answer.order = (order.len() == original.d()).then_some(order);
    if wanted.maximum {
        let best = reduction.restore(&best.unwrap_or_else(|| vec![0; model.d()]));
        answer.max_f = original.value_of(&best);
        answer.set_best(best, original.is_binary());
    }
    if wanted.marginals {
        answer.set_marginals(original, reduction, marginals, eps);
    }
    Ok(answer)
}

/// The answer with all tables in memory.
fn in_one_piece(
    elimination: &Elimination<'_>,
    eps: f64,
    wanted: Wanted,
    monitor: &mut Monitor<'_>,
) -> Result<Whole> {
    let best = if wanted.maximum { Some(elimination.maximise(monitor)?.states) } else { None };
    let nothing = (f64::NEG_INFINITY, Enclosure::point(f64::NEG_INFINITY));
    let constant = elimination.model.constant();
    if constant == f64::NEG_INFINITY {
        return Ok(Whole { value: nothing.0, bounds: nothing.1, marginals: None, best });
    }
    let up = elimination.sum(eps, wanted.marginals, monitor)?;
    let (value, bounds) = up.total(eps, constant);
    let exists = wanted.marginals && value > f64::NEG_INFINITY;
    let marginals = if exists { Some(elimination.descend(up, monitor)?) } else { None };
    Ok(Whole { value, bounds, marginals, best })
}
