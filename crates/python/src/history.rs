//! How the bracket of a run of several methods shrinks.

use std::time::Instant;
use zbound::record::{BoundRecord, Bracket};
use zbound::{Flow, Method, Observer, Progress};

/// Keeps a row (seconds, lower, upper) per improvement and passes everything else on; unknown sides are NaN.
pub(crate) struct History<'a> {
    inner: &'a mut dyn Observer,
    start: Instant,
    best: Bracket,
    /// The improvements.
    pub(crate) rows: Vec<[f64; 3]>,
}

impl<'a> History<'a> {
    /// Begins now.
    pub(crate) fn new(inner: &'a mut dyn Observer) -> Self {
        History { inner, start: Instant::now(), best: Bracket::default(), rows: Vec::new() }
    }
}

impl Observer for History<'_> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.inner.observe(progress)
    }

    fn begin(&mut self, method: Method) {
        self.inner.begin(method);
    }

    fn wants_reports(&self) -> bool {
        true
    }

    fn report(&mut self, so_far: &BoundRecord) {
        let (old, new) = (self.best, so_far.best.log_z);
        let larger = |a: f64, b: f64| if b > a { b } else { a };
        let smaller = |a: f64, b: f64| if b < a { b } else { a };
        let merge = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (known, other) => known.or(other),
        };
        self.best = Bracket {
            lower: merge(old.lower, new.lower, larger),
            upper: merge(old.upper, new.upper, smaller),
        };
        if self.best != old {
            let side = |v: Option<f64>| v.unwrap_or(f64::NAN);
            self.rows.push([
                self.start.elapsed().as_secs_f64(),
                side(self.best.lower),
                side(self.best.upper),
            ]);
        }
    }
}
