//! The decision tree: what is known of every part, and what that proves of the whole.

use super::leaf::Known;
use crate::certify::{Certificate, Component, Form, Side, Slack, Tree as ProofTree, Witness, sum_of_parts};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A part of the state space.
struct Node {
    parent: u32,
    /// The variable (of the whole model's free ones) and state that distinguish it from its parent.
    fixed: (u32, u32),
    /// Its children, one per state of a variable; none while it is a leaf.
    children: std::ops::Range<u32>,
    known: Known,
    /// The better of what is known of it and of what its children prove.
    best: (f64, f64),
}

/// An open leaf in the order in which leaves are split.
#[derive(Debug, PartialEq)]
struct Open {
    /// `eps log` of what the leaf adds to the width of the bracket.
    weight: f64,
    node: u32,
}

impl Eq for Open {}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The tree; node 0 is the whole.
pub(super) struct Tree {
    eps: f64,
    nodes: Vec<Node>,
    open: BinaryHeap<Open>,
    splits: usize,
}

/// A node as it is kept on disk: parent, variable, state, lower and upper bound.
pub(super) type Row = (u32, u32, u32, f64, f64);

impl Tree {
    pub(super) fn new(eps: f64, root: Known) -> Self {
        let best = (root.lower, root.upper);
        let node = Node { parent: 0, fixed: (0, 0), children: 0..0, known: root, best };
        let mut tree = Tree { eps, nodes: vec![node], open: BinaryHeap::new(), splits: 0 };
        tree.offer(0);
        tree
    }

    /// Certified sides of `eps log Z` of the whole.
    pub(super) fn bracket(&self) -> (f64, f64) {
        self.nodes[0].best
    }

    pub(super) fn splits(&self) -> usize {
        self.splits
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn known(&self, node: u32) -> &Known {
        &self.nodes[node as usize].known
    }

    /// The states above a node, from the root.
    pub(super) fn path(&self, mut node: u32) -> Vec<(u32, u32)> {
        let mut path = Vec::new();
        while node != 0 {
            let this = &self.nodes[node as usize];
            path.push(this.fixed);
            node = this.parent;
        }
        path.reverse();
        path
    }

    /// Up to `count` leaves that contribute most to the width of the bracket.
    pub(super) fn take_open(&mut self, count: usize) -> Vec<u32> {
        (0..count).filter_map(|_| self.open.pop()).map(|open| open.node).collect()
    }

    /// Splits a leaf into the states of a variable, with what is known of each.
    pub(super) fn split(&mut self, node: u32, variable: u32, parts: Vec<Known>) {
        let first = self.nodes.len() as u32;
        for (state, known) in parts.into_iter().enumerate() {
            let best = (known.lower, known.upper);
            let fixed = (variable, state as u32);
            self.nodes.push(Node { parent: node, fixed, children: 0..0, known, best });
        }
        let children = first..self.nodes.len() as u32;
        self.nodes[node as usize].children = children.clone();
        self.nodes[node as usize].known.start = None;
        children.for_each(|child| self.offer(child));
        self.splits += 1;
        self.settle(node);
    }

    /// Brings a node and those above it up to date.
    fn settle(&mut self, mut node: u32) {
        loop {
            let (low, high): (Vec<f64>, Vec<f64>) =
                self.children(node).map(|child| self.nodes[child as usize].best).unzip();
            let this = &mut self.nodes[node as usize];
            // NaN, which no comparison prefers, cannot come out of finite values and -inf.
            let low = sum_of_parts(&low, self.eps, Side::Lower).max(this.known.lower);
            let high = sum_of_parts(&high, self.eps, Side::Upper).min(this.known.upper);
            let unchanged = (low, high) == this.best;
            this.best = (low, high);
            if node == 0 || unchanged {
                return;
            }
            node = this.parent;
        }
    }

    fn children(&self, node: u32) -> std::ops::Range<u32> {
        self.nodes[node as usize].children.clone()
    }

    /// Puts a leaf among those to be split, if there is something to gain.
    pub(super) fn offer(&mut self, node: u32) {
        let (low, high) = self.nodes[node as usize].best;
        if high == f64::NEG_INFINITY || self.nodes[node as usize].known.is_exact {
            return;
        }
        let weight = high + self.eps * (-(((low - high) / self.eps).exp())).ln_1p();
        if weight > f64::NEG_INFINITY {
            self.open.push(Open { weight, node });
        }
    }

    /// The proofs of both sides: every node with its own where that is the better one.
    pub(super) fn certificate(&self, eps: f64) -> Certificate {
        let (mut upper, mut lower) = (proof_tree(), proof_tree());
        self.collect(
            &mut upper,
            |node| node.known.proof.is_some() && node.known.upper <= node.best.1,
            |k, out| {
                out.nodes.push(None);
                out.leaves.extend(self.nodes[k as usize].known.proof.clone());
            },
        );
        self.collect(
            &mut lower,
            |node| node.known.lower >= node.best.0,
            |k, out| match &self.nodes[k as usize].known.witness {
                // A witness that is a tree of its own continues this one, in the whole model's numbers.
                Some(Witness::Tree(own)) => {
                    let mut fixed: Vec<u32> = self.path(k).iter().map(|step| step.0).collect();
                    fixed.sort_unstable();
                    let name = |v: u32| fixed.iter().fold(v, |v, &f| v + u32::from(v >= f));
                    out.nodes.extend(own.nodes.iter().map(|node| node.map(|(v, q)| (name(v), q))));
                    out.leaves.extend(own.leaves.iter().cloned());
                }
                witness => {
                    out.nodes.push(None);
                    out.leaves.push(witness.clone());
                }
            },
        );
        let form = Form::Tree(ProofTree { nodes: upper.nodes, leaves: upper.leaves });
        let has_witness = lower.leaves.iter().any(Option::is_some);
        let witness = Witness::Tree(ProofTree { nodes: lower.nodes, leaves: lower.leaves });
        Certificate {
            eps,
            slack: Slack::default(),
            components: vec![Component { weight: 1.0, form }],
            witness: has_witness.then_some(witness),
        }
    }

    /// Nodes in preorder: those with a proof of their own, or no children, through `emit`.
    fn collect<T>(
        &self,
        out: &mut ProofTree<T>,
        is_own: impl Fn(&Node) -> bool,
        emit: impl Fn(u32, &mut ProofTree<T>),
    ) {
        let mut stack = vec![0u32];
        while let Some(k) = stack.pop() {
            let node = &self.nodes[k as usize];
            if node.children.is_empty() || is_own(node) {
                emit(k, out);
                continue;
            }
            let variable = self.nodes[node.children.start as usize].fixed.0;
            out.nodes.push(Some((variable, node.children.len() as u32)));
            stack.extend(node.children.clone().rev());
        }
    }

    /// Every leaf with the states above it.
    pub(super) fn leaves(&self) -> Vec<(Vec<(u32, u32)>, Known)> {
        let leaves = (0..self.nodes.len() as u32).filter(|&k| self.children(k).is_empty());
        leaves.map(|k| (self.path(k), self.known(k).clone())).collect()
    }

    /// The nodes as they are kept on disk.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        self.nodes.iter().map(|n| (n.parent, n.fixed.0, n.fixed.1, n.known.lower, n.known.upper))
    }

    /// The tree that [`Tree::rows`] described; `None` when they are none.
    pub(super) fn from_rows(eps: f64, rows: &[Row], cardinalities: &[u32]) -> Option<Self> {
        let known = |row: &Row| Known { lower: row.3, upper: row.4, ..Known::unknown() };
        let (first, rest) = rows.split_first()?;
        let mut tree = Tree::new(eps, known(first));
        let mut at = 0;
        while at < rest.len() {
            let (parent, variable, ..) = rest[at];
            let states = *cardinalities.get(variable as usize)? as usize;
            let group = rest.get(at..at + states)?;
            let fits = |(s, row): (usize, &Row)| (row.0, row.1, row.2) == (parent, variable, s as u32);
            let is_leaf = tree.nodes.get(parent as usize)?.children.is_empty();
            let is_new = tree.path(parent).iter().all(|step| step.0 != variable);
            if !is_leaf || !is_new || !group.iter().enumerate().all(fits) {
                return None;
            }
            tree.split(parent, variable, group.iter().map(known).collect());
            at += states;
        }
        let leaves: Vec<u32> =
            (0..tree.nodes.len() as u32).filter(|&k| tree.children(k).is_empty()).collect();
        tree.open.clear();
        leaves.into_iter().for_each(|leaf| tree.offer(leaf));
        Some(tree)
    }
}

fn proof_tree<T>() -> ProofTree<T> {
    ProofTree { nodes: Vec::new(), leaves: Vec::new() }
}
