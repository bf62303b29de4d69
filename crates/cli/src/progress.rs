//! Watching a solve: progress on a terminal, and the documents it posts on the way.

use crate::numbers;
use crate::supervise::Board;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zbound::record::{BestRecord, BoundRecord, Bracket};
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
    /// Whether to print a line whenever the bracket shrinks.
    trace: bool,
    /// Where to keep how the bracket shrank.
    history: Option<History>,
    /// The best sides of log Z so far, and the methods behind them.
    best: BestRecord,
    /// When the method under way began, and the seconds it is expected to take.
    forecast: Option<(Instant, f64)>,
    /// Seconds that the user allows.
    limit: Option<f64>,
    /// Share of the whole that is done, for runs of many parts.
    share: Option<f64>,
}

/// One improvement of the bracket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Improvement {
    /// Since the start of the process.
    pub(crate) seconds: f64,
    /// The bracket from then on.
    pub(crate) bracket: Bracket,
}

/// How the bracket of a run shrank; clones share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct History(Arc<Mutex<Vec<Improvement>>>);

impl History {
    fn push(&self, improvement: Improvement) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(improvement);
    }

    /// What happened so far.
    pub(crate) fn list(&self) -> Vec<Improvement> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
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
    /// Watches a run that began at `start` and may take `limit` seconds.
    pub(crate) fn new(start: Instant, limit: Option<f64>) -> Self {
        Watch {
            start,
            shown: start,
            bar: Bar::default(),
            method: "",
            terminal: std::io::stderr().is_terminal(),
            board: None,
            trace: false,
            history: None,
            best: BestRecord::default(),
            forecast: None,
            limit,
            share: None,
        }
    }

    /// Prints a line whenever the bracket shrinks, if that is asked for.
    pub(crate) fn tracing(mut self, wanted: bool) -> Self {
        self.trace = wanted;
        self
    }

    /// Keeps how the bracket shrinks.
    pub(crate) fn keeping(mut self, history: History) -> Self {
        self.history = Some(history);
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

    /// How far the run is, as a percentage, and of what.
    fn percentage(&self) -> Option<String> {
        let percent = |share: f64| (100.0 * share).clamp(0.0, 99.0).floor();
        if let Some(share) = self.share {
            return Some(format!("{} %", percent(share)));
        }
        if let Some((since, seconds)) = self.forecast {
            let share = since.elapsed().as_secs_f64() / seconds.max(1e-3);
            return Some(format!("about {} %", percent(share)));
        }
        let share = self.start.elapsed().as_secs_f64() / self.limit.filter(|limit| *limit > 0.0)?;
        Some(format!("{} % of the time limit", percent(share)))
    }

    fn show(&mut self, progress: &Progress) {
        if !self.terminal || self.start.elapsed() < PATIENCE || self.shown.elapsed() < REFRESH {
            return;
        }
        self.shown = Instant::now();
        let gap = progress.upper - progress.lower;
        let mut parts: Vec<String> = Vec::new();
        if let Bracket { lower: Some(lower), upper: Some(upper) } = self.best.log_z {
            parts.push(format!("[{lower:.4}, {upper:.4}]"));
        }
        parts.extend(self.percentage());
        let round = match progress.iteration {
            0 => String::new(),
            count => format!(" iteration {count}"),
        };
        parts.push(format!("{}{round}", self.method));
        if gap.is_finite() {
            parts.push(format!("gap {}", numbers::short(gap)));
        }
        parts.push(format!("{:.0} s", self.start.elapsed().as_secs_f64()));
        parts.retain(|part| !part.is_empty());
        self.bar.show(parts.join(", ") + " (Ctrl-C stops with the best bound so far)");
    }

    /// Takes what is better in `new`; says whether anything was.
    fn improve(&mut self, new: &BestRecord) -> bool {
        let old = self.best.log_z;
        let is_higher = |v: f64| old.lower.is_none_or(|known| v > known);
        let is_lower = |v: f64| old.upper.is_none_or(|known| v < known);
        if let Some(lower) = new.log_z.lower.filter(|v| is_higher(*v)) {
            (self.best.log_z.lower, self.best.lower_method) = (Some(lower), new.lower_method);
        }
        if let Some(upper) = new.log_z.upper.filter(|v| is_lower(*v)) {
            (self.best.log_z.upper, self.best.upper_method) = (Some(upper), new.upper_method);
        }
        self.best.log_z != old
    }
}

impl Observer for Watch {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.show(progress);
        Flow::Continue
    }

    fn begin(&mut self, method: Method) {
        self.method = method.name();
        self.forecast = None;
    }

    fn wants_forecast(&self) -> bool {
        self.terminal
    }

    fn forecast(&mut self, seconds: f64) {
        self.forecast = Some((Instant::now(), seconds));
    }

    fn share(&mut self, done: f64) {
        self.share = Some(done);
    }

    fn note(&mut self, sentence: &str) {
        crate::output::note(sentence);
    }

    fn wants_reports(&self) -> bool {
        self.board.is_some()
    }

    fn report(&mut self, so_far: &BoundRecord) {
        if self.improve(&so_far.best) {
            let (seconds, bracket) = (self.start.elapsed().as_secs_f64(), self.best.log_z);
            if let Some(history) = &self.history {
                history.push(Improvement { seconds, bracket });
            }
            if self.trace {
                let line = serde_json::json!({
                    "seconds": seconds,
                    "lower": bracket.lower,
                    "upper": bracket.upper,
                    "lower_method": self.best.lower_method,
                    "upper_method": self.best.upper_method,
                });
                // A closed standard error is nobody's loss.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
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
