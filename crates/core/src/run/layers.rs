//! log Z of pairwise models whose spins fall into two layers without couplings inside either, one of them small:
//! restricted Boltzmann machines above all.
//!
//! Given the states s of the small layer, the spins of the other are independent:
//! `Z = sum_s exp(h.s/eps) prod_v 2 cosh(a_v(s)/eps)`, `a_v(s) = h_v + sum_j J_vj s_j`.
//! Splitting s into low and high bits, `2 cosh(a) = e^low e^high + e^-low e^-high` takes two products of exponentials
//! that are computed once. Everything is positive, so that relative errors add up and no more: with tables of relative
//! error delta and V spins in the large layer, a sum of N weights errs by at most
//! `2(V + 1) delta + (3V + 8 + N_low + N_high) u` in relative terms, to first order.

use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::exact::{Algorithm, Exact, pool};
use crate::model::{Ising, Model, Source};
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;
use crate::solution::StopReason;
use rayon::prelude::*;

/// Spins of the small layer at most.
const SMALL: usize = 26;

/// Bits of the small layer whose exponentials are kept as tables.
const LOW_BITS: usize = 9;

/// Largest `sum |a_v|/eps` of a factor, and of the small layer's own part: beyond, exponentials leave the range of
/// floating point.
const LARGEST: (f64, f64) = (300.0, 600.0);

/// Logarithm of what a product may grow to before its exponent is taken out.
const BLOCK: f64 = 600.0;

/// Patterns of the high bits between two looks at the clock, times threads.
const BATCH: usize = 16;

/// Seconds per spin of the large layer and state of the small one.
const SECONDS: f64 = 2e-9;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// A model in two layers.
pub(super) struct Layers {
    f: Ising,
    uncertainty: f64,
    small: Vec<usize>,
    large: Vec<usize>,
    /// For every spin of the large layer, its couplings `(position in small, value)`.
    couplings: Vec<Vec<(usize, f64)>>,
}

impl Layers {
    /// The layers of a pairwise model, if it has them and one is small.
    pub(super) fn of(model: &Model) -> Option<Self> {
        if let Source::Factors(tables) = model.source()
            && tables.factors().any(|factor| factor.scope.len() > 2)
        {
            // The polynomial of a large table may cost more than the answer.
            return None;
        }
        let polynomial = model.polynomial().ok()?;
        let f = polynomial.as_ising()?.clone();
        let in_small = smaller_side(&f)?;
        let (small, large): (Vec<usize>, Vec<usize>) = (0..f.d()).partition(|&i| in_small[i]);
        if small.len() > SMALL {
            return None;
        }
        let mut place = vec![0; f.d()];
        small
            .iter()
            .chain(&large)
            .zip((0..small.len()).chain(0..large.len()))
            .for_each(|(&i, k)| place[i] = k);
        let mut couplings = vec![Vec::new(); large.len()];
        for (i, j, v) in f.triples() {
            let (s, v_spin) = if in_small[i] { (i, j) } else { (j, i) };
            couplings[place[v_spin]].push((place[s], v));
        }
        let uncertainty = polynomial.uncertainty();
        Some(Layers { f, uncertainty, small, large, couplings })
    }

    /// Expected seconds.
    pub(super) fn seconds(&self) -> f64 {
        SECONDS * (self.large.len() as f64 + 50.0) * (self.small.len() as f64).exp2()
    }

    /// Bytes of the tables of exponentials, and of one product per pattern and thread.
    fn bytes(&self, threads: usize) -> u64 {
        let patterns = 1u64 << LOW_BITS.min(self.small.len());
        8 * patterns * (2 * self.large.len() as u64 + 1 + 2 * threads as u64)
    }

    /// log Z with a rigorous enclosure, without marginals.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when exponentials leave the range; [`Error::Memory`]; [`Error::Interrupted`].
    pub(super) fn solve(&self, eps: f64, settings: &Settings, observer: &mut dyn Observer) -> Result<Exact> {
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let what = format_args!("a sum over a layer of {} spins", self.small.len());
        settings.require_memory(self.bytes(settings.threads), what, "raise the memory limit")?;
        let tables = Tables::new(self, eps, &mut monitor)?;
        let patterns = 1usize << (self.small.len() - tables.bits);
        let pool = pool(settings.threads)?;
        let (mut total, mut delta) = (Scaled::default(), tables.delta);
        for first in (0..patterns).step_by(BATCH * settings.threads) {
            if let Some(stop) = monitor.interrupted() {
                return Err(Error::Interrupted(stop));
            }
            let range = first..patterns.min(first + BATCH * settings.threads);
            let sum = |high| tables.sum(self, high);
            let parts: Vec<(Scaled, f64)> = match &pool {
                None => range.map(sum).collect(),
                Some(pool) => pool.install(|| range.into_par_iter().map(sum).collect()),
            };
            // In order, so that threads change nothing.
            for (part, error) in parts {
                total = total.plus(part);
                delta = delta.max(error);
            }
        }
        let v = self.large.len() as f64;
        let roundings = 3.0 * v + 8.0 + (1usize << tables.bits) as f64 + patterns as f64;
        let relative = 1.1 * (2.0 * (v + 1.0) * delta + roundings * U);
        if !(relative < 1e-2) {
            return Err(Error::NotApplicable("the sum over a layer errs by more than a hundredth".into()));
        }
        // log(1 + t) lies within 1.1 |t| of 0 for such t.
        let log = Interval::point(total.value).log()
            + Interval::point(total.exponent as f64) * Interval::point(2.0).log()
            + Interval::around(0.0, 1.1 * relative);
        let eps_interval = Interval::point(eps);
        let free = eps_interval * Interval::point(self.f.d() as f64) * Interval::point(2.0).log();
        let log_z =
            Interval::point(self.f.constant()) + eps_interval * log + Interval::around(0.0, self.uncertainty);
        let phi = log_z - free;
        Ok(Exact {
            phi: phi.center_radius().0,
            log_z: log_z.center_radius().0,
            phi_bounds: (phi.lo, phi.hi),
            log_z_bounds: (log_z.lo, log_z.hi),
            means: Vec::new(),
            state_marginals: Vec::new(),
            state_bounds: Vec::new(),
            pairwise: Vec::new(),
            entropy: f64::NAN,
            max_f: f64::NAN,
            best: Vec::new(),
            argmax: Vec::new(),
            algorithm: Algorithm::Enumeration,
            states_or_width: 1 << self.small.len(),
            order: None,
            stop: StopReason::Converged,
            seconds: monitor.seconds(),
        })
    }

    /// The part of `a_v/eps` that bits `from..to` of the small layer, set as in `pattern`, contribute.
    fn partial(
        &self,
        couplings: &[(usize, f64)],
        (from, to): (usize, usize),
        pattern: usize,
        eps: f64,
    ) -> Interval {
        let part = couplings.iter().filter(|(s, _)| (from..to).contains(s));
        let signed = |&(s, v): &(usize, f64)| if pattern >> (s - from) & 1 == 1 { v } else { -v };
        part.fold(Interval::ZERO, |sum, entry| sum + Interval::point(signed(entry))) / Interval::point(eps)
    }
}

/// Whether each spin is in the smaller side of its component; `None` when some component has an odd cycle.
fn smaller_side(f: &Ising) -> Option<Vec<bool>> {
    let adjacency = f.adjacency();
    let mut side: Vec<Option<bool>> = vec![None; f.d()];
    let mut in_small = vec![false; f.d()];
    for start in 0..f.d() {
        if side[start].is_some() {
            continue;
        }
        let (mut component, mut next) = (vec![start], 0);
        side[start] = Some(false);
        while let Some(&i) = component.get(next) {
            next += 1;
            for &(j, _) in adjacency.of(i) {
                match (side[i], side[j as usize]) {
                    (mine, None) => {
                        side[j as usize] = mine.map(|s| !s);
                        component.push(j as usize);
                    }
                    (mine, theirs) if mine == theirs => return None,
                    _ => {}
                }
            }
        }
        let marked = component.iter().filter(|&&i| side[i] == Some(true)).count();
        let small = Some(2 * marked <= component.len());
        component.iter().for_each(|&i| in_small[i] = side[i] == small);
    }
    Some(in_small)
}

/// Exponentials of the low bits.
struct Tables {
    eps: f64,
    bits: usize,
    /// `e^low` and `e^-low`, one list of patterns per spin of the large layer.
    factors: Vec<[Vec<f64>; 2]>,
    /// `exp(h.s/eps)` over the low bits of the small layer.
    own: Vec<f64>,
    /// Spins of the large layer after which exponents are taken out.
    cuts: Vec<bool>,
    /// Largest relative error of an entry.
    delta: f64,
}

impl Tables {
    fn new(layers: &Layers, eps: f64, monitor: &mut Monitor<'_>) -> Result<Self> {
        let bits = LOW_BITS.min(layers.small.len());
        let patterns = 1usize << bits;
        let mut delta: f64 = 0.0;
        let mut value = |a: Interval| {
            let (center, error) = exponential(a);
            delta = delta.max(error);
            center
        };
        let (mut factors, mut cuts, mut grown) = (Vec::new(), Vec::new(), 0.0);
        for (couplings, &v) in layers.couplings.iter().zip(&layers.large) {
            if let Some(stop) = monitor.interrupted() {
                return Err(Error::Interrupted(stop));
            }
            let field = Interval::point(layers.f.fields()[v]) / Interval::point(eps);
            let size =
                (couplings.iter().map(|(_, j)| j.abs()).sum::<f64>() + layers.f.fields()[v].abs()) / eps;
            within(size, LARGEST.0)?;
            let low: Vec<Interval> =
                (0..patterns).map(|p| field + layers.partial(couplings, (0, bits), p, eps)).collect();
            factors.push([low.iter().map(|&a| value(a)).collect(), low.iter().map(|&a| value(-a)).collect()]);
            // The factor is at most 2 e^size.
            grown += size + 1.0;
            cuts.push(grown + LARGEST.0 + 1.0 > BLOCK);
            if grown + LARGEST.0 + 1.0 > BLOCK {
                grown = 0.0;
            }
        }
        let fields: Vec<(usize, f64)> =
            layers.small.iter().enumerate().map(|(k, &i)| (k, layers.f.fields()[i])).collect();
        within(fields.iter().map(|(_, h)| h.abs()).sum::<f64>() / eps, LARGEST.1)?;
        let own = (0..patterns).map(|p| value(layers.partial(&fields, (0, bits), p, eps))).collect();
        Ok(Tables { eps, bits, factors, own, cuts, delta })
    }

    /// The sum of the weights of all states with high bits `high`, and the largest relative error of the
    /// exponentials made for it.
    fn sum(&self, layers: &Layers, high: usize) -> (Scaled, f64) {
        let range = (self.bits, layers.small.len());
        let fields: Vec<(usize, f64)> =
            layers.small.iter().enumerate().map(|(k, &i)| (k, layers.f.fields()[i])).collect();
        let (own, mut delta) = exponential(layers.partial(&fields, range, high, self.eps));
        let mut products: Vec<f64> = self.own.iter().map(|low| low * own).collect();
        let mut exponents = vec![0i64; products.len()];
        take_exponents(&mut products, &mut exponents);
        for ((couplings, [up, down]), &cut) in layers.couplings.iter().zip(&self.factors).zip(&self.cuts) {
            let a = layers.partial(couplings, range, high, self.eps);
            let ((plus, error), (minus, other)) = (exponential(a), exponential(-a));
            delta = delta.max(error).max(other);
            for ((product, up), down) in products.iter_mut().zip(up).zip(down) {
                *product *= up * plus + down * minus;
            }
            if cut {
                take_exponents(&mut products, &mut exponents);
            }
        }
        take_exponents(&mut products, &mut exponents);
        let weights = products.into_iter().zip(exponents).map(|(value, exponent)| Scaled { value, exponent });
        (weights.fold(Scaled::default(), Scaled::plus), delta)
    }
}

fn within(size: f64, limit: f64) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::NotApplicable("the couplings are too strong for a sum over a layer in floating point".into()))
}

/// A float in the enclosure of exp(a), and a bound on its relative error.
fn exponential(a: Interval) -> (f64, f64) {
    let value = a.exp();
    let (center, radius) = value.center_radius();
    (center, radius / value.lo * (1.0 + 1e-9))
}

/// Writes every (positive, normal) number as a mantissa in [1, 2) and adds the exponent to its own: exact.
fn take_exponents(numbers: &mut [f64], exponents: &mut [i64]) {
    const BIAS: i64 = 1023;
    const FRACTION: u64 = (1 << 52) - 1;
    for (number, exponent) in numbers.iter_mut().zip(exponents) {
        let bits = number.to_bits();
        *exponent += (bits >> 52) as i64 - BIAS;
        *number = f64::from_bits(bits & FRACTION | (BIAS as u64) << 52);
    }
}

/// `value 2^exponent`, value below 2^60.
#[derive(Clone, Copy, Debug, Default)]
struct Scaled {
    value: f64,
    exponent: i64,
}

impl Scaled {
    /// The sum, with one rounding (powers of two are exact); what is 2^-900 of the larger is dropped, far below a rounding.
    fn plus(self, other: Scaled) -> Scaled {
        if self.value == 0.0 {
            return other;
        }
        let (big, little) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = big.exponent - little.exponent;
        let added =
            if shift < 900 { little.value * f64::from_bits(((1023 - shift) as u64) << 52) } else { 0.0 };
        let mut sum = [big.value + added];
        let mut exponent = [big.exponent];
        take_exponents(&mut sum, &mut exponent);
        Scaled { value: sum[0], exponent: exponent[0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::exact;
    use crate::observer::Silent;

    /// A complete bipartite model with pseudo-random entries.
    fn machine(small: usize, large: usize, scale: f64, seed: u64) -> Model {
        let mut state = seed;
        let mut draw = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            scale * ((state >> 33) as f64 / 2f64.powi(30) - 1.0)
        };
        let d = small + large;
        let fields: Vec<f64> = (0..d).map(|_| draw()).collect();
        let pairs: Vec<_> = (0..small).flat_map(|i| (small..d).map(move |j| (i, j))).collect();
        let couplings: Vec<_> = pairs.into_iter().map(|(i, j)| (i, j, draw())).collect();
        Model::from(Ising::new(d, &fields, &couplings).unwrap().with_constant(0.3).unwrap())
    }

    #[test]
    fn the_enclosure_holds_the_value_of_brute_force() {
        for case in 0..60u64 {
            let (small, large) = (1 + case as usize % 5, 1 + (case as usize * 7) % 8);
            let scale = [0.1, 1.0, 5.0][case as usize % 3];
            let (model, eps) = (machine(small, large, scale, case), [1.0, 0.3, 4.0][case as usize / 3 % 3]);
            let layers = Layers::of(&model).unwrap();
            assert!(layers.small.len() <= small.min(large));
            let found = layers.solve(eps, &Settings::default(), &mut Silent).unwrap();
            let truth = exact(&model, eps, &Settings::default(), &mut Silent).unwrap();
            assert!(found.log_z_bounds.0 <= truth.log_z_bounds.1, "{found:?} {truth:?}");
            assert!(found.log_z_bounds.1 >= truth.log_z_bounds.0, "{found:?} {truth:?}");
            let width = found.log_z_bounds.1 - found.log_z_bounds.0;
            assert!(width < 1e-11 * truth.log_z.abs().max(1.0), "{width:e}");
            assert!((found.phi - truth.phi).abs() < 1e-10 * truth.log_z.abs().max(1.0));
        }
    }

    #[test]
    fn many_bits_and_many_factors_agree_with_elimination_for_any_number_of_threads() {
        let model = machine(12, 90, 0.8, 5);
        let layers = Layers::of(&model).unwrap();
        let found = layers.solve(1.0, &Settings::default(), &mut Silent).unwrap();
        let truth = exact(&model, 1.0, &Settings::default(), &mut Silent).unwrap();
        assert!((found.log_z - truth.log_z).abs() < 1e-9 * truth.log_z.abs());
        let again = layers.solve(1.0, &Settings::default().with_threads(3), &mut Silent).unwrap();
        assert_eq!(found.log_z_bounds, again.log_z_bounds);
    }

    #[test]
    fn odd_cycles_large_layers_and_strong_couplings_are_refused() {
        let triangle = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]).unwrap();
        assert!(Layers::of(&Model::from(triangle)).is_none());
        assert!(Layers::of(&machine(40, 40, 1.0, 1)).is_none());
        let strong = Layers::of(&machine(3, 4, 500.0, 1)).unwrap();
        assert!(strong.solve(1.0, &Settings::default(), &mut Silent).is_err());
        // Components choose their sides one by one.
        let stars = Ising::new(6, &[0.0; 6], &[(0, 1, 1.0), (0, 2, 1.0), (5, 3, 1.0), (5, 4, 1.0)]).unwrap();
        assert_eq!(Layers::of(&Model::from(stars)).unwrap().small, [0, 5]);
    }
}
