//! Any features: the quantum relaxation at a temperature near 0.
//!
//! `a_0 - eps log n <= a_eps <= a_0` and a dual point Y proves `max f <= n lambda_max(F - Y)`.

use super::{Factor, Found};
use crate::certify::{Certificate, CertifiedBound, Cut};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::{Polynomial, VarSet};
use crate::observer::Monitor;
use crate::problem::{EPS_RANGE, Problem};
use crate::relax::cuts::with_cuts;
use crate::relax::{Quantum, Relaxation, SpectralPoint};
use crate::search::{Effort, best_spins};
use crate::settings::Settings;
use crate::solution::Solution;

/// Share of the tolerance that the temperature may cost.
const TEMPERATURE_SHARE: f64 = 0.25;
/// Temperatures tried, each ten times the last, while none can be certified to the tolerance.
const ATTEMPTS: usize = 4;

/// Columns of the root below this, relative to the largest, are rounding.
const LEAST_WEIGHT: f64 = 1e-8;

/// Bounds `max f` with the moments of `features`, f and the cuts taken together.
pub(super) fn solve(
    f: &Polynomial,
    list: &[Cut],
    features: &Features,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Found> {
    let target = match f.as_ising() {
        Some(ising) if !list.is_empty() => with_cuts(ising, list)?,
        _ => f.clone(),
    };
    let constant = f.pairwise_part().constant();
    let guess = f.value(&best_spins(f, &[], Effort::brief(settings), monitor));
    let size = (guess.abs()).max(1e-3 * (guess - constant).abs());
    let cost = (features.len() as f64).ln().max(1.0);
    let mut eps = TEMPERATURE_SHARE * settings.tol * size / cost;
    let mut best: Option<Found> = None;
    for _ in 0..ATTEMPTS {
        let clamped = eps.clamp(*EPS_RANGE.start(), *EPS_RANGE.end());
        let problem = Problem::new(target.clone(), features.clone())?.with_temperature(clamped)?;
        // The gap of the inner solve is relative to its own value: leave it the rest of the tolerance.
        let inner = settings.for_part(monitor.deadline(), None).with_tol((0.5 * settings.tol).max(1e-15));
        let solution = Quantum::default().solve_with(&problem, &inner, &mut monitor.relay())?;
        monitor.iterations += solution.iterations;
        let found = read(f, list, features, clamped, solution);
        let met = found.bound() - found.primal <= settings.tol * found.bound().abs();
        if best.as_ref().is_none_or(|b| found.bound() < b.bound()) {
            best = Some(found);
        }
        if let Some(stop) = monitor.interrupted() {
            best.iter_mut().for_each(|b| b.stop = stop);
            break;
        }
        if met {
            break;
        }
        eps *= 10.0;
    }
    best.ok_or_else(|| Error::Setting("no temperature was tried".into()))
}

fn read(f: &Polynomial, list: &[Cut], features: &Features, eps: f64, solution: Solution) -> Found {
    let primal = match (solution.upper, solution.relaxation_gap) {
        (Some(upper), Some(gap)) => upper.phi() - gap,
        _ => f64::NEG_INFINITY,
    };
    let factor = solution.point.as_ref().map_or(Factor::NONE, |point| factor(point, eps, features, f.d()));
    let reason = solution.reason.clone();
    let proof = match solution.certificate {
        Some(certificate) => prove(f, list, certificate),
        None => Err(Error::Certificate(reason.unwrap_or_else(|| "nothing was proved".into()))),
    };
    Found { proof, primal, factors: vec![factor], stop: solution.stop, reason: None }
}

fn prove(
    f: &Polynomial,
    list: &[Cut],
    mut certificate: Certificate,
) -> Result<(Certificate, CertifiedBound)> {
    certificate.eps = 0.0;
    certificate.slack.cuts = list.to_vec();
    let bound = certificate.verify(f)?;
    Ok((certificate, bound))
}

/// Rows of the root of the moment matrix for the constant and the single spins; empty when the features lack one of
/// them.
fn factor(point: &SpectralPoint, eps: f64, features: &Features, d: usize) -> Factor {
    let place = |set: VarSet| features.sets().iter().position(|s| *s == set);
    let wanted = std::iter::once(VarSet::EMPTY).chain((0..d).map(VarSet::singleton));
    let Some(places) = wanted.map(place).collect::<Option<Vec<usize>>>() else { return Factor::NONE };
    let (moments, vectors) = point.moments(eps);
    let top = moments.iter().copied().fold(0.0, f64::max);
    let weight = |(k, value): (usize, &f64)| (k, (value / top).sqrt());
    let kept: Vec<(usize, f64)> =
        moments.iter().enumerate().map(weight).filter(|(_, w)| *w > LEAST_WEIGHT).collect();
    let rows = places.iter().flat_map(|&i| kept.iter().map(move |&(k, w)| w * vectors.at(i, k)));
    Factor { rows: rows.collect(), rank: kept.len() }
}
