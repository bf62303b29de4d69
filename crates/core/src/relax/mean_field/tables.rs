//! Mean field over factor tables: any arity, any number of states, hard zeros.

use super::MeanField;
use super::mixture::Mixing;
use super::spins::explore;
use super::wide::{Best, Wide};
use crate::certify::{Certificate, Slack, Witness};
use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::{Monitor, Observer};
use crate::relax::TableBound;
use crate::search::{Effort, best_states};
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason, TracePoint};
use std::time::Instant;

/// Share of the time limit for assignments, independent spins and trees; blocks have the rest.
const FIRST_SHARE: f64 = 0.3;

/// Share of that rest for single products of blocks; their proof follows, and mixtures of them.
const BLOCKS_SHARE: f64 = 0.5;

/// Share of what is left then for the proof of a mixture, and how many times longer than that of a single product each of its
/// parts is taken to be: every part is a model of its own.
const MIXTURE_PROOF_SHARE: f64 = 0.4;
const PROOF_CAUTION: f64 = 1.5;

/// Entries of all parts of a mixture without a time limit: a second or two of proof.
const UNTIMED_PROOF_ENTRIES: u64 = 3_000_000;

/// Gain of a mixture over a product of blocks that can be hoped for, in units of eps: log of 400 parts.
const MOST_GAIN: f64 = 6.0;

impl TableBound for MeanField {
    fn solve_tables(
        &self,
        tables: &FactorModel,
        eps: f64,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let (start, deadline) = (Instant::now(), settings.ends());
        let limit = deadline.is_limited().then(|| FIRST_SHARE * deadline.seconds_left());
        let first = settings.for_part(&deadline, limit);
        let mut monitor = Monitor::new(&first, usize::MAX, observer);
        let (mut solution, starts) = simple(tables, eps, &first, &mut monitor)?;
        // Blocks of a large model may take all of the time.
        monitor.proved(solution.lower, None);
        let (iterations, mut trace) = (monitor.iterations, monitor.trace);
        let cancelled = solution.stop == StopReason::Cancelled;
        solution.iterations = iterations;
        if eps > 0.0 && tables.d() > 0 && !cancelled {
            let mut blocks = products(&mut solution, tables, eps, &starts, settings, observer);
            trace.append(&mut blocks);
        }
        solution.trace = trace;
        solution.seconds = start.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// Products of blocks, then mixtures of them, in what is left of the time; returns the trace.
fn products(
    solution: &mut Solution,
    tables: &FactorModel,
    eps: f64,
    starts: &[Laws],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Vec<TracePoint> {
    let part = part_of(settings, BLOCKS_SHARE);
    let mut monitor = Monitor::new(&part, usize::MAX, observer);
    let mut wide = Wide::new(tables, eps, &part, &mut monitor);
    let stop = wide.run(starts);
    let ended = if wide.converged { StopReason::Converged } else { StopReason::MaxIterations };
    let best = wide.best.take();
    // With more time there would be more blocks.
    let stop = stop.or(wide.is_hurried.then_some(StopReason::TimeLimit));
    solution.iterations += monitor.iterations;
    let mut trace = monitor.trace;
    let Some(best) = best else {
        solution.stop = stop.unwrap_or(solution.stop);
        return trace;
    };
    solution.stop = stop.unwrap_or(ended);
    let may_go_on = matches!(stop, None | Some(StopReason::TimeLimit)) && best.blocks.len() > 1;
    if !(may_go_on && could_win(solution, tables, eps, &best)) {
        offer(solution, tables, eps, best);
        return trace;
    }
    let parts = if settings.ends().is_limited() {
        // What one part takes to prove on this machine now; and with it there is something to fall back on.
        let begun = Instant::now();
        offer(solution, tables, eps, best.clone());
        observer.proved(solution.lower, None);
        let seconds = begun.elapsed().as_secs_f64().max(1e-6);
        (MIXTURE_PROOF_SHARE * settings.ends().seconds_left() / (PROOF_CAUTION * seconds)) as usize
    } else {
        (UNTIMED_PROOF_ENTRIES / best.proof_cost.max(1)) as usize
    };
    let part = part_of(settings, 1.0 - MIXTURE_PROOF_SHARE);
    let mut monitor = Monitor::new(&part, usize::MAX, observer);
    if let Some(mixture) = Mixing::new(tables, eps, &part, parts, &mut monitor).run(&best) {
        let (means, value) = (means_of(tables, &mixture.marginals), mixture.value - entropy(tables, eps));
        take(solution, tables, eps, mixture.witness, value, means);
    }
    // Every mixture leaves room for finer ones.
    solution.stop = monitor.interrupted().unwrap_or(solution.stop);
    solution.iterations += monitor.iterations;
    trace.append(&mut monitor.trace);
    offer(solution, tables, eps, best);
    trace
}

/// The settings of a part that begins now and may take a share of the time left.
fn part_of(settings: &Settings, share: f64) -> Settings {
    let deadline = settings.ends();
    let limit = deadline.is_limited().then(|| share * deadline.seconds_left());
    settings.for_part(&deadline, limit)
}

/// Whether a mixture could beat what is known: it rarely gains more than a few units of eps.
fn could_win(solution: &Solution, tables: &FactorModel, eps: f64, best: &Best) -> bool {
    let value = best.value - entropy(tables, eps);
    solution.lower.is_none_or(|bound| value + MOST_GAIN * eps > bound.phi())
}

/// Laws of single variables to start from.
type Laws = Vec<Vec<f64>>;

/// The best assignment, and for spins without hard zeros independent spins and trees; with the starts that they give.
fn simple(
    tables: &FactorModel,
    eps: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<(Solution, Vec<Laws>)> {
    let uniform: Laws =
        tables.cardinalities().iter().map(|&q| vec![1.0 / f64::from(q); q as usize]).collect();
    let has_polynomial = tables.is_binary() && !tables.has_hard_zeros() && tables.constant().is_finite();
    let (mut solution, mut starts) = (Solution::new(Method::MeanField, StopReason::Converged), Vec::new());
    let states: Vec<u32>;
    if has_polynomial {
        let f = tables.to_polynomial()?;
        let spins;
        (solution, spins) = explore(&f, eps, settings, monitor);
        states = spins.iter().map(|&x| u32::from(x > 0)).collect();
        if let Some(means) = &solution.means {
            starts.push(means.iter().map(|m| vec![0.5 * (1.0 - m), 0.5 * (1.0 + m)]).collect());
        }
    } else {
        states = best_states(tables, &[], Effort::brief(settings), monitor).states;
    }
    if tables.value_of(&states).is_finite() {
        let point = |(&s, &q): (&u32, &u32)| (0..q).map(|k| f64::from(u8::from(k == s))).collect();
        starts.insert(0, states.iter().zip(tables.cardinalities()).map(point).collect());
        assign(&mut solution, tables, eps, states);
    } else {
        solution.reason = Some("no assignment of positive weight was found".into());
    }
    starts.push(uniform);
    Ok((solution, starts))
}

/// Takes the value of an assignment if it is the best bound so far.
fn assign(solution: &mut Solution, tables: &FactorModel, eps: f64, states: Vec<u32>) {
    let value = tables.value_of(&states) - entropy(tables, eps);
    let means = tables.is_binary().then(|| states.iter().map(|&s| if s == 1 { 1.0 } else { -1.0 }).collect());
    take(solution, tables, eps, Witness::States { states }, value, means);
}

/// Takes a product of blocks if it is the best bound so far.
fn offer(solution: &mut Solution, tables: &FactorModel, eps: f64, best: Best) {
    let (means, value) = (means_of(tables, &best.marginals), best.value - entropy(tables, eps));
    take(solution, tables, eps, best.witness(), value, means);
}

/// `E x_i` of spins.
fn means_of(tables: &FactorModel, marginals: &[Vec<f64>]) -> Option<Vec<f64>> {
    tables.is_binary().then(|| marginals.iter().map(|law| law[1] - law[0]).collect())
}

/// `eps` times the entropy of the uniform law.
fn entropy(tables: &FactorModel, eps: f64) -> f64 {
    eps * tables.cardinalities().iter().map(|&q| f64::from(q).ln()).sum::<f64>()
}

/// Certifies a witness and keeps it when its bound is the best; `value` is what it should prove on phi.
fn take(
    solution: &mut Solution,
    tables: &FactorModel,
    eps: f64,
    witness: Witness,
    value: f64,
    means: Option<Vec<f64>>,
) {
    // Verification of a large witness takes longer than finding that it is not the best.
    if solution.lower.is_some_and(|bound| bound.phi() >= value) {
        return;
    }
    let witness = Some(witness);
    let proof = Certificate { eps, slack: Slack::default(), components: Vec::new(), witness };
    match proof.verify_lower_tables(tables) {
        Ok(bound) if solution.lower.is_none_or(|known| bound > known) => {
            solution.lower = Some(bound);
            solution.estimate = value;
            solution.means = means;
            solution.certificate = Some(proof);
            solution.reason = None;
        }
        Ok(_) => {}
        Err(error) => solution.reason = Some(format!("a bound could not be certified: {error}")),
    }
}
