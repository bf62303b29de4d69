//! Forest distributions, in time linear in their size.

use crate::cert::Polynomial;
use crate::interval::{Interval, ONE, ZERO, at};
use crate::model::Set;
use crate::require;
use crate::sums::soft_mean;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `q ~ exp(g/eps)` on a forest.
pub(crate) struct Forest {
    pub(crate) phi: Interval,
    /// Spins, children before parents, and where each is.
    order: Vec<usize>,
    place: Vec<usize>,
    parent: Vec<Option<(usize, Interval)>>,
    root: Vec<usize>,
    /// P(+|+), P(+|-), P(-|+), P(-|-) given the parent; for a root P(+), P(+), P(-), P(-).
    kernel: Vec<[Interval; 4]>,
    /// P(+), P(-).
    marginal: Vec<[Interval; 2]>,
    /// Conditional expectations on their way up.
    pending: Vec<Option<[Interval; 2]>>,
}

impl Forest {
    pub(crate) fn new(g: &Polynomial, d: usize, eps: f64) -> Result<Forest, String> {
        let (mut phi, mut belief) = (ZERO, vec![[ZERO; 2]; d]);
        let mut neighbours: Vec<Vec<(usize, Interval)>> = vec![Vec::new(); d];
        for (set, &v) in g {
            match set[..] {
                [] => phi = v,
                [i] => belief[i] = [v, -v],
                [i, j] => {
                    neighbours[i].push((j, v));
                    neighbours[j].push((i, v));
                }
                _ => return Err("a forest witness is not pairwise".into()),
            }
        }
        let (order, parent) = rooted(&neighbours)?;
        let sigmoid = |t: Interval| {
            let odds = (-t / at(eps)).exp();
            // An upper end that overflows must not push the quotient below zero.
            let lo = if odds.hi.is_finite() { (ONE / (ONE + at(odds.hi))).lo.max(0.0) } else { 0.0 };
            Interval { lo, hi: (ONE / (ONE + at(odds.lo))).hi }
        };
        let mut kernel = vec![[ZERO; 4]; d];
        for &i in &order {
            let [plus, minus] = belief[i];
            let (gap, link) = (plus - minus, parent[i].map_or(ZERO, |p: (usize, Interval)| p.1));
            let twice = link + link;
            kernel[i] =
                [sigmoid(gap + twice), sigmoid(gap - twice), sigmoid(-gap - twice), sigmoid(twice - gap)];
            match parent[i] {
                None => phi = phi + soft_mean(plus, minus, eps),
                Some((up, _)) => {
                    belief[up][0] = belief[up][0] + soft_mean(plus + link, minus - link, eps);
                    belief[up][1] = belief[up][1] + soft_mean(plus - link, minus + link, eps);
                }
            }
        }
        let (mut marginal, mut root, mut place) =
            (vec![[ZERO; 2]; d], (0..d).collect::<Vec<_>>(), vec![0; d]);
        for (k, &i) in order.iter().enumerate().rev() {
            let q = kernel[i];
            place[i] = k;
            marginal[i] = [q[0], q[2]];
            if let Some((up, _)) = parent[i] {
                let [p, m] = marginal[up];
                marginal[i] = complementary([p * q[0] + m * q[1], p * q[2] + m * q[3]]);
                root[i] = root[up];
            }
        }
        Ok(Forest { phi, order, place, parent, root, kernel, marginal, pending: vec![None; d] })
    }

    /// `E_q x^A`: conditional expectations climb from the members of A until one spin a tree is left.
    pub(crate) fn expectation(&mut self, set: &Set) -> Interval {
        let mut heap: BinaryHeap<Reverse<usize>> = set.iter().map(|&i| Reverse(self.place[i])).collect();
        let mut trees: Vec<(usize, usize)> = Vec::new();
        for &i in set {
            self.pending[i] = Some([ONE, -ONE]);
            match trees.iter_mut().find(|(root, _)| *root == self.root[i]) {
                Some((_, count)) => *count += 1,
                None => trees.push((self.root[i], 1)),
            }
        }
        let mut product = ONE;
        while let Some(Reverse(place)) = heap.pop() {
            let i = self.order[place];
            let Some([plus, minus]) = self.pending[i].take() else { continue };
            let Some(tree) = trees.iter_mut().find(|(root, _)| *root == self.root[i]) else { continue };
            match self.parent[i] {
                Some((up, _)) if tree.1 > 1 => {
                    let k = self.kernel[i];
                    let message = [k[0] * plus + k[2] * minus, k[1] * plus + k[3] * minus];
                    if let Some(old) = &mut self.pending[up] {
                        *old = [old[0] * message[0], old[1] * message[1]];
                        tree.1 -= 1;
                    } else {
                        self.pending[up] = Some(message);
                        heap.push(Reverse(self.place[up]));
                    }
                }
                _ => product = product * (self.marginal[i][0] * plus + self.marginal[i][1] * minus),
            }
        }
        product
    }
}

type Rooted = (Vec<usize>, Vec<Option<(usize, Interval)>>);

/// Spins with children before parents, every tree hanging from its first spin.
fn rooted(neighbours: &[Vec<(usize, Interval)>]) -> Result<Rooted, String> {
    let d = neighbours.len();
    let (mut order, mut parent, mut seen) = (Vec::with_capacity(d), vec![None; d], vec![false; d]);
    for start in 0..d {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        order.push(start);
        let mut next = order.len() - 1;
        while let Some(&i) = order.get(next) {
            next += 1;
            let above = parent[i].map(|(up, _): (usize, Interval)| up);
            for &(j, link) in neighbours[i].iter().filter(|(j, _)| Some(*j) != above) {
                require(!seen[j], "a forest witness has a cycle")?;
                seen[j] = true;
                parent[j] = Some((i, link));
                order.push(j);
            }
        }
    }
    order.reverse();
    Ok((order, parent))
}

/// Two numbers that add up to 1: each is also 1 less the other.
fn complementary([p, m]: [Interval; 2]) -> [Interval; 2] {
    let both = |a: Interval, b: Interval| {
        let other = ONE - b;
        // NaN stays where a comparison would drop it.
        Interval {
            lo: if other.lo > a.lo { other.lo } else { a.lo },
            hi: if other.hi < a.hi { other.hi } else { a.hi },
        }
    };
    [both(p, m), both(m, p)]
}
