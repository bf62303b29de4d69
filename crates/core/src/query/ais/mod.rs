//! Annealed importance sampling: an honest estimate of log Z, never a bound.
//!
//! A chain starts from the uniform law and passes through `p_k ~ exp(b_k f/eps)`, `0 = b_0 < ... < b_K = 1`, one sweep
//! of Gibbs sampling at each; its weight `prod_k exp((b_{k+1} - b_k) f(x_k)/eps)` has the mean `Z / prod_i q_i` (Neal,
//! "Annealed importance sampling", 2001). The logarithm of the mean over chains is the estimate; the spread of
//! the weights gives a standard error and an effective number of samples.

mod chain;
mod draw;

pub(crate) use draw::annealed;

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
/// A run whose weights agree this well is long enough: effective samples as a share of the chains, and standard error
/// in units of eps.
const ACCURATE: (f64, f64) = (0.9, 0.02);
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
                Ok(weights) => best = Some((temperatures, Spread::of(&weights))),
                Err(reason) => {
                    stop = reason;
                    break;
                }
            }
            let took = monitor.seconds() - begun;
            // A run twice as long that cannot end in time is not begun.
            let is_accurate = best.as_ref().is_some_and(|(_, spread)| spread.is_accurate());
            let is_last = temperatures.saturating_mul(2) > longest
                || is_accurate
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
    best: Option<(usize, Spread)>,
    stop: StopReason,
    monitor: &Monitor<'_>,
) -> Solution {
    let mut solution = Solution::new(Method::Ais, stop);
    solution.seconds = monitor.seconds();
    let Some((temperatures, spread)) = best else {
        solution.reason = Some("stopped before the first run of annealing ended".into());
        return solution;
    };
    solution.iterations = temperatures;
    if spread.log_mean == f64::NEG_INFINITY {
        solution.reason = Some("no chain ended in a state of positive weight".into());
        return solution;
    }
    solution.estimate = eps * spread.log_mean + tables.constant();
    let sampling = Sampling {
        standard_error: eps * spread.error,
        effective_samples: spread.effective,
        chains: CHAINS as usize,
    };
    let entropy: f64 = tables.cardinalities().iter().map(|&q| f64::from(q).ln()).sum();
    solution.reason = Some(format!(
        "log Z is about {:.4}, an estimate and not a bound: standard error {:.2e}, effective sample size {:.1} of {} chains, \
         {temperatures} temperatures",
        solution.estimate + eps * entropy,
        sampling.standard_error,
        sampling.effective_samples,
        sampling.chains
    ));
    solution.sampling = Some(sampling);
    solution
}

/// What the weights of a run say.
struct Spread {
    /// Logarithm of their mean, `-inf` when all are zero.
    log_mean: f64,
    /// Standard error of that logarithm.
    error: f64,
    /// `(sum w)^2 / sum w^2`.
    effective: f64,
}

impl Spread {
    fn of(log_weights: &[f64]) -> Self {
        let top = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if top == f64::NEG_INFINITY {
            return Spread { log_mean: top, error: f64::INFINITY, effective: 0.0 };
        }
        let weights: Vec<f64> = log_weights.iter().map(|w| (w - top).exp()).collect();
        let n = weights.len() as f64;
        let (sum, squares) = weights.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
        let mean = sum / n;
        let variance = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Spread {
            log_mean: top + mean.ln(),
            error: (variance / n).sqrt() / mean,
            effective: sum * sum / squares,
        }
    }

    fn is_accurate(&self) -> bool {
        self.effective >= ACCURATE.0 * CHAINS as f64 && self.error <= ACCURATE.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Silent;

    /// Three variables of 2, 3 and 2 states, some states ruled out.
    fn tables() -> FactorModel {
        let mut model = FactorModel::with_cardinalities(&[2, 3, 2]).unwrap();
        model.add_constant(0.3);
        model.push(&[0, 1], &[0.5, -1.0, 0.0, f64::NEG_INFINITY, 1.0, 0.2]).unwrap();
        model.push(&[1, 2], &[0.0, 0.7, -0.3, 0.4, f64::NEG_INFINITY, 0.9]).unwrap();
        model
    }

    fn phi(model: &FactorModel, eps: f64) -> f64 {
        let states = (0..12u32).map(|k| [k % 2, k / 2 % 3, k / 6]);
        eps * (states.map(|x| (model.value_of(&x) / eps).exp()).sum::<f64>() / 12.0).ln()
    }

    #[test]
    fn estimates_are_near_the_truth_and_prove_nothing() {
        let model = tables();
        for eps in [0.5, 1.0, 4.0] {
            let settings = Settings::default().with_max_iterations(Some(256)).with_seed(3);
            let found = Ais.solve_tables(&model, eps, &settings, &mut Silent).unwrap();
            assert!(found.upper.is_none() && found.lower.is_none() && found.certificate.is_none());
            let error = found.sampling.unwrap().standard_error;
            assert!((found.estimate - phi(&model, eps)).abs() < 6.0 * error + 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_seed_gives_one_estimate_for_any_number_of_threads() {
        let run = |threads: usize| {
            let settings = Settings::default().with_max_iterations(Some(64)).with_threads(threads);
            Ais.solve_tables(&tables(), 1.0, &settings, &mut Silent).unwrap().estimate
        };
        assert_eq!(run(1).to_bits(), run(3).to_bits());
    }
}
