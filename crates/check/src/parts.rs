//! Disjoint parts of the cube: `Z` is the sum of theirs.

use crate::bounds::phi;
use crate::cert::Witness;
use crate::interval::{Interval, ZERO, at};
use crate::limits::{Limits, Stop};
use crate::model::{Set, Terms};
use crate::require;

/// Spins that may be fixed.
const MOST_FIXED: usize = 10;

/// `eps log` of the mean over all assignments of `spins` of `exp(phi(rest)/eps)`.
pub(crate) fn value(
    spins: &[usize],
    parts: &[Witness],
    terms: &Terms,
    d: usize,
    eps: f64,
    limits: &Limits,
) -> Result<Interval, Stop> {
    require(eps > 0.0 && spins.len() <= MOST_FIXED, "parts need eps > 0 and few fixed spins")?;
    let mut sorted = spins.to_vec();
    sorted.sort_unstable();
    let distinct = sorted.windows(2).all(|w| w[0] < w[1]) && sorted.last().is_none_or(|&i| i < d);
    require(distinct && parts.len() == 1 << spins.len(), "the parts do not fit the model")?;
    let mut lower = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let up = |i: usize| spins.iter().position(|&s| s == i).map(|p| k >> p & 1 == 1);
        let rest = condition(terms, &sorted, up);
        lower.push(phi(part, &rest, d - spins.len(), eps, limits)?.lo);
    }
    let top = lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    require(top.is_finite(), "no part proves a finite bound")?;
    let weight = |v: f64| ((at(v) - at(top)) / at(eps)).exp();
    let sum = lower.iter().filter(|v| v.is_finite()).fold(ZERO, |sum, &v| sum + weight(v));
    Ok(at(top) + at(eps) * (sum / at(parts.len() as f64)).log())
}

/// The terms with the fixed spins put in and the others renumbered in order; `fixed` is increasing.
fn condition(terms: &Terms, fixed: &[usize], up: impl Fn(usize) -> Option<bool>) -> Terms {
    let mut rest = Terms::new();
    for (set, v) in terms {
        let down = set.iter().filter(|&&i| up(i) == Some(false)).count();
        let free = set.iter().filter(|&&i| up(i).is_none());
        let new: Set = free.map(|&i| i - fixed.partition_point(|&s| s < i)).collect();
        let sum = rest.entry(new).or_insert(ZERO);
        *sum = *sum + if down.is_multiple_of(2) { *v } else { -*v };
    }
    rest
}
