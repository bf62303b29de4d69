//! States at the end of annealed chains: samples that are close to the law, not from it.

use super::chain::{Chain, Gibbs};
use crate::error::{Error, Result};
use crate::model::FactorModel;
use crate::observer::Monitor;
use crate::settings::Settings;

/// Temperatures a chain passes through.
const TEMPERATURES: usize = 256;
/// Sweeps at the last temperature.
const SETTLING: usize = 32;
/// Chains tried for one sample before the draw is given up: hard zeros end a chain.
const TRIES: u64 = 16;

/// `count` states, each from a chain of its own; every second number is `None` for a draw whose chains all ended in hard
/// zeros. The seed alone decides them.
///
/// **Cost** some 300 sweeps a sample.
///
/// # Errors
/// [`Error::Interrupted`] with nothing drawn; states drawn by then are returned.
pub(crate) fn annealed(
    tables: &FactorModel,
    eps: f64,
    count: usize,
    seed: u64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<Option<Vec<u32>>>> {
    let gibbs = Gibbs::new(tables, eps);
    let temperatures = settings.max_iterations.unwrap_or(TEMPERATURES).max(1);
    let mut out = Vec::with_capacity(count.min(1 << 20));
    for number in 0..count as u64 {
        let mut found = None;
        for attempt in 0..TRIES {
            let mut chain = Chain::new(&gibbs, seed, number * TRIES + attempt);
            for step in 0..temperatures {
                chain.anneal(&gibbs, step..step + 1, temperatures);
                if let Some(stop) = (step % 16 == 0).then(|| monitor.interrupted()).flatten() {
                    return if out.is_empty() { Err(Error::Interrupted(stop)) } else { Ok(out) };
                }
            }
            found = chain.settle(&gibbs, SETTLING);
            if found.is_some() {
                break;
            }
        }
        out.push(found);
    }
    Ok(out)
}
