//! All laws from one elimination with a sweep back.

use super::MarginalsRequest;
use super::cells::Cells;
use crate::certify::Interval;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::exact::{Prepared, Wanted};
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::run::MethodChoice;
use crate::run::cost::constants::{DEFAULT_SECS, EXACT_CAUTION, PLANNING_SHARE};
use crate::settings::{Method, Settings};
use crate::solution::StopReason;
use std::collections::BTreeMap;

/// How an attempt at exact inference ended.
pub(super) enum Attempt {
    /// Every law is known.
    Done,
    /// A limit ended it; what was found by then is kept.
    Stopped(StopReason),
    /// It was not begun: other methods are asked for, or it costs too much.
    Refused,
}

/// One exact pass, and one more for every state of the first variables of pairs, when `exact` is asked for or cheap.
pub(super) fn attempt(
    model: &Model,
    request: &MarginalsRequest,
    cells: &mut Cells<'_>,
    ends: &Deadline,
    observer: &mut dyn Observer,
) -> Result<Attempt> {
    let named = match &request.bound.methods {
        MethodChoice::Auto => false,
        MethodChoice::List(methods) if methods[..] == [Method::Exact] => true,
        _ => return Ok(Attempt::Refused),
    };
    let settings = request.bound.settings.for_part(ends, None);
    let mut monitor = Monitor::new(&settings, usize::MAX, observer);
    if let Some(stop) = monitor.interrupted() {
        return Ok(Attempt::Stopped(stop));
    }
    let share = ends.is_limited().then(|| PLANNING_SHARE * ends.seconds_left()).filter(|_| !named);
    let planning = request.bound.settings.for_part(ends, share);
    let mut relay = monitor.relay();
    let mut planner = Monitor::new(&planning, usize::MAX, &mut relay);
    let prepared = Prepared::new(model, request.bound.eps, Wanted::MARGINALS, &planning, &mut planner);
    drop(relay);
    let first = match prepared {
        Err(Error::Interrupted(StopReason::TimeLimit)) if !named => return Ok(Attempt::Refused),
        Err(Error::Interrupted(stop)) => return Ok(Attempt::Stopped(stop)),
        other => other?,
    };
    let passes = 1.0 + pass_count(model, cells);
    let allowed = if ends.is_limited() { ends.seconds_left() / EXACT_CAUTION } else { DEFAULT_SECS };
    let fits = first.cost.bytes <= settings.memory_limit && passes * first.cost.seconds <= allowed;
    if !named && !fits {
        return Ok(Attempt::Refused);
    }
    if named {
        let what = format_args!("exact marginals with tables of width {}", first.cost.width);
        let hint = "raise the memory limit, or ask for bounds instead: --method auto";
        settings.require_memory(first.cost.bytes, what, hint)?;
    }
    match carry_out(model, request, first, cells, &settings, &mut monitor) {
        Ok(()) => Ok(Attempt::Done),
        Err(Error::Interrupted(stop)) => Ok(Attempt::Stopped(stop)),
        // Values beyond floating point: bounds may still say something.
        Err(Error::NotApplicable(_)) if !named => Ok(Attempt::Refused),
        Err(error) => Err(error),
    }
}

/// Eliminations that the pairs take.
fn pass_count(model: &Model, cells: &Cells<'_>) -> f64 {
    let mut firsts: Vec<usize> = cells.pairs.iter().map(|cell| cell.first).collect();
    firsts.sort_unstable();
    firsts.dedup();
    firsts.iter().map(|&i| f64::from(model.cardinality(i))).sum()
}

fn carry_out(
    model: &Model,
    request: &MarginalsRequest,
    first: Prepared<'_>,
    cells: &mut Cells<'_>,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<()> {
    let Some(laws) = Laws::of(model, first, settings, monitor)? else {
        return Err(Error::Model("no state has positive weight: there are no probabilities".into()));
    };
    for cell in &mut cells.singles {
        let law = laws.bounds(cell.first);
        cell.cut(law);
    }
    let mut by_first: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, cell) in cells.pairs.iter().enumerate() {
        by_first.entry(cell.first).or_default().push(k);
    }
    for (i, numbers) in by_first {
        let mut joint: Vec<Vec<[f64; 2]>> = vec![Vec::new(); numbers.len()];
        for (state, outer) in laws.bounds(i).into_iter().enumerate() {
            let agrees = model.fixed()[i].is_none_or(|fixed| fixed as usize == state);
            let mut inner = None;
            let given = model.clone().with_states(&[(i, state as u32)]);
            if outer[1] > 0.0 && agrees {
                let given = given.as_ref().map_err(|error| Error::Model(error.to_string()))?;
                let plan = Prepared::new(given, request.bound.eps, Wanted::MARGINALS, settings, monitor)?;
                inner = Laws::of(given, plan, settings, monitor)?;
            }
            for (list, &k) in joint.iter_mut().zip(&numbers) {
                let Some((j, _)) = cells.pairs[k].second else { continue };
                let given =
                    |inner: &Laws<'_>| inner.bounds(j).into_iter().map(|law| product(outer, law)).collect();
                let none = || vec![[0.0; 2]; model.cardinality(j) as usize];
                list.extend(inner.as_ref().map_or_else(none, given));
            }
        }
        for (law, k) in joint.into_iter().zip(numbers) {
            cells.pairs[k].cut(law);
        }
    }
    Ok(())
}

/// Bounds on `P(A) P(B | A)`.
fn product(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let both = Interval { lo: a[0], hi: a[1] } * Interval { lo: b[0], hi: b[1] };
    [both.lo.max(0.0), both.hi.min(1.0)]
}

/// Proved laws of all variables of a file.
struct Laws<'m> {
    model: &'m Model,
    /// Of the free variables, in order.
    free: Vec<Vec<[f64; 2]>>,
    place: Vec<usize>,
}

impl<'m> Laws<'m> {
    /// `None` when no state has positive weight.
    fn of(
        model: &'m Model,
        plan: Prepared<'_>,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Option<Self>> {
        let answer = plan.run(settings, monitor)?;
        if answer.log_z == f64::NEG_INFINITY {
            return Ok(None);
        }
        if answer.state_bounds.is_empty() && model.d() > 0 {
            return Err(Error::NotApplicable("the memory limit leaves no room for exact marginals".into()));
        }
        let mut place = vec![usize::MAX; model.variables()];
        model.free_variables().into_iter().enumerate().for_each(|(k, i)| place[i] = k);
        Ok(Some(Laws { model, free: answer.state_bounds, place }))
    }

    /// The law of variable i of the file.
    fn bounds(&self, i: usize) -> Vec<[f64; 2]> {
        match self.model.fixed()[i] {
            None => self.free[self.place[i]].clone(),
            Some(state) => {
                let certain = |s: u32| if s == state { [1.0; 2] } else { [0.0; 2] };
                (0..self.model.cardinality(i)).map(certain).collect()
            }
        }
    }
}
