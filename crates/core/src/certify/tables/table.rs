//! Tables over cliques: where an entry of a small table is, seen from a large one.

use super::domain::Domains;
use crate::certify::interval::two_sum;
use crate::model::FactorModel;

/// Tables up to which plain sums are good enough; of more, rounding errors are summed as well.
const FEW: usize = 8;

/// Entries that are summed at a time: they stay in the second-level cache.
const BLOCK: usize = 1 << 14;

/// Values over `scope`, first variable fastest, over the remaining states.
pub(super) struct Table {
    pub(super) scope: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Every finite value is within this of the exact one; `-inf` is exact.
    pub(super) error_up: f64,
    /// Largest finite absolute value.
    pub(super) magnitude: f64,
}

/// A table as a clique sees it: the offset of every state of every variable of the clique.
pub(super) struct View<'a> {
    values: &'a [f64],
    negated: bool,
    /// Per variable of the clique, the offset of each remaining state; empty when the table does not depend on it.
    steps: Vec<Vec<u32>>,
}

/// Largest finite absolute value.
pub(super) fn magnitude(values: &[f64]) -> f64 {
    values.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()))
}

impl<'a> View<'a> {
    /// A table over remaining states.
    pub(super) fn of_table(
        scope: &[u32],
        values: &'a [f64],
        negated: bool,
        clique: &[u32],
        domains: &Domains,
    ) -> Self {
        let stride = |p: usize| scope[..p].iter().map(|&v| domains.size(v)).product::<usize>();
        let steps = |v: &u32| match scope.iter().position(|w| w == v) {
            Some(p) => (0..domains.size(*v)).map(|s| (s * stride(p)) as u32).collect(),
            None => Vec::new(),
        };
        View { values, negated, steps: clique.iter().map(steps).collect() }
    }

    /// A factor of the model, its table over all states; variables with one state left are fixed.
    pub(super) fn of_factor(model: &'a FactorModel, k: usize, clique: &[u32], domains: &Domains) -> Self {
        let factor = model.factor(k);
        let (mut strides, mut stride, mut base) = (Vec::new(), 1, 0);
        for &v in factor.scope {
            strides.push(stride);
            if domains.size(v) == 1 {
                base += domains.of(v)[0] as usize * stride;
            }
            stride *= model.cardinalities()[v as usize] as usize;
        }
        let steps = |v: &u32| match factor.scope.iter().position(|w| w == v) {
            Some(p) if domains.size(*v) > 1 => {
                domains.of(*v).iter().map(|s| (*s as usize * strides[p]) as u32).collect()
            }
            _ => Vec::new(),
        };
        View { values: &factor.table[base..], negated: false, steps: clique.iter().map(steps).collect() }
    }

    fn base(&self, first: usize, digits: &[usize]) -> usize {
        let step = |(p, &s): (usize, &usize)| self.steps[first + p].get(s).map_or(0, |o| *o as usize);
        digits.iter().enumerate().map(step).sum()
    }
}

/// Offsets of every entry over the leading variables, the first fastest.
fn offsets(sizes: &[usize], steps: &[Vec<u32>]) -> Vec<u32> {
    let mut out = vec![0u32];
    for (&size, own) in sizes.iter().zip(steps) {
        let mut next = Vec::with_capacity(out.len() * size);
        for s in 0..size {
            let step = own.get(s).copied().unwrap_or(0);
            next.extend(out.iter().map(|o| o + step));
        }
        out = next;
    }
    out
}

/// Sums `views` over a clique of these `sizes`, block by block; `take` sees consecutive entries, always whole runs of
/// the first variable, and returns whether to go on.
pub(super) fn sum_by_blocks(sizes: &[usize], views: &[View<'_>], mut take: impl FnMut(&[f64]) -> bool) {
    let mut inner = sizes.len().min(1);
    let mut length: usize = sizes[..inner].iter().product();
    while inner < sizes.len() && length * sizes[inner] <= BLOCK {
        length *= sizes[inner];
        inner += 1;
    }
    let offsets: Vec<Vec<u32>> = views.iter().map(|v| offsets(&sizes[..inner], &v.steps[..inner])).collect();
    let mut digits = vec![0; sizes.len() - inner];
    let mut theta = vec![0.0; length];
    let mut missed = vec![0.0; if views.len() > FEW { length } else { 0 }];
    loop {
        theta.iter_mut().chain(&mut missed).for_each(|t| *t = 0.0);
        for (view, offsets) in views.iter().zip(&offsets) {
            let values = &view.values[view.base(inner, &digits)..];
            if !missed.is_empty() {
                add_exactly(&mut theta, &mut missed, values, offsets, view.negated);
            } else if view.negated {
                theta.iter_mut().zip(offsets).for_each(|(t, &o)| *t -= values[o as usize]);
            } else {
                theta.iter_mut().zip(offsets).for_each(|(t, &o)| *t += values[o as usize]);
            }
        }
        theta.iter_mut().zip(&missed).for_each(|(t, missed)| *t += missed);
        if !take(&theta) || !advance(&mut digits, &sizes[inner..]) {
            return;
        }
    }
}

/// Adds a table to a block, what rounding misses on the side.
fn add_exactly(theta: &mut [f64], missed: &mut [f64], values: &[f64], offsets: &[u32], negated: bool) {
    for ((t, missed), &o) in theta.iter_mut().zip(missed).zip(offsets) {
        let v = values[o as usize];
        let (sum, error) = two_sum(*t, if negated { -v } else { v });
        *t = sum;
        // Where a value is -inf there is nothing to miss.
        *missed += if error.is_finite() { error } else { 0.0 };
    }
}

/// By how many times `2^-52 M` a sum of `count` tables can err, M the sum of their magnitudes.
pub(super) fn sum_roundings(count: usize) -> f64 {
    let count = count as f64;
    if count <= FEW as f64 { count } else { 1.0 + count * count * f64::EPSILON }
}

/// The next combination, first digit fastest; false after the last.
fn advance(digits: &mut [usize], sizes: &[usize]) -> bool {
    for (digit, &size) in digits.iter_mut().zip(sizes) {
        *digit += 1;
        if *digit < size {
            return true;
        }
        *digit = 0;
    }
    false
}
