//! `auto` against single methods at equal time, and expected against measured time.

use super::{AUTO, Entry, Suite};
use serde::Serialize;

/// How much wider than the best single method `auto` may be at equal time.
const TOLERATED: f64 = 1.1;

/// Relative widths below this count as nothing: rounding.
const NOTHING: f64 = 1e-9;

/// Runs that took and were expected to take less, in seconds, say nothing about estimates.
const SHORT_SECS: f64 = 0.02;

/// The factor that estimates are to be right within.
pub(super) const FACTOR: f64 = 3.0;

/// A model on which a single method did better than `auto`.
#[derive(Clone, Debug, Serialize)]
pub struct Loss {
    /// Name of the model.
    pub model: String,
    /// The method.
    pub method: String,
    /// Its width, infinite when it is the only one with a side.
    pub width: f64,
    /// Seconds that `auto` had, and its width.
    pub auto: (f64, f64),
}

/// How well the time of a method was foretold.
#[derive(Clone, Debug, Serialize)]
pub struct Accuracy {
    /// The method.
    pub method: String,
    /// Runs that ended by themselves.
    pub runs: usize,
    /// Those within a factor of three.
    pub within: usize,
    /// Smallest, median and largest ratio of expected to measured seconds.
    pub ratios: (f64, f64, f64),
}

/// The width of a bracket; infinite where a side is missing.
fn width(entry: &Entry) -> f64 {
    if entry.impossible { 0.0 } else { entry.width().unwrap_or(f64::INFINITY) }
}

impl Suite {
    /// The single method of this library with the narrowest bracket.
    pub(super) fn best_single(&self, model: &str) -> Option<&Entry> {
        let alone = self.of(model).filter(|e| e.tool != AUTO && e.refused.is_none() && e.value.is_none());
        let ours = alone.filter(|e| e.lower_method.is_some() || e.upper_method.is_some() || e.impossible);
        ours.filter(|e| width(e).is_finite()).min_by(|a, b| width(a).total_cmp(&width(b)))
    }

    /// Models on which a single method is more than a tenth better at equal time, or better at all when `auto` has twice
    /// the time.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        for instance in &self.instances {
            let Some(best) = self.best_single(&instance.name) else { continue };
            for (times, tolerated) in [(1.0, TOLERATED), (2.0, 1.0)] {
                let Some(auto) = self.find(&instance.name, AUTO, times * best.limit) else { continue };
                let slack = NOTHING * best.upper.map_or(1.0, |upper| upper.abs().max(1.0));
                if width(auto) > tolerated * width(best) + slack {
                    losses.push(Loss {
                        model: instance.name.clone(),
                        method: best.tool.clone(),
                        width: width(best),
                        auto: (auto.limit, width(auto)),
                    });
                }
            }
        }
        losses
    }

    /// Expected against measured time of every method that ended by itself.
    #[must_use]
    pub fn accuracy(&self) -> Vec<Accuracy> {
        let mut methods: Vec<&str> = Vec::new();
        for entry in self.entries.iter().filter(|e| e.expected.is_some()) {
            if !methods.contains(&entry.tool.as_str()) {
                methods.push(&entry.tool);
            }
        }
        methods.into_iter().filter_map(|method| self.accuracy_of(method)).collect()
    }

    fn accuracy_of(&self, method: &str) -> Option<Accuracy> {
        let runs = self.entries.iter().filter(|e| e.tool == method);
        let mut ratios: Vec<f64> = runs.filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let within = ratios.iter().filter(|r| (1.0 / FACTOR..=FACTOR).contains(*r)).count();
        let (first, last) = (*ratios.first()?, *ratios.last()?);
        let ratios_of = (first, ratios[ratios.len() / 2], last);
        Some(Accuracy { method: method.to_owned(), runs: ratios.len(), within, ratios: ratios_of })
    }
}

/// Expected over measured seconds of a run that ended by itself and was long enough to tell. Exact inference that was
/// expected to outlast the limit does less than what was foretold.
pub(super) fn ratio(entry: &Entry) -> Option<f64> {
    let (expected, took) = (entry.expected?, entry.took?);
    let tells = expected.max(took) > SHORT_SECS && (expected <= entry.limit || entry.tool != "exact");
    tells.then(|| expected / took.max(1e-6))
}
