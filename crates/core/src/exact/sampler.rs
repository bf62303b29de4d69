//! Samples from the law itself.

use super::checks::{check_tables, check_temperature, require, start};
use super::choose::Planned;
use super::cost::{Cost, Wanted};
use super::eliminate::Elimination;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model};
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;

/// Draws `count` independent samples from `exp(f/eps)/Z`: a list of states per sample.
///
/// **Cost** one sweep of elimination, then `count` times the number of factors. Hard zeros are respected.
///
/// # Errors
/// As [`exact`](super::exact); [`Error::NotApplicable`] when no state has positive weight.
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
