//! Intervals from self-avoiding walks: the law of every spin on its own, without log Z.
//!
//! In a pairwise model of spins the law of `x_i` is that of the root of a tree, the self-avoiding walks from i (Weitz 2006):
//! a walk that comes back to a vertex it left by edge a, now by edge b, ends in a leaf fixed to +1 when b comes after a in the
//! vertex's list and to -1 otherwise. On a tree the log odds `h = log P(x = +1) / P(x = -1)` obey
//! `h_v = 2 b_v + sum_w g(2 J_vw, h_w)`, `g(a, h) = log (e^(a+h) + 1) / (e^h + e^a)`, and g is monotone in h with values in
//! `[-|a|, |a|]`. So a walk that is cut anywhere, with that interval in place of what was cut off, gives proved bounds,
//! which shrink as walks grow: on sparse graphs geometrically, whatever the number of spins.

use crate::certify::Interval;
use crate::model::{Adjacency, Polynomial};

/// Longest walk, in edges: a bound on the depth of the recursion.
const LONGEST: usize = 400;

/// Units of rounding in one value of g beside its arguments' size: four logarithms, exponentials and sums, each good to
/// an ulp or two, and the rounding of `2 J / eps`.
const G_ROUNDINGS: f64 = 16.0 * f64::EPSILON;

/// A pairwise model at a temperature, as walks see it.
pub(super) struct Walks {
    adjacency: Adjacency,
    /// `2 b_i / eps`.
    fields: Vec<f64>,
    /// `2 J_e / eps`.
    couplings: Vec<f64>,
    /// `tanh |J_e / eps|`: how much of a change at one end of an edge reaches the other, at most.
    reach: Vec<f64>,
    /// Log odds may be off by this much for what the coefficients leave open.
    slack: f64,
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Walks end where the product of the influences along them is below this.
    pub(super) influence: f64,
    /// Edges looked at from one root.
    pub(super) steps: usize,
}

/// What one root's walks gave.
pub(super) struct Odds {
    /// Log odds of +1.
    pub(super) odds: Interval,
    /// Whether a smaller influence would go further: no walk was cut for another reason, and one was for this.
    pub(super) can_grow: bool,
}

impl Walks {
    /// `None` when f has terms of three spins or more, or values that overflow.
    pub(super) fn new(f: &Polynomial, eps: f64) -> Option<Self> {
        let ising = f.as_ising()?;
        let odds = |value: &f64| 2.0 * (value / eps);
        let fields: Vec<f64> = ising.fields().iter().map(odds).collect();
        let couplings: Vec<f64> = ising.couplings().iter().map(odds).collect();
        let slack = (2.0 * f.uncertainty() / eps) * (1.0 + 4.0 * f64::EPSILON);
        let is_finite = fields.iter().chain(&couplings).all(|v| v.abs() < 1e300) && slack.is_finite();
        let reach = couplings.iter().map(|a| libm::tanh(a.abs() / 2.0)).collect();
        is_finite.then(|| Walks { adjacency: ising.adjacency(), fields, couplings, reach, slack })
    }

    /// Proved log odds of spin `root`; `left` is a workspace of [`Walks::workspace`].
    pub(super) fn odds(&self, root: usize, extent: Extent, left: &mut [u32]) -> Odds {
        let mut walk = Walk { walks: self, extent, left, steps: 0, was_cut: false, is_full: false };
        let h = walk.odds(root, u32::MAX, 1.0, 0);
        let (was_cut, is_full) = (walk.was_cut, walk.is_full);
        Odds {
            odds: Interval { lo: h.lo - self.slack, hi: h.hi + self.slack },
            can_grow: was_cut && !is_full,
        }
    }

    /// Room for one walk at a time.
    pub(super) fn workspace(&self) -> Vec<u32> {
        vec![0; self.fields.len()]
    }
}

struct Walk<'a> {
    walks: &'a Walks,
    extent: Extent,
    /// For a vertex on the walk, one more than the place in its list of the edge by which it was left.
    left: &'a mut [u32],
    steps: usize,
    was_cut: bool,
    is_full: bool,
}

impl Walk<'_> {
    /// Log odds of `v` in the subtree below it, having come by edge `from`.
    fn odds(&mut self, v: usize, from: u32, influence: f64, depth: usize) -> Interval {
        let walks = self.walks;
        let list = walks.adjacency.of(v);
        let mut h = Interval::point(walks.fields[v]);
        let mut size = walks.fields[v].abs();
        for (place, &(w, e)) in list.iter().enumerate() {
            if e == from {
                continue;
            }
            let a = walks.couplings[e as usize];
            let message = match self.left[w as usize] {
                0 => {
                    self.left[v] = place as u32 + 1;
                    let below = self.below(w as usize, e, influence, depth);
                    below.map_or(Interval { lo: -a.abs(), hi: a.abs() }, |h| passed(a, h))
                }
                start => Interval::point(closing_sign(walks.adjacency.of(w as usize), v as u32, start) * a),
            };
            size += a.abs();
            h = Interval { lo: h.lo + message.lo, hi: h.hi + message.hi };
        }
        self.left[v] = 0;
        // Sums of n numbers of total size s are off by n u s at most.
        let rounding = (list.len() + 2) as f64 * f64::EPSILON * size;
        Interval { lo: h.lo - rounding, hi: h.hi + rounding }
    }

    /// Log odds of the next vertex, unless the walk ends before it.
    fn below(&mut self, w: usize, e: u32, influence: f64, depth: usize) -> Option<Interval> {
        let influence = influence * self.walks.reach[e as usize];
        if influence < self.extent.influence {
            self.was_cut = true;
            return None;
        }
        self.steps += self.walks.adjacency.of(w).len();
        if self.steps > self.extent.steps || depth >= LONGEST {
            self.is_full = true;
            return None;
        }
        Some(self.odds(w, e, influence, depth + 1))
    }
}

/// The spin of the leaf that closes a cycle from neighbour `v` at a vertex that was left by edge `start - 1` of its list.
fn closing_sign(list: &[(u32, u32)], v: u32, start: u32) -> f64 {
    let place = list.partition_point(|&(neighbour, _)| neighbour < v);
    if place >= start as usize { 1.0 } else { -1.0 }
}

/// Bounds on `g(a, h)` for h in an interval.
fn passed(a: f64, h: Interval) -> Interval {
    let g = |h: f64| log_add(a + h, 0.0) - log_add(h, a);
    let (start, end) = if a >= 0.0 { (h.lo, h.hi) } else { (h.hi, h.lo) };
    let rounding = |h: f64| G_ROUNDINGS * (a.abs() + h.abs() + 1.0);
    let (lo, hi) = (g(start) - rounding(start), g(end) + rounding(end));
    // A walk from a vertex without a bound leaves the trivial one; so does a value that is not a number.
    Interval { lo: if lo > -a.abs() { lo } else { -a.abs() }, hi: if hi < a.abs() { hi } else { a.abs() } }
}

fn log_add(x: f64, y: f64) -> f64 {
    let (top, low) = if x >= y { (x, y) } else { (y, x) };
    top + libm::log1p(libm::exp(low - top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ising;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    /// Uniform between two numbers.
    fn between(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
        low + (high - low) * (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Log odds of every spin by enumeration.
    fn truth(f: &Ising, eps: f64) -> Vec<f64> {
        let d = f.d();
        let mut weights = vec![[0.0f64; 2]; d];
        for bits in 0..1u32 << d {
            let x: Vec<i8> = (0..d).map(|i| if bits >> i & 1 == 1 { 1 } else { -1 }).collect();
            let weight = (f.value(&x) / eps).exp();
            (0..d).for_each(|i| weights[i][usize::from(x[i] == 1)] += weight);
        }
        weights.iter().map(|[minus, plus]| (plus / minus).ln()).collect()
    }

    #[test]
    fn walks_of_any_extent_hold_the_truth_and_whole_trees_are_exact() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for case in 0..2000 {
            let d = between(&mut random, 1.0, 8.0) as usize;
            let scale = 10f64.powf(between(&mut random, -1.5, 1.0));
            let eps = 10f64.powf(between(&mut random, -0.5, 0.5));
            let fields: Vec<f64> = (0..d).map(|_| between(&mut random, -scale, scale)).collect();
            let mut pairs: Vec<_> = (0..d).flat_map(|i| (0..i).map(move |j| (j, i, 0.0))).collect();
            pairs.retain_mut(|pair| {
                pair.2 = between(&mut random, -scale, scale);
                between(&mut random, 0.0, 1.0) < 0.6
            });
            let f = Ising::new(d, &fields, &pairs).unwrap();
            let exact = truth(&f, eps);
            let walks = Walks::new(&f.into(), eps).unwrap();
            let mut left = walks.workspace();
            for influence in [1.0, 0.3, 0.05, 0.0] {
                for steps in [3, 40, usize::MAX] {
                    for (i, &h) in exact.iter().enumerate() {
                        let found = walks.odds(i, Extent { influence, steps }, &mut left).odds;
                        let slack = 1e-9 * (1.0 + h.abs());
                        assert!(found.lo <= h + slack && h <= found.hi + slack, "case {case}: {found:?} {h}");
                        let is_whole = influence == 0.0 && steps == usize::MAX;
                        assert!(!is_whole || found.hi - found.lo < slack, "case {case}: {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn extreme_couplings_prove_nothing_false() {
        for (b, j) in [(0.0, 1e299), (1e-300, -1e200), (-700.0, 700.0), (5e-324, 5e-324)] {
            let f = Ising::new(3, &[b, -b, 0.0], &[(0, 1, j), (1, 2, -j), (0, 2, 0.5)]).unwrap();
            let Some(walks) = Walks::new(&f.into(), 1.0) else { continue };
            let mut left = walks.workspace();
            for i in 0..3 {
                let found = walks.odds(i, Extent { influence: 0.0, steps: 100 }, &mut left).odds;
                assert!(found.lo <= found.hi, "{b} {j}: {found:?}");
            }
        }
    }
}
