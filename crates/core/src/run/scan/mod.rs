//! Brackets of log Z over inverse temperature: `log Z(beta) = log sum_x exp(beta f(x))`, which is eps = 1/beta.
//!
//! Every point is one call of [`bound`](super::bound) with its share of the time, in which methods begin at what they found at the point
//! before: its proofs are verified at the new temperature where the method does not end by itself, and `quantum` starts at its dual point. log Z is convex in beta, so that
//! what is proved at some points bounds the others as well: see `convex.rs`.

mod betas;
mod convex;
mod record;
mod scale;

pub use betas::Betas;
pub use record::{SCAN_SCHEMA, ScanPoint, ScanRecord};

use super::cost::constants::DEFAULT_SECS;
use super::driver::bound_from;
use super::plan::{BoundRequest, MethodChoice};
use crate::certify::Interval;
use crate::error::Result;
use crate::model::{Model, Source};
use crate::observer::{Flow, Observer, Progress};
use crate::record::{BoundRecord, Bracket, ModelRecord, Sides, Status};
use crate::settings::Method;
use crate::solution::Solution;
use scale::{Scale, support};
use std::time::Instant;

/// A bracket this narrow, relative to `max(1, |log Z|)`, is closed.
const CLOSED: f64 = 1e-6;

/// Bounds log Z at every inverse temperature; `request.eps` is not used. `posted` sees the document after every
/// point, the points to come with status `skipped`.
///
/// The time limit covers all points together: each may spend an equal share of what is left when it starts. Without
/// one, `auto` takes about a minute in all.
///
/// # Errors
/// As [`bound`](super::bound).
///
/// ```
/// use zbound::run::{Betas, BoundRequest, scan};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.0; 2], &[(0, 1, 1.0)])?);
/// let record = scan(&model, &"0:2:3".parse::<Betas>()?, &BoundRequest::default(), &mut Silent, &mut |_| {})?;
/// let exact = (4.0 * 2f64.cosh()).ln();
/// assert!((record.points[2].log_z.upper.unwrap() - exact).abs() < 1e-9);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn scan(
    model: &Model,
    betas: &Betas,
    request: &BoundRequest,
    observer: &mut dyn Observer,
    posted: &mut dyn FnMut(&ScanRecord),
) -> Result<ScanRecord> {
    request.validate()?;
    let (start, count) = (Instant::now(), betas.values().len());
    let ends = request.settings.ends();
    let is_patient = request.methods == MethodChoice::Auto && !ends.is_limited();
    let ends = if is_patient { ends.within(Some(DEFAULT_SECS)) } else { ends };
    let f = match model.source() {
        Source::Polynomial(_) => Some(model.polynomial()?),
        Source::Factors(_) => None,
    };
    let summary = ModelRecord::new(request.path.clone(), model, f.as_ref())?;
    let mut record = ScanRecord {
        schema: SCAN_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        model: summary,
        points: betas.values().iter().map(|&beta| ScanPoint::unreached(beta)).collect(),
        seconds: 0.0,
    };
    let scale = Scale::of(model)?;
    let mut earlier = Vec::new();
    posted(&record);
    for k in 0..count {
        observer.share(k as f64 / count as f64);
        if observer.observe(&Progress::at(start.elapsed().as_secs_f64())) == Flow::Stop {
            ends.cancel();
        }
        let seconds = ends.is_limited().then(|| ends.seconds_left() / (count - k) as f64);
        let mut part = request.clone();
        part.settings = request.settings.for_part(&ends, seconds);
        record.points[k] = point(model, betas.values()[k], &scale, part, &mut earlier, observer)?;
        record.seconds = start.elapsed().as_secs_f64();
        posted(&record);
    }
    let free = (!scale.has_zeros).then(|| scale.log_states());
    convex::tighten(&mut record.points, free);
    record.seconds = start.elapsed().as_secs_f64();
    posted(&record);
    Ok(record)
}

/// One point: `bound` at eps = 1/beta, and at beta = 0 the number of states. `earlier` solutions give way to those of the point.
fn point(
    model: &Model,
    beta: f64,
    scale: &Scale,
    mut request: BoundRequest,
    earlier: &mut Vec<Solution>,
    observer: &mut dyn Observer,
) -> Result<ScanPoint> {
    let start = Instant::now();
    if beta == 0.0 && !scale.has_zeros {
        let Interval { lo, hi } = scale.log_states();
        let log_z = Sides { lower: Some(lo), upper: Some(hi), estimate: Some(0.5 * (lo + hi)) };
        let (status, reason) =
            (Status::Converged, Some("log Z(0) is the logarithm of the number of states".into()));
        return Ok(ScanPoint { log_z, status, reason, ..ScanPoint::unreached(beta) });
    }
    request.eps = if beta == 0.0 { 1.0 } else { 1.0 / beta };
    let flat = if beta == 0.0 { Some(support(model)?) } else { None };
    let report = match &flat {
        Some(flat) => bound_from(flat, &request, &[], &mut Quiet(observer))?,
        None => bound_from(model, &request, earlier, &mut Quiet(observer))?,
    };
    let (best, eps) = (report.record.best, Interval::point(request.eps));
    // 1/eps is not quite beta: the derivative of log Z in beta is a mean of f.
    let error = Interval::point(1.0) / eps - Interval::point(beta);
    let slack = if beta == 0.0 { 0.0 } else { (error * Interval::point(scale.largest)).magnitude() };
    let value = |v: f64| Interval::point(v) / eps;
    let sides = Bracket {
        lower: best.log_z.lower.map(|v| (value(v) - Interval::point(slack)).lo).filter(|v| v.is_finite()),
        upper: best.log_z.upper.map(|v| (value(v) + Interval::point(slack)).hi).filter(|v| v.is_finite()),
    };
    if flat.is_none() {
        *earlier = report.solutions.into_iter().flatten().collect();
    }
    let impossible = report.record.results.iter().find(|r| r.certified && r.log_z.upper.is_none());
    Ok(ScanPoint {
        beta,
        log_z: Sides {
            lower: sides.lower,
            upper: sides.upper,
            estimate: best.estimate.map(|v| v / request.eps),
        },
        lower_method: best.lower_method,
        upper_method: best.upper_method,
        status: status(&report.record, sides),
        seconds: start.elapsed().as_secs_f64(),
        reason: impossible.and_then(|r| r.reason.clone()).filter(|_| sides.upper.is_none()),
        ..ScanPoint::unreached(beta)
    })
}

/// One word for several methods: the one that says most about what more time would do.
fn status(record: &BoundRecord, sides: Bracket) -> Status {
    let has = |status| record.results.iter().any(|r| r.status == status);
    if has(Status::Cancelled) {
        return Status::Cancelled;
    }
    match (sides.lower, sides.upper) {
        (Some(low), Some(high)) if high - low <= CLOSED * high.abs().max(1.0) => Status::Converged,
        (None, None) if !record.results.iter().any(|r| r.certified) => Status::Uncertified,
        _ if has(Status::TimeLimit) => Status::TimeLimit,
        _ if has(Status::IterationLimit) => Status::IterationLimit,
        _ => Status::Converged,
    }
}

/// Passes everything on but documents: those of a point are not those of the scan.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn observe(&mut self, progress: &Progress) -> Flow {
        self.0.observe(progress)
    }

    fn begin(&mut self, method: Method) {
        self.0.begin(method);
    }
}
