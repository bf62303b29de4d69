//! One node of the tree: part of the cube, and a bound on f over it.
//!
//! The bound is the interior-point solution of the relaxation over the spins that are free, tightened in rounds by triangles
//! that the parent's cuts warm-start, and proved in interval arithmetic like any other bound.

use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::PreparedPeak;
use crate::model::{FactorModel, Ising, Polynomial};
use crate::observer::{Monitor, Silent};
use crate::query::map::interior_point::{self, Pace};
use crate::query::map::pairwise::prove;
use crate::query::map::quadratic::Quadratic;
use crate::relax::cuts::{Triangle, heaviest, violated};
use crate::settings::Settings;
use std::collections::HashSet;

/// Free spins up to which a node is solved by elimination.
const EXACT_SPINS: usize = 18;
/// Violations of an inequality of size one below this are not worth a cut.
const VIOLATION: f64 = 1e-3;
/// Relative gap to which a round is solved.
const ROUND_TOL: f64 = 3e-4;

/// How much a node is worth.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Rounds of cuts.
    rounds: usize,
    /// Cuts added per round and kept between rounds, per row.
    added: usize,
    kept: usize,
    /// A round that closes less than this share of what is missing is the last.
    worthwhile: f64,
    /// Whether every round is proved, so that time that runs out costs one round only.
    proves_rounds: bool,
}

/// The root, whose cuts all others inherit.
pub(super) const ROOT: Effort =
    Effort { rounds: 25, added: 4, kept: 8, worthwhile: 0.015, proves_rounds: true };
/// A node below.
pub(super) const BELOW: Effort =
    Effort { rounds: 3, added: 3, kept: 6, worthwhile: 0.08, proves_rounds: false };

/// Part of the cube.
pub(super) struct Node {
    pub(super) fixed: Vec<Option<i8>>,
    /// Proved bound on f over it.
    pub(super) bound: f64,
    /// Cuts that were active, in numbers of all spins plus one, 0 the constant.
    pub(super) cuts: Vec<Triangle>,
    /// The spin to fix next; `None` when the bound is the maximum itself.
    pub(super) next: Option<usize>,
    /// An assignment that the relaxation suggests.
    pub(super) candidate: Vec<i8>,
}

/// A cut with the spin at z-index `gone` fixed: the constant takes its place; nothing is left of one that had both.
pub(super) fn restricted(cut: &Triangle, gone: usize, spin: i8) -> Option<Triangle> {
    let Some(k) = cut.vertices.iter().position(|&v| v as usize == gone) else { return Some(*cut) };
    if cut.vertices[0] == 0 {
        return None;
    }
    let [ab, ac, bc] = cut.signs;
    let [a, b, c] = cut.vertices;
    let (pair, signs) = match k {
        0 => ([b, c], [spin * ab, spin * ac, bc]),
        1 => ([a, c], [spin * ab, spin * bc, ac]),
        _ => ([a, b], [spin * ac, spin * bc, ab]),
    };
    Some(Triangle { vertices: [0, pair[0], pair[1]], signs })
}

/// Bounds one node.
#[allow(clippy::too_many_arguments, reason = "a node, what it has to reach, and the limits")]
pub(super) fn examine(
    f: &Polynomial,
    fixed: Vec<Option<i8>>,
    cuts: Vec<Triangle>,
    known: f64,
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
            return Ok(Node { fixed, bound: peak.upper.min(known), cuts: Vec::new(), next: None, candidate });
        }
    }
    let Some(ising) = part.as_ising() else {
        return Ok(Node { candidate: spins(&|_| 1), fixed, bound: known, cuts, next: free.first().copied() });
    };
    let mut name = vec![0u32; fixed.len() + 1];
    free.iter().enumerate().for_each(|(k, &i)| name[i + 1] = k as u32 + 1);
    let inward = |cut: &Triangle| Triangle { vertices: cut.vertices.map(|v| name[v as usize]), ..*cut };
    let outward = |cut: &Triangle| {
        let global = |v: u32| if v == 0 { 0 } else { free[v as usize - 1] as u32 + 1 };
        Triangle { vertices: cut.vertices.map(global), ..*cut }
    };
    let found = tighten(&part, ising, cuts.iter().map(inward).collect(), goal, effort, &mut monitor);
    let moment = |k: usize| found.pull.get(k).copied().unwrap_or(0.0);
    let next = (0..free.len()).min_by(|&a, &b| moment(a).abs().total_cmp(&moment(b).abs()));
    Ok(Node {
        candidate: spins(&|k| if moment(k) < 0.0 { -1 } else { 1 }),
        bound: found.bound.min(known),
        cuts: found.active.iter().map(outward).collect(),
        next: next.map(|k| free[k]),
        fixed,
    })
}

/// What rounds of cuts found.
struct Tightened {
    bound: f64,
    active: Vec<Triangle>,
    /// Moments of single spins.
    pull: Vec<f64>,
}

/// Rounds of the relaxation until the bound is below `goal` or more rounds do not pay.
fn tighten(
    f: &Polynomial,
    ising: &Ising,
    mut active: Vec<Triangle>,
    goal: f64,
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Tightened {
    let p = Quadratic::new(ising);
    let mut found = Tightened { bound: f64::INFINITY, active: Vec::new(), pull: Vec::new() };
    let mut last = f64::INFINITY;
    for round in 0..effort.rounds {
        let pace = Pace { tol: ROUND_TOL, enough: goal };
        let point = interior_point::solve(&p, &active, ising.constant(), pace, monitor);
        let dual =
            ising.constant() + p.scale * (point.y.iter().sum::<f64>() + point.gamma.iter().sum::<f64>());
        let is_last = dual <= goal
            || round + 1 == effort.rounds
            || monitor.interrupted().is_some()
            || last - dual < effort.worthwhile * (dual - goal);
        last = dual;
        found.pull = (1..p.n()).map(|i| point.x.at(0, i)).collect();
        if is_last || round == 0 || effort.proves_rounds {
            // A proof costs about as much as an iteration or two.
            let list = active.iter().zip(&point.gamma).map(|(c, g)| c.cut(p.scale * g)).collect();
            let y: Vec<f64> = point.y.iter().map(|v| p.scale * v).collect();
            if let Ok((_, bound)) = prove(f, ising, list, &y, 0.0) {
                found.bound = found.bound.min(bound.phi());
            }
        }
        active = heaviest(active, &point.gamma, effort.kept * p.n());
        if is_last {
            break;
        }
        let new = violated(&point.x, 0..p.n(), VIOLATION, effort.added * p.n());
        let present: HashSet<Triangle> = active.iter().copied().collect();
        let new: Vec<Triangle> =
            new.into_iter().map(|found| found.1).filter(|cut| !present.contains(cut)).collect();
        if new.is_empty() {
            break;
        }
        active.extend(new);
    }
    found.active = active;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restricted_cut_is_the_cut_with_the_spin_fixed() {
        let signs = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];
        for signs in signs {
            let cut = Triangle { vertices: [1, 2, 3], signs };
            for gone in 1..=3usize {
                for spin in [1i8, -1] {
                    let rest = restricted(&cut, gone, spin).unwrap();
                    for bits in 0..8usize {
                        let mut z = [1i8, 1, 1, 1];
                        (1..4).for_each(|i| z[i] = if bits >> i & 1 == 1 { 1 } else { -1 });
                        z[gone] = spin;
                        let value = |t: &Triangle| {
                            let [a, b, c] = t.vertices.map(|v| z[v as usize]);
                            t.signs[0] * a * b + t.signs[1] * a * c + t.signs[2] * b * c
                        };
                        assert_eq!(value(&cut), value(&rest));
                    }
                }
            }
        }
        assert_eq!(restricted(&Triangle { vertices: [0, 2, 3], signs: [1; 3] }, 2, 1), None);
    }
}
