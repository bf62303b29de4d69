//! Exponentials of a few bits of the small layer each, and the sum of their products.

use super::Layers;
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::exact::rounding::U;
use crate::exact::scaled::{Scaled, take_exponents};
use crate::observer::Monitor;

/// Bits of the patterns that are worked on together: a row of them and [`HIGHS`] rows of products stay in the first cache.
const LOW_BITS: usize = 8;

/// Bits of the other two tables: 2^11 rows of the large layer's size each.
const HIGH_BITS: usize = 11;

/// High patterns that share a pass over the low table, which does not fit the second cache.
pub(super) const HIGHS: usize = 8;

/// Largest `2 |a_v|/eps` of a spin: beyond, exponentials leave the range of floating point.
const LARGEST: f64 = 600.0;

/// Logarithm of what a product may grow to before its exponent is taken out.
const BLOCK: f64 = 650.0;

/// The exponentials.
pub(super) struct Powers {
    /// Bits of the low, middle and top patterns.
    bits: [usize; 3],
    /// `e^(-2 sign a_v)` by bits: per spin of the large layer one row of low patterns; per middle or top pattern one row of spins.
    low: Vec<f64>,
    middle: Vec<f64>,
    top: Vec<f64>,
    /// The part that is linear in s, `e^(sum_j s_j g_j)`, by the same bits.
    own: [Vec<Scaled>; 3],
    /// Spins of the large layer before which exponents are taken out.
    cuts: Vec<bool>,
    /// Largest relative errors of a factor, and of the linear part.
    delta: f64,
    own_delta: f64,
}

impl Powers {
    /// Bytes of the tables, and of the products of every thread.
    pub(super) fn bytes(small: usize, large: usize, threads: usize) -> u64 {
        let rows: usize = split(small).iter().map(|b| 1usize << b).sum();
        (8 * rows * (large + 2) + 24 * HIGHS * threads * (1 << LOW_BITS)) as u64
    }

    /// # Errors
    /// [`Error::NotApplicable`] when couplings are too strong; [`Error::Interrupted`].
    pub(super) fn new(layers: &Layers, eps: f64, monitor: &mut Monitor<'_>) -> Result<Self> {
        let (n, large) = (layers.small.len(), layers.large.len());
        let bits = split(n);
        let mut powers = Powers {
            bits,
            low: Vec::with_capacity(large << bits[0]),
            middle: vec![0.0; large << bits[1]],
            top: vec![0.0; large << bits[2]],
            own: [Vec::new(), Vec::new(), Vec::new()],
            cuts: Vec::with_capacity(large),
            delta: 0.0,
            own_delta: 0.0,
        };
        let eps = Interval::point(eps);
        let point = |i: usize| Interval::point(layers.f.fields()[i]) / eps;
        let mut slopes: Vec<Interval> = layers.small.iter().map(|&i| point(i)).collect();
        let (mut constant, mut grown) = (Interval::ZERO, 0.0);
        for (v, couplings) in layers.couplings.iter().enumerate() {
            if let Some(stop) = monitor.interrupted() {
                return Err(Error::Interrupted(stop));
            }
            let field = point(layers.large[v]);
            // The sign that makes the products small.
            let sign = Interval::point(if field.lo < 0.0 { -1.0 } else { 1.0 });
            let mut weights = vec![Interval::ZERO; n];
            for &(j, value) in couplings {
                let coupling = sign * Interval::point(value) / eps;
                slopes[j] = slopes[j] + coupling;
                weights[j] = Interval::point(-2.0) * coupling;
            }
            constant = constant + sign * field;
            let pull: f64 = weights.iter().map(|w| w.magnitude()).sum();
            if !(pull + 2.0 * field.magnitude() <= LARGEST) {
                let why = "the couplings are too strong for a sum over a layer in floating point";
                return Err(Error::NotApplicable(why.into()));
            }
            let growth = (pull - 2.0 * field.magnitude()).max(0.0) + 1.0;
            let cut = grown + growth > BLOCK;
            powers.cuts.push(cut);
            grown = if cut { growth } else { grown + growth };
            powers.push(v, &weights, Interval::point(-2.0) * sign * field, large);
        }
        powers.own(&slopes, constant);
        Ok(powers)
    }

    /// Adds the exponentials of spin v.
    fn push(&mut self, v: usize, weights: &[Interval], field: Interval, large: usize) {
        let (low, rest) = weights.split_at(self.bits[0]);
        let (middle, top) = rest.split_at(self.bits[1]);
        let delta = &mut self.delta;
        let mut value = |a: Interval| {
            let power = a.exp();
            let (center, radius) = power.center_radius();
            *delta = delta.max(radius / power.lo * (1.0 + 1e-9));
            center
        };
        self.low.extend(signed_sums(low, field).into_iter().map(&mut value));
        for (table, weights) in [(&mut self.middle, middle), (&mut self.top, top)] {
            let sums = signed_sums(weights, Interval::ZERO);
            sums.into_iter().enumerate().for_each(|(p, a)| table[p * large + v] = value(a));
        }
    }

    fn own(&mut self, slopes: &[Interval], constant: Interval) {
        let (low, rest) = slopes.split_at(self.bits[0]);
        let (middle, top) = rest.split_at(self.bits[1]);
        for (k, (slopes, start)) in
            [(low, Interval::ZERO), (middle, Interval::ZERO), (top, constant)].into_iter().enumerate()
        {
            for a in signed_sums(slopes, start) {
                let (power, error) = Scaled::exp(a);
                self.own[k].push(power);
                self.own_delta = self.own_delta.max(error);
            }
        }
    }

    /// Number of high patterns: middle and top bits together.
    pub(super) fn patterns(&self) -> usize {
        1 << (self.bits[1] + self.bits[2])
    }

    /// The sum of the weights of all states whose high pattern is in a group of [`HIGHS`].
    pub(super) fn sum(&self, group: usize) -> Scaled {
        let (lows, large) = (1usize << self.bits[0], self.cuts.len());
        let highs: Vec<(usize, usize)> = (group * HIGHS..self.patterns().min((group + 1) * HIGHS))
            .map(|high| (high & ((1 << self.bits[1]) - 1), high >> self.bits[1]))
            .collect();
        let row = |table: &[f64], p: usize| table[p * large..(p + 1) * large].to_vec();
        let factors: Vec<Vec<f64>> = highs
            .iter()
            .map(|&(m, t)| row(&self.middle, m).iter().zip(row(&self.top, t)).map(|(a, b)| a * b).collect())
            .collect();
        let mut products: Vec<f64> = Vec::with_capacity(lows * highs.len());
        let mut exponents: Vec<i64> = Vec::with_capacity(lows * highs.len());
        for _ in &highs {
            products.extend(self.own[0].iter().map(|own| own.value));
            exponents.extend(self.own[0].iter().map(|own| own.exponent));
        }
        for (v, (low, &cut)) in self.low.chunks_exact(lows).zip(&self.cuts).enumerate() {
            if cut {
                take_exponents(&mut products, &mut exponents);
            }
            for (products, factors) in products.chunks_exact_mut(lows).zip(&factors) {
                let factor = factors[v];
                products.iter_mut().zip(low).for_each(|(product, x)| *product += *product * (x * factor));
            }
        }
        take_exponents(&mut products, &mut exponents);
        let rows = products.chunks_exact(lows).zip(exponents.chunks_exact(lows)).zip(&highs);
        rows.fold(Scaled::default(), |total, ((products, exponents), &(m, t))| {
            total.plus(Scaled::sum(products, exponents).times(self.own[1][m].times(self.own[2][t])))
        })
    }

    /// A bound on the relative error of the sum over all groups, added up one after the other.
    ///
    /// A power `x` is a product of three entries, with two roundings: off by `3 delta + 2u`. `p + p x` has two more of which the
    /// first only matters as far as `x/(1 + x) < 1`: one spin adds `3 delta + 4u` at most. The linear part has three entries and
    /// three roundings. A sum of positive numbers errs by a rounding per addition. Second orders are below a tenth of that.
    pub(super) fn relative_error(&self) -> f64 {
        let additions = (1usize << self.bits[0]) + HIGHS + self.patterns().div_ceil(HIGHS);
        let spins = self.cuts.len() as f64 * (3.0 * self.delta + 4.0 * U);
        1.1 * (spins + 3.0 * self.own_delta + (8.0 + additions as f64) * U)
    }
}

/// Low, middle and top bits of n.
fn split(n: usize) -> [usize; 3] {
    let low = LOW_BITS.min(n);
    let middle = HIGH_BITS.min(n - low);
    [low, middle, n - low - middle]
}

/// `start + sum_k (+-1) weights[k]` for all signs; bit k of the index says plus.
fn signed_sums(weights: &[Interval], start: Interval) -> Vec<Interval> {
    let mut sums = vec![weights.iter().fold(start, |sum, w| sum - *w)];
    for w in weights {
        let twice = Interval::point(2.0) * *w;
        let up: Vec<Interval> = sums.iter().map(|sum| *sum + twice).collect();
        sums.extend(up);
    }
    sums
}
