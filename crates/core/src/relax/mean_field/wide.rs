//! Blocks of bounded width: the best of several partitions, starts and table sizes.

use super::ascent::Ascent;
use super::partition::{Divider, FIRST_SHARES, Partition};
use crate::certify::Witness;
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::run::cost::constants::{ENTRY_SECS, PROOF_SECS};
use crate::settings::Settings;
use crate::solution::StopReason;
use std::time::Instant;

/// Binary logarithms of the largest table, one round each; a round begins only if time or work is left.
const LIMITS: [f64; 5] = [11.0, 13.0, 15.0, 17.0, 19.0];

/// Entries that all sweeps may visit without a time limit, some 10 ns each.
const WORK: u64 = 40_000_000;

/// The same when a time limit ends the ascent.
const TIMED_WORK: u64 = 10_000_000_000;

/// Sweeps from one start.
const SWEEPS: usize = 200;

/// Variables above which finding partitions takes longer than they are worth: then every variable is alone.
const MOST_VARIABLES: usize = 20_000;

/// Share of the time that is kept for the proof.
const PROOF_SHARE: f64 = 0.2;

/// Seconds per factor of the graph of a model, and again of a product over a partition: dense models have half a million.
const FACTOR_SECS: f64 = 2e-6;

/// Seconds too short to tell the speed of sweeps by.
const SHORT_SECS: f64 = 2e-3;

/// Seconds of proof without a time limit.
const UNTIMED_PROOF_SECS: f64 = 1.0;

/// Entries that can be proved in the share of the time that is kept for it.
fn proof_entries(seconds: Option<f64>) -> f64 {
    seconds.map_or(UNTIMED_PROOF_SECS, |left| PROOF_SHARE * left) / PROOF_SECS
}

/// The best product of blocks.
#[derive(Clone)]
pub(super) struct Best {
    /// Bound on `eps log Z`, counting measure, in plain floating point.
    pub(super) value: f64,
    pub(super) blocks: Vec<Vec<u32>>,
    pub(super) fields: Vec<Vec<f64>>,
    pub(super) marginals: Vec<Vec<f64>>,
    /// What it misses of the factors between blocks, by variable: [`Ascent::missed`].
    pub(super) missed: Vec<f64>,
    /// Entries that its proof goes through.
    pub(super) proof_cost: u64,
}

impl Best {
    /// The law that an ascent has come to.
    pub(super) fn of(ascent: &Ascent<'_>) -> Self {
        let (blocks, fields) = ascent.witness();
        let (marginals, missed) = (ascent.marginals(), ascent.missed());
        Best { value: ascent.value(), blocks, fields, marginals, missed, proof_cost: ascent.proof_cost() }
    }

    pub(super) fn witness(self) -> Witness {
        Witness::Blocks { blocks: self.blocks, fields: self.fields }
    }
}

/// Looks for the best product of blocks, starting from the given laws of single variables.
pub(super) struct Wide<'a, 'm, 'o> {
    tables: &'a FactorModel,
    eps: f64,
    settings: &'a Settings,
    monitor: &'m mut Monitor<'o>,
    work: u64,
    /// Entries of all tables that can be proved in time.
    most_entries: f64,
    /// How many times slower the machine is than expected, under a time limit.
    pace: f64,
    pub(super) best: Option<Best>,
    /// Whether the last ascent of the best partition ended by itself.
    pub(super) converged: bool,
    /// Whether blocks were left out whose proof would not end in time.
    pub(super) is_hurried: bool,
}

impl<'a, 'm, 'o> Wide<'a, 'm, 'o> {
    pub(super) fn new(
        tables: &'a FactorModel,
        eps: f64,
        settings: &'a Settings,
        monitor: &'m mut Monitor<'o>,
    ) -> Self {
        let work = if settings.ends().is_limited() { TIMED_WORK } else { WORK };
        let most_entries = proof_entries(monitor.seconds_left());
        Wide {
            tables,
            eps,
            settings,
            monitor,
            work,
            most_entries,
            pace: 1.0,
            best: None,
            converged: false,
            is_hurried: false,
        }
    }

    /// Rounds of growing tables; says why they ended if the clock did it.
    pub(super) fn run(&mut self, starts: &[Vec<Vec<f64>>]) -> Option<StopReason> {
        if self.is_too_large_for(2.0) {
            return Some(StopReason::TimeLimit);
        }
        let mut divider = Divider::new(self.tables);
        if self.tables.d() > MOST_VARIABLES {
            return self.ascend(&divider.singles(), starts);
        }
        let lines = divider.lines();
        for limit in self.limits() {
            if let Some(whole) = divider.whole(limit) {
                return self.ascend(&whole, &starts[..1]);
            }
            let mut seen = Vec::new();
            for (share, line) in FIRST_SHARES.iter().flat_map(|s| lines.iter().map(move |l| (*s, l))) {
                let monitor = &mut *self.monitor;
                let mut stop = || monitor.interrupted().is_some();
                let found = divider.partition(line, limit, share, &mut stop);
                if let Some(stop) = self.monitor.interrupted() {
                    return Some(stop);
                }
                let partition = found.unwrap_or_else(|| divider.singles());
                if seen.contains(&partition) {
                    continue;
                }
                if let Some(stop) = self.ascend(&partition, starts) {
                    return Some(stop);
                }
                seen.push(partition);
                if self.work == 0 {
                    return None;
                }
            }
        }
        None
    }

    /// Whether there is no time to look at every factor so many times.
    fn is_too_large_for(&self, looks: f64) -> bool {
        let ends = self.monitor.deadline();
        let seconds = || ends.speed().table_seconds(looks * FACTOR_SECS * self.tables.len() as f64);
        ends.is_limited() && seconds() > ends.seconds_left()
    }

    /// The table sizes to try: all of them, or the one that is asked for.
    fn limits(&self) -> Vec<f64> {
        let states = self.tables.cardinalities().iter().max().map_or(1, |q| *q);
        match self.settings.ibound {
            Some(width) => vec![(width + 1) as f64 * f64::from(states).log2()],
            None => LIMITS.to_vec(),
        }
    }

    /// Ascends from every start, and from the best law so far.
    fn ascend(&mut self, partition: &Partition, starts: &[Vec<Vec<f64>>]) -> Option<StopReason> {
        if self.is_too_large_for(1.0) {
            return Some(StopReason::TimeLimit);
        }
        let crosses_zero = crosses_zero(self.tables, &partition.blocks);
        if crosses_zero {
            return self.monitor.interrupted();
        }
        let mut ascent: Option<Ascent<'a>> = None;
        let known = self.best.as_ref().map(|b| b.marginals.clone());
        for start in starts.iter().chain(&known) {
            let ascent = match &mut ascent {
                Some(ascent) => {
                    ascent.begin(start);
                    ascent
                }
                None => ascent.insert(Ascent::new(self.tables, self.eps, partition, start)),
            };
            if ascent.proof_cost() as f64 * self.pace > self.most_entries {
                self.is_hurried = self.settings.ends().is_limited();
                return None;
            }
            let (begun, before) = (Instant::now(), self.work);
            let (converged, stop) = climb(ascent, self.settings.tol, self.monitor, &mut self.work);
            let expected = ENTRY_SECS * (before - self.work) as f64;
            if self.settings.ends().is_limited() && expected > SHORT_SECS {
                self.pace = (begun.elapsed().as_secs_f64() / expected).max(1.0);
            }
            let value = ascent.value();
            if value.is_finite() && self.best.as_ref().is_none_or(|b| value > b.value) {
                self.best = Some(Best::of(ascent));
                self.converged = converged;
            }
            if stop.is_some() || self.work == 0 {
                return stop;
            }
        }
        None
    }
}

/// Sweeps until the value no longer rises by the tolerance.
pub(super) fn climb(
    ascent: &mut Ascent<'_>,
    tol: f64,
    monitor: &mut Monitor<'_>,
    work: &mut u64,
) -> (bool, Option<StopReason>) {
    let mut last = ascent.value();
    for _ in 0..SWEEPS {
        if let Some(stop) = monitor.iteration(last, f64::NAN) {
            return (false, Some(stop));
        }
        let mut stop = None;
        ascent.sweep(&mut || {
            stop = stop.or_else(|| monitor.interrupted());
            stop.is_some()
        });
        if stop.is_some() {
            return (false, stop);
        }
        let value = ascent.value();
        *work = work.saturating_sub(ascent.cost());
        if !(value - last > tol * value.abs().max(1.0)) {
            return (true, None);
        }
        last = value;
        if *work == 0 {
            break;
        }
    }
    (false, None)
}

/// Whether a table with a hard zero lies between blocks, which no product of blocks with finite fields survives.
fn crosses_zero(tables: &FactorModel, blocks: &[Vec<u32>]) -> bool {
    let mut of = vec![0u32; tables.d()];
    for (b, block) in blocks.iter().enumerate() {
        block.iter().for_each(|&v| of[v as usize] = b as u32);
    }
    tables.factors().any(|f| {
        f.scope.iter().any(|&v| of[v as usize] != of[f.scope[0] as usize])
            && f.table.contains(&f64::NEG_INFINITY)
    })
}
