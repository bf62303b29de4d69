//! Folders of models under time limits: the bracket of `auto` beside single methods, other programs and published values.
//!
//! A model `M` with a file `M.evid` beside it is read under that evidence; `M.PR` (log10 Z, as in the UAI competitions) is the
//! published value, and so is what a table `reference.csv` in the same folder says (`models`). Models are read and bounded one after
//! another, each from a cold start. Runs can be kept in a file of JSON lines, so that a long comparison goes on where it was left.

mod compare;
mod entry;
mod models;
mod others;
mod page;
mod profile;
mod store;

pub use compare::{Accuracy, Loss};
pub use entry::{Entry, Moment};
pub use models::Instance;
pub use profile::Curve;

use crate::VERSION;
use anyhow::Result;
use others::{Other, Others};
use serde::Serialize;
use std::path::PathBuf;
use store::Store;
use zbound::{Flow, Method, Observer, Progress, Settings};

/// Name of `auto` among the programs that answer.
pub const AUTO: &str = "auto";

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Folders that are searched, with all folders in them.
    pub folders: Vec<PathBuf>,
    /// Whether generated models of every family are part of it.
    pub generated: bool,
    /// Seconds for each model, reading included: `auto` runs under each, everything else under the first.
    pub limits: Vec<f64>,
    /// Methods that run alone beside `auto`, where that leaves something open.
    pub methods: Vec<Method>,
    /// Python interpreter that may have other programs installed.
    pub python: Option<PathBuf>,
    /// Where runs are kept; those that are there already are not repeated.
    pub store: Option<PathBuf>,
    /// Settings of every run but for its limit.
    pub settings: Settings,
}

/// All runs of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// Version of the library.
    pub version: &'static str,
    /// Seconds for each model.
    pub limits: Vec<f64>,
    /// The models, by path.
    pub instances: Vec<Instance>,
    /// One entry per model, program and limit.
    pub entries: Vec<Entry>,
    /// Programs that did not take part, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Runs the plan; `say` hears of every run when it is done.
///
/// # Errors
/// A folder that cannot be read, no model at all, a store that cannot be read or written.
pub fn run(plan: &Plan, observer: &mut dyn Observer, say: &mut dyn FnMut(&str)) -> Result<Suite> {
    let instances = models::collect(plan)?;
    let mut store = Store::open(plan.store.as_deref())?;
    let (others, skipped) = Others::find(plan.python.as_deref());
    let mut entries = Vec::new();
    let mut is_stopped = false;
    for instance in &instances {
        let mut is_closed = false;
        for (tool, limit) in jobs(plan, &others) {
            if is_closed && !is_worthwhile(&tool, &others) {
                continue;
            }
            let entry = match store.take(&instance.name, &tool, limit) {
                Some(known) => known,
                // What was kept is shown all the same.
                None if is_stopped => continue,
                None => {
                    let entry = match others.get(&tool) {
                        Some(other) => other.ask(instance, limit),
                        None => Entry::ours(instance, &tool, limit, &plan.settings, observer),
                    };
                    // A run that the user ended is not what the limit allows.
                    is_stopped = observer.observe(&Progress::at(0.0)) == Flow::Stop;
                    if is_stopped {
                        continue;
                    }
                    say(&entry.line());
                    store.keep(&entry)?;
                    entry
                }
            };
            // What a longer limit closes is open for a comparison at equal time.
            is_closed |= tool == AUTO && plan.limits.first() == Some(&limit) && entry.is_closed();
            entries.push(entry);
        }
    }
    Ok(Suite { version: VERSION, limits: plan.limits.clone(), instances, entries, skipped })
}

/// Who answers, and the seconds that it gets.
fn jobs(plan: &Plan, others: &Others) -> Vec<(String, f64)> {
    let first = plan.limits.first().copied().unwrap_or(0.0);
    let mut jobs: Vec<(String, f64)> = plan.limits.iter().map(|&limit| (AUTO.to_owned(), limit)).collect();
    let alone = plan.methods.iter().map(|m| m.name().to_owned());
    jobs.extend(alone.chain(others.names()).map(|name| (name, first)));
    // Twice the time of a single method is never to give less.
    let twice = 2.0 * first;
    if !plan.methods.is_empty() && !plan.limits.contains(&twice) {
        jobs.push((AUTO.to_owned(), twice));
    }
    jobs
}

/// Whether a run on a model that `auto` has closed says anything: exact inference on how well its time was foretold, programs that
/// compute log Z on theirs.
fn is_worthwhile(tool: &str, others: &Others) -> bool {
    tool == Method::Exact.name() || others.get(tool).is_some_and(Other::knows_log_z)
}

impl Suite {
    fn of<'s, 'm>(&'s self, model: &'m str) -> impl Iterator<Item = &'s Entry> + use<'s, 'm> {
        self.entries.iter().filter(move |e| e.model == model)
    }

    fn find(&self, model: &str, tool: &str, limit: f64) -> Option<&Entry> {
        self.entries.iter().find(|e| e.model == model && e.tool == tool && e.limit == limit)
    }
}

#[cfg(test)]
mod tests;
