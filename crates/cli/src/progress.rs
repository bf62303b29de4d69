//! Watching a solve: progress on a terminal, and the documents it posts on the way.

use crate::supervise::Board;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zbound::record::{BoundRecord, Bracket};
use zbound::{Flow, Method, Observer, Progress};

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two updates of the display.
const REFRESH: Duration = Duration::from_millis(100);

/// An observer that shows progress.
pub(crate) struct Watch {
    start: Instant,
    shown: Instant,
    bar: Bar,
    method: &'static str,
    terminal: bool,
    board: Option<Board<BoundRecord>>,
    /// Whether to print a line whenever the bracket shrinks, and the last one printed.
    trace: Option<Bracket>,
    /// The best bracket of log Z so far.
    bracket: Bracket,
}

/// The display, which whoever prints the answer removes first, for good.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bar(Arc<Mutex<Display>>);

#[derive(Debug, Default)]
struct Display {
    bar: Option<ProgressBar>,
    closed: bool,
}

impl Bar {
    /// Removes the display; work that was left cannot bring it back.
    pub(crate) fn close(&self) {
        let mut display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        display.closed = true;
        if let Some(bar) = display.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn show(&self, message: String) {
        let mut display = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if display.closed {
            return;
        }
        let bar = display.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        bar.set_message(message);
        bar.tick();
    }
}

impl Watch {
    /// Watches a run that began at `start`.
    pub(crate) fn new(start: Instant) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let (bar, bracket) = (Bar::default(), Bracket::default());
        Watch { start, shown: start, bar, method: "", terminal, board: None, trace: None, bracket }
    }

    /// Prints a line whenever the bracket shrinks, if that is asked for.
    pub(crate) fn tracing(mut self, wanted: bool) -> Self {
        self.trace = wanted.then(Bracket::default);
        self
    }

    /// Posts the documents of the run on `board`.
    pub(crate) fn posting(mut self, board: Board<BoundRecord>) -> Self {
        self.board = Some(board);
        self
    }

    /// The display.
    pub(crate) fn bar(&self) -> Bar {
        self.bar.clone()
    }

    fn show(&mut self, progress: &Progress) {
        if !self.terminal || self.start.elapsed() < PATIENCE || self.shown.elapsed() < REFRESH {
            return;
        }
        self.shown = Instant::now();
        let gap = progress.upper - progress.lower;
        let gap = if gap.is_finite() { format!(", gap {gap:.1e}") } else { String::new() };
        let known = match self.bracket {
            Bracket { lower: Some(lower), upper: Some(upper) } => format!("[{lower:.4}, {upper:.4}] "),
            _ => String::new(),
        };
        let seconds = self.start.elapsed().as_secs_f64();
        let method = if self.method.is_empty() { String::new() } else { format!("{}: ", self.method) };
        self.bar.show(format!(
            "{known}{method}iteration {}{gap}, {seconds:.0} s (Ctrl-C stops with the best bound so far)",
            progress.iteration
        ));
    }
}

impl Observer for Watch {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.show(progress);
        Flow::Continue
    }

    fn begin(&mut self, method: Method) {
        self.method = method.name();
    }

    fn wants_reports(&self) -> bool {
        self.board.is_some()
    }

    fn report(&mut self, so_far: &BoundRecord) {
        self.bracket = so_far.best.log_z;
        if self.trace.is_some_and(|last| last != self.bracket) {
            self.trace = Some(self.bracket);
            let line = serde_json::json!({
                "seconds": self.start.elapsed().as_secs_f64(),
                "lower": self.bracket.lower,
                "upper": self.bracket.upper,
                "lower_method": so_far.best.lower_method,
                "upper_method": so_far.best.upper_method,
            });
            // A closed standard error is nobody's loss.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        if let Some(board) = &self.board {
            board.post(so_far.clone());
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.bar.close();
    }
}
