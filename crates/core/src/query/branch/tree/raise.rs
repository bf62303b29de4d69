//! Bounds that come from elsewhere than from splits.

use super::{Known, Open, Tree};
use std::collections::BinaryHeap;

impl Tree {
    /// Up to `count` nodes that cover the parts of largest lower bounds, the largest first; what is closed is left out.
    pub(in super::super) fn heaviest(&self, count: usize) -> Vec<u32> {
        let by_lower = |node: u32| Open { weight: self.nodes[node as usize].best.0, node };
        let mut inner = BinaryHeap::from([by_lower(0)]);
        let mut chosen = Vec::new();
        while chosen.len() + inner.len() < count
            && let Some(Open { node, .. }) = inner.pop()
        {
            let children = self.children(node);
            if children.is_empty() {
                chosen.push(node);
            } else {
                inner.extend(children.map(by_lower));
            }
        }
        chosen.extend(inner.into_iter().map(|open| open.node));
        let is_open = |&node: &u32| {
            let (low, high) = self.nodes[node as usize].best;
            high - low > self.narrow && !self.known(node).is_exact
        };
        chosen.retain(is_open);
        chosen.sort_by_key(|&node| std::cmp::Reverse(by_lower(node)));
        chosen
    }

    /// Takes a better lower bound of a node.
    pub(in super::super) fn raise(&mut self, node: u32, known: Known) {
        let this = &mut self.nodes[node as usize];
        if !(known.lower > this.known.lower) {
            return;
        }
        self.bytes -= this.known.bytes();
        (this.known.lower, this.known.witness) = (known.lower, known.witness);
        self.bytes += this.known.bytes();
        if known.lower > this.best.0 {
            this.best.0 = known.lower;
            if node != 0 {
                let parent = this.parent;
                self.settle(parent);
            }
        }
    }

    /// Takes the exact sum of the whole: nothing is left to split.
    pub(in super::super) fn take_whole(&mut self, known: Known) {
        let whole = &mut self.nodes[0];
        // Other roundings may have been kinder to one side, and the bracket never widens.
        let (lower, upper) = (known.lower.max(whole.best.0), known.upper.min(whole.best.1));
        (whole.best, whole.children) = ((lower, upper), 0..0);
        whole.known = Known { lower, upper, ..known };
        self.open.clear();
        self.stack.clear();
    }
}
