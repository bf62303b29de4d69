//! Pairwise f with the features (1, x): which algorithm, rounds of cuts, and the proof.

use super::cuts::Cuts;
use super::quadratic::Quadratic;
use super::{Factor, Found, cycles, interior_point, low_rank};
use crate::certify::{Certificate, CertifiedBound, Component, Cut, Form, Slack};
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::linalg::symmetric::cholesky;
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::relax::cuts::{Triangle, heaviest, violated, with_cuts};
use crate::settings::Settings;
use crate::solution::StopReason;
use std::collections::HashSet;

/// Rows up to which the interior-point method is the faster one.
const DENSE: usize = 400;
/// Rows up to which it runs when there are cuts.
const DENSE_WITH_CUTS: usize = 1000;
/// Spins from which, and edges per spin up to which, cycles along edges take the place of triangles over all pairs.
const SPARSE: (usize, usize) = (250, 6);
/// Rounds of separation.
const ROUNDS: usize = 10;
/// Cuts added per round, per row.
const ADDED: usize = 3;
/// Cuts kept between rounds, per row.
const KEPT: usize = 5;
/// Violations of an inequality of size one below this are not worth a cut.
const VIOLATION: f64 = 1e-5;
/// Relative gap to which rounds before the last are solved.
const ROUND_TOL: f64 = 3e-4;

/// Operations of a proof, in units of m n: a factorisation entry by entry, which is slower than a product of matrices.
const PROOF: f64 = 30.0;

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
    if kind == Cuts::Triangle && is_sparse(ising) {
        return with_cycles(f, ising, &p, settings, monitor);
    }
    if kind == Cuts::Triangle && p.n() > DENSE_WITH_CUTS {
        // A round of cuts takes long where every pair has a term: time may not be enough for one.
        let rough = Settings { tol: ROUND_TOL.max(settings.tol), ..settings.clone() };
        let plain = factored(f, ising, &[], &rough, monitor);
        if monitor.interrupted().is_some() {
            return plain;
        }
        let tight = with_cycles(f, ising, &p, settings, monitor);
        return if tight.bound() < plain.bound() { tight } else { Found { stop: tight.stop, ..plain } };
    }
    let limit = if kind == Cuts::None { DENSE } else { DENSE_WITH_CUTS };
    if p.n() > limit {
        let mut found = factored(f, ising, &[], settings, monitor);
        if kind != Cuts::None {
            found.reason = Some(format!("pairwise cuts are separated up to {limit} spins: none were used"));
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
        let new = violated(&x, kind.tops(p.n()), VIOLATION, ADDED * p.n());
        if new.is_empty() {
            break;
        }
        let present: HashSet<Triangle> = active.iter().copied().collect();
        active.extend(new.into_iter().map(|found| found.1).filter(|cut| !present.contains(cut)));
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

/// Whether cycles along edges say more, in less time, than triangles over all pairs.
fn is_sparse(ising: &Ising) -> bool {
    ising.d() > SPARSE.0 && ising.edges().len() <= SPARSE.1 * ising.d()
}

/// The relaxation of f with these cuts added, without further ones; its primal value is that of f with the cuts.
fn factored(
    f: &Polynomial,
    ising: &Ising,
    list: &[Cut],
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Found {
    let raised = match raised(f, ising, list) {
        Ok(raised) => raised,
        Err(error) => return failed(error),
    };
    let raised = raised.pairwise_part();
    let p = Quadratic::new(raised);
    let point = low_rank::solve(&p, raised.constant(), 0.5 * settings.tol, settings.seed, monitor);
    let shift = p.scale * point.shift;
    let y: Vec<f64> = point.y.iter().map(|v| p.scale * v + shift).collect();
    let primal = raised.constant() + p.scale * point.value;
    let proof = prove(f, ising, list.to_vec(), &y, 0.1 * shift);
    let factors = vec![Factor { rows: point.rows, rank: point.rank }];
    Found { proof, primal, factors, stop: point.stop, reason: None }
}

/// Cycle inequalities along edges, with multipliers from a first-order method, and the relaxation of f with them added.
fn with_cycles(
    f: &Polynomial,
    ising: &Ising,
    p: &Quadratic,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Found {
    // On dense graphs the proofs of both solves take seconds; factors of sparse ones have few entries.
    let entries = if is_sparse(ising) { 0.0 } else { ising.edges().len() as f64 };
    let proof = monitor.deadline().dense_seconds(PROOF * entries * p.n() as f64);
    monitor.reserve_seconds(2.0 * proof);
    let cycles = cycles::multipliers(p, ising.constant() / p.scale, settings.seed, monitor);
    monitor.reserve_seconds(proof);
    let Some(cycles) = cycles else {
        return factored(f, ising, &[], settings, monitor);
    };
    let list = cycles.list(p.scale);
    let mut found = factored(f, ising, &list, settings, monitor);
    found.primal = ising.constant() + p.scale * cycles.primal;
    let estimate = ising.constant() + p.scale * cycles.bound;
    if !(found.bound() <= estimate) {
        // The second solve was cut short: what the first one ended with is better.
        let shift = p.scale * cycles.shift;
        let y: Vec<f64> = cycles.y.iter().map(|v| p.scale * v + shift).collect();
        let proof = prove(f, ising, list, &y, 0.1 * shift);
        if proof.as_ref().is_ok_and(|(_, bound)| bound.phi() < found.bound()) {
            found.proof = proof;
        }
    }
    found
}

/// Numbers left floating point.
fn failed(error: Error) -> Found {
    Found {
        proof: Err(error),
        primal: f64::NEG_INFINITY,
        factors: vec![Factor::NONE],
        stop: StopReason::NumericalTrouble,
        reason: None,
    }
}

/// f with cuts added.
fn raised(f: &Polynomial, ising: &Ising, list: &[Cut]) -> Result<Polynomial> {
    if list.is_empty() { Ok(f.clone()) } else { with_cuts(ising, list) }
}

/// `f + cuts <= c + sum y`, y lifted as much as the factorisation needs; the first lift tried is `lift`.
pub(super) fn prove(
    f: &Polynomial,
    ising: &Ising,
    list: Vec<Cut>,
    y: &[f64],
    lift: f64,
) -> Result<(Certificate, CertifiedBound)> {
    let form = Form::sparse_dual_near(&raised(f, ising, &list)?, y, lift)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;

    fn bound(ising: &Ising) -> f64 {
        let settings = Settings::default();
        let f = Polynomial::from(ising.clone());
        let mut silent = Silent;
        let mut monitor = Monitor::new(&settings, 100_000, &mut silent);
        with_cycles(&f, ising, &Quadratic::new(ising), &settings, &mut monitor).bound()
    }

    #[test]
    fn a_frustrated_cycle_is_closed_by_its_inequality() {
        let couplings: Vec<_> = (0..9usize).map(|i| (i.min((i + 1) % 9), i.max((i + 1) % 9), -1.0)).collect();
        let ising = Ising::new(9, &[0.0; 9], &couplings).unwrap();
        // One of nine edges cannot be satisfied; without cuts the bound is 9 cos(pi / 9) = 8.46.
        let bound = bound(&ising);
        assert!((7.0..7.05).contains(&bound), "{bound}");
    }

    #[test]
    fn bounds_with_cycles_are_above_brute_force() {
        for seed in 0..60usize {
            let wave = |k: usize| ((seed * 7919 + 31 * k + k * k) as f64 * 0.61).sin();
            let d = 5 + seed % 5;
            let fields: Vec<f64> = (0..d).map(|i| if seed % 2 == 0 { 0.0 } else { wave(i) }).collect();
            let pairs = (0..d).flat_map(|j| (0..j).map(move |i| (i, j)));
            let couplings: Vec<_> = pairs
                .filter(|(i, j)| wave(100 + i * d + j) > 0.0)
                .map(|(i, j)| (i, j, 2.0 * wave(500 + i * d + j)))
                .collect();
            let ising = Ising::new(d, &fields, &couplings).unwrap();
            let f = Polynomial::from(ising.clone());
            let spins =
                |bits: usize| (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>();
            let largest = (0..1 << d).map(|bits| f.value(&spins(bits))).fold(f64::NEG_INFINITY, f64::max);
            let bound = bound(&ising);
            assert!(bound >= largest, "seed {seed}: {bound} below {largest}");
            assert!(bound.is_finite());
        }
    }
}
