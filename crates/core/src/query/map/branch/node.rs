//! One node of the tree: part of the cube, and a bound on f over it.
//!
//! Multipliers of triangle cuts come from a first-order method ([`Climb`]) that starts where the parent's ended; the
//! interior-point method then finds the best diagonal for them, and the bound is proved in interval arithmetic like any
//! other.

use super::climb::{Climb, Start};
use super::descent::improved;
use crate::certify::Cut;
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
const EXACT_SPINS: usize = 18;
/// Relative gap to which the diagonal is found.
const DIAGONAL_TOL: f64 = 1e-4;

/// How much a node is worth.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Times that multipliers are proved, rounds before each, and steps of a round.
    bursts: usize,
    rounds: usize,
    steps: usize,
    /// A burst that closes less than this share of what is missing is the last.
    worthwhile: f64,
}

/// The root, whose cuts all others inherit.
pub(super) const ROOT: Effort = Effort { bursts: 10, rounds: 6, steps: 60, worthwhile: 0.03 };
/// A node below.
pub(super) const BELOW: Effort = Effort { bursts: 3, rounds: 5, steps: 40, worthwhile: 0.2 };

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
}

impl Node {
    /// The two halves, with `next` fixed.
    pub(super) fn halves(&self, next: usize) -> [Part; 2] {
        let column = 1 + self.fixed[..next].iter().filter(|s| s.is_none()).count();
        [1, -1].map(|spin| {
            let mut fixed = self.fixed.clone();
            fixed[next] = Some(spin);
            Part { fixed, start: self.start.as_ref().map(|s| s.fixed(column, spin)), known: self.bound }
        })
    }
}

/// What is known of a part before it is bounded.
pub(super) struct Part {
    pub(super) fixed: Vec<Option<i8>>,
    pub(super) start: Option<Start>,
    /// A bound.
    pub(super) known: f64,
}

/// Bounds one node; a bound below `goal` is enough.
pub(super) fn examine(
    f: &Polynomial,
    Part { fixed, start, known }: Part,
    goal: f64,
    effort: Effort,
    settings: &Settings,
    deadline: &Deadline,
) -> Result<Node> {
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
    if free.len() <= EXACT_SPINS {
        let tables = FactorModel::from(&part);
        let peak = PreparedPeak::new(&tables, &own, &mut monitor)?.run(&own, &mut monitor);
        if let Ok(peak) = peak {
            let candidate = spins(&|k| if peak.states[k] == 1 { 1 } else { -1 });
            return Ok(Node { fixed, bound: peak.upper.min(known), start: None, next: None, candidate });
        }
    }
    let Some(ising) = part.as_ising() else {
        return Ok(Node {
            candidate: spins(&|_| 1),
            fixed,
            bound: known,
            start,
            next: free.first().copied(),
        });
    };
    let found = tighten(&part, ising, start.as_ref(), goal, effort, &mut monitor);
    let moment = |k: usize| found.pull.get(k).copied().unwrap_or(0.0);
    let next = (0..free.len()).min_by(|&a, &b| moment(a).abs().total_cmp(&moment(b).abs()));
    let suggested: Vec<i8> = (0..free.len()).map(|k| if moment(k) < 0.0 { -1 } else { 1 }).collect();
    let suggested = improved(ising, suggested);
    Ok(Node {
        candidate: spins(&|k| suggested[k]),
        bound: found.bound.min(known),
        start: Some(found.end),
        next: next.map(|k| free[k]),
        fixed,
    })
}

/// What rounds of cuts found.
struct Tightened {
    bound: f64,
    end: Start,
    /// Moments of single spins.
    pull: Vec<f64>,
}

/// Rounds of cuts, proved now and then, until the bound is below `goal` or more rounds do not pay.
fn tighten(
    f: &Polynomial,
    ising: &Ising,
    start: Option<&Start>,
    goal: f64,
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Tightened {
    let p = Quadratic::new(ising);
    let mut climb = Climb::new(&p, start, monitor.deadline());
    let mut bound = f64::INFINITY;
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
        let before = bound;
        bound = bound.min(proved(f, ising, best, goal, monitor));
        let gain = before - bound;
        if bound < goal || gain < effort.worthwhile * (bound - goal) || monitor.interrupted().is_some() {
            break;
        }
    }
    let pull = (1..p.n()).map(|i| climb.moments().at(0, i)).collect();
    Tightened { bound, end: climb.end(p.scale), pull }
}

/// Cuts with a diagonal that proves about `value`, in units of f.
struct Priced {
    value: f64,
    cuts: Vec<Cut>,
    y: Vec<f64>,
}

/// The bound that cuts prove, with the diagonal that came with them or, when that is not enough, the best one.
fn proved(f: &Polynomial, ising: &Ising, priced: Priced, goal: f64, monitor: &mut Monitor<'_>) -> f64 {
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
    prove(f, ising, cuts, &y, 0.0).map_or(f64::INFINITY, |(_, bound)| bound.phi())
}
