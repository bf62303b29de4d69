//! The decision tree: what is known of every part, and what that proves of the whole.

mod certificate;
mod raise;
mod rows;

pub(super) use self::rows::Row;

use super::leaf::Known;
use crate::certify::{Side, sum_of_parts};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

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
///
/// Parts of which nothing is left to split are forgotten, unless their proofs are kept: the node above has the bounds that
/// they proved. When there is no room for more nodes, one leaf after the other is split to its end, which takes the room
/// of one path.
pub(super) struct Tree {
    eps: f64,
    nodes: Vec<Node>,
    /// First nodes of families that were forgotten, by their size.
    vacant: BTreeMap<u32, Vec<u32>>,
    open: BinaryHeap<Open>,
    /// Leaves below the one that is being split to its end, the next one last.
    stack: Vec<u32>,
    is_descending: bool,
    splits: usize,
    /// Whether nodes keep proofs.
    keeps: bool,
    bytes: u64,
    /// Bytes of nodes from which on leaves are split to their end.
    pub(super) room: u64,
    /// Width of a part at which it is not split further below a leaf that is split to its end.
    pub(super) narrow: f64,
}

impl Tree {
    pub(super) fn new(eps: f64, root: Known, keeps: bool) -> Self {
        let (best, bytes) = ((root.lower, root.upper), root.bytes());
        let node = Node { parent: 0, fixed: (0, 0), children: 0..0, known: root, best };
        let mut tree = Tree {
            eps,
            nodes: vec![node],
            vacant: BTreeMap::new(),
            open: BinaryHeap::new(),
            stack: Vec::new(),
            is_descending: false,
            splits: 0,
            keeps,
            bytes,
            room: u64::MAX,
            narrow: 0.0,
        };
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

    /// Nodes for which there is memory.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no room for more nodes.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.room
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

    /// Up to `count` leaves to split: those that contribute most to the width of the bracket, or the next ones below a leaf
    /// that is split to its end.
    pub(super) fn take_open(&mut self, count: usize) -> Vec<u32> {
        if self.stack.is_empty() && self.is_full() {
            self.stack.extend(self.open.pop().map(|open| open.node));
        }
        self.is_descending = !self.stack.is_empty();
        let next = |tree: &mut Tree| {
            if tree.is_descending { tree.stack.pop() } else { tree.open.pop().map(|open| open.node) }
        };
        (0..count).map_while(|_| next(self)).collect()
    }

    /// Splits a leaf into the states of a variable, with what is known of each.
    pub(super) fn split(&mut self, node: u32, variable: u32, parts: Vec<Known>) {
        let children = self.place(parts.len() as u32);
        for (state, known) in parts.into_iter().enumerate() {
            self.bytes += known.bytes();
            let best = (known.lower, known.upper);
            let fixed = (variable, state as u32);
            let child = Node { parent: node, fixed, children: 0..0, known, best };
            let at = children.start as usize + state;
            if at < self.nodes.len() { self.nodes[at] = child } else { self.nodes.push(child) }
        }
        let this = &mut self.nodes[node as usize];
        this.children = children.clone();
        self.bytes -= this.known.bytes();
        this.known.start = None;
        self.bytes += this.known.bytes();
        children.for_each(|child| self.offer(child));
        self.splits += 1;
        self.settle(node);
        self.forget(node);
    }

    /// Room for so many nodes side by side.
    fn place(&mut self, count: u32) -> std::ops::Range<u32> {
        let vacant = self.vacant.get_mut(&count).and_then(Vec::pop);
        let first = vacant.unwrap_or(self.nodes.len() as u32);
        first..first + count
    }

    /// A leaf without a variable to split has come to its end.
    pub(super) fn close(&mut self, leaf: u32) {
        let this = &mut self.nodes[leaf as usize];
        this.known.is_exact = true;
        if leaf != 0 {
            let parent = this.parent;
            self.forget(parent);
        }
    }

    /// Forgets the children of a node when nothing is left to split below them, and so on above it.
    fn forget(&mut self, mut node: u32) {
        loop {
            let children = self.children(node);
            let is_done = |child: u32| self.children(child).is_empty() && !self.is_worth_splitting(child);
            if self.keeps || children.is_empty() || !children.clone().all(is_done) {
                return;
            }
            let family: u64 = children.clone().map(|child| self.known(child).bytes()).sum();
            for child in children.clone() {
                self.nodes[child as usize].known = Known::unknown();
            }
            self.vacant.entry(children.len() as u32).or_default().push(children.start);
            let this = &mut self.nodes[node as usize];
            self.bytes -= family + this.known.bytes();
            let (lower, upper) = this.best;
            this.known = Known { lower, upper, is_exact: true, ..Known::unknown() };
            this.children = 0..0;
            self.bytes += this.known.bytes();
            if node == 0 {
                return;
            }
            node = this.parent;
        }
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

    /// Whether there is something to gain from splitting a leaf.
    fn is_worth_splitting(&self, node: u32) -> bool {
        let Node { best: (low, high), known, .. } = &self.nodes[node as usize];
        let is_narrow = self.is_descending && high - low <= self.narrow;
        *high > f64::NEG_INFINITY && !known.is_exact && !is_narrow && self.weight(node) > f64::NEG_INFINITY
    }

    /// `eps log` of what a leaf adds to the width of the bracket.
    fn weight(&self, node: u32) -> f64 {
        let (low, high) = self.nodes[node as usize].best;
        high + self.eps * (-(((low - high) / self.eps).exp())).ln_1p()
    }

    /// Puts a leaf among those to be split, if there is something to gain.
    pub(super) fn offer(&mut self, node: u32) {
        if !self.is_worth_splitting(node) {
            return;
        }
        if self.is_descending {
            self.stack.push(node);
        } else {
            self.open.push(Open { weight: self.weight(node), node });
        }
    }

    /// All nodes, those above before those below, brothers side by side.
    fn order(&self) -> Vec<u32> {
        let mut order = vec![0u32];
        let mut at = 0;
        while at < order.len() {
            order.extend(self.children(order[at]));
            at += 1;
        }
        order
    }

    /// Every leaf with the states above it.
    pub(super) fn leaves(&self) -> Vec<(Vec<(u32, u32)>, Known)> {
        let leaves = self.order().into_iter().filter(|&k| self.children(k).is_empty());
        leaves.map(|k| (self.path(k), self.known(k).clone())).collect()
    }
}
