//! Generations of annealing runs over a pool of the best assignments.
//!
//! Every generation has the same number of independent runs whatever the number of threads, and their results
//! are merged in order: the outcome depends on the seed alone, unless the clock ends the search.

use super::anneal::{Elite, Run, Schedule};
use super::landscape::Landscape;
use super::random::{LogUniform, Random};
use crate::observer::Monitor;
use crate::settings::Settings;
use rayon::prelude::*;

/// Runs of a generation.
const LANES: usize = 4;
/// Assignments that are remembered.
const ELITES: usize = 8;
/// Sweeps of the first generation's runs.
const FIRST_SWEEPS: usize = 64;
/// Each later generation is longer by this factor.
const GROWTH: f64 = 1.4;
/// Visits of the first generation's runs together, about a second: on larger models they are shorter, down to a few sweeps.
const FIRST_VISITS: usize = 1 << 26;
/// Sweeps of a run on the largest models.
const FEWEST_SWEEPS: usize = 8;
/// Variables from which a local maximum is found before anything else: a generation may not end in time.
const LARGE: usize = 1 << 17;
/// Visits between two looks at the clock: some 5 ms.
const SLICE_VISITS: usize = 1 << 19;
/// Generations in a row in which every run ended at the best value known before a search is done.
const AGREED: usize = 3;

/// First temperature of a run from scratch, in units of the pull on the most strongly coupled spins (nine tenths are below).
const HOT: f64 = 0.6;
/// Last temperature, in units of the pull on the most weakly coupled spins (one tenth are below).
const COLD: f64 = 0.03;
/// First temperature of a run that starts from good assignments, as a share of a run from scratch's.
const CHILD_HEAT: f64 = 0.4;

/// States in all assignments of a model so small that every one is looked at: those of 12 spins.
const MOST_LISTED: usize = 1 << 16;

/// How much to search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Visits of single variables in all, at about 10 ns each on sparse models.
    pub(crate) visits: u64,
    /// Value at which there is nothing left to find.
    pub(crate) enough: f64,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// Visits without a time limit: about a second.
const VISITS: u64 = 100_000_000;
/// Visits with one, if it allows: about ten seconds.
const TIMED_VISITS: u64 = 1_000_000_000;
/// Visits for a start of something else: a tenth of a second.
const BRIEF_VISITS: u64 = 10_000_000;

impl Effort {
    /// What a search deserves whose answer is asked for.
    pub(crate) fn full(settings: &Settings) -> Self {
        let visits = if settings.ends().is_limited() { TIMED_VISITS } else { VISITS };
        Effort { visits, enough: f64::INFINITY, seed: settings.seed, threads: settings.threads }
    }

    /// What is worth spending on a start for something else.
    pub(crate) fn brief(settings: &Settings) -> Self {
        Effort { visits: BRIEF_VISITS, ..Effort::full(settings) }
    }
}

/// The pool and what breeds from it.
pub(super) struct Population<'a, L> {
    landscape: &'a L,
    effort: Effort,
    hot: f64,
    cold: f64,
    least: f64,
    elites: Vec<Elite>,
}

impl<'a, L: Landscape + Clone + Sync> Population<'a, L> {
    pub(super) fn new(landscape: &'a L, effort: Effort) -> Self {
        let mut pulls = landscape.pulls();
        pulls.retain(|p| *p > 0.0);
        pulls.sort_by(f64::total_cmp);
        let quantile = |share: f64| pulls.get((share * pulls.len() as f64) as usize).copied().unwrap_or(0.0);
        let (low, high) = (quantile(0.1), quantile(0.9));
        Population {
            landscape,
            effort,
            hot: HOT * high,
            cold: COLD * low,
            least: 1e-12 * pulls.last().copied().unwrap_or(0.0),
            elites: Vec::new(),
        }
    }

    /// The best assignments found before the effort is spent, the runs agree, or `monitor` stops the search; best first,
    /// at least one.
    pub(super) fn search(mut self, starts: &[Vec<u32>], monitor: &mut Monitor<'_>) -> Vec<Elite> {
        let logs = LogUniform::new();
        let threads = self.effort.threads.min(LANES);
        let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        let workers = if threads > 1 { build() } else { None };
        let d = self.landscape.d();
        if self.list() {
            return self.elites;
        }
        self.take(starts, &logs, monitor);
        if starts.is_empty() && d >= LARGE {
            let start = self.uniform(&mut Random::new(self.effort.seed, u64::MAX));
            self.take(&[start], &logs, monitor);
        }
        let first = (FIRST_VISITS / (LANES * d.max(1))).clamp(FEWEST_SWEEPS, FIRST_SWEEPS);
        let (mut spent, mut agreed) = (0u64, 0);
        for generation in 0.. {
            let sweeps = (first as f64 * GROWTH.powi(generation)) as usize;
            let cost = (LANES * sweeps * d) as u64;
            if generation > 0 && spent + cost > self.effort.visits {
                break;
            }
            spent += cost;
            let mut runs: Vec<Run<L>> =
                (0..LANES).map(|lane| self.breed(generation as usize, lane, sweeps)).collect();
            let stopped = advance(&mut runs, &logs, workers.as_ref(), monitor);
            let before = self.elites.first().map_or(f64::NEG_INFINITY, |e| e.merit);
            let found: Vec<Elite> = runs.iter().map(Run::elite).collect();
            let same = found.iter().all(|e| (e.merit - before).abs() <= self.least);
            agreed = if same { agreed + 1 } else { 0 };
            found.into_iter().for_each(|e| self.offer(e));
            if stopped || agreed >= AGREED || self.elites[0].merit >= self.effort.enough {
                break;
            }
        }
        self.elites
    }

    /// Looks at every assignment of a small model; says whether it is one.
    fn list(&mut self) -> bool {
        let d = self.landscape.d();
        let size = |i| self.landscape.cardinality(i) as usize;
        let Some(all) = (0..d).try_fold(1, |n: usize, i| Some(n * size(i)).filter(|n| n * d <= MOST_LISTED))
        else {
            return false;
        };
        for number in 0..all {
            let mut rest = number;
            let states: Vec<u32> = (0..d).map(|i| ((rest % size(i)) as u32, rest /= size(i)).0).collect();
            self.offer(Elite { merit: self.landscape.merit(&states), states });
        }
        true
    }

    /// Starts and the local maxima above them join the pool.
    fn take(&mut self, starts: &[Vec<u32>], logs: &LogUniform, monitor: &mut Monitor<'_>) {
        let schedule = Schedule { hot: 0.0, cold: 0.0, sweeps: 0 };
        for start in starts {
            self.offer(Elite { merit: self.landscape.merit(start), states: start.clone() });
            let random = Random::new(self.effort.seed, 0);
            let mut run = Run::new(self.landscape.clone(), start, schedule, random, self.least);
            while monitor.interrupted().is_none() && !run.advance(SLICE_VISITS, logs) {}
            self.offer(run.elite());
        }
    }

    /// The run of one lane: even lanes start from scratch, odd ones from elites.
    fn breed(&self, generation: usize, lane: usize, sweeps: usize) -> Run<L> {
        let mut random = Random::new(self.effort.seed, (generation * LANES + lane) as u64);
        let scratch = lane.is_multiple_of(2) || self.elites.is_empty();
        let (start, heat) =
            if scratch { (self.uniform(&mut random), 1.0) } else { (self.child(&mut random), CHILD_HEAT) };
        let schedule = Schedule { hot: self.cold.max(heat * self.hot), cold: self.cold, sweeps };
        Run::new(self.landscape.clone(), &start, schedule, random, self.least)
    }

    fn uniform(&self, random: &mut Random) -> Vec<u32> {
        (0..self.landscape.d()).map(|i| random.below(self.landscape.cardinality(i) as usize) as u32).collect()
    }

    /// What two elites agree on, and either's choice elsewhere.
    fn child(&self, random: &mut Random) -> Vec<u32> {
        let (a, b) = (random.below(self.elites.len()), random.below(self.elites.len()));
        let (a, b) = (&self.elites[a].states, &self.elites[b].states);
        let differ = a.iter().zip(b).filter(|(x, y)| x != y).count();
        let mirrored = self.landscape.is_symmetric() && 2 * differ > a.len();
        let other = |y: u32| if mirrored { 1 - y } else { y };
        a.iter().zip(b).map(|(&x, &y)| if random.bits() & 1 == 0 { x } else { other(y) }).collect()
    }

    /// Keeps the best assignments, best first, equals once.
    fn offer(&mut self, elite: Elite) {
        let is_known = |e: &Elite| e.states == elite.states;
        if self.elites.iter().any(is_known) {
            return;
        }
        let place = self.elites.partition_point(|e| e.merit >= elite.merit);
        self.elites.insert(place, elite);
        self.elites.truncate(ELITES);
    }
}

/// Runs all lanes to their end, a slice at a time; says whether the monitor stopped them.
fn advance<L: Landscape>(
    runs: &mut [Run<L>],
    logs: &LogUniform,
    workers: Option<&rayon::ThreadPool>,
    monitor: &mut Monitor<'_>,
) -> bool {
    loop {
        if monitor.interrupted().is_some() {
            return true;
        }
        let step = |run: &mut Run<L>| run.advance(SLICE_VISITS, logs);
        let has_ended = match workers {
            None => {
                let mut all = true;
                for run in runs.iter_mut() {
                    all &= step(run);
                    // A sweep of a million variables takes long enough to look at the clock after each.
                    if monitor.interrupted().is_some() {
                        return true;
                    }
                }
                all
            }
            Some(workers) => {
                workers.install(|| runs.par_iter_mut().map(step).collect::<Vec<_>>()).iter().all(|e| *e)
            }
        };
        if has_ended {
            return false;
        }
    }
}
