//! What methods cost on a model: the one place that everything that chooses asks.

use crate::exact::{self, Wanted};
use crate::model::Model;
use crate::settings::Settings;

/// Expected cost of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Wall-clock seconds, right within a factor of about three.
    pub(crate) seconds: f64,
    /// Bytes at the peak.
    pub(crate) bytes: u64,
}

impl Estimate {
    /// Whether the memory limit allows it.
    pub(crate) fn fits(&self, settings: &Settings) -> bool {
        self.bytes <= settings.memory_limit
    }

    /// The time in words.
    pub(crate) fn time(&self) -> String {
        exact::time_in_words(self.seconds)
    }

    /// The memory in words.
    pub(crate) fn memory(&self) -> String {
        exact::memory_in_words(self.bytes)
    }
}

impl Estimate {
    /// `None` when no plan exists that could be carried out.
    fn of(cost: exact::Cost) -> Option<Self> {
        cost.seconds.is_finite().then_some(Estimate { seconds: cost.seconds, bytes: cost.bytes })
    }
}

/// Exact inference of what is wanted; `None` when no plan exists that could be carried out.
pub(crate) fn exact(model: &Model, wanted: Wanted, settings: &Settings) -> Option<Estimate> {
    Estimate::of(exact::estimate_for(model, wanted, settings).ok()?)
}

/// Exact inference of everything, and of log Z alone where everything `is_too_much`: one search for an order serves both.
pub(crate) fn exact_both(
    model: &Model,
    settings: &Settings,
    is_too_much: impl Fn(&Estimate) -> bool,
) -> (Option<Estimate>, Option<Estimate>) {
    let Ok(estimator) = exact::Estimator::new(model, Wanted::ALL, settings) else { return (None, None) };
    let all = Estimate::of(estimator.cost);
    let log_z = match &all {
        Some(all) if is_too_much(all) => estimator.log_z().ok().and_then(Estimate::of),
        _ => None,
    };
    (all, log_z)
}
