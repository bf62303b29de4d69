//! Branch and bound over the semidefinite relaxation with triangle cuts.
//!
//! A node fixes some spins ([`node`]); one whose bound is not above the best assignment known is closed. The nodes that
//! were never split cover the cube, so that the largest of their bounds is a bound on f.

mod climb;
mod descent;
mod node;

use super::lattice::Lattice;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::settings::Settings;
use crate::solution::StopReason;
use node::{BELOW, Node, Part, ROOT, examine};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Spins up to which the relaxation is fast enough to be solved hundreds of times.
pub(super) const MOST_SPINS: usize = 250;
/// Nodes split at a time, whatever the number of threads.
const BATCH: usize = 4;
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
            tasks.extend(node.halves(next));
        }
        let (deadline, goal) = (monitor.deadline(), tree.goal());
        let examine = |part: Part| examine(f, part, goal, BELOW, settings, deadline);
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
        examine(self.f, Part { fixed, start: None, known }, self.goal(), ROOT, settings, deadline)
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
