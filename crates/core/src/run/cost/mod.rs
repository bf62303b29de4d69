//! What methods cost on a model: the one place that everything that chooses asks.
//!
//! An estimate is a formula in the size of the model with shipped [`constants`], scaled by the [`Speed`] of this machine, which
//! a run under a time limit measures once. Without a time limit the shipped constants decide alone, so that a seed and a
//! number of iterations give the same run on every machine.

pub(crate) mod constants;
mod methods;
mod speed;

pub(crate) use methods::{estimate, pass_seconds, quantum_operations};
pub(crate) use speed::Speed;

use super::exact::counting_first;
use super::shape::Shape;
use crate::error::Result;
use crate::exact::{self, Wanted};
use crate::model::Model;
use crate::settings::{Method, Settings};
use constants::PLANNING_SHARE;
use std::time::Instant;

/// What a method is expected to cost.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// Wall-clock seconds, right within a factor of about three.
    pub seconds: f64,
    /// Bytes at the peak.
    pub bytes: u64,
    /// Whether the work gives itself up early when it will not end in time, so that little is lost by beginning it.
    pub(crate) gives_up: bool,
}

impl Estimate {
    /// Whether the memory limit allows it.
    pub(crate) fn fits(&self, settings: &Settings) -> bool {
        self.bytes <= settings.memory_limit
    }

    /// With the reductions and the search for an order, which a run begins with: what they took for this estimate, where a limit calls for
    /// the seconds of this machine.
    fn planned_since(self, start: Instant, settings: &Settings) -> Self {
        let planning = if settings.ends().is_limited() { start.elapsed().as_secs_f64() } else { 0.0 };
        Estimate { seconds: self.seconds + planning, ..self }
    }

    /// The time in words.
    pub(crate) fn time(&self) -> String {
        exact::time_in_words(self.seconds)
    }

    /// The memory in words.
    pub(crate) fn memory(&self) -> String {
        exact::memory_in_words(self.bytes)
    }

    /// `None` when no plan exists that could be carried out.
    fn of(cost: exact::Cost) -> Option<Self> {
        let gives_up = cost.algorithm == exact::Algorithm::Enumeration;
        cost.seconds.is_finite().then_some(Estimate { seconds: cost.seconds, bytes: cost.bytes, gives_up })
    }
}

/// What `method` is expected to cost on `model` until it ends by itself. `None` for methods that go on for as long as they are
/// let (`mean-field`, `wmb`, `branch`, `ais`, `combined` on large models), where the method does not apply, and where exact inference has no plan or
/// would begin with a search over what hard zeros leave, which nobody can foretell.
///
/// # Errors
/// Bad settings, or a model whose values leave the range of floating point.
///
/// ```
/// use zbound::run::forecast;
/// use zbound::{Ising, Method, Model, Settings};
/// let model = Model::from(Ising::new(2, &[0.0; 2], &[(0, 1, 1.0)])?);
/// let cost = forecast(&model, Method::Exact, &Settings::default())?.unwrap();
/// assert!(cost.seconds < 1e-3);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn forecast(model: &Model, method: Method, settings: &Settings) -> Result<Option<Estimate>> {
    settings.validate()?;
    if method == Method::Exact {
        let start = Instant::now();
        if counting_first(model, settings).is_some() {
            return Ok(None);
        }
        let ends = settings.ends();
        let planning = ends.is_limited().then(|| PLANNING_SHARE * ends.seconds_left());
        let planning = settings.for_part(&ends, planning);
        // A run under a limit asks all of this before it begins.
        return Ok(exact(model, Wanted::ALL, &planning).map(|e| e.planned_since(start, settings)));
    }
    let polynomial = model.majorant(1.0).ok().map(|(f, _)| f);
    Ok(estimate(method, &Shape::new(model, polynomial.as_ref()), settings))
}

/// Exact inference of what is wanted; `None` when no plan exists that could be carried out.
pub(crate) fn exact(model: &Model, wanted: Wanted, settings: &Settings) -> Option<Estimate> {
    let start = Instant::now();
    let estimate = Estimate::of(exact::estimate_for(model, wanted, settings).ok()?);
    estimate.map(|estimate| estimate.planned_since(start, settings))
}

/// Exact inference of everything, and of log Z alone where everything `is_too_much`: one search for an order serves both.
pub(crate) fn exact_both(
    model: &Model,
    settings: &Settings,
    is_too_much: impl Fn(&Estimate) -> bool,
) -> (Option<Estimate>, Option<Estimate>) {
    let start = Instant::now();
    let Ok(estimator) = exact::Estimator::new(model, Wanted::ALL, settings) else { return (None, None) };
    let all = Estimate::of(estimator.cost).map(|estimate| estimate.planned_since(start, settings));
    let log_z = match &all {
        Some(all) if !is_too_much(all) => None,
        _ => estimator.log_z().ok().and_then(Estimate::of).map(|e| e.planned_since(start, settings)),
    };
    (all, log_z)
}
