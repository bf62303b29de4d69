//! States drawn from a model: independent and exact where elimination fits, annealed otherwise.

use crate::error::{Error, Result};
use crate::exact::Sampler;
use crate::model::Model;
use crate::observer::{Monitor, Observer};
use crate::query::ais::annealed;
use crate::record::Status;
use crate::run::Outcome;
use crate::run::cost::constants::{DEFAULT_SECS, EXACT_CAUTION};
use crate::settings::Settings;
use serde::{Deserialize, Serialize};

/// Value of [`SampleRecord::schema`].
pub const SAMPLE_SCHEMA: &str = "zbound.sample/1";

/// Most samples of one call: beyond, their list is what takes memory.
pub const MAX_SAMPLES: usize = 10_000_000;

/// Where samples come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum SamplerKind {
    /// Independent samples from the law itself.
    Exact,
    /// Ends of annealed chains of Gibbs sampling: close to the law when chains are long enough.
    Annealed,
}

impl SamplerKind {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            SamplerKind::Exact => "exact",
            SamplerKind::Annealed => "annealed",
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// Number of samples.
    pub n: usize,
    /// Temperature: the law is `exp(f/eps)/Z`.
    pub eps: f64,
    /// Limits and the seed.
    pub settings: Settings,
    /// The file as the user named it.
    pub path: Option<String>,
}

impl Default for SampleRequest {
    fn default() -> Self {
        SampleRequest { n: 1, eps: 1.0, settings: Settings::default(), path: None }
    }
}

/// The document `zbound.sample/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Always [`SAMPLE_SCHEMA`].
    pub schema: String,
    /// Version of this library.
    pub version: String,
    /// The file as the user named it.
    pub path: Option<String>,
    /// Temperature.
    pub eps: f64,
    /// The seed.
    pub seed: u64,
    /// Where the samples come from.
    pub sampler: SamplerKind,
    /// One row per sample, one number per variable of the file: -1 and +1 for spins, 0 and 1 for bits, else states.
    pub samples: Vec<Vec<i64>>,
    /// `converged`, or which limit left rows out.
    pub status: Status,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
}

/// Draws states of `model`.
///
/// Exact where an elimination with all messages kept fits the limits, else the ends of annealed chains; the seed alone
/// decides what is drawn, unless a limit ends it.
///
/// **Cost** one sweep of elimination and O(factors) a sample; annealed, some 300 sweeps of Gibbs sampling a sample.
///
/// # Errors
/// Bad settings, a model without states of positive weight, or none that annealing finds.
///
/// ```
/// use zbound::query::sample::{SampleRequest, SamplerKind, sample};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.0, 0.0], &[(0, 1, 9.0)])?);
/// let (record, _) = sample(&model, &SampleRequest { n: 5, ..SampleRequest::default() }, &mut Silent)?;
/// assert_eq!((record.samples.len(), record.sampler), (5, SamplerKind::Exact));
/// assert!(record.samples.iter().all(|x| x[0] == x[1]));
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn sample(
    model: &Model,
    request: &SampleRequest,
    observer: &mut dyn Observer,
) -> Result<(SampleRecord, Outcome)> {
    let SampleRequest { n, eps, settings, .. } = request;
    settings.validate()?;
    if *n > MAX_SAMPLES {
        return Err(Error::Setting(format!("n = {n}: expected at most {MAX_SAMPLES} samples")));
    }
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let sampler = Sampler::new(model, *eps, settings, &mut monitor)?;
    let allowed = monitor.seconds_left().map_or(DEFAULT_SECS, |left| left / EXACT_CAUTION);
    let fits = sampler.cost.bytes <= settings.memory_limit && sampler.cost.seconds <= allowed;
    let (kind, rows, reason) = if fits {
        (SamplerKind::Exact, sampler.draw(*n, settings, &mut monitor), None)
    } else {
        let width = sampler.cost.width;
        let tables = model.factors()?;
        let drawn = annealed(&tables, *eps, *n, settings.seed, settings, &mut monitor);
        let why = format!("exact sampling needs tables of width {width}: these are ends of annealed chains");
        (SamplerKind::Annealed, drawn.map(|rows| rows.into_iter().flatten().collect()), Some(why))
    };
    let (rows, stop): (Vec<Vec<u32>>, _) = match rows {
        Err(Error::Interrupted(stop)) => (Vec::new(), Some(stop)),
        other => (other?, monitor.interrupted()),
    };
    if stop.is_none() && rows.is_empty() && *n > 0 {
        return Err(Error::NotApplicable("no chain ended in a state of positive weight".into()));
    }
    let missing = n - rows.len();
    let status = stop.filter(|_| missing > 0).map_or(Status::Converged, Status::from);
    let left_out = (missing > 0).then(|| format!("{missing} samples are missing"));
    let reason = reason.into_iter().chain(left_out).reduce(|a, b| format!("{a}; {b}"));
    let record = SampleRecord {
        schema: SAMPLE_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        path: request.path.clone(),
        eps: *eps,
        seed: settings.seed,
        sampler: kind,
        samples: rows.iter().map(|row| model.spell(row)).collect(),
        status,
        seconds: monitor.seconds(),
        reason,
    };
    let outcome = match status {
        Status::Cancelled => Outcome::Cancelled,
        _ if missing > 0 => Outcome::Incomplete,
        _ => Outcome::Complete,
    };
    Ok((record, outcome))
}
