//! One annealing run that can be interrupted and resumed.

use super::landscape::{Draw, Landscape};
use super::random::{LogUniform, Random};

/// Sweeps of pure ascent after the last temperature; an ascent that has not ended by then goes round in rounding errors.
const ASCENT_SWEEPS: usize = 1000;

/// Temperatures of a run, falling in a straight line: equal time at every temperature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) hot: f64,
    pub(super) cold: f64,
    pub(super) sweeps: usize,
}

/// An assignment with its merit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Elite {
    pub(super) merit: f64,
    pub(super) states: Vec<u32>,
}

/// A run under way.
pub(super) struct Run<L> {
    landscape: L,
    random: Random,
    schedule: Schedule,
    sweep: usize,
    /// Gain since the start and the largest seen, with where that was.
    gain: f64,
    top: f64,
    /// Violated factors at the best assignment: fewer come before more of f.
    fewest: usize,
    best: Vec<u32>,
    least: f64,
}

impl<L: Landscape> Run<L> {
    /// A run from `start`; `least` is the smallest change that is not rounding.
    pub(super) fn new(
        mut landscape: L,
        start: &[u32],
        schedule: Schedule,
        random: Random,
        least: f64,
    ) -> Self {
        landscape.set(start);
        let (fewest, best) = (landscape.violations(), start.to_vec());
        Run { landscape, random, schedule, sweep: 0, gain: 0.0, top: 0.0, fewest, best, least }
    }

    /// Goes on for at most `visits` visits; says whether the run has ended.
    pub(super) fn advance(&mut self, visits: usize, logs: &LogUniform) -> bool {
        let d = self.landscape.d();
        let last = self.schedule.sweeps;
        let mut left = visits.div_ceil(d.max(1)).max(1);
        while left > 0 && self.sweep < last {
            let progress = self.sweep as f64 / last as f64;
            let temperature = self.schedule.hot + (self.schedule.cold - self.schedule.hot) * progress;
            self.sweep(temperature, logs);
            left -= 1;
            if self.sweep == last && self.landscape.violations() > 0 {
                self.gain += self.landscape.repair(&mut self.random);
                self.keep();
            }
        }
        while left > 0 && self.sweep >= last && self.sweep < last + ASCENT_SWEEPS {
            let gain: f64 = (0..d).map(|i| self.landscape.improve(i, self.least)).sum();
            self.gain += gain;
            self.keep();
            self.sweep = if gain > 0.0 { self.sweep + 1 } else { last + ASCENT_SWEEPS };
            left -= 1;
        }
        self.sweep >= last + ASCENT_SWEEPS
    }

    fn sweep(&mut self, temperature: f64, logs: &LogUniform) {
        let mut draw = Draw { random: &mut self.random, logs };
        let gain: f64 =
            (0..self.landscape.d()).map(|i| self.landscape.visit(i, temperature, &mut draw)).sum();
        self.gain += gain;
        self.sweep += 1;
        self.keep();
    }

    fn keep(&mut self) {
        let violations = self.landscape.violations();
        if violations < self.fewest || (violations == self.fewest && self.gain > self.top + self.least) {
            (self.top, self.fewest) = (self.gain, violations);
            self.best = self.landscape.states();
        }
    }

    /// The best assignment so far.
    pub(super) fn elite(&self) -> Elite {
        Elite { merit: self.landscape.merit(&self.best), states: self.best.clone() }
    }
}
