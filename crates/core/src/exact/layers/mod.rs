//! log Z of pairwise models whose spins fall into two layers without couplings inside either, one of them small:
//! restricted Boltzmann machines above all.
//!
//! Given the states s of the small layer, the spins of the other are independent:
//! `Z = sum_s exp(h.s/eps) prod_v 2 cosh(a_v(s)/eps)`, `a_v(s) = h_v + sum_j J_vj s_j`. With a sign for every v,
//! `2 cosh(a) = e^(sign a) (1 + e^(-2 sign a))`: the first factors are linear in s and join the small layer's own part, the second are
//! products of exponentials of a few bits each, which are computed once. Everything is positive, so that relative errors
//! add up and no more ([`Powers::relative_error`]).

mod powers;

mod sides;

use self::powers::{HIGHS, Powers};
use super::answer::Exact;
use super::rounding::Enclosure;
use super::scaled::Scaled;
use super::workers::pool;
use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::model::{Ising, Model, Source};
use crate::observer::{Monitor, Observer};
use crate::run::cost::constants::{LAYER_SECS, LAYER_STATE, LAYERS_HOPELESS};
use crate::settings::Settings;
use rayon::prelude::*;

pub(crate) use self::sides::smaller_side;

/// Spins of the small layer at most: 2^30 states of 100 spins are some minutes of one core.
const SMALL: usize = 30;

/// Groups of [`HIGHS`] patterns between two looks at the clock, times threads: some 10 ms for a thousand spins.
const BATCH: usize = 16;

/// A model in two layers.
pub(crate) struct Layers {
    f: Ising,
    uncertainty: f64,
    small: Vec<usize>,
    large: Vec<usize>,
    /// For every spin of the large layer, its couplings `(position in small, value)`.
    couplings: Vec<Vec<(usize, f64)>>,
}

impl Layers {
    /// The layers of a pairwise model, if it has them and one is small.
    pub(crate) fn of(model: &Model) -> Option<Self> {
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
        if small.len() > SMALL || large.is_empty() {
            return None;
        }
        let mut place = vec![0; f.d()];
        small.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        large.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut couplings = vec![Vec::new(); large.len()];
        for (i, j, v) in f.triples().filter(|t| t.2 != 0.0) {
            let (s, v_spin) = if in_small[i] { (i, j) } else { (j, i) };
            couplings[place[v_spin]].push((place[s], v));
        }
        let uncertainty = polynomial.uncertainty();
        Some(Layers { f, uncertainty, small, large, couplings })
    }

    /// Expected seconds under a deadline.
    pub(crate) fn seconds(&self, settings: &Settings) -> f64 {
        settings.ends().speed().table_seconds(self.work()) / settings.threads as f64
    }

    /// Seconds of one thread of the machine that the constants belong to.
    fn work(&self) -> f64 {
        LAYER_SECS * (self.large.len() as f64 + LAYER_STATE) * (self.small.len() as f64).exp2()
    }

    /// log Z with a rigorous enclosure, without marginals.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] when exponentials leave the range; [`Error::Memory`]; [`Error::Interrupted`].
    pub(crate) fn solve(&self, eps: f64, settings: &Settings, observer: &mut dyn Observer) -> Result<Exact> {
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let what = format_args!("a sum over a layer of {} spins", self.small.len());
        let bytes = Powers::bytes(self.small.len(), self.large.len(), settings.threads);
        settings.require_memory(bytes, what, "raise the memory limit")?;
        let (seconds, left) = (self.seconds(settings), settings.ends().seconds_left());
        if seconds > 1.0 && seconds > LAYERS_HOPELESS * left {
            let why = format!("{what} takes about {seconds:.0} s, and {left:.0} s are left");
            return Err(Error::NotApplicable(why));
        }
        let powers = Powers::new(self, eps, &mut monitor)?;
        let groups = powers.patterns().div_ceil(HIGHS);
        let pool = pool(settings.threads)?;
        let mut total = Scaled::default();
        for first in (0..groups).step_by(BATCH * settings.threads) {
            if let Some(stop) = monitor.interrupted() {
                return Err(Error::Interrupted(stop));
            }
            let range = first..groups.min(first + BATCH * settings.threads);
            let sum = |group| powers.sum(group);
            let parts: Vec<Scaled> = match &pool {
                None => range.map(sum).collect(),
                Some(pool) => pool.install(|| range.into_par_iter().map(sum).collect()),
            };
            // In order, so that threads change nothing.
            total = parts.into_iter().fold(total, Scaled::plus);
        }
        let mut exact = self.answer(total, powers.relative_error(), eps)?;
        exact.seconds = monitor.seconds();
        Ok(exact)
    }

    fn answer(&self, total: Scaled, relative: f64, eps: f64) -> Result<Exact> {
        if !(relative < 1e-2) {
            return Err(Error::NotApplicable("the sum over a layer errs by more than a hundredth".into()));
        }
        // log(1 + t) lies within 1.1 |t| of 0 for such t.
        let log = Interval::point(total.value).log()
            + Interval::point(total.exponent as f64) * Interval::LN_2
            + Interval::around(0.0, 1.1 * relative);
        let log_z = Interval::point(self.f.constant())
            + Interval::point(eps) * log
            + Interval::around(0.0, self.uncertainty);
        let bounds = Enclosure { low: log_z.lo, high: log_z.hi };
        let mut exact = Exact::new(&vec![2; self.f.d()], eps, log_z.center_radius().0, bounds);
        exact.states_or_width = 1 << self.small.len();
        Ok(exact)
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
    fn a_sum_that_cannot_end_in_time_is_refused_with_its_cost() {
        let layers = Layers::of(&machine(30, 60, 0.1, 2)).unwrap();
        let limited = Settings::default().with_time_limit(Some(1e-3));
        let Err(Error::NotApplicable(why)) = layers.solve(1.0, &limited, &mut Silent) else {
            panic!("not refused");
        };
        assert!(why.contains("30 spins takes about"), "{why}");
    }

    #[test]
    fn odd_cycles_large_layers_and_strong_couplings_are_refused() {
        let triangle = Ising::new(3, &[0.0; 3], &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]).unwrap();
        assert!(Layers::of(&Model::from(triangle)).is_none());
        assert!(Layers::of(&machine(40, 40, 1.0, 1)).is_none());
        let strong = Layers::of(&machine(3, 4, 500.0, 1)).unwrap();
        assert!(strong.solve(1.0, &Settings::default(), &mut Silent).is_err());
    }
}
