//! One question about the maximum: the relaxation alone, or whatever closes the gap.

use super::close;
use super::record::{Answer, MapRecord, Proof, entry_bound, record};
use crate::certify::{Certificate, Limits};
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::model::{Model, Source};
use crate::observer::Observer;
use crate::query::map::{Cuts, Map, MapSolution};
use crate::record::Status;
use crate::run::Outcome;
use crate::run::free_sets;
use crate::settings::Settings;
use crate::solution::{FALLBACK, StopReason};
use std::path::Path;
use std::time::Instant;

/// What `zbound map` is asked.
#[derive(Clone, Debug, Default)]
pub struct MapRequest {
    /// Features of the moment matrix, in file numbers.
    pub features: FeatureSpec,
    /// Inequalities that tighten the bound.
    pub cuts: Cuts,
    /// Whether to go on to exact elimination, branching and integrality of the data until the gap is closed or time is up,
    /// in place of the one relaxation that `features` and `cuts` name.
    pub close: bool,
    /// Whether what closes the gap is to come with a certificate; one relaxation always does.
    pub want_certificate: bool,
    /// Tolerance and limits.
    pub settings: Settings,
    /// The file as the user named it.
    pub path: Option<String>,
}

/// Everything one call of [`map`] found.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct MapReport {
    /// The document for programs.
    pub record: MapRecord,
    /// The proof behind `record.upper`.
    pub certificate: Option<Certificate>,
    /// Log value to which zero table entries were raised.
    pub zero_floor: Option<f64>,
    /// Whether the request was met.
    pub outcome: Outcome,
}

/// Bounds the maximum of `model` and looks for a maximiser.
///
/// # Errors
/// As [`Map::solve_with`]; [`crate::Error::NotApplicable`] when no state has positive weight.
///
/// ```
/// use zbound::query::map::{MapRequest, map};
/// use zbound::{Ising, Model, Silent};
/// let model = Model::from(Ising::new(2, &[0.5, 0.0], &[(0, 1, -1.0)])?);
/// let report = map(&model, &MapRequest::default(), &mut Silent)?;
/// assert_eq!(report.record.assignment, [1, -1]);
/// assert!(report.record.upper.unwrap() >= 1.5 && report.record.upper.unwrap() < 1.51);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn map(model: &Model, request: &MapRequest, observer: &mut dyn Observer) -> Result<MapReport> {
    if request.close || !model.is_binary() {
        return close::map(model, request, observer);
    }
    let (f, floor) = model.majorant(1.0)?;
    let features = match &request.features {
        FeatureSpec::Explicit(sets) => FeatureSpec::Explicit(free_sets(model, sets)?),
        spec => spec.clone(),
    };
    let (mut solution, floor) = match floor {
        None => (Map::new(request.cuts).solve_with(&f, &features, &request.settings, observer)?, None),
        Some(_) => solve_raised(model, request, &features, observer)?,
    };
    if floor.is_some() {
        // A value of g >= f says nothing about f.
        solution.certificate.iter_mut().for_each(|c| c.witness = None);
        solution.reason.get_or_insert_with(|| {
            "zero table entries were raised to a small positive floor, which keeps the upper bound valid"
                .into()
        });
    }
    let outcome = outcome(&solution, &request.settings);
    let record = record(model, request, answer(&solution, Proof::Relaxation))?;
    Ok(MapReport { record, certificate: solution.certificate, zero_floor: floor, outcome })
}

/// A solution as an answer about states.
pub(super) fn answer(solution: &MapSolution, proof: Proof) -> Answer {
    let states = solution.assignment.iter().map(|&x| u32::from(x > 0)).collect();
    Answer {
        reason: solution.reason.clone(),
        relaxation_gap: solution.relaxation_gap,
        iterations: solution.iterations,
        cuts: solution.certificate.as_ref().map_or(0, |c| c.slack.cuts.len()),
        seconds: solution.seconds,
        ..Answer::new(solution.upper.map(|b| b.phi()), proof, states, solution.stop.into())
    }
}

/// Depths of the floor of hard zeros, in the units of f, from the one of temperature 1 on.
const DEPTHS: [f64; 7] = [1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.0];

/// Hard zeros raised to the best floor: any floor is valid, the relaxation is convex in it, and without cuts
/// deep floors can be far worse than shallow ones. The assignment is the best of all, under f itself.
fn solve_raised(
    model: &Model,
    request: &MapRequest,
    features: &FeatureSpec,
    observer: &mut dyn Observer,
) -> Result<(MapSolution, Option<f64>)> {
    let start = Instant::now();
    let (tables, ends) = (model.factors()?, request.settings.ends());
    let value = |s: &MapSolution| tables.value(&s.assignment);
    let bound = |s: &MapSolution| s.upper.map_or(f64::INFINITY, |b| b.phi());
    let mut best: Option<(MapSolution, Option<f64>)> = None;
    for depth in DEPTHS {
        let floor = tables.zero_floor(depth)?;
        let left = ends.is_limited().then(|| ends.seconds_left());
        if best.as_ref().is_some_and(|b| b.1 == floor) {
            continue;
        }
        if best.is_some() && left.is_some_and(|left| left <= 0.0) {
            break;
        }
        // Half of what is left: the first floor is rarely the best.
        let settings = request.settings.for_part(&ends, left.map(|left| 0.5 * left));
        let f = model.raised(floor)?;
        let next = Map::new(request.cuts).solve_with(&f, features, &settings, observer)?;
        let stop = next.stop == StopReason::Cancelled;
        let Some((known, old_floor)) = best.take() else {
            best = Some((next, floor));
            if stop { break } else { continue }
        };
        let assignment =
            if value(&next) > value(&known) { next.assignment.clone() } else { known.assignment.clone() };
        let better = bound(&next) < bound(&known);
        let (mut kept, floor) = if better { (next, floor) } else { (known, old_floor) };
        kept.assignment = assignment;
        best = Some((kept, floor));
        if stop || !better {
            break;
        }
    }
    let (mut solution, floor) =
        best.ok_or_else(|| crate::error::Error::NotApplicable("no state has positive weight".into()))?;
    solution.seconds = start.elapsed().as_secs_f64();
    Ok((solution, floor))
}

impl MapReport {
    /// What the coefficients alone say: `max f <= c + sum |theta|`, and the assignment that every spin's own field asks
    /// for. It is the answer of a run that has to end before it found anything better.
    ///
    /// # Errors
    /// As [`map`].
    pub fn from_coefficients(model: &Model, request: &MapRequest) -> Result<Self> {
        if !matches!(model.source(), Source::Polynomial(_)) {
            // The polynomial of a table may cost more than an answer.
            let first = vec![0; model.d()];
            let mut found =
                Answer::new(Some(entry_bound(model)?), Proof::Coefficients, first, Status::TimeLimit);
            found.reason = Some(FALLBACK.into());
            let record = record(model, request, found)?;
            return Ok(MapReport { record, certificate: None, zero_floor: None, outcome: Outcome::Complete });
        }
        let (f, floor) = model.majorant(1.0)?;
        let certificate = Certificate::of_coefficients(&f, 0.0, true, false);
        let sign = |h: &f64| if *h < 0.0 { -1 } else { 1 };
        let assignment: Vec<i8> = f.pairwise_part().fields().iter().map(sign).collect();
        let solution = MapSolution {
            upper: certificate.verify(&f).ok(),
            value: f.value(&assignment),
            assignment,
            relaxation_gap: None,
            stop: StopReason::TimeLimit,
            reason: Some(FALLBACK.into()),
            iterations: 0,
            seconds: 0.0,
            features: None,
            certificate: None,
        };
        let outcome = outcome(&solution, &request.settings);
        let record = record(model, request, answer(&solution, Proof::Coefficients))?;
        Ok(MapReport { record, certificate: Some(certificate), zero_floor: floor, outcome })
    }

    /// Writes the certificate, with what it claims about `model`, and says whether there was one.
    ///
    /// # Errors
    /// As [`Certificate::verify_model`] and [`Certificate::write`].
    pub fn write_certificate(&self, model: &Model, path: &Path) -> Result<bool> {
        let Some(certificate) = &self.certificate else { return Ok(false) };
        let claim = certificate.verify_model_within(model, self.zero_floor, &Limits::default())?;
        certificate.write(path, &claim)?;
        Ok(true)
    }
}

fn outcome(solution: &MapSolution, settings: &Settings) -> Outcome {
    let met = match solution.stop {
        StopReason::Cancelled => return Outcome::Cancelled,
        StopReason::Converged => true,
        StopReason::TimeLimit => settings.time_limit_secs.is_some(),
        StopReason::MaxIterations => settings.max_iterations.is_some(),
        _ => false,
    };
    let within = || {
        let (upper, gap) = (solution.upper?.phi(), solution.relaxation_gap?);
        Some(gap <= settings.tol * upper.abs())
    };
    if solution.upper.is_some() && (met || within() == Some(true)) {
        Outcome::Complete
    } else {
        Outcome::Incomplete
    }
}
