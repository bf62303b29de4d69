//! Brackets of log Z over inverse temperature: `log Z(beta) = log sum_x exp(beta f(x))`, which is eps = 1/beta.
//!
//! Every point is one call of [`bound`](super::bound) with its share of the time. log Z is convex in beta, so that
//! what is proved at some points bounds the others as well: see [`super::convex`].

use super::convex;
use super::cost::constants::DEFAULT_SECS;
use super::driver::bound;
use super::plan::{BoundRequest, MethodChoice};
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::model::{FactorModel, Model, Source};
use crate::observer::{Flow, Observer, Progress};
use crate::problem::EPS_RANGE;
use crate::record::{BoundRecord, Bracket, ModelRecord, Sides, Status};
use crate::settings::Method;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Value of [`ScanRecord::schema`].
pub const SCAN_SCHEMA: &str = "zbound.scan/1";

/// Points of a scan at most.
const MAX_POINTS: usize = 100_000;

/// A bracket this narrow, relative to `max(1, |log Z|)`, is closed.
const CLOSED: f64 = 1e-6;

/// Inverse temperatures, as `a:b:n` (n points from a to b) or `b1,b2,...`.
///
/// ```
/// use zbound::run::Betas;
/// assert_eq!("0:1:3".parse::<Betas>()?.values(), [0.0, 0.5, 1.0]);
/// assert_eq!("2,0.5".parse::<Betas>()?.values(), [2.0, 0.5]);
/// assert!("1:2".parse::<Betas>().is_err());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Betas(Vec<f64>);

impl Betas {
    /// The values, in the order in which they are to be reported.
    ///
    /// # Errors
    /// None at all or too many; a value that is neither 0 nor between 1e-12 and 1e12.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        let (low, high) = (1.0 / EPS_RANGE.end(), 1.0 / EPS_RANGE.start());
        let is_legal = |beta: &f64| *beta == 0.0 || (low..=high).contains(beta);
        if let Some(beta) = values.iter().find(|beta| !is_legal(beta)) {
            return Err(Error::Setting(format!(
                "beta = {beta:?}: expected an inverse temperature, 0 or between {low:e} and {high:e}"
            )));
        }
        if !(1..=MAX_POINTS).contains(&values.len()) {
            return Err(Error::Setting(format!(
                "{} inverse temperatures: expected 1 to {MAX_POINTS}",
                values.len()
            )));
        }
        Ok(Betas(values))
    }

    /// The values.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
}

impl std::str::FromStr for Betas {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = || {
            Error::Setting(format!(
                "`{text}`: expected a:b:n, n points from a to b, or a list such as 0.5,1,2"
            ))
        };
        let number = |word: &str| word.trim().parse::<f64>().map_err(|_| bad());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            [from, to, count] => {
                let (from, to) = (number(from)?, number(to)?);
                let count: usize = count.trim().parse().map_err(|_| bad())?;
                if count > MAX_POINTS {
                    return Err(Error::Setting(format!(
                        "{count} inverse temperatures: expected 1 to {MAX_POINTS}"
                    )));
                }
                let last = count.saturating_sub(1).max(1) as f64;
                let at = |k: usize| {
                    if k + 1 == count && k > 0 { to } else { from + (to - from) * (k as f64 / last) }
                };
                Betas::new((0..count).map(at).collect())
            }
            [list] => Betas::new(list.split(',').map(number).collect::<Result<_>>()?),
            _ => Err(bad()),
        }
    }
}

/// The document `zbound.scan/1`: brackets of one model over inverse temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanRecord {
    /// Always [`SCAN_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The model.
    pub model: ModelRecord,
    /// One entry per inverse temperature, in the order asked for.
    pub points: Vec<ScanPoint>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// What is proved at one inverse temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScanPoint {
    /// Inverse temperature: the factor of f.
    pub beta: f64,
    /// Bounds on `log Z(beta) = log sum_x exp(beta f(x))`.
    pub log_z: Sides,
    /// The method behind the lower bound; null when it follows from other points.
    pub lower_method: Option<Method>,
    /// The method behind the upper bound; null when it follows from other points.
    pub upper_method: Option<Method>,
    /// Whether the lower bound follows from other points, because log Z is convex in beta.
    pub lower_from_others: bool,
    /// Whether the upper bound follows from other points, because log Z is convex in beta.
    pub upper_from_others: bool,
    /// `converged` when the bracket is closed or every method ended by itself.
    pub status: Status,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

impl ScanPoint {
    fn unreached(beta: f64) -> Self {
        ScanPoint {
            beta,
            log_z: Sides::default(),
            lower_method: None,
            upper_method: None,
            lower_from_others: false,
            upper_from_others: false,
            status: Status::Skipped,
            seconds: 0.0,
            reason: Some("the run ended before this point".into()),
        }
    }
}

/// Bounds log Z at every inverse temperature; `request.eps` is not used. `posted` sees the document after every
/// point, the points to come with status `skipped`.
///
/// The time limit covers all points together: each may spend an equal share of what is left when it starts. Without
/// one, `auto` takes about a minute in all.
///
/// # Errors
/// As [`bound`].
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
    let (start, count) = (Instant::now(), betas.0.len());
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
        points: betas.0.iter().map(|&beta| ScanPoint::unreached(beta)).collect(),
        seconds: 0.0,
    };
    let scale = Scale::of(model)?;
    posted(&record);
    for k in 0..count {
        observer.share(k as f64 / count as f64);
        if observer.observe(&Progress::at(start.elapsed().as_secs_f64())) == Flow::Stop {
            ends.cancel();
        }
        let seconds = ends.is_limited().then(|| ends.seconds_left() / (count - k) as f64);
        let mut part = request.clone();
        part.settings = request.settings.for_part(&ends, seconds);
        record.points[k] = point(model, betas.0[k], &scale, part, observer)?;
        record.seconds = start.elapsed().as_secs_f64();
        posted(&record);
    }
    let free = (!scale.has_zeros).then(|| scale.log_states());
    convex::tighten(&mut record.points, free);
    record.seconds = start.elapsed().as_secs_f64();
    posted(&record);
    Ok(record)
}

/// One point: `bound` at eps = 1/beta, and at beta = 0 the number of states.
fn point(
    model: &Model,
    beta: f64,
    scale: &Scale,
    mut request: BoundRequest,
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
    let report = bound(flat.as_ref().unwrap_or(model), &request, &mut Quiet(observer))?;
    let (best, eps) = (report.record.best, Interval::point(request.eps));
    // 1/eps is not quite beta: the derivative of log Z in beta is a mean of f.
    let error = Interval::point(1.0) / eps - Interval::point(beta);
    let slack = if beta == 0.0 { 0.0 } else { (error * Interval::point(scale.largest)).magnitude() };
    let value = |v: f64| Interval::point(v) / eps;
    let sides = Bracket {
        lower: best.log_z.lower.map(|v| (value(v) - Interval::point(slack)).lo).filter(|v| v.is_finite()),
        upper: best.log_z.upper.map(|v| (value(v) + Interval::point(slack)).hi).filter(|v| v.is_finite()),
    };
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

/// What turns bounds at eps into bounds at beta.
struct Scale {
    /// Above |f(x)| wherever the weight of x is positive.
    largest: f64,
    has_zeros: bool,
    cardinalities: Vec<u32>,
}

impl Scale {
    fn of(model: &Model) -> Result<Self> {
        // Sums of sizes err by far less than this in all.
        const ROUNDING: f64 = 1.0 + 1e-6;
        let (sum, has_zeros) = match model.source() {
            Source::Polynomial(_) => {
                let f = model.polynomial()?;
                (f.l1_norm() + f.uncertainty(), false)
            }
            Source::Factors(_) => {
                let f = model.factors()?;
                let size = |table: &[f64]| {
                    table.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()))
                };
                let constant = if f.constant().is_finite() { f.constant().abs() } else { 0.0 };
                let tables: f64 = f.factors().map(|factor| size(factor.table)).sum();
                (tables + constant + f.uncertainty(), f.has_hard_zeros() || !f.constant().is_finite())
            }
        };
        Ok(Scale { largest: sum * ROUNDING, has_zeros, cardinalities: model.free_cardinalities() })
    }

    /// log of the number of states.
    fn log_states(&self) -> Interval {
        let mut counts: Vec<(u32, f64)> = Vec::new();
        for &q in &self.cardinalities {
            match counts.iter_mut().find(|(known, _)| *known == q) {
                Some((_, count)) => *count += 1.0,
                None => counts.push((q, 1.0)),
            }
        }
        let log = |&(q, count): &(u32, f64)| Interval::point(count) * Interval::point(f64::from(q)).log();
        counts.iter().fold(Interval::ZERO, |sum, entry| sum + log(entry))
    }
}

/// The same hard zeros with every other value 0: what beta = 0 leaves of a model.
fn support(model: &Model) -> Result<Model> {
    let f = model.factors()?;
    let sizes: Vec<usize> = f.cardinalities().iter().map(|&q| q as usize).collect();
    let mut flat = FactorModel::with_cardinalities(&sizes)?;
    for factor in f.factors() {
        let scope: Vec<usize> = factor.scope.iter().map(|&i| i as usize).collect();
        let table: Vec<f64> =
            factor.table.iter().map(|&v| if v == f64::NEG_INFINITY { v } else { 0.0 }).collect();
        flat.push(&scope, &table)?;
    }
    if f.constant() == f64::NEG_INFINITY {
        flat.add_constant(f64::NEG_INFINITY);
    }
    Ok(Model::new(Source::Factors(flat)))
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
