//! Assignments of spins: polynomials and pairwise models.

use super::anneal::Elite;
use super::pairs::Pairs;
use super::population::{Effort, Population};
use super::terms::Monomials;
use crate::model::Polynomial;
use crate::observer::{Monitor, Observer};
use crate::settings::Settings;

/// The best assignment of spins found for f, never worse than any of `starts`.
///
/// Deterministic for a seed and any number of threads, unless the time limit ends it; without a time limit it
/// ends after a fixed effort.
///
/// **Cost** O(degree) per change of a spin.
///
/// ```
/// use zbound::{Ising, Polynomial, Settings, Silent, search};
/// let f = Polynomial::from(Ising::new(3, &[0.1, 0.0, 0.0], &[(0, 1, -1.0), (1, 2, 2.0)])?);
/// assert_eq!(search::spins(&f, &[], &Settings::default(), &mut Silent), [1, -1, -1]);
/// # Ok::<(), zbound::Error>(())
/// ```
#[must_use]
pub fn spins(
    f: &Polynomial,
    starts: &[Vec<i8>],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Vec<i8> {
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    best_spins(f, starts, Effort::full(settings), &mut monitor)
}

/// As [`spins`] with an effort and a clock of the caller's.
pub(crate) fn best_spins(
    f: &Polynomial,
    starts: &[Vec<i8>],
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Vec<i8> {
    let states = |x: &Vec<i8>| x.iter().map(|&s| u32::from(s > 0)).collect();
    let starts: Vec<Vec<u32>> = starts.iter().map(states).collect();
    let best = elites(f, &starts, effort, monitor).swap_remove(0);
    best.states.into_iter().map(|s| if s == 1 { 1 } else { -1 }).collect()
}

/// The best assignments, best first, at least one; state 1 is spin +1.
pub(super) fn elites(
    f: &Polynomial,
    starts: &[Vec<u32>],
    effort: Effort,
    monitor: &mut Monitor<'_>,
) -> Vec<Elite> {
    match f.as_ising() {
        Some(ising) => Population::new(&Pairs::new(ising), effort).search(starts, monitor),
        None => Population::new(&Monomials::new(f), effort).search(starts, monitor),
    }
}
