//! How many models are closed to a gap, against time.

use super::entry::{CLOSED, relative};
use super::{Entry, Suite};
use serde::Serialize;
use std::collections::HashSet;

/// Relative widths that are counted: closed, a hundredth and a tenth of |log Z|.
pub(super) const GAPS: [f64; 3] = [CLOSED, 0.01, 0.1];

/// One program at one gap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// `auto` or a method.
    pub tool: String,
    /// Width relative to `max(1, |log Z|)`.
    pub gap: f64,
    /// Seconds and the number of models within the gap from then on.
    pub points: Vec<(f64, usize)>,
}

impl Suite {
    /// Curves of every program that ran on most of the models, each model under the longest limit it was run with: single methods run
    /// only where `auto` leaves something open, and a curve over those would say nothing about the method.
    #[must_use]
    pub fn profile(&self) -> Vec<Curve> {
        let mut tools: Vec<&str> = Vec::new();
        for entry in self.entries.iter().filter(|e| !e.trace.is_empty()) {
            if !tools.contains(&entry.tool.as_str()) {
                tools.push(&entry.tool);
            }
        }
        let count = |tool: &str| {
            let own = self.entries.iter().filter(|e| e.tool == tool && !e.trace.is_empty());
            own.map(|e| &e.model).collect::<HashSet<_>>().len()
        };
        let most = tools.iter().map(|tool| count(tool)).max().unwrap_or(0);
        tools.retain(|tool| 2 * count(tool) >= most);
        let curve = |tool: &str, gap: f64| {
            let own: Vec<&Entry> = self.entries.iter().filter(|e| e.tool == tool).collect();
            let runs = own.iter().filter(|e| !own.iter().any(|o| o.model == e.model && o.limit > e.limit));
            let mut times: Vec<f64> = runs.filter_map(|entry| reached(entry, gap)).collect();
            times.sort_by(f64::total_cmp);
            let points = times.into_iter().enumerate().map(|(k, t)| (t, k + 1)).collect();
            Curve { tool: tool.to_owned(), gap, points }
        };
        GAPS.iter()
            .flat_map(|&gap| tools.iter().map(move |tool| (*tool, gap)))
            .map(|(t, g)| curve(t, g))
            .collect()
    }
}

/// When the bracket was within the gap.
fn reached(entry: &Entry, gap: f64) -> Option<f64> {
    if entry.impossible {
        return Some(entry.seconds);
    }
    let narrow = |lower, upper| relative(lower, upper).is_some_and(|width| width <= gap);
    entry.trace.iter().find(|m| narrow(m.lower, m.upper)).map(|m| m.seconds)
}
