//! Branch and bound over the semidefinite relaxation with triangle cuts.
//!
//! A node fixes some spins. Its bound is the interior-point solution of the relaxation over the others, tightened in
//! rounds by triangles that the parent's cuts warm-start, and proved in interval arithmetic like any other bound; a node
//! whose bound is not above the best assignment known is closed. The nodes that were never split cover the cube, so that
//! the largest of their bounds is a bound on f.

use super::cuts::{self, Cuts, Triangle};
use super::interior_point::{self, Pace};
use super::lattice::Lattice;
use super::pairwise::{heaviest, prove};
use super::quadratic::Quadratic;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::exact::PreparedPeak;
use crate::model::{FactorModel, Ising, Polynomial};
use crate::observer::{Monitor, Silent};
use crate::settings::Settings;
use crate::solution::StopReason;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Spins up to which the relaxation is fast enough to be solved hundreds of times.
pub(super) const MOST_SPINS: usize = 250;
/// Free spins up to which a node is solved by elimination.
const EXACT_SPINS: usize = 18;
/// Nodes split at a time, whatever the number of threads.
const BATCH: usize = 4;
/// Violations below this are not worth a cut.
const VIOLATION: f64 = 1e-3;
/// Relative gap to which a round is solved.
const ROUND_TOL: f64 = 3e-4;

/// How much a node is worth.
#[derive(Clone, Copy)]
struct Effort {
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
const ROOT: Effort = Effort { rounds: 25, added: 4, kept: 8, worthwhile: 0.015, proves_rounds: true };
/// A node below.
const BELOW: Effort = Effort { rounds: 3, added: 3, kept: 6, worthwhile: 0.08, proves_rounds: false };

/// Part of the cube.
struct Node {
    fixed: Vec<Option<i8>>,
    /// Proved bound on f over it.
    bound: f64,
    /// Cuts that were active, in numbers of all spins plus one, 0 the constant.
    cuts: Vec<Triangle>,
    /// The spin to fix next; `None` when the bound is the maximum itself.
    next: Option<usize>,
    /// An assignment that the relaxation suggests.
    candidate: Vec<i8>,
}

/// The largest bound first; of equal ones the deeper, then in a fixed order.
struct Waiting {
    node: Node,
    number: usize,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.node.bound.total_cmp(&other.node.bound).then(self.number.cmp(&other.number))
    }
}

/// What branching found, in units of f.
pub(super) struct Branching {
    /// Proved bound.
    pub(super) upper: f64,
    /// The best assignment known.
    pub(super) assignment: Vec<i8>,
    /// Nodes bounded.
    pub(super) nodes: usize,
    /// `Converged` when the tree is closed.
    pub(super) stop: StopReason,
}

/// Splits nodes until none is above the best assignment known, or the monitor stops it.
///
/// # Errors
/// None for models built by this library.
pub(super) fn run(
    f: &Polynomial,
    ising: &Ising,
    start: Vec<i8>,
    known: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Branching> {
    let lattice = Lattice::of(f);
    let pool = crate::exact::pool(settings.threads)?;
    let value = f.value(&start);
    let mut tree = Tree { f, lattice, tol: settings.tol, best: start, value, nodes: 0 };
    let mut heap: BinaryHeap<Waiting> = BinaryHeap::new();
    // Bounds of closed nodes: they stay part of the answer.
    let mut closed = f64::NEG_INFINITY;
    let root = tree.root(ising, known, settings, monitor.deadline())?;
    tree.take(vec![root], &mut heap, &mut closed);
    let stop = loop {
        let Some(top) = heap.peek() else { break StopReason::Converged };
        let upper = tree.rounded(top.node.bound.max(closed));
        // Nodes look at the clock themselves: a batch is begun as long as there is time.
        let over = monitor.iteration(tree.value, upper).filter(|stop| *stop == StopReason::MaxIterations);
        if let Some(stop) = monitor.interrupted().or(over) {
            break stop;
        }
        let mut tasks = Vec::new();
        while tasks.len() < 2 * BATCH
            && let Some(Waiting { node, .. }) = heap.pop()
        {
            if tree.is_closed(node.bound) {
                closed = closed.max(node.bound);
                continue;
            }
            let Some(next) = node.next else {
                closed = closed.max(node.bound);
                continue;
            };
            tasks.extend([1, -1].map(|spin| {
                let mut fixed = node.fixed.clone();
                fixed[next] = Some(spin);
                let cuts = node.cuts.iter().filter_map(|cut| restricted(cut, next + 1, spin)).collect();
                (fixed, cuts, node.bound)
            }));
        }
        let (deadline, goal) = (monitor.deadline(), tree.goal());
        let examine = |(fixed, cuts, bound): (Vec<Option<i8>>, Vec<Triangle>, f64)| {
            examine(f, fixed, cuts, bound, goal, BELOW, settings, deadline)
        };
        let done: Result<Vec<Node>> = match &pool {
            None => tasks.into_iter().map(examine).collect(),
            Some(pool) => pool.install(|| tasks.into_par_iter().map(examine).collect()),
        };
        tree.take(done?, &mut heap, &mut closed);
    };
    let open = heap.peek().map_or(f64::NEG_INFINITY, |w| w.node.bound);
    let upper = tree.rounded(open.max(closed).min(known));
    Ok(Branching { upper, assignment: tree.best, nodes: tree.nodes, stop })
}

/// What all nodes share.
struct Tree<'a> {
    f: &'a Polynomial,
    lattice: Option<Lattice>,
    tol: f64,
    best: Vec<i8>,
    value: f64,
    nodes: usize,
}

impl Tree<'_> {
    fn rounded(&self, bound: f64) -> f64 {
        self.lattice.map_or(bound, |lattice| lattice.round_down(bound))
    }

    /// Whether nothing better than the best assignment can be under a bound.
    fn is_closed(&self, bound: f64) -> bool {
        self.rounded(bound) <= self.value + self.tol * self.value.abs()
    }

    /// A bound below this closes a node.
    fn goal(&self) -> f64 {
        let slack = self.tol * self.value.abs();
        match self.lattice {
            Some(lattice) if lattice.step().is_finite() => self.value + 0.999 * lattice.step(),
            _ => self.value + slack,
        }
    }

    /// The whole cube; without fields, one half of it, which the other mirrors.
    fn root(&self, ising: &Ising, known: f64, settings: &Settings, deadline: &Deadline) -> Result<Node> {
        let mut fixed = vec![None; ising.d()];
        if ising.fields().iter().all(|h| *h == 0.0) {
            let mut degree = vec![0.0; ising.d()];
            for (i, j, v) in ising.triples() {
                degree[i] += v.abs();
                degree[j] += v.abs();
            }
            let top = (0..ising.d()).max_by(|&a, &b| degree[a].total_cmp(&degree[b]));
            if let Some(top) = top {
                fixed[top] = Some(1);
            }
        }
        examine(self.f, fixed, Vec::new(), known, self.goal(), ROOT, settings, deadline)
    }

    /// Learns from nodes that were bounded, and keeps those that are open.
    fn take(&mut self, nodes: Vec<Node>, heap: &mut BinaryHeap<Waiting>, closed: &mut f64) {
        for node in &nodes {
            let value = self.f.value(&node.candidate);
            if value > self.value {
                (self.value, self.best) = (value, node.candidate.clone());
            }
        }
        for node in nodes {
            self.nodes += 1;
            if self.is_closed(node.bound) || node.next.is_none() {
                *closed = closed.max(node.bound);
            } else {
                heap.push(Waiting { node, number: self.nodes });
            }
        }
    }
}

/// A cut with the spin at z-index `gone` fixed: the constant takes its place; nothing is left of one that had both.
fn restricted(cut: &Triangle, gone: usize, spin: i8) -> Option<Triangle> {
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
fn examine(
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
        let new = cuts::separate(&point.x, Cuts::Triangle, VIOLATION, effort.added * p.n());
        let new: Vec<Triangle> = new.into_iter().filter(|cut| !active.contains(cut)).collect();
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
