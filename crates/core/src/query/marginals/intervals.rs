//! Certified intervals for marginals, from brackets of log Z with one spin fixed.

use crate::certify::Interval;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::{Polynomial, VarSet};
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::relax::{MeanField, Relaxation, Trw};
use crate::settings::Settings;

/// Proved intervals `[low, high]` around `P(x_i = +1)` for the listed spins of a pairwise model.
///
/// With `L <= Phi <= U` for the models in which spin i is fixed to +1 and to -1,
/// `1 / (1 + exp((U_- - L_+) / eps)) <= P(x_i = +1) <= 1 / (1 + exp((L_- - U_+) / eps))`.
/// Upper ends come from [`Trw`], lower ends from [`MeanField`]. A spin that is not reached before the
/// time limit, or after the observer stops the run, gets `[0, 1]`.
///
/// **Cost** two TRW and two mean-field solves per spin.
///
/// # Errors
/// A spin out of range, bad settings, or a model that is not pairwise.
///
/// ```
/// use zbound::query::marginals::marginal_intervals;
/// use zbound::{Features, Ising, Problem, Settings, Silent};
/// let model = Ising::new(2, &[0.5, 0.0], &[(0, 1, 0.2)])?;
/// let problem = Problem::new(model, Features::degree(2, 1))?;
/// let [low, high] = marginal_intervals(&problem, &[0], &Settings::default(), &mut Silent)?[0];
/// let exact = 1.0 / (1.0 + (-1.0f64).exp());
/// assert!(low <= exact && exact <= high && high - low < 1e-9);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn marginal_intervals(
    problem: &Problem,
    spins: &[usize],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<[f64; 2]>> {
    settings.validate()?;
    if let Some(i) = spins.iter().find(|&&i| i >= problem.d()) {
        return Err(Error::Setting(format!("spin {i} is out of range for d = {}", problem.d())));
    }
    let mut monitor = Monitor::new(settings, usize::MAX, observer);
    let mut intervals = Vec::with_capacity(spins.len());
    for (done, &i) in spins.iter().enumerate() {
        monitor.iterations = done;
        if monitor.interrupted().is_some() {
            intervals.push([0.0, 1.0]);
            continue;
        }
        // The time left is shared by the four solves of every spin to come.
        let solves = 4.0 * (spins.len() - done) as f64;
        let share = monitor.seconds_left().map(|left| left / solves);
        let own = settings.for_part(monitor.deadline(), share);
        let mut inner = monitor.relay();
        let plus = bracket(problem, i, 1, &own, &mut inner)?;
        let minus = bracket(problem, i, -1, &own, &mut inner)?;
        intervals.push(share_of(plus, minus, problem.eps()));
    }
    Ok(intervals)
}

/// The interval for `P(x_i = +1)` from brackets of phi with the spin fixed to +1 and to -1.
pub(crate) fn share_of(plus: Interval, minus: Interval, eps: f64) -> [f64; 2] {
    let share = |ours: f64, theirs: f64| {
        let ratio = ((Interval::point(theirs) - Interval::point(ours)) / Interval::point(eps)).exp();
        Interval::ONE / (Interval::ONE + ratio)
    };
    let (low, high) = (share(plus.lo, minus.hi).lo, share(plus.hi, minus.lo).hi);
    // Not-a-number ends prove nothing.
    [low.max(0.0), if high <= 1.0 { high } else { 1.0 }]
}

/// Proved bounds on phi with spin `i` fixed; infinite where a proof failed.
fn bracket(
    problem: &Problem,
    i: usize,
    value: i8,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Interval> {
    let mut fixed = vec![None; problem.d()];
    fixed[i] = Some(value);
    let conditioned: Polynomial = problem.polynomial().condition(&fixed)?;
    let features = Features::new(conditioned.d(), vec![VarSet::EMPTY])?;
    let conditioned = Problem::new(conditioned, features)?.with_temperature(problem.eps())?;
    let upper = Trw.solve_with(&conditioned, settings, observer)?.upper;
    let lower = MeanField.solve_with(&conditioned, settings, observer)?.lower;
    Ok(Interval {
        lo: lower.map_or(f64::NEG_INFINITY, |bound| bound.phi()),
        hi: upper.map_or(f64::INFINITY, |bound| bound.phi()),
    })
}
