//! What exact inference would cost, and whether `auto` begins it.

use super::cost::constants::{
    AT_ONCE_SECS, COUNTING_SECS, DEFAULT_SECS, EXACT_CAUTION, EXACT_SHARE, EXACT_SURPRISE, LAYERS_GAIN,
    LOG_Z_FIRST_SECS, PACED_SHARE,
};
use super::cost::{self, Estimate};
use crate::exact::Wanted;
use crate::exact::counting::Counting;
use crate::exact::layers::Layers;
use crate::model::Model;
use crate::settings::Settings;
use std::time::Instant;

/// With marginals and a maximiser, and where that is too much, log Z alone.
pub(super) struct ExactPlan {
    pub(super) all: Option<Estimate>,
    pub(super) log_z: Option<Estimate>,
    /// Two layers, one of them small, where summing over that one costs far less than the rest.
    pub(super) layers: Option<Layers>,
    /// A search over what hard zeros leave, where elimination takes long: nobody knows how long a search takes.
    pub(super) counting: Option<Counting>,
    /// Whether time cut the search for an order short.
    pub(super) is_hasty: bool,
}

/// Whether exact inference that is expected to take so long is begun.
pub(super) fn is_affordable(seconds: f64, settings: &Settings) -> bool {
    EXACT_CAUTION * seconds <= seconds_left(settings)
}

/// Seconds that exact inference gets: what is left for bounds if it does not end in time is not nothing.
pub(super) fn exact_limit(settings: &Settings) -> Option<f64> {
    settings.ends().is_limited().then(|| EXACT_SHARE * seconds_left(settings))
}

/// A run without a time limit is one of so many iterations, and must end all the same.
fn seconds_left(settings: &Settings) -> f64 {
    let ends = settings.ends();
    if ends.is_limited() { ends.seconds_left() } else { DEFAULT_SECS }
}

impl Estimate {
    /// Whether it is begun in the time left.
    pub(super) fn is_affordable(&self, settings: &Settings) -> bool {
        let share = if self.gives_up { PACED_SHARE } else { 1.0 / EXACT_CAUTION };
        self.seconds <= share * seconds_left(settings) && self.fits(settings)
    }

    /// Seconds that it gets.
    pub(super) fn limit(&self, settings: &Settings) -> Option<f64> {
        let most = (EXACT_SURPRISE.0 * self.seconds).max(EXACT_SURPRISE.1 * seconds_left(settings));
        let paced = || PACED_SHARE * seconds_left(settings);
        match self.gives_up {
            true => settings.ends().is_limited().then(paced),
            false => exact_limit(settings).map(|limit| limit.min(most)),
        }
    }
}

impl ExactPlan {
    /// Searches for an order for at most so many seconds.
    pub(super) fn new(model: &Model, settings: &Settings, seconds: f64) -> Self {
        let start = Instant::now();
        let planning = &settings.clone().with_time_limit(Some(seconds));
        let is_too_much = |e: &Estimate| e.seconds > LOG_Z_FIRST_SECS || !e.is_affordable(settings);
        let (all, log_z) = cost::exact_both(model, planning, is_too_much);
        let is_hasty = start.elapsed().as_secs_f64() >= seconds;
        let others = [&all, &log_z].into_iter().flatten().filter(|e| e.fits(settings));
        let best = others.map(|e| e.seconds).fold(f64::INFINITY, f64::min);
        let is_quicker =
            |layers: &Layers| best > AT_ONCE_SECS && LAYERS_GAIN * layers.seconds(settings) < best;
        let layers = Layers::of(model).filter(is_quicker);
        let counting = if best > COUNTING_SECS { Counting::of(model) } else { None };
        ExactPlan { all, log_z, layers, counting, is_hasty }
    }

    /// What the cheapest answer is expected to take.
    pub(super) fn seconds(&self) -> f64 {
        [&self.all, &self.log_z].into_iter().flatten().map(|e| e.seconds).fold(f64::INFINITY, f64::min)
    }

    /// What can be had in the time left: log Z alone, where that is known to be far less work, then everything.
    pub(super) fn affordable(&self, settings: &Settings) -> Vec<(Wanted, Estimate)> {
        let fits = |e: &Estimate| e.is_affordable(settings);
        let log_z = self.log_z.filter(fits).map(|e| (Wanted::LOG_Z, e));
        let all = self.all.filter(fits).map(|e| (Wanted::ALL, e));
        log_z.into_iter().chain(all).collect()
    }
}
