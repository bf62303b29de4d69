//! Branch and bound over the semidefinite relaxation with triangle cuts.
//!
//! A node fixes some spins ([`node`]); one whose bound is not above the best assignment known is closed. The nodes that
//! were never split cover the cube, so that the largest of their bounds is a bound on f.

mod climb;
mod descent;
mod node;
mod proof;
#[cfg(test)]
mod tests;

use super::lattice::Lattice;
use crate::certify::Certificate;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::settings::Settings;
use crate::solution::StopReason;
use node::{BELOW, EXACT_SPINS, Node, Part, ROOT, Task, examine};
use proof::Proofs;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Spins up to which the relaxation is fast enough to be solved hundreds of times.
pub(super) const MOST_SPINS: usize = 250;
/// Nodes split at a time, whatever the number of threads.
const BATCH: usize = 4;
/// Share of the memory limit that waiting nodes, and as much that proofs, may take.
const MEMORY_SHARE: u64 = 4;

/// The place of a node among those that wait: by its bound, then in the order in which they were found.
#[derive(Debug, PartialEq)]
struct Key {
    bound: f64,
    number: usize,
}

impl Eq for Key {}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(self.number.cmp(&other.number))
    }
}

/// Nodes that wait to be split.
#[derive(Default)]
struct Waiting {
    nodes: BTreeMap<Key, Node>,
    bytes: u64,
}

impl Waiting {
    fn top(&self) -> Option<f64> {
        self.nodes.last_key_value().map(|(key, _)| key.bound)
    }

    fn push(&mut self, number: usize, node: Node) {
        self.bytes += node.bytes();
        self.nodes.insert(Key { bound: node.bound, number }, node);
    }

    /// The one with the largest bound; when there is no room for more, the one that is nearest to its end.
    fn pop(&mut self, room: u64) -> Option<(usize, Node)> {
        let next = if self.bytes > room { self.nodes.pop_first() } else { self.nodes.pop_last() };
        let (Key { number, .. }, node) = next?;
        self.bytes -= node.bytes();
        Some((number, node))
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
    /// The tree with its proofs, if it was asked for.
    pub(super) certificate: Option<Certificate>,
}

/// Splits nodes until none is above the best assignment known, or the monitor stops it; `keeps` says whether a certificate
/// is wanted.
///
/// # Errors
/// None for models built by this library.
pub(super) fn run(
    f: &Polynomial,
    start: Vec<i8>,
    known: f64,
    keeps: bool,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Branching> {
    grow(Tree::new(f, start, keeps, settings), known, monitor)
}

fn grow(mut tree: Tree<'_>, known: f64, monitor: &mut Monitor<'_>) -> Result<Branching> {
    let (f, settings) = (tree.f, tree.settings);
    let room = settings.memory_limit / MEMORY_SHARE;
    let pool = crate::exact::pool(settings.threads)?;
    tree.take(vec![tree.root(known, monitor.deadline())?]);
    let stop = loop {
        let Some(top) = tree.waiting.top() else { break StopReason::Converged };
        let upper = tree.rounded(top.max(tree.closed));
        // Nodes look at the clock themselves: a batch is begun as long as there is time.
        let over = monitor.iteration(tree.value, upper).filter(|stop| *stop == StopReason::MaxIterations);
        if let Some(stop) = monitor.interrupted().or(over) {
            break stop;
        }
        if tree.proofs.bytes() > room {
            break StopReason::Stalled;
        }
        let parts = tree.next(room);
        let (deadline, task) = (monitor.deadline(), tree.task(BELOW));
        let examine = |part: Part| examine(f, part, task, deadline);
        let done: Result<Vec<Node>> = match &pool {
            None => parts.into_iter().map(examine).collect(),
            Some(pool) => pool.install(|| parts.into_par_iter().map(examine).collect()),
        };
        tree.take(done?);
    };
    let open = tree.waiting.top().unwrap_or(f64::NEG_INFINITY);
    let upper = tree.rounded(open.max(tree.closed).min(known));
    let certificate = if tree.keeps { tree.proofs.certificate(&tree.best)? } else { None };
    Ok(Branching { upper, assignment: tree.best, nodes: tree.nodes, stop, certificate })
}

/// What all nodes share.
struct Tree<'a> {
    f: &'a Polynomial,
    settings: &'a Settings,
    lattice: Option<Lattice>,
    best: Vec<i8>,
    value: f64,
    nodes: usize,
    waiting: Waiting,
    /// The largest bound of a closed node: it stays part of the answer.
    closed: f64,
    keeps: bool,
    exact_spins: usize,
    proofs: Proofs,
}

impl<'a> Tree<'a> {
    fn new(f: &'a Polynomial, best: Vec<i8>, keeps: bool, settings: &'a Settings) -> Self {
        let mirrored = f.as_ising().and_then(pivot);
        Tree {
            f,
            settings,
            lattice: Lattice::of(f),
            value: f.value(&best),
            best,
            nodes: 0,
            waiting: Waiting::default(),
            closed: f64::NEG_INFINITY,
            keeps,
            exact_spins: EXACT_SPINS,
            proofs: Proofs::new(mirrored),
        }
    }

    fn rounded(&self, bound: f64) -> f64 {
        self.lattice.map_or(bound, |lattice| lattice.round_down(bound))
    }

    /// Whether nothing better than the best assignment can be under a bound.
    fn is_closed(&self, bound: f64) -> bool {
        self.rounded(bound) <= self.value + self.settings.tol * self.value.abs()
    }

    fn task(&self, effort: node::Effort) -> Task<'a> {
        let slack = self.settings.tol * self.value.abs();
        let goal = match self.lattice {
            Some(lattice) if lattice.step().is_finite() => self.value + 0.999 * lattice.step(),
            _ => self.value + slack,
        };
        Task { goal, effort, keeps: self.keeps, exact_spins: self.exact_spins, settings: self.settings }
    }

    /// The whole cube; without fields, one half of it, which the other mirrors.
    fn root(&self, known: f64, deadline: &Deadline) -> Result<Node> {
        let mut fixed = vec![None; self.f.d()];
        if let Some(pivot) = self.proofs.mirrored {
            fixed[pivot] = Some(1);
        }
        examine(self.f, Part { fixed, start: None, known, above: None }, self.task(ROOT), deadline)
    }

    /// Halves of the nodes that are to be split next.
    fn next(&mut self, room: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        while parts.len() < 2 * BATCH
            && let Some((number, node)) = self.waiting.pop(room)
        {
            match node.next {
                Some(next) if !self.is_closed(node.bound) => parts.extend(node.halves(number, next)),
                _ => self.closed = self.closed.max(node.bound),
            }
        }
        parts
    }

    /// Learns from nodes that were bounded, and keeps those that are open.
    fn take(&mut self, nodes: Vec<Node>) {
        for node in &nodes {
            let value = self.f.value(&node.candidate);
            if value > self.value {
                (self.value, self.best) = (value, node.candidate.clone());
            }
        }
        for mut node in nodes {
            let number = self.nodes;
            self.nodes += 1;
            if self.keeps {
                let (bound, proof) = std::mem::take(&mut node.own);
                self.proofs.push(node.above, bound, proof);
            }
            if self.is_closed(node.bound) || node.next.is_none() {
                self.closed = self.closed.max(node.bound);
            } else {
                self.waiting.push(number, node);
            }
        }
    }
}

/// The spin to fix first when f does not change with the signs of all spins: the one with the strongest couplings.
fn pivot(ising: &Ising) -> Option<usize> {
    if ising.fields().iter().any(|h| *h != 0.0) {
        return None;
    }
    let mut degree = vec![0.0; ising.d()];
    for (i, j, v) in ising.triples() {
        degree[i] += v.abs();
        degree[j] += v.abs();
    }
    (0..ising.d()).max_by(|&a, &b| degree[a].total_cmp(&degree[b]))
}
