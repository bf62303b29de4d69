//! One node of the tree: part of the cube, and a bound on f over it.
//!
//! Multipliers of triangle cuts come from a first-order method ([`Climb`]) that starts where the parent's ended; the
//! interior-point method then finds the best diagonal for them, and the bound is proved in interval arithmetic like any
//! other.

use super::climb::{Climb, Start};
use super::descent::improved;
use super::proof::Above;
use crate::certify::{Certificate, CertifiedBound, Component, Cut, Form, Slack};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::PreparedPeak;
use crate::model::{FactorModel, Ising, Polynomial};
use crate::observer::{Monitor, Silent};
use crate::query::map::interior_point::{self, Pace};
use crate::query::map::pairwise::prove;
use crate::query::map::quadratic::Quadratic;
use crate::relax::cuts::with_cuts;
use crate::settings::Settings;

/// Free spins up to which a node is solved by elimination.
pub(super) const EXACT_SPINS: usize = 18;
/// Relative gap to which the diagonal is found.
const DIAGONAL_TOL: f64 = 1e-4;

/// How much a node is worth.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Times that multipliers are proved, rounds before each, and steps of a round.
    bursts: usize,
    rounds: usize,
    steps: usize,
    /// A burst that gains less than this share of what is missing is the last.
    worthwhile: f64,
}

/// The root, whose cuts all others inherit.
pub(super) const ROOT: Effort = Effort { bursts: 10, rounds: 6, steps: 60, worthwhile: 0.03 };
/// A node below.
pub(super) const BELOW: Effort = Effort { bursts: 2, rounds: 5, steps: 40, worthwhile: 1.0 };

/// Part of the cube.
pub(super) struct Node {
    pub(super) fixed: Vec<Option<i8>>,
    /// Proved bound on f over it.
    pub(super) bound: f64,
    /// Where the search for its bound ended.
    pub(super) start: Option<Start>,
    /// The spin to fix next; `None` when the bound is the maximum itself.
    pub(super) next: Option<usize>,
    /// An assignment that the relaxation suggests.
    pub(super) candidate: Vec<i8>,
    pub(super) above: Option<Above>,
    /// What it proves by itself, with the certificate if that is wanted.
    pub(super) own: (f64, Option<Certificate>),
}

impl Node {
    /// About what it takes while it waits.
    pub(super) fn bytes(&self) -> u64 {
        4 * self.fixed.len() as u64 + self.start.as_ref().map_or(0, Start::bytes)
    }

    /// The two halves, with `next` fixed.
    ///
    /// `number` is its own.
    pub(super) fn halves(&self, number: usize, next: usize) -> [Part; 2] {
        let column = 1 + self.fixed[..next].iter().filter(|s| s.is_none()).count();
        [1, -1].map(|spin| {
            let mut fixed = self.fixed.clone();
            fixed[next] = Some(spin);
            let start = self.start.as_ref().map(|s| s.fixed(column, spin));
            Part { fixed, start, known: self.bound, above: Some((number, next, spin)) }
        })
    }
}

/// What is known of a part before it is bounded.
pub(super) struct Part {
    pub(super) fixed: Vec<Option<i8>>,
    pub(super) start: Option<Start>,
    /// A bound.
    pub(super) known: f64,
    pub(super) above: Option<Above>,
}

/// What a node is to reach, and with what.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    /// A bound below this is enough.
    pub(super) goal: f64,
    pub(super) effort: Effort,
    /// Whether certificates are kept.
    pub(super) keeps: bool,
    /// Free spins up to which a node is solved by elimination.
    pub(super) exact_spins: usize,
    pub(super) settings: &'a Settings,
}

/// Bounds one node.
pub(super) fn examine(f: &Polynomial, part: Part, task: Task<'_>, deadline: &Deadline) -> Result<Node> {
    let Part { fixed, start, known, above } = part;
    let settings = task.settings;
    let part = f.condition(&fixed)?;
    let free: Vec<usize> = (0..fixed.len()).filter(|&i| fixed[i].is_none()).collect();
    let own = settings.for_part(deadline, None);
    let mut silent = Silent;
    let mut monitor = Monitor::new(&own, usize::MAX, &mut silent);
    let spins = |inside: &dyn Fn(usize) -> i8| {
        let mut x: Vec<i8> = fixed.iter().map(|s| s.unwrap_or(1)).collect();
        free.iter().enumerate().for_each(|(k, &i)| x[i] = inside(k));
        x
    };
    if free.len() <= task.exact_spins {
        let tables = FactorModel::from(&part);
        let peak = PreparedPeak::new(&tables, &own, &mut monitor)?.run(&own, &mut monitor);
        if let Ok(peak) = peak {
            let candidate = spins(&|k| if peak.states[k] == 1 { 1 } else { -1 });
            let own = (peak.upper, if task.keeps { summed(&part) } else { None });
            let bound = peak.upper.min(known);
            return Ok(Node { fixed, bound, start: None, next: None, candidate, above, own });
        }
    }
    let Some(ising) = part.as_ising() else {
        let (candidate, next, own) = (spins(&|_| 1), free.first().copied(), (f64::INFINITY, None));
        return Ok(Node { candidate, fixed, bound: known, start, next, above, own });
    };
    let found = tighten(&part, ising, (start.as_ref(), known), task, &mut monitor);
    let moment = |k: usize| found.pull.get(k).copied().unwrap_or(0.0);
    let next = undecided(ising, &found.pull);
    let suggested: Vec<i8> = (0..free.len()).map(|k| if moment(k) < 0.0 { -1 } else { 1 }).collect();
    let suggested = improved(ising, suggested);
    Ok(Node {
        candidate: spins(&|k| suggested[k]),
        bound: found.own.0.min(known),
        start: Some(found.end),
        next: next.map(|k| free[k]),
        fixed,
        above,
        own: found.own,
    })
}

/// The spin to fix: the less decided and the stronger its couplings, the more that tells about the others.
fn undecided(ising: &Ising, pull: &[f64]) -> Option<usize> {
    let mut strength = vec![0.0; ising.d()];
    for (i, j, v) in ising.triples() {
        strength[i] += v.abs();
        strength[j] += v.abs();
    }
    let open = |i: usize| 1.0 - pull.get(i).copied().unwrap_or(0.0).abs();
    let score = |i: usize| open(i).max(0.0) * strength[i];
    (0..ising.d()).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)))
}

/// What rounds of cuts found.
struct Tightened {
    /// The best bound, with its certificate if that is wanted.
    own: (f64, Option<Certificate>),
    end: Start,
    /// Moments of single spins.
    pull: Vec<f64>,
}

/// Rounds of cuts, proved now and then, until the bound is below `goal` or more rounds do not pay.
fn tighten(
    f: &Polynomial,
    ising: &Ising,
    (start, known): (Option<&Start>, f64),
    Task { goal, effort, keeps, .. }: Task<'_>,
    monitor: &mut Monitor<'_>,
) -> Tightened {
    let p = Quadratic::new(ising);
    let mut climb = Climb::new(&p, start, monitor.deadline());
    let mut own: (f64, Option<Certificate>) = (f64::INFINITY, None);
    for _ in 0..effort.bursts {
        let mut best: Option<Priced> = None;
        for _ in 0..effort.rounds {
            climb.round(effort.steps);
            let Some(dual) = climb.dual() else { break };
            let value = ising.constant() + p.scale * dual.bound;
            if best.as_ref().is_none_or(|best| value < best.value) {
                let priced = climb.cuts().zip(&dual.gamma).filter(|(_, g)| **g > 0.0);
                let cuts = priced.map(|(cut, g)| cut.cut(p.scale * g)).collect();
                best = Some(Priced { value, cuts, y: dual.y.iter().map(|y| p.scale * y).collect() });
            }
            if value < goal || monitor.interrupted().is_some() {
                break;
            }
        }
        let Some(best) = best else { break };
        let before = own.0.min(known);
        if let Ok((certificate, bound)) = proved(f, ising, best, goal, monitor)
            && bound.phi() < own.0
        {
            own = (bound.phi(), keeps.then_some(certificate));
        }
        let is_slow = before - own.0 < effort.worthwhile * (own.0 - goal);
        if own.0 < goal || is_slow || monitor.interrupted().is_some() {
            break;
        }
    }
    let pull = (1..p.n()).map(|i| climb.moments().at(0, i)).collect();
    Tightened { own, end: climb.end(p.scale), pull }
}

/// Cuts with a diagonal that proves about `value`, in units of f.
struct Priced {
    value: f64,
    cuts: Vec<Cut>,
    y: Vec<f64>,
}

/// The bound that cuts prove, with the diagonal that came with them or, when that is not enough, the best one.
fn proved(
    f: &Polynomial,
    ising: &Ising,
    priced: Priced,
    goal: f64,
    monitor: &mut Monitor<'_>,
) -> Result<(Certificate, CertifiedBound)> {
    let Priced { value, cuts, mut y } = priced;
    if value >= goal
        && let Ok(raised) = with_cuts(ising, &cuts)
    {
        let raised = raised.pairwise_part();
        let p = Quadratic::new(raised);
        let pace = Pace { tol: DIAGONAL_TOL, enough: goal };
        let point = interior_point::solve(&p, &[], raised.constant(), pace, monitor);
        if raised.constant() + p.scale * point.y.iter().sum::<f64>() < value {
            y = point.y.iter().map(|v| p.scale * v).collect();
        }
    }
    prove(f, ising, cuts, &y, 0.0)
}

/// The proof of a small part: itself, summed along an order.
fn summed(part: &Polynomial) -> Option<Certificate> {
    let order = (0..part.d() as u32).collect();
    let form = Form::Elimination { polynomial: part.clone(), order };
    let components = vec![Component { weight: 1.0, form }];
    let certificate = Certificate { eps: 0.0, slack: Slack::default(), components, witness: None };
    certificate.verify(part).is_ok().then_some(certificate)
}
