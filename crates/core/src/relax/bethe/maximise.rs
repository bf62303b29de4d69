//! The best Bethe point of several starts.

use super::propagation::{Point, Propagation};
use crate::model::{Ising, Polynomial};
use crate::observer::Monitor;
use crate::search::{Effort, best_spins};
use crate::settings::Settings;
use crate::solution::StopReason;

/// Messages of all sweeps of one start before the best start alone goes on: a second or two.
const WORK: usize = 30_000_000;

/// Sweeps of one start.
const SWEEPS: std::ops::RangeInclusive<usize> = 8..=300;
/// Sweeps of the best start in the end.
const LAST_SWEEPS: usize = 3000;

/// Sweeps between two evaluations of the point on large models: one costs about as much as two sweeps.
const EVALUATE_EVERY: usize = 8;

/// Messages up to which every sweep is evaluated.
const CHEAP_MESSAGES: usize = 20_000;

/// Spins between two looks at the clock.
const SLICE: usize = 1 << 15;

/// Largest change of a half log-odds at which a start has converged; the value is off by about its square.
const SETTLED: f64 = 1e-9;

/// Starts at random signs on models where they are cheap.
const RANDOM_STARTS: usize = 4;

/// The maximum found, and why the ascent ended.
pub(super) struct Maximum {
    pub(super) point: Point,
    pub(super) stop: StopReason,
}

/// Which starts to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    /// All of them.
    All,
    /// Both saturated states and the fields alone.
    Few,
}

/// Maximises the Bethe value of a model with couplings at least zero.
pub(super) fn maximise(
    ising: &Ising,
    eps: f64,
    starts: Starts,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Maximum {
    let mut ascent = Ascent::new(ising, eps, settings.tol);
    let sweeps = (WORK / ascent.model.messages().max(1)).clamp(*SWEEPS.start(), *SWEEPS.end());
    let mut best_start = None;
    let mut stop = None;
    let count = match starts {
        Starts::Few => 3,
        Starts::All if sweeps < *SWEEPS.end() => 4,
        Starts::All => 4 + RANDOM_STARTS,
    };
    for k in 0..count {
        if !ascent.start(k, ising, settings, monitor) {
            continue;
        }
        let before = ascent.best.as_ref().map(|b| b.value);
        stop = ascent.run(sweeps, monitor);
        if ascent.best.as_ref().map(|b| b.value) > before {
            best_start = Some(ascent.model.messages_now());
        }
        if stop.is_some() {
            break;
        }
    }
    if let (None, Some(messages)) = (stop, best_start) {
        ascent.model.resume(messages);
        stop = ascent.run(LAST_SWEEPS, monitor);
    }
    let reason = if ascent.converged { StopReason::Converged } else { StopReason::MaxIterations };
    let point = ascent.best.unwrap_or_else(|| ascent.model.point());
    Maximum { point, stop: stop.unwrap_or(reason) }
}

struct Ascent {
    model: Propagation,
    tol: f64,
    best: Option<Point>,
    converged: bool,
}

impl Ascent {
    fn new(ising: &Ising, eps: f64, tol: f64) -> Self {
        Ascent { model: Propagation::new(ising, eps), tol, best: None, converged: false }
    }

    /// Both saturated states, the fields alone, the best assignment found, then random signs; `false` for a start
    /// that is there already.
    fn start(&mut self, k: usize, ising: &Ising, settings: &Settings, monitor: &mut Monitor<'_>) -> bool {
        let toward = |up: bool| if up { f64::INFINITY } else { f64::NEG_INFINITY };
        match k {
            0 | 1 => self.model.restart(|_| toward(k == 0)),
            2 => {
                let fields = self.model.fields().to_vec();
                self.model.restart(|i| fields[i]);
            }
            3 => {
                let f = Polynomial::from(ising.clone());
                let spins = best_spins(&f, &[], Effort::brief(settings), monitor);
                if spins.iter().all(|x| *x == spins[0]) {
                    return false;
                }
                self.model.restart(|i| toward(spins[i] > 0));
            }
            _ => {
                // Bits of a hash of start and spin.
                let bit = |i: usize| {
                    let mixed = ((i + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * k as u64);
                    (mixed ^ (mixed >> 31)) >> 17 & 1 == 1
                };
                self.model.restart(|i| toward(bit(i)));
            }
        }
        true
    }

    /// Sweeps until the value no longer rises; keeps the best point on the way.
    fn run(&mut self, sweeps: usize, monitor: &mut Monitor<'_>) -> Option<StopReason> {
        let every = if self.model.messages() <= CHEAP_MESSAGES { 1 } else { EVALUATE_EVERY };
        let mut last = f64::NEG_INFINITY;
        for sweep in 1..=sweeps {
            let (change, stop) = self.sweep(sweep.is_multiple_of(2), monitor);
            let settled = change <= SETTLED;
            if settled || stop.is_some() || sweep.is_multiple_of(every) || sweep == sweeps {
                self.model.refresh();
                let point = self.model.point();
                let gain = point.value - last;
                last = point.value;
                if self.best.as_ref().is_none_or(|b| point.value > b.value) {
                    self.best = Some(point);
                }
                let enough = gain.abs() <= 0.1 * self.tol * last.abs().max(1.0);
                self.converged = settled || enough;
            }
            let lower = self.best.as_ref().map_or(f64::NAN, |b| b.value);
            let stop = stop.or_else(|| monitor.iteration(lower, f64::NAN));
            if stop.is_some() || self.converged {
                return stop;
            }
        }
        None
    }

    fn sweep(&mut self, backwards: bool, monitor: &mut Monitor<'_>) -> (f64, Option<StopReason>) {
        let d = self.model.d();
        let mut change = 0.0f64;
        for from in (0..d).step_by(SLICE) {
            let part = from..d.min(from + SLICE);
            change = change.max(if backwards {
                self.model.sweep(part.map(|i| d - 1 - i))
            } else {
                self.model.sweep(part)
            });
            if let Some(stop) = if d > SLICE { monitor.interrupted() } else { None } {
                return (change, Some(stop));
            }
        }
        (change, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{RngCore, SeedableRng};

    #[test]
    fn the_best_value_never_falls_and_no_start_alone_does_better() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut draw = move || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let settings = Settings::default();
        for case in 0..200 {
            let d = 2 + case % 11;
            let strength = [0.1, 0.5, 2.0][case % 3];
            let fields: Vec<f64> = (0..d).map(|_| 2.0 * draw() - 1.0).collect();
            let pairs: Vec<_> = (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))).collect();
            let couplings: Vec<_> = pairs.into_iter().map(|(i, j)| (i, j, strength * draw())).collect();
            let ising = Ising::new(d, &fields, &couplings).unwrap();
            let mut silent = Silent;
            let mut monitor = Monitor::new(&settings, usize::MAX, &mut silent);
            let finished = maximise(&ising, 1.0, Starts::All, &settings, &mut monitor).point.value;
            for start in 0..4 + RANDOM_STARTS {
                let mut ascent = Ascent::new(&ising, 1.0, settings.tol);
                ascent.start(start, &ising, &settings, &mut monitor);
                let mut last = f64::NEG_INFINITY;
                for _ in 0..40 {
                    ascent.run(1, &mut monitor);
                    let value = ascent.best.as_ref().unwrap().value;
                    assert!(value >= last, "case {case}, start {start}: {value} after {last}");
                    last = value;
                }
                let slack = 10.0 * settings.tol * finished.abs().max(1.0);
                assert!(last <= finished + slack, "case {case}, start {start}: {last} above {finished}");
            }
        }
    }
}
