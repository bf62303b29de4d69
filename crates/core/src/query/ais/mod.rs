//! Annealed importance sampling: an honest estimate of log Z, never a bound.
//!
//! A chain starts from the uniform law and passes through `p_k ~ exp(b_k f/eps)`, `0 = b_0 < ... < b_K = 1`, one sweep
//! of Gibbs sampling at each; its weight `prod_k exp((b_{k+1} - b_k) f(x_k)/eps)` has the mean `Z / prod_i q_i` (Neal,
//! "Annealed importance sampling", 2001). The logarithm of the mean over chains is the estimate; the spread of
//! the weights gives a standard error and an effective number of samples.

mod chain;

use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::{Monitor, Observer};
use crate::relax::TableBound;
use crate::settings::{Method, Settings};
use crate::solution::{Sampling, Solution, StopReason};
use chain::{Chain, Gibbs};
use rayon::prelude::*;

/// Independent chains: enough for a standard error, few enough for long annealing.
const CHAINS: u64 = 64;
/// Temperatures of the first, shortest run.
const FIRST_RUN: usize = 32;
/// Temperatures of the longest run without a limit of time or iterations.
const LONGEST_RUN: usize = 4096;
/// Entries a chain may look at between two looks at the clock, about ten milliseconds' work.
const WORK_PER_POLL: usize = 1_000_000;

/// Annealed importance sampling. Runs of doubling length, the longest that ends within the limits is reported;
/// `max_iterations` fixes the number of temperatures instead, so that a seed reproduces the result anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ais;

impl TableBound for Ais {
    fn solve_tables(
        &self,
        tables: &FactorModel,
        eps: f64,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let pool = crate::exact::pool(settings.threads)?;
        let gibbs = Gibbs::new(tables, eps);
        let longest = settings.max_iterations.unwrap_or(match settings.time_limit_secs {
            Some(_) => usize::MAX,
            None => LONGEST_RUN,
        });
        let mut temperatures = settings.max_iterations.unwrap_or(FIRST_RUN);
        let mut best = None;
        let mut stop = StopReason::Converged;
        loop {
            let begun = monitor.seconds();
            match run(&gibbs, temperatures, settings.seed, &pool, &mut monitor) {
                Ok(weights) => best = Some((temperatures, weights)),
                Err(reason) => {
                    stop = reason;
                    break;
                }
            }
            let took = monitor.seconds() - begun;
            // A run twice as long that cannot end in time is not begun.
            let is_last = temperatures.saturating_mul(2) > longest
                || monitor.seconds_left().is_some_and(|left| 2.2 * took > left);
            if is_last {
                break;
            }
            temperatures *= 2;
        }
        Ok(summary(tables, eps, best, stop, &monitor))
    }
}

/// Log weights of all chains, in order; the reason why the run was given up.
fn run(
    gibbs: &Gibbs<'_>,
    temperatures: usize,
    seed: u64,
    pool: &Option<rayon::ThreadPool>,
    monitor: &mut Monitor<'_>,
) -> std::result::Result<Vec<f64>, StopReason> {
    let mut chains: Vec<Chain> = (0..CHAINS).map(|k| Chain::new(gibbs, seed, k)).collect();
    let sweeps_per_poll = (WORK_PER_POLL / gibbs.sweep_work().max(1)).max(1);
    let mut done = 0;
    while done < temperatures {
        let next = temperatures.min(done + sweeps_per_poll);
        // Chains one at a time between polls where a sweep is long.
        let group = if gibbs.sweep_work() > WORK_PER_POLL {
            pool.as_ref().map_or(1, |p| p.current_num_threads())
        } else {
            CHAINS as usize
        };
        for some in chains.chunks_mut(group) {
            match pool {
                None => some.iter_mut().for_each(|chain| chain.anneal(gibbs, done..next, temperatures)),
                Some(pool) => pool.install(|| {
                    some.par_iter_mut().for_each(|chain| chain.anneal(gibbs, done..next, temperatures))
                }),
            }
            if let Some(reason) = monitor.interrupted() {
                return Err(reason);
            }
        }
        done = next;
    }
    monitor.iteration(f64::NAN, f64::NAN).map_or(Ok(()), |reason| match reason {
        StopReason::MaxIterations => Ok(()),
        other => Err(other),
    })?;
    Ok(chains.iter().map(Chain::log_weight).collect())
}

fn summary(
    tables: &FactorModel,
    eps: f64,
    best: Option<(usize, Vec<f64>)>,
    stop: StopReason,
    monitor: &Monitor<'_>,
) -> Solution {
    let mut solution = Solution::new(Method::Ais, stop);
    solution.seconds = monitor.seconds();
    let Some((temperatures, weights)) = best else {
        solution.reason = Some("stopped before the first run of annealing ended".into());
        return solution;
    };
    solution.iterations = temperatures;
    let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        solution.reason = Some("no chain ended in a state of positive weight".into());
        return solution;
    }
    let relative: Vec<f64> = weights.iter().map(|w| (w - top).exp()).collect();
    let n = relative.len() as f64;
    let (sum, squares) = relative.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    let mean = sum / n;
    let variance = relative.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
    solution.estimate = eps * (top + mean.ln()) + tables.constant();
    let sampling = Sampling {
        standard_error: eps * (variance / n).sqrt() / mean,
        effective_samples: sum * sum / squares,
        chains: weights.len(),
    };
    solution.reason = Some(format!(
        "an estimate, not a bound: standard error {:.2e}, effective sample size {:.1} of {} chains, {temperatures} temperatures",
        sampling.standard_error, sampling.effective_samples, sampling.chains
    ));
    solution.sampling = Some(sampling);
    solution
}
