//! Parts of a model that share no term: log Z is the sum of theirs, and each is solved with the methods that suit it.

use super::cost::constants::{LARGEST_PART, MOST_PARTS, SMALL_PART};
use super::job::{Job, Outcome};
use super::plan::{BoundRequest, MethodChoice};
use super::portfolio;
use super::report::Report;
use crate::certify::Interval;
use crate::error::Result;
use crate::model::{FactorModel, Model, Polynomial, Source, VarSet};
use crate::observer::{Flow, Observer, Progress};
use crate::record::{ModelRecord, Status};
use crate::settings::{Method, Settings};

/// The parts of a model, the smallest first; none when it is all but connected.
pub(super) fn parts(job: &Job<'_>) -> Result<Vec<Model>> {
    let d = job.model.d();
    let mut groups = Groups::new(d);
    let f = match job.model.source() {
        Source::Polynomial(_) => job.polynomial()?,
        Source::Factors(_) => None,
    };
    match f {
        Some(f) => f.visit(|members, value| {
            if value != 0.0 {
                members.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
            }
        }),
        None => job.tables()?.factors().for_each(|factor| {
            factor.scope.windows(2).for_each(|pair| groups.join(pair[0] as usize, pair[1] as usize));
        }),
    }
    let members = groups.bundles();
    let largest = members.iter().map(Vec::len).max().unwrap_or(0);
    if members.len() < 2 || largest as f64 > LARGEST_PART * d as f64 {
        return Ok(Vec::new());
    }
    match f {
        Some(f) => polynomials(f, &members),
        None => tables(job.tables()?, &members),
    }
}

/// Disjoint sets.
struct Groups(Vec<usize>);

impl Groups {
    fn new(d: usize) -> Self {
        Groups((0..d).collect())
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (a, b) = (self.root(i), self.root(j));
        self.0[a.max(b)] = a.min(b);
    }

    /// The sets, the smallest first. Small ones are put together, and so are those beyond a number that pays.
    fn bundles(mut self) -> Vec<Vec<usize>> {
        let d = self.0.len();
        let mut sets = vec![Vec::new(); d];
        for i in 0..d {
            let root = self.root(i);
            sets[root].push(i);
        }
        sets.retain(|set| !set.is_empty());
        sets.sort_by_key(Vec::len);
        let own = sets.iter().filter(|set| set.len() > SMALL_PART).count().min(MOST_PARTS - 1);
        let mut bundles = sets.split_off(sets.len() - own);
        let rest: Vec<usize> = sets.concat();
        if !rest.is_empty() {
            bundles.push(rest);
        }
        bundles.sort_by_key(Vec::len);
        bundles
    }
}

/// The part of every variable, and its place there.
fn places(d: usize, members: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut places = vec![(0, 0); d];
    for (part, list) in members.iter().enumerate() {
        list.iter().enumerate().for_each(|(place, &i)| places[i] = (part, place));
    }
    places
}

fn polynomials(f: &Polynomial, members: &[Vec<usize>]) -> Result<Vec<Model>> {
    let places = places(f.d(), members);
    let mut terms: Vec<Vec<(VarSet, f64)>> = vec![Vec::new(); members.len()];
    f.visit(|scope, value| {
        // The constant goes with the first part; a coupling of zero may join two.
        let part = scope.first().map_or(0, |&i| places[i].0);
        if value != 0.0 {
            terms[part].push((scope.iter().map(|&i| places[i].1).collect(), value));
        }
    });
    let mut uncertainty = f.uncertainty();
    let part = |(terms, list): (Vec<(VarSet, f64)>, &Vec<usize>)| {
        let f = Polynomial::from_coefficients(list.len(), terms)?;
        // What f errs by is counted once.
        Ok(Model::from(f.with_uncertainty(std::mem::take(&mut uncertainty))?))
    };
    terms.into_iter().zip(members).map(part).collect()
}

fn tables(f: &FactorModel, members: &[Vec<usize>]) -> Result<Vec<Model>> {
    let places = places(f.d(), members);
    let sizes = |list: &Vec<usize>| list.iter().map(|&i| f.cardinalities()[i] as usize).collect::<Vec<_>>();
    let parts = members.iter().map(|list| FactorModel::with_cardinalities(&sizes(list)));
    let mut parts = parts.collect::<Result<Vec<_>>>()?;
    parts[0].add_constant(f.constant());
    parts[0].add_uncertainty(f.uncertainty());
    for factor in f.factors() {
        match factor.scope.first() {
            Some(&first) => {
                let scope: Vec<usize> = factor.scope.iter().map(|&i| places[i as usize].1).collect();
                parts[places[first as usize].0].push(&scope, factor.table)?;
            }
            None => parts[0].push(&[], factor.table)?,
        }
    }
    Ok(parts.into_iter().map(|f| Model::new(Source::Factors(f))).collect())
}

/// `auto` on every part, with the time shared by the number of variables, and the sum; `is_counted_out` as in [`Job`].
pub(super) fn solve(
    job: &Job<'_>,
    parts: &[Model],
    is_counted_out: bool,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let ends = settings.ends();
    let start = std::time::Instant::now();
    let mut waiting: usize = parts.iter().map(Model::d).sum();
    let (mut lower, mut upper) = (Some(Interval::ZERO), Some(Interval::ZERO));
    let mut status = Status::Converged;
    let mut widest = (f64::NEG_INFINITY, Method::Exact);
    for part in parts {
        let share = part.d() as f64 / waiting.max(1) as f64;
        waiting -= part.d();
        let seconds = ends.is_limited().then(|| share * ends.seconds_left());
        let mut request = BoundRequest { methods: MethodChoice::Auto, ..job.request.clone() };
        (request.settings, request.target_gap) = (settings.for_part(&ends, seconds), None);
        let mut relay = |progress: &Progress| -> Flow { observer.observe(progress) };
        let mut own = Job::new(part, &request, &[])?;
        own.is_counted_out = is_counted_out;
        let summary = ModelRecord::new(None, part, own.polynomial()?)?;
        let report = portfolio::run(&own, summary, &request.settings.ends(), &mut relay)?.report(&request)?;
        let best = &report.record.best;
        if best.log_z.lower.is_none() && best.log_z.upper.is_none() && is_impossible(&report) {
            return Ok(job.impossible(Method::Exact));
        }
        let side = |v: Option<f64>| v.map(Interval::point);
        lower = lower.zip(side(best.phi.lower)).map(|(a, b)| a + b);
        upper = upper.zip(side(best.phi.upper)).map(|(a, b)| a + b);
        let width = best.phi.upper.unwrap_or(f64::INFINITY) - best.phi.lower.unwrap_or(f64::NEG_INFINITY);
        if width > widest.0 {
            widest = (width, best.upper_method.or(best.lower_method).unwrap_or(Method::MeanField));
        }
        if report.outcome == super::Outcome::Cancelled {
            status = Status::Cancelled;
        } else if status == Status::Converged && !is_closed(width, best.phi.upper, settings.tol) {
            status = if ends.is_limited() { Status::TimeLimit } else { Status::Stalled };
        }
    }
    let (lower, upper) = (lower.map(|v| v.lo), upper.map_or(f64::INFINITY, |v| v.hi));
    let mut record = job.bracket(widest.1, status, lower, upper);
    record.reason = Some(format!(
        "the sum over {} parts that share no term; the method is that of the widest",
        parts.len()
    ));
    record.seconds = start.elapsed().as_secs_f64();
    Ok((record, None))
}

/// Whether a part is known as well as is asked for.
fn is_closed(width: f64, upper: Option<f64>, tol: f64) -> bool {
    width <= tol * upper.map_or(1.0, |upper| upper.abs().max(1.0))
}

/// Whether a report says that no state has positive weight.
fn is_impossible(report: &Report) -> bool {
    let empty = |r: &crate::record::MethodRecord| r.certified && r.log_z.upper.is_none();
    report.record.results.iter().any(empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ising;
    use crate::observer::Silent;

    /// Complete graphs of so many spins each, and free spins.
    fn cliques(count: usize, size: usize, free: usize) -> Model {
        let d = count * size + free;
        let mut edges = Vec::new();
        for block in 0..count {
            for i in 0..size {
                let value = |j: usize| 0.3 * ((7 * i + 5 * j + block) as f64).sin();
                edges.extend((0..i).map(|j| (block * size + j, block * size + i, value(j))));
            }
        }
        let fields: Vec<f64> = (0..d).map(|i| 0.1 * (i as f64).cos()).collect();
        Model::from(Ising::new(d, &fields, &edges).unwrap().with_constant(0.75).unwrap())
    }

    #[test]
    fn parts_that_share_no_term_are_found_and_hold_everything() {
        let request = BoundRequest::default();
        for (count, size, free, expected) in [(3, 21, 5, 4), (2, 30, 0, 2), (1, 30, 2, 0), (4, 5, 3, 0)] {
            let model = cliques(count, size, free);
            let job = Job::new(&model, &request, &[]).unwrap();
            let found = parts(&job).unwrap();
            assert_eq!(found.len(), expected, "{count} {size} {free}");
            if expected > 0 {
                assert_eq!(found.iter().map(Model::d).sum::<usize>(), model.d());
            }
        }
    }

    #[test]
    fn the_sum_over_parts_is_log_z() {
        let model = cliques(2, 21, 3);
        let request = BoundRequest::default();
        let exact = crate::exact::exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
        let as_tables = Model::new(Source::Factors(model.factors().unwrap()));
        for model in [&model, &as_tables] {
            let job = Job::new(model, &request, &[]).unwrap();
            let found = parts(&job).unwrap();
            let (record, _) = solve(&job, &found, false, &Settings::default(), &mut Silent).unwrap();
            let (low, high) = (record.log_z.lower.unwrap(), record.log_z.upper.unwrap());
            assert!(low <= exact.log_z && exact.log_z <= high && high - low < 1e-8, "{low} {high} {exact:?}");
        }
    }
}
