//! What methods cost on a model: the one place that everything that chooses asks.

use crate::exact;
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
        match self.seconds {
            s if s < 100.0 => format!("{:.0} s", s.max(1.0)),
            s if s < 6000.0 => format!("{:.0} minutes", s / 60.0),
            s => format!("{:.0} hours", s / 3600.0),
        }
    }

    /// The memory in words.
    pub(crate) fn memory(&self) -> String {
        match self.bytes >> 20 {
            mib if mib < 1 << 10 => format!("{} MB", mib.max(1)),
            mib => format!("{} GB", (mib >> 10).max(1)),
        }
    }
}

/// Operations of exact inference per second and thread (enumeration 3.4 - 4.2e9 states of 8 operations each).
const OPERATIONS_PER_SECOND: f64 = 2e9;

/// Exact inference; `None` when no plan exists that could be carried out.
pub(crate) fn exact(model: &Model, settings: &Settings) -> Option<Estimate> {
    let cost = exact::estimate(model, settings).ok()?;
    Some(Estimate { seconds: cost.operations / OPERATIONS_PER_SECOND, bytes: cost.bytes })
}
