//! Watching a solve: progress on a terminal, Ctrl-C everywhere.

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zbound::{Flow, Method, Observer, Progress};

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates of the display.
const REFRESH: Duration = Duration::from_millis(100);

/// An observer that shows progress and stops at the first Ctrl-C.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    start: Instant,
    shown: Instant,
    bar: Option<ProgressBar>,
    method: &'static str,
    terminal: bool,
}

impl Watch {
    /// Takes over Ctrl-C: the first one asks the solve to stop, the second ends the process.
    pub(crate) fn new() -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })
        .context("cannot install the Ctrl-C handler")?;
        let now = Instant::now();
        let terminal = std::io::stderr().is_terminal();
        Ok(Watch { stop, start: now, shown: now, bar: None, method: "", terminal })
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Removes the progress display.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn show(&mut self, progress: &Progress) {
        if !self.terminal || self.start.elapsed() < PATIENCE || self.shown.elapsed() < REFRESH {
            return;
        }
        self.shown = Instant::now();
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        let gap = progress.upper - progress.lower;
        let gap = if gap.is_finite() { format!(", gap {gap:.1e}") } else { String::new() };
        let seconds = self.start.elapsed().as_secs_f64();
        let method = if self.method.is_empty() { String::new() } else { format!("{}: ", self.method) };
        bar.set_message(format!(
            "{method}iteration {}{gap}, {seconds:.0} s (Ctrl-C stops with the best bound so far)",
            progress.iteration
        ));
        bar.tick();
    }
}

impl Observer for Watch {
    fn observe(&mut self, progress: &Progress) -> Flow {
        if self.is_stopped() {
            return Flow::Stop;
        }
        self.show(progress);
        Flow::Continue
    }

    fn begin(&mut self, method: Method) {
        self.method = method.name();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.finish();
    }
}
