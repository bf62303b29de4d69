//! Pairwise f with the features (1, x): which algorithm, rounds of cuts, and the proof.

use super::cuts::{self, Cuts, Triangle};
use super::quadratic::Quadratic;
use super::{Factor, Found, interior_point, low_rank};
use crate::certify::{Certificate, CertifiedBound, Component, Cut, Form, Slack};
use crate::error::Result;
use crate::linalg::Square;
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::settings::Settings;
use crate::solution::StopReason;

use crate::linalg::symmetric::cholesky;

/// Rows up to which the interior-point method is the faster one.
const DENSE: usize = 400;
/// Rows up to which it runs when there are cuts.
const DENSE_WITH_CUTS: usize = 1000;
/// Rounds of separation.
const ROUNDS: usize = 10;
/// Cuts added per round and kept between rounds, per row.
const ADDED: usize = 3;
const KEPT: usize = 5;
/// Violations below this are not worth a cut.
const VIOLATION: f64 = 1e-5;
/// Gap to which rounds before the last are solved.
const ROUND_TOL: f64 = 3e-4;

/// The best proof over all rounds.
pub(super) fn solve(
    f: &Polynomial,
    ising: &Ising,
    kind: Cuts,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Found {
    let p = Quadratic::new(ising);
    if (0..p.n()).all(|i| p.row(i).is_empty()) {
        return constant(f, ising);
    }
    let limit = if kind == Cuts::None { DENSE } else { DENSE_WITH_CUTS };
    if p.n() > limit {
        let mut found = factored(f, ising, &p, settings, monitor);
        if kind != Cuts::None {
            found.reason = Some(format!("cuts are separated up to {limit} spins: none were used"));
        }
        return found;
    }
    let first = dense(f, ising, &p, &[], 0.5 * settings.tol, monitor);
    if kind == Cuts::None {
        return first.0;
    }
    // Cuts move the vectors together, and sometimes the plain ones round to the better assignment.
    let plain = Factor { rows: first.0.factors[0].rows.clone(), rank: first.0.factors[0].rank };
    let mut found = tighten(f, ising, &p, kind, first, settings, monitor);
    if found.proof.as_ref().is_ok_and(|proof| !proof.0.slack.cuts.is_empty()) {
        found.factors.push(plain);
    }
    found
}

/// Rounds of cuts on top of the solution without any.
fn tighten(
    f: &Polynomial,
    ising: &Ising,
    p: &Quadratic,
    kind: Cuts,
    mut best: (Found, interior_point::Iterate),
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Found {
    let mut active: Vec<Triangle> = Vec::new();
    let mut best_cuts: Vec<Triangle> = Vec::new();
    let mut x = best.1.x;
    let mut last = best.0.bound();
    for _ in 0..ROUNDS {
        if !matches!(best.0.stop, StopReason::Converged | StopReason::Stalled) {
            return best.0;
        }
        let new = cuts::separate(&x, kind, VIOLATION, ADDED * p.n());
        if new.is_empty() {
            break;
        }
        active.extend(new.into_iter().filter(|cut| !active.contains(cut)).collect::<Vec<_>>());
        let (found, point) = dense(f, ising, p, &active, ROUND_TOL.max(settings.tol), monitor);
        if interrupted(found.stop) {
            best.0.stop = found.stop;
            return best.0;
        }
        let gain = last - found.bound();
        last = found.bound();
        if found.bound() < best.0.bound() {
            best.0 = found;
            best_cuts.clone_from(&active);
        }
        active = heaviest(active, &point.gamma, KEPT * p.n());
        x = point.x;
        if gain.abs() <= ROUND_TOL * 0.1 * last.abs() {
            break;
        }
    }
    if best_cuts.is_empty() {
        return best.0;
    }
    let (found, _) = dense(f, ising, p, &best_cuts, 0.5 * settings.tol, monitor);
    if found.bound() < best.0.bound() {
        return found;
    }
    if interrupted(found.stop) {
        best.0.stop = found.stop;
    }
    best.0
}

/// f is its constant.
fn constant(f: &Polynomial, ising: &Ising) -> Found {
    Found {
        proof: prove(f, ising, Vec::new(), &vec![0.0; ising.d() + 1], 0.0),
        primal: ising.constant(),
        factors: vec![Factor::NONE],
        stop: StopReason::Converged,
        reason: None,
    }
}

/// The cuts with the largest multipliers: those that carry nothing only slow the next round.
pub(super) fn heaviest(active: Vec<Triangle>, gamma: &[f64], count: usize) -> Vec<Triangle> {
    let top = gamma.iter().fold(0.0f64, |m, g| m.max(*g));
    let mut weighed: Vec<(f64, Triangle)> =
        gamma.iter().copied().zip(active).filter(|(g, _)| *g > 1e-3 * top).collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    weighed.truncate(count);
    weighed.into_iter().map(|(_, cut)| cut).collect()
}

fn interrupted(stop: StopReason) -> bool {
    matches!(stop, StopReason::Cancelled | StopReason::TimeLimit | StopReason::MaxIterations)
}

fn dense(
    f: &Polynomial,
    ising: &Ising,
    p: &Quadratic,
    active: &[Triangle],
    tol: f64,
    monitor: &mut Monitor<'_>,
) -> (Found, interior_point::Iterate) {
    let point = interior_point::solve(p, active, ising.constant(), interior_point::Pace::to(tol), monitor);
    let scaled = |v: &f64| p.scale * v;
    let list: Vec<Cut> = active.iter().zip(&point.gamma).map(|(c, g)| c.cut(scaled(g))).collect();
    let y: Vec<f64> = point.y.iter().map(scaled).collect();
    let found = Found {
        proof: prove(f, ising, list, &y, 0.0),
        primal: ising.constant() + p.scale * point.primal,
        factors: vec![factor(&point.x)],
        stop: point.stop,
        reason: None,
    };
    (found, point)
}

fn factored(
    f: &Polynomial,
    ising: &Ising,
    p: &Quadratic,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Found {
    let point = low_rank::solve(p, ising.constant(), 0.5 * settings.tol, settings.seed, monitor);
    let shift = p.scale * point.shift;
    let y: Vec<f64> = point.y.iter().map(|v| p.scale * v + shift).collect();
    let primal = ising.constant() + p.scale * point.value;
    let proof = prove(f, ising, Vec::new(), &y, 0.1 * shift);
    let factors = vec![Factor { rows: point.rows, rank: point.rank }];
    Found { proof, primal, factors, stop: point.stop, reason: None }
}

/// `f + cuts <= c + sum y`, y lifted as much as the factorisation needs; the first lift tried is `lift`.
pub(super) fn prove(
    f: &Polynomial,
    ising: &Ising,
    list: Vec<Cut>,
    y: &[f64],
    lift: f64,
) -> Result<(Certificate, CertifiedBound)> {
    let with_cuts = if list.is_empty() { f.clone() } else { cuts::add(ising, &list)? };
    let form = Form::sparse_dual_near(&with_cuts, y, lift)?;
    let certificate = Certificate {
        eps: 0.0,
        slack: Slack { cuts: list, squares: Vec::new() },
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    };
    let bound = certificate.verify(f)?;
    Ok((certificate, bound))
}

/// X = L L^T by rows of L.
fn factor(x: &Square) -> Factor {
    let n = x.n();
    let mut l = x.clone();
    if !cholesky(&mut l) {
        return Factor::NONE;
    }
    Factor { rows: (0..n * n).map(|k| l.at(k / n, k % n)).collect(), rank: n }
}
