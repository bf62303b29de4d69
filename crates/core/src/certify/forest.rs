//! Forest distributions in intervals: their `Phi`, and the expectation of any monomial.

use super::interval::{Interval, add_down, add_up, div_down, div_up, mul_down, mul_up};
use crate::error::{Error, Result};
use crate::model::Ising;
use std::collections::BinaryHeap;

/// The law `q ~ exp(g/eps)` of a pairwise g on a forest, as a Markov chain away from the roots.
pub(crate) struct ForestLaw {
    phi: Interval,
    /// Spins, parents before children.
    order: Vec<usize>,
    /// Place of every spin in `order`.
    place: Vec<usize>,
    parent: Vec<Option<usize>>,
    /// `P(x_i = +1)`, `P(x_i = -1)`.
    marginal: Vec<[Interval; 2]>,
    /// `P(x_i = +1 | parent = +1)`, `(+1 | -1)`, `(-1 | +1)`, `(-1 | -1)`.
    kernel: Vec<[Interval; 4]>,
    root: Vec<usize>,
    /// Values pending at each spin while an expectation climbs.
    pending: Vec<Option<[Interval; 2]>>,
}

impl ForestLaw {
    /// **Cost** O(d).
    ///
    /// # Errors
    /// [`Error::Certificate`] when the edges contain a cycle.
    pub(crate) fn new(g: &Ising, eps: f64) -> Result<Self> {
        let d = g.d();
        let (order, parent, root) = rooted(g)?;
        let mut place = vec![0; d];
        order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut law = ForestLaw {
            phi: Interval::point(g.constant()),
            order,
            place,
            parent: parent.iter().map(|p| p.map(|(i, _)| i)).collect(),
            marginal: vec![[Interval::ZERO; 2]; d],
            kernel: vec![[Interval::ZERO; 4]; d],
            root,
            pending: vec![None; d],
        };
        law.upward(g, &parent, eps);
        law.downward();
        Ok(law)
    }

    /// Messages to the roots: `Phi`, and every kernel.
    fn upward(&mut self, g: &Ising, parent: &[Option<(usize, f64)>], eps: f64) {
        let fields = g.fields();
        let mut belief: Vec<[Interval; 2]> =
            fields.iter().map(|&h| [Interval::point(h), Interval::point(-h)]).collect();
        for &i in self.order.iter().rev() {
            let [plus, minus] = belief[i];
            let gap = plus - minus;
            let Some((up, coupling)) = parent[i] else {
                self.phi = self.phi + soft_mean(plus, minus, eps);
                self.marginal[i] = [sigmoid(gap, eps), sigmoid(-gap, eps)];
                continue;
            };
            let j = Interval::point(coupling);
            let twice = j + j;
            self.kernel[i] = [
                sigmoid(gap + twice, eps),
                sigmoid(gap - twice, eps),
                sigmoid(-gap - twice, eps),
                sigmoid(twice - gap, eps),
            ];
            belief[up][0] = belief[up][0] + soft_mean(plus + j, minus - j, eps);
            belief[up][1] = belief[up][1] + soft_mean(plus - j, minus + j, eps);
        }
    }

    fn downward(&mut self) {
        for &i in &self.order {
            let Some(up) = self.parent[i] else { continue };
            let ([p, q], k) = (self.marginal[up], self.kernel[i]);
            self.marginal[i] = [p * k[0] + q * k[1], p * k[2] + q * k[3]];
        }
    }

    /// `Phi(g)`.
    pub(crate) fn phi(&self) -> Interval {
        self.phi
    }

    /// `E_q x^A`: values climb from the members of A until one spin per tree is left.
    ///
    /// **Cost** the length of the paths that join A.
    pub(crate) fn expectation(&mut self, set: &[usize]) -> Interval {
        let mut heap: BinaryHeap<usize> = BinaryHeap::new();
        for &i in set {
            self.pending[i] = Some([Interval::ONE, -Interval::ONE]);
            heap.push(self.place[i]);
        }
        let mut left: Vec<(usize, usize)> = Vec::new();
        for &i in set {
            match left.iter_mut().find(|(root, _)| *root == self.root[i]) {
                Some((_, count)) => *count += 1,
                None => left.push((self.root[i], 1)),
            }
        }
        let mut product = Interval::ONE;
        while let Some(place) = heap.pop() {
            let i = self.order[place];
            let Some([plus, minus]) = self.pending[i].take() else { continue };
            let Some(tree) = left.iter_mut().find(|(root, _)| *root == self.root[i]) else { continue };
            match self.parent[i] {
                Some(up) if tree.1 > 1 => {
                    let k = self.kernel[i];
                    let message = [k[0] * plus + k[2] * minus, k[1] * plus + k[3] * minus];
                    match &mut self.pending[up] {
                        Some(value) => {
                            tree.1 -= 1;
                            *value = [value[0] * message[0], value[1] * message[1]];
                        }
                        empty => {
                            *empty = Some(message);
                            heap.push(self.place[up]);
                        }
                    }
                }
                _ => {
                    let [p, q] = self.marginal[i];
                    product = product * (p * plus + q * minus);
                }
            }
        }
        product
    }
}

/// `1 / (1 + exp(-t/eps))`.
fn sigmoid(t: Interval, eps: f64) -> Interval {
    let odds = (-t / Interval::point(eps)).exp();
    // exp overflows to infinity; 1/inf = 0 is the right lower end.
    let lo = if odds.hi == f64::INFINITY {
        0.0
    } else {
        // Of 1 + odds only the upper end matters here, and it may overflow: the quotient must not turn negative.
        (Interval::ONE / (Interval::ONE + Interval::point(odds.hi))).lo.max(0.0)
    };
    let hi = (Interval::ONE / (Interval::ONE + Interval::point(odds.lo))).hi;
    Interval { lo, hi: hi.min(1.0) + 0.0 * hi }
}

type Rooted = (Vec<usize>, Vec<Option<(usize, f64)>>, Vec<usize>);

/// Spins parents first, the parent of each with the coupling to it, and the root of each.
fn rooted(g: &Ising) -> Result<Rooted> {
    let d = g.d();
    let adjacency = g.adjacency();
    let (mut order, mut parent, mut root) = (Vec::with_capacity(d), vec![None; d], vec![usize::MAX; d]);
    for start in 0..d {
        if root[start] != usize::MAX {
            continue;
        }
        root[start] = start;
        order.push(start);
        let mut next = order.len() - 1;
        while next < order.len() {
            let i = order[next];
            next += 1;
            for &(j, edge) in adjacency.of(i) {
                let j = j as usize;
                if parent[i].is_some_and(|(up, _)| up == j) {
                    continue;
                }
                if root[j] != usize::MAX {
                    return Err(Error::Certificate("a forest witness has a cycle".into()));
                }
                root[j] = start;
                parent[j] = Some((i, g.couplings()[edge as usize]));
                order.push(j);
            }
        }
    }
    Ok((order, parent, root))
}

/// `eps log((exp(a/eps) + exp(b/eps)) / 2)`, at eps = 0 the larger of the two.
fn soft_mean(a: Interval, b: Interval, eps: f64) -> Interval {
    if (a.lo + a.hi + b.lo + b.hi).is_nan() {
        // `min` and `max` below would drop it.
        return Interval::point(f64::NAN);
    }
    let (low, high) = ((a.lo.min(b.lo), a.lo.max(b.lo)), (a.hi.min(b.hi), a.hi.max(b.hi)));
    if eps == 0.0 {
        return Interval { lo: low.1, hi: high.1 };
    }
    // high + eps log((1 + exp(-t)) / 2) with t = (high - low) / eps from the safe side.
    let t_up = div_up(add_up(low.1, -low.0), eps);
    let t_down = div_down(add_down(high.1, -high.0), eps);
    let correction = |t: f64| {
        let mean = (Interval::ONE + Interval::point(-t).exp()) * Interval::point(0.5);
        mean.log()
    };
    Interval {
        lo: add_down(low.1, mul_down(eps, correction(t_up).lo)),
        hi: add_up(high.1, mul_up(eps, correction(t_down).hi)),
    }
}
