//! What elimination along an order will do: cliques, messages, their sizes, and when each is dropped.

use super::order::Graph;
use std::collections::HashSet;

/// Elimination along one order. Variables are named by their position in it.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) order: Vec<u32>,
    /// Position of each variable in `order`.
    pub(crate) position: Vec<u32>,
    /// By position: number of states.
    pub(crate) states: Vec<u32>,
    /// By position: the later variables joined to this one when it goes, last eliminated first.
    pub(crate) scopes: Vec<Vec<u32>>,
    /// By position: where the message goes, the position of the next of its variables to go.
    pub(crate) parent: Vec<Option<u32>>,
    /// By position: whose messages arrive.
    pub(crate) children: Vec<Vec<u32>>,
    /// All positions, children before parents, such that few messages wait at once.
    pub(crate) schedule: Vec<u32>,
    /// Most variables in a scope.
    pub(crate) width: usize,
    /// Entries of all cliques: what one sweep looks at.
    pub(crate) entries: f64,
    /// Entries held at once when messages are dropped as soon as they are used.
    pub(crate) peak: f64,
}

impl Plan {
    /// Symbolic elimination along `order`; `cardinalities` by variable.
    pub(crate) fn new(graph: &Graph, cardinalities: &[u32], order: Vec<u32>) -> Self {
        let plan = Plan::within(graph, cardinalities, order, usize::MAX);
        plan.unwrap_or_else(|| unreachable!("no scope has more than usize::MAX variables"))
    }

    /// The same, given up as soon as some scope has more than `most` variables: then it takes time linear in the graph.
    pub(crate) fn within(graph: &Graph, cardinalities: &[u32], order: Vec<u32>, most: usize) -> Option<Self> {
        let d = graph.len();
        let mut position = vec![0; d];
        order.iter().enumerate().for_each(|(p, &v)| position[v as usize] = p as u32);
        let states = order.iter().map(|&v| cardinalities[v as usize]).collect();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); d];
        let (mut scopes, mut parent) = (Vec::<Vec<u32>>::with_capacity(d), Vec::with_capacity(d));
        for (p, &v) in order.iter().enumerate() {
            let own = graph.neighbours[v as usize].iter().map(|&j| position[j as usize]);
            let mut scope: Vec<u32> = own.filter(|&q| q > p as u32).collect();
            for &child in &children[p] {
                scope.extend(scopes[child as usize].iter().copied().filter(|&q| q > p as u32));
            }
            scope.sort_unstable_by(|x, y| y.cmp(x));
            scope.dedup();
            if scope.len() > most {
                return None;
            }
            parent.push(scope.last().copied());
            if let Some(&up) = scope.last() {
                children[up as usize].push(p as u32);
            }
            scopes.push(scope);
        }
        let width = scopes.iter().map(Vec::len).max().unwrap_or(0);
        let mut plan = Plan {
            order,
            position,
            states,
            scopes,
            parent,
            children,
            schedule: Vec::with_capacity(d),
            width,
            entries: 0.0,
            peak: 0.0,
        };
        plan.entries = (0..d).map(|p| plan.size(p) * f64::from(plan.states[p])).sum();
        plan.arrange();
        Some(plan)
    }

    /// Entries of the message of p.
    pub(crate) fn size(&self, p: usize) -> f64 {
        self.scopes[p].iter().map(|&q| f64::from(self.states[q as usize])).product()
    }

    /// Orders the children of every position by how much their subtrees need beyond what they leave (Liu
    /// 1986: optimal for a given tree), and with them the schedule.
    fn arrange(&mut self) {
        let d = self.scopes.len();
        let mut peak = vec![0.0f64; d];
        for p in 0..d {
            let mut children = std::mem::take(&mut self.children[p]);
            let size = |c: u32| self.size(c as usize);
            let surplus = |c: u32| peak[c as usize] - size(c);
            children.sort_by(|&a, &b| surplus(b).total_cmp(&surplus(a)));
            let (mut held, mut most) = (0.0, 0.0f64);
            let mut waiting: HashSet<&[u32]> = HashSet::new();
            for &c in &children {
                most = most.max(held + peak[c as usize]);
                // Messages over the same variables become one.
                held += if waiting.insert(&self.scopes[c as usize]) { size(c) } else { 0.0 };
            }
            peak[p] = most.max(held + self.size(p));
            self.children[p] = children;
        }
        let roots = || (0..d as u32).filter(|&p| self.parent[p as usize].is_none());
        self.peak = roots().map(|p| peak[p as usize]).fold(0.0, f64::max);
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for root in roots() {
            stack.push((root, 0));
            while let Some((p, next)) = stack.pop() {
                match self.children[p as usize].get(next) {
                    Some(&child) => stack.extend([(p, next + 1), (child, 0)]),
                    None => self.schedule.push(p),
                }
            }
        }
    }

    /// Bytes of log Z alone.
    pub(crate) fn bytes(&self) -> f64 {
        8.0 * self.peak
    }

    /// Bytes of log Z with marginals: all messages, and the marginals on their way down.
    pub(crate) fn bytes_with_marginals(&self) -> f64 {
        let messages: f64 = (0..self.scopes.len()).map(|p| self.size(p)).sum();
        let (mut live, mut peak) = (messages, messages);
        for &p in self.schedule.iter().rev() {
            let p = p as usize;
            live += self.children[p].iter().map(|&c| self.size(c as usize)).sum::<f64>();
            peak = peak.max(live);
            live -= 2.0 * self.size(p);
        }
        8.0 * peak
    }

    /// Bytes of log Z, with or without `marginals`, and of the `maximum`, one after the other.
    pub(crate) fn bytes_of(&self, marginals: bool, maximum: bool) -> f64 {
        let sum = if marginals { self.bytes_with_marginals() } else { self.bytes() };
        if maximum { sum.max(self.bytes_of_maximum()) } else { sum }
    }

    /// Bytes of the maximum: waiting messages, and for every entry of every message the best state.
    pub(crate) fn bytes_of_maximum(&self) -> f64 {
        let choices: f64 = (0..self.scopes.len()).map(|p| self.size(p) * choice_bytes(self.states[p])).sum();
        8.0 * self.peak + choices
    }
}

/// Bytes of a choice among `states`.
pub(crate) fn choice_bytes(states: u32) -> f64 {
    if states <= 256 { 1.0 } else { 4.0 }
}
