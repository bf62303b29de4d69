//! Sums over the cube: elimination, forest distributions, and the sparse test of definiteness.

use crate::cert::Polynomial;
use crate::interval::{Interval, ONE, ZERO, at, sum_up};
use crate::model::Set;
use crate::require;
use crate::spectrum::{TINY, U};
use std::collections::{BTreeMap, BTreeSet};

/// `eps log((exp(a/eps) + exp(b/eps)) / 2)`, the maximum at eps = 0: increasing in a and b.
pub(crate) fn soft_mean(a: Interval, b: Interval, eps: f64) -> Interval {
    let one = |x: f64, y: f64| {
        let (low, high) = (at(x.min(y)), at(x.max(y) + 0.0 * (x + y))); // the zero keeps NaN
        if eps == 0.0 {
            return high;
        }
        let odds = ((low - high) / at(eps)).exp();
        high + at(eps) * ((ONE + odds) * at(0.5)).log()
    };
    Interval { lo: one(a.lo, b.lo).lo, hi: one(a.hi, b.hi).hi }
}

/// Place of each of `0..n` in `order`, which must be a permutation.
pub(crate) fn places(order: &[usize], n: usize) -> Result<Vec<usize>, String> {
    let mut place = vec![usize::MAX; n];
    for (step, &i) in order.iter().enumerate() {
        require(i < n && place[i] == usize::MAX, &format!("{i} is repeated or unknown in an order"))?;
        place[i] = step;
    }
    if order.len() == n { Ok(place) } else { Err("an order is incomplete".into()) }
}

type Table = (Set, Vec<Interval>);

/// `Phi` of a polynomial by eliminating spins in `order`.
pub(crate) fn eliminate(f: &Polynomial, order: &[usize], d: usize, eps: f64) -> Result<Interval, String> {
    let place = places(order, d)?;
    let mut buckets: Vec<Vec<Table>> = vec![Vec::new(); d];
    let mut total = ZERO;
    let first = |scope: &Set| scope.iter().map(|&i| place[i]).min();
    for (set, &theta) in f {
        require(set.len() <= 25, "a term has more than 25 spins")?;
        let odd = |k: usize| (set.len() - k.count_ones() as usize) % 2 == 1;
        let entries = (0..1usize << set.len()).map(|k| if odd(k) { -theta } else { theta }).collect();
        match first(set) {
            None => total = total + theta,
            Some(step) => buckets[step].push((set.clone(), entries)),
        }
    }
    for (step, &spin) in order.iter().enumerate() {
        let tables = std::mem::take(&mut buckets[step]);
        let scope: BTreeSet<usize> =
            tables.iter().flat_map(|t| t.0.iter().copied()).filter(|&i| i != spin).collect();
        let scope: Set = scope.into_iter().collect();
        require(scope.len() <= 25, "the elimination order is too wide")?;
        let value = |k: usize, up: bool| {
            tables.iter().fold(ZERO, |sum, (names, entries)| {
                let bit = |i: &usize| {
                    if *i == spin { up } else { scope.binary_search(i).is_ok_and(|p| k >> p & 1 == 1) }
                };
                let index = names.iter().enumerate().map(|(p, i)| usize::from(bit(i)) << p).sum::<usize>();
                sum + entries[index]
            })
        };
        let entries: Vec<Interval> =
            (0..1usize << scope.len()).map(|k| soft_mean(value(k, true), value(k, false), eps)).collect();
        match first(&scope) {
            None => total = total + entries[0],
            Some(later) => buckets[later].push((scope, entries)),
        }
    }
    Ok(total)
}

/// `q ~ exp(g/eps)` on a forest.
pub(crate) struct Forest {
    pub(crate) phi: Interval,
    /// Spins, children before parents.
    order: Vec<usize>,
    parent: Vec<Option<(usize, Interval)>>,
    /// P(+|+), P(+|-), P(-|+), P(-|-) given the parent; for a root P(+), P(+), P(-), P(-).
    kernel: Vec<[Interval; 4]>,
}

impl Forest {
    pub(crate) fn new(g: &Polynomial, d: usize, eps: f64) -> Result<Forest, String> {
        let (mut phi, mut belief) = (ZERO, vec![[ZERO; 2]; d]);
        let mut neighbours: Vec<BTreeMap<usize, Interval>> = vec![BTreeMap::new(); d];
        for (set, &v) in g {
            match set[..] {
                [] => phi = v,
                [i] => belief[i] = [v, -v],
                [i, j] => drop((neighbours[i].insert(j, v), neighbours[j].insert(i, v))),
                _ => return Err("a forest witness is not pairwise".into()),
            }
        }
        // Strip leaves; what they hang on is their parent.
        let (mut order, mut parent) = (Vec::new(), vec![None; d]);
        let mut leaves: Vec<usize> = (0..d).filter(|&i| neighbours[i].len() <= 1).collect();
        while let Some(i) = leaves.pop() {
            order.push(i);
            parent[i] = neighbours[i].pop_first();
            let Some((up, _)) = parent[i] else { continue };
            neighbours[up].remove(&i);
            if neighbours[up].len() == 1 {
                leaves.push(up);
            }
        }
        require(order.len() == d, "a forest witness has a cycle")?;
        let sigmoid = |t: Interval| {
            let odds = (-t / at(eps)).exp();
            let lo = if odds.hi.is_finite() { (ONE / (ONE + at(odds.hi))).lo } else { 0.0 };
            Interval { lo, hi: (ONE / (ONE + at(odds.lo))).hi }
        };
        let mut kernel = vec![[ZERO; 4]; d];
        for &i in &order {
            let [plus, minus] = belief[i];
            let (gap, link) = (plus - minus, parent[i].map_or(ZERO, |p| p.1));
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
        Ok(Forest { phi, order, parent, kernel })
    }

    /// `E_q x^A`: conditional expectations pass from the leaves to the roots.
    pub(crate) fn expectation(&self, set: &Set) -> Interval {
        let mut value: BTreeMap<usize, [Interval; 2]> = set.iter().map(|&i| (i, [ONE, -ONE])).collect();
        let mut product = ONE;
        for &i in &self.order {
            let Some([plus, minus]) = value.remove(&i) else { continue };
            let k = self.kernel[i];
            let message = [k[0] * plus + k[2] * minus, k[1] * plus + k[3] * minus];
            match self.parent[i] {
                None => product = product * message[0],
                Some((up, _)) => {
                    let old = value.entry(up).or_insert([ONE, ONE]);
                    *old = [old[0] * message[0], old[1] * message[1]];
                }
            }
        }
        product
    }
}

/// `max (c + z^T P z) <= c + sum y` up to rounding when a Cholesky factorisation of `diag(y) - P` completes: the factor
/// errs by at most `gamma tr / (1 - gamma)`, gamma = t U / (1 - t U), in norm, t the longest inner product.
pub(crate) fn sparse_dual(p: &Polynomial, y: &[f64], order: &[usize], d: usize) -> Result<f64, String> {
    let (n, place) = (d + 1, places(order, d + 1)?);
    require(y.iter().all(|v| *v >= 0.0 && v.is_finite()), "a multiplier is negative or not finite")?;
    let mut columns: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); n];
    let mut total = y.iter().fold(ZERO, |sum, v| sum + at(*v));
    for (set, v) in p {
        let (a, b) = match set[..] {
            [] => {
                total = total + *v;
                continue;
            }
            [i] => (place[0], place[i + 1]),
            [i, j] => (place[i + 1], place[j + 1]),
            _ => return Err("a sparse dual component is not pairwise".into()),
        };
        columns[a.min(b)].insert(a.max(b), -0.5 * v.hi);
    }
    let mut pivots: Vec<f64> = order.iter().map(|&i| y[i]).collect();
    let mut lengths = vec![0usize; n];
    for k in 0..n {
        let column: Vec<(usize, f64)> = std::mem::take(&mut columns[k]).into_iter().collect();
        if column.is_empty() && lengths[k] == 0 && pivots[k] == 0.0 {
            continue;
        }
        require(pivots[k] > 0.0, "diag(y) - P is not positive definite")?;
        let root = pivots[k].sqrt();
        let column: Vec<(usize, f64)> = column.into_iter().map(|(i, v)| (i, v / root)).collect();
        for (at, &(j, v)) in column.iter().enumerate() {
            pivots[j] -= v * v;
            lengths[j] += 1;
            for &(i, w) in &column[at + 1..] {
                *columns[j].entry(i).or_insert(0.0) -= v * w;
            }
        }
    }
    let longest = lengths.iter().max().copied().unwrap_or(0) as f64;
    let trace = sum_up(y.iter().copied());
    let t_u = at(longest + 4.0) * at(U);
    let short =
        t_u / (ONE - t_u - t_u) * at(trace) + at(8.0 * (n as f64) * (n as f64) * TINY * (1.0 + trace));
    Ok((total + at(n as f64) * short).hi)
}
