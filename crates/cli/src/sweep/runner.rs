//! All instances of a plan on all cores.

use super::eta::Eta;
use super::store::Store;
use crate::signals::Signals;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use zbound::sweep::{ERROR_STATUS, Job, Plan, SweepRecord, solve, tasks};
use zbound::{Flow, Progress};

/// What a run did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunSummary {
    /// Records that were there already.
    pub(crate) reused: usize,
    /// Records computed now.
    pub(crate) computed: usize,
    /// Of these, how many ended in an error.
    pub(crate) errors: usize,
    /// Threads.
    pub(crate) workers: usize,
    /// Wall-clock seconds.
    pub(crate) seconds: f64,
    /// The exit code of the signal that ended it early.
    pub(crate) interrupted: Option<u8>,
}

/// Computes every record of `plans` that `store` lacks. Numbers do not depend on `workers`.
pub(crate) fn run(plans: &[&Plan], store: &mut Store, workers: usize) -> Result<RunSummary> {
    let start = Instant::now();
    let signals = Signals::take_over()?;
    let jobs = plans.iter().flat_map(|plan| &plan.jobs);
    let (tasks, reused) = tasks(jobs, |key| store.done(key));
    let eta = Eta::new(tasks.iter().map(|task| kind(task)), workers);
    let progress = progress_bar(tasks.len());
    let shared = Mutex::new(Shared { store, eta, error: None, computed: 0, errors: 0 });
    let next = AtomicUsize::new(0);
    let stop = || signals.is_caught();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let begin = Instant::now();
                    let mut watch = |_: &Progress| if stop() { Flow::Stop } else { Flow::Continue };
                    let Some(records) = solve(task, None, &mut watch) else { break };
                    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if shared.error.is_some() {
                        break;
                    }
                    shared.finish(&kind(task), records, begin.elapsed().as_secs_f64());
                    progress.set_message(shared.eta.text());
                    progress.inc(1);
                }
            });
        }
    });
    progress.finish_and_clear();
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = shared.error {
        return Err(error);
    }
    shared.store.sync()?;
    let (computed, errors) = (shared.computed, shared.errors);
    let seconds = start.elapsed().as_secs_f64();
    Ok(RunSummary { reused, computed, errors, workers, seconds, interrupted: signals.exit_code() })
}

struct Shared<'a> {
    store: &'a mut Store,
    eta: Eta,
    error: Option<anyhow::Error>,
    computed: usize,
    errors: usize,
}

impl Shared<'_> {
    fn finish(&mut self, kind: &str, records: Vec<SweepRecord>, seconds: f64) {
        self.computed += records.len();
        self.errors += records.iter().filter(|r| r.status == ERROR_STATUS).count();
        self.eta.finish(kind, seconds);
        self.error = self.store.append(records).err();
    }
}

/// Tasks of one kind take about the same time.
fn kind(task: &[&Job]) -> String {
    let instance = &task[0].instance;
    let mut methods: Vec<&str> = task.iter().map(|job| job.settings.method.as_str()).collect();
    methods.dedup();
    format!("{} {} {} {}", instance.family, instance.graph, instance.d, methods.join(" "))
}

fn progress_bar(tasks: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = "{bar:30} {pos}/{len} instances, {elapsed_precise} so far, {msg}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(tasks as u64), ProgressDrawTarget::stderr());
    bar.with_style(style)
}
