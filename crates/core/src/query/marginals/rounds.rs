//! Brackets of log Z with variables fixed, narrowed in rounds.

use super::cells::{Cells, UNKNOWN};
use super::neighbourhoods::Stage;
use super::{MarginalsRequest, Notes};
use crate::certify::Interval;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::model::{Model, Source};
use crate::observer::{Flow, Observer, Progress};
use crate::record::{MethodRecord, Status};
use crate::run::cost::constants::{DEFAULT_SECS, QUICK_SPINS};
use crate::run::shape::is_dense;
use crate::run::{BoundRequest, MethodChoice, Report, bound};
use crate::settings::Method;
use std::time::Instant;

/// Share of the time that the bracket of the whole model takes, and its bound in seconds.
const WHOLE: (f64, f64) = (0.05, 5.0);
/// Share of the time left that every round but the last takes.
const ROUND_SHARE: f64 = 0.4;
/// Seconds for one bracket below which another round is not worth its overhead.
const SHORTEST: f64 = 0.01;
/// Share of the time left that looking round every variable takes when brackets can follow, and when there are too many.
const AROUND: (f64, f64) = (0.1, 0.95);
/// Intervals are shown again after so many times the time that showing them took: it grows with the model.
const SHOWING: f64 = 20.0;

/// What is said of intervals that more time would narrow.
const LATE: &str = "the time limit ended the work: intervals are wider than they could be";

/// Works on all cells in turn until every law is narrow, the methods have converged, or time is up.
pub(super) fn run(
    model: &Model,
    request: &MarginalsRequest,
    cells: &mut Cells<'_>,
    ends: &Deadline,
    observer: &mut dyn Observer,
    show: &mut dyn FnMut(&Cells<'_>, &Notes),
) -> Result<Notes> {
    let is_auto = request.bound.methods == MethodChoice::Auto;
    let own = (is_auto && !ends.is_limited()).then_some(DEFAULT_SECS);
    let ends = ends.within(own);
    let methods = chosen(model, &request.bound);
    let mut work =
        Rounds { model, request, ends, methods, start: Instant::now(), whole: UNKNOWN, stop: None };
    let mut notes = Notes { neighbourhoods: is_auto, methods: work.methods.clone(), ..Notes::default() };
    let so_far = Notes { status: Status::TimeLimit, reason: Some(LATE.into()), ..notes.clone() };
    if is_auto {
        work.look_around(cells, observer)?;
        show(cells, &so_far);
    }
    // A polynomial has no states without weight; with tables that is found out here.
    let is_hopeless = is_auto && !work.has_time(cells) && matches!(model.source(), Source::Polynomial(_));
    if is_hopeless {
        work.stop = work.stop.or(Some(Status::TimeLimit));
        work.methods.clear();
    } else {
        work.bracket_the_whole(observer)?;
    }
    let mut last = Instant::now();
    let mut pause = 0.0;
    let mut unfinished = true;
    for round in 0.. {
        if work.stop.is_some() {
            break;
        }
        unfinished = work.round(round, cells, observer, &mut |cells| {
            if last.elapsed().as_secs_f64() > pause {
                let begin = Instant::now();
                show(cells, &so_far);
                last = Instant::now();
                pause = SHOWING * begin.elapsed().as_secs_f64();
            }
        })?;
        // More time for the same methods is of use only where they did not converge.
        let is_over = work.stop.is_some() || cells.all().all(|cell| cell.is_closed());
        if is_over || !work.ends.is_limited() || (!is_auto && !unfinished) || !work.has_time(cells) {
            break;
        }
        if is_auto {
            work.request_auto();
        }
    }
    notes.methods = work.methods;
    let open = cells.all().any(|cell| !cell.is_closed());
    if let Some(stop) = work.stop {
        notes.status = stop;
    } else if open && (unfinished || is_auto) && work.ends.is_limited() {
        notes.status = Status::TimeLimit;
    }
    notes.reason = match notes.status {
        Status::Converged => None,
        Status::Cancelled => Some("stopped: intervals are wider than they could be".into()),
        _ if own.is_some() => {
            Some(format!("stopped after {DEFAULT_SECS} s: a longer time limit narrows the intervals"))
        }
        _ => Some(LATE.into()),
    };
    Ok(notes)
}

struct Rounds<'a> {
    model: &'a Model,
    request: &'a MarginalsRequest,
    ends: Deadline,
    /// Methods of the first round; empty when the driver chooses.
    methods: Vec<Method>,
    start: Instant,
    /// Bracket of `eps log Z` without anything fixed.
    whole: Interval,
    stop: Option<Status>,
}

impl Rounds<'_> {
    /// A request for one bracket within `seconds`.
    fn part(&self, seconds: Option<f64>) -> BoundRequest {
        let mut part = self.request.bound.clone();
        part.methods = MethodChoice::Auto;
        if !self.methods.is_empty() {
            part.methods = MethodChoice::List(self.methods.clone());
        }
        part.settings = part.settings.for_part(&self.ends, seconds);
        (part.want_pairwise, part.want_certificate) = (false, false);
        part
    }

    /// Cuts every law by what is round its variable.
    fn look_around(&mut self, cells: &mut Cells<'_>, observer: &mut dyn Observer) -> Result<()> {
        let left = self.ends.seconds_left();
        let share = if self.has_time(cells) { AROUND.0 } else { AROUND.1 };
        let stage = Stage {
            model: self.model,
            eps: self.request.bound.eps,
            threads: self.request.bound.settings.threads,
            ends: self.ends.within(Some(share * left)),
            start: self.start,
        };
        if stage.run(cells, observer)? {
            self.stop = Some(Status::Cancelled);
        }
        Ok(())
    }

    /// From now on the driver chooses methods by the time there is.
    fn request_auto(&mut self) {
        self.methods.clear();
    }

    /// Whether another round is worth it.
    fn has_time(&self, cells: &Cells<'_>) -> bool {
        let open = cells.all().filter(|cell| !cell.is_closed());
        let brackets: usize = open.map(|cell| cell.open_states().count()).sum();
        self.ends.seconds_left() > SHORTEST * brackets.max(1) as f64
    }

    fn bracket_the_whole(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let share = (WHOLE.0 * self.ends.seconds_left()).min(WHOLE.1);
        let report = bound(self.model, &self.part(Some(share)), observer)?;
        self.whole = bracket(&report);
        if self.whole.hi == f64::NEG_INFINITY {
            return Err(Error::Model("no state has positive weight: there are no probabilities".into()));
        }
        self.interrupted(observer);
        Ok(())
    }

    fn interrupted(&mut self, observer: &mut dyn Observer) -> bool {
        if observer.observe(&Progress::at(self.start.elapsed().as_secs_f64())) == Flow::Stop {
            self.stop = Some(Status::Cancelled);
        }
        self.stop = self.stop.or_else(|| self.ends.stop().map(Status::from));
        self.stop.is_some()
    }

    /// One bracket for every open joint state; says whether some method was ended by its share of the time.
    fn round(
        &mut self,
        number: usize,
        cells: &mut Cells<'_>,
        observer: &mut dyn Observer,
        show: &mut dyn FnMut(&Cells<'_>),
    ) -> Result<bool> {
        let open: Vec<bool> = cells.all().map(|cell| !cell.is_closed()).collect();
        let counts = cells.all().zip(&open).filter(|(_, open)| **open);
        let mut waiting: usize = counts.map(|(cell, _)| cell.open_states().count()).sum();
        let brackets = waiting.max(1) as f64;
        // A round takes a share of the time that is left when it begins.
        let until = self.ends.within(
            (self.ends.is_limited()
                && !(number > 0 && ROUND_SHARE * self.ends.seconds_left() < SHORTEST * brackets))
                .then(|| ROUND_SHARE * self.ends.seconds_left()),
        );
        let mut is_unfinished = false;
        for (k, open) in open.into_iter().enumerate() {
            if !open {
                continue;
            }
            let states: Vec<_> = cells.get_mut(k).open_states().collect();
            for (place, evidence) in states {
                if self.interrupted(observer) {
                    return Ok(true);
                }
                let seconds = until.is_limited().then(|| until.seconds_left() / waiting.max(1) as f64);
                waiting -= 1;
                let fixed = self.model.clone().with_states(&evidence)?;
                let report = bound(&fixed, &self.part(seconds), observer)?;
                is_unfinished |= report.record.results.iter().any(is_cut_short);
                cells.get_mut(k).learn(place, bracket(&report));
            }
            let (whole, eps) = (self.whole, self.request.bound.eps);
            cells.get_mut(k).conclude(whole, eps);
            show(cells);
        }
        Ok(is_unfinished)
    }
}

fn is_cut_short(result: &MethodRecord) -> bool {
    matches!(result.status, Status::TimeLimit | Status::Cancelled)
}

/// The methods of the first round.
fn chosen(model: &Model, request: &BoundRequest) -> Vec<Method> {
    let majorant = || model.majorant(request.eps).ok().filter(|_| model.is_binary());
    let upper = || match majorant().as_ref().and_then(|(f, _)| f.as_ising()) {
        // Trees carry few of the edges of a dense graph.
        Some(f) if f.d() <= QUICK_SPINS && is_dense(f) => Method::Quantum,
        Some(_) => Method::Trw,
        None => Method::Wmb,
    };
    match &request.methods {
        MethodChoice::List(methods) => methods.clone(),
        MethodChoice::All => Method::ALL.to_vec(),
        MethodChoice::Auto => vec![Method::MeanField, upper()],
    }
}

/// What a report proves about `eps log Z`; minus infinity twice when no state is left.
fn bracket(report: &Report) -> Interval {
    let results = &report.record.results;
    let none = |r: &MethodRecord| r.certified && r.log_z.lower.is_none() && r.log_z.upper.is_none();
    if results.iter().any(none) {
        return Interval::point(f64::NEG_INFINITY);
    }
    let best = &report.record.best.log_z;
    Interval { lo: best.lower.unwrap_or(f64::NEG_INFINITY), hi: best.upper.unwrap_or(f64::INFINITY) }
}
