//! Greedy selection of features (paper, Algorithm 2).
//!
//! Every round looks at all features at XOR-distance one and adds the one with the smallest bound.
//! Only the arg min is needed: candidates are solved side by side to ever tighter brackets, and
//! one whose lower value exceeds the best upper value is dropped, so the choice is the one that
//! full solves of all candidates would make.

mod race;

use super::quantum::{Bracket, Quantum};
use super::{DualPoint, Relaxation, SpectralPoint};
use crate::error::Result;
use crate::features::Features;
use crate::linalg::{Eigen, Square};
use crate::model::VarSet;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Greedy, Method, Settings, Solver};
use crate::solution::{GreedyStep, Solution, StopReason};
use race::{Candidate, Race};
use std::collections::HashSet;

/// The quantum relaxation on features selected one by one, starting from the problem's.
///
/// The bound reported is the best along the path: with V = I/n adding a feature can make the
/// bound worse. `steps` holds the bound at exactly 1, 2, ... added features.
///
/// ```
/// use zbound::relax::{QuantumGreedy, Relaxation};
/// use zbound::{Features, Greedy, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.3, -0.2, 0.1], &[(0, 1, 0.9), (1, 2, -0.4)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let settings = Settings::default().with_greedy(Greedy::Count(2));
/// let solution = QuantumGreedy.solve(&problem, &settings)?;
/// assert_eq!(solution.steps.unwrap().len(), 2);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantumGreedy;

/// `Greedy::Auto` stops when a round gains less than this, relative to max(eps, |phi|).
const LEAST_GAIN: f64 = 1e-4;
impl Relaxation for QuantumGreedy {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        check_memory(problem, settings)?;
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let mut current = final_solve(problem, Quantum::default(), settings, &mut monitor)?;
        let mut features = problem.features().clone();
        let mut best = current.clone();
        let mut steps = Vec::new();
        let mut stop = current.stop;
        let rounds = match settings.greedy {
            Greedy::Count(count) => count,
            Greedy::Auto => usize::MAX,
        };
        while steps.len() < rounds && stop == StopReason::Converged {
            let point = current.point.as_ref().and_then(SpectralPoint::dual);
            let Some(DualPoint { matrix, eigen }) = point else { break };
            let selection =
                select(problem, &features, matrix, eigen, rounds - steps.len(), settings, &mut monitor)?;
            let Selection::Found(chosen, start) = selection else {
                stop = selection.reason().unwrap_or(stop);
                break;
            };
            for feature in &chosen {
                features = features.with(problem.d(), feature.clone())?;
            }
            let start = start.map_or_else(Quantum::default, Quantum::from_matrix);
            current = final_solve(&problem.with_features(features.clone())?, start, settings, &mut monitor)?;
            stop = current.stop;
            let phi_upper = current.upper.map_or(f64::NAN, |u| u.phi());
            // With several features a round only the last of them has a bound of its own.
            let inner = chosen.len().saturating_sub(1);
            steps.extend(
                chosen.iter().take(inner).map(|f| GreedyStep { feature: f.clone(), phi_upper: f64::NAN }),
            );
            steps.extend(chosen.last().map(|f| GreedyStep { feature: f.clone(), phi_upper }));
            let gain = best.upper.map_or(f64::INFINITY, |u| u.phi() - phi_upper);
            if gain > 0.0 {
                best = current.clone();
            }
            if settings.greedy == Greedy::Auto && !(gain > LEAST_GAIN * phi_upper.abs().max(problem.eps())) {
                break;
            }
        }
        best.method = Method::QuantumGreedy;
        best.stop = stop;
        best.steps = Some(steps);
        Ok(best.finish(None, settings.tol, problem, monitor))
    }
}

/// Every candidate holds the model, its features and a dual point.
fn check_memory(problem: &Problem, settings: &Settings) -> Result<()> {
    let (n, d) = (problem.features().len() as f64, problem.d() as f64);
    let f = problem.polynomial();
    let coefficients = d + f.pairwise_part().edges().len() as f64 + f.terms().len() as f64;
    let candidate = 8.0 * (n + 1.0).powi(2) + COEFFICIENT_BYTES * coefficients + FEATURE_BYTES * n;
    // Half of the sets at distance one come up twice.
    let needed = 0.5 * n * d * candidate;
    let what = format_args!("greedy selection among the neighbours of {n} features");
    settings.require_memory(needed as u64, what, "ask for fewer features, or for quantum")
}

/// Bytes of a coupling in a candidate's copy of the problem.
const COEFFICIENT_BYTES: f64 = 16.0;
/// Bytes of a feature in it.
const FEATURE_BYTES: f64 = 32.0;

/// A certified solve inside the selection, under what is left of the time limit.
fn final_solve(
    problem: &Problem,
    method: Quantum,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let inner =
        Settings { solver: Solver::Auto, trace: false, ..settings.for_part(monitor.deadline(), None) };
    let solution = method.solve_with(problem, &inner, &mut monitor.relay())?;
    monitor.eigendecompositions += solution.eigendecompositions;
    let upper = solution.upper.map_or(f64::NAN, |u| u.phi());
    let lower = solution.relaxation_gap.map_or(f64::NAN, |g| upper - g);
    let _ = monitor.iteration(lower, upper);
    Ok(solution)
}

enum Selection {
    /// The features to add and, for a single one, the dual point to go on from.
    Found(Vec<VarSet>, Option<Square>),
    /// No feature is at distance one.
    Empty,
    Stopped(StopReason),
}

impl Selection {
    fn reason(&self) -> Option<StopReason> {
        match self {
            Selection::Stopped(reason) => Some(*reason),
            _ => None,
        }
    }
}

/// One round: the `batch` candidates with the smallest bounds (Algorithm 2 has batch = 1).
fn select(
    problem: &Problem,
    features: &Features,
    matrix: &Square,
    eigen: &Eigen,
    wanted: usize,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Selection> {
    let start = extend(matrix, eigen, problem.eps());
    let mut candidates = Vec::new();
    for feature in pool(problem.d(), features) {
        let extended = problem.with_features(features.with(problem.d(), feature.clone())?)?;
        candidates.push(Candidate { feature, bracket: Bracket::open(extended, start.clone()) });
    }
    if candidates.is_empty() {
        return Ok(Selection::Empty);
    }
    let batch = settings.greedy_batch.min(wanted).min(candidates.len());
    let mut race = Race::new(candidates, batch, settings, problem.eps());
    if let Some(reason) = race.run(monitor)? {
        return Ok(Selection::Stopped(reason));
    }
    let winners = race.winners();
    let features = winners.iter().map(|c| c.feature.clone()).collect();
    // With several features a round no candidate's dual point has them all.
    let start = winners.into_iter().next().filter(|_| batch == 1);
    Ok(Selection::Found(features, start.map(|c| c.bracket.into_matrix())))
}

/// Features at XOR-distance one: for alpha in I, for i in 0..d: alpha xor e_i, new and once each.
fn pool(d: usize, features: &Features) -> Vec<VarSet> {
    let mut seen: HashSet<VarSet> = features.sets().iter().cloned().collect();
    let neighbours =
        features.sets().iter().flat_map(|set| (0..d).map(move |i| set.xor(&VarSet::singleton(i))));
    neighbours.filter(|set| seen.insert(set.clone())).collect()
}

/// A start for one more feature: `F'` with a new diagonal entry that gives the feature the weight
/// 1/(n+1) it must have, `(n+1) s = log((1/n) tr exp((n+1) F' / eps))`, taken from the others.
fn extend(matrix: &Square, eigen: &Eigen, eps: f64) -> Square {
    let n = matrix.n();
    let ratio = (n + 1) as f64 / eps;
    let top = ratio * eigen.values[n - 1];
    let total: f64 = eigen.values.iter().map(|v| (ratio * v - top).exp()).sum();
    let shift = (top + (total / n as f64).ln()) / (n + 1) as f64 / ratio;
    let mut out = Square::zeros(n + 1);
    for j in 0..n {
        out.data_mut()[(n + 1) * j..(n + 1) * j + n].copy_from_slice(matrix.column(j));
        out.data_mut()[(n + 2) * j] -= shift;
    }
    out.data_mut()[(n + 2) * n] = n as f64 * shift;
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_is_in_the_order_of_the_paper() {
        let listed: Vec<String> = pool(3, &Features::degree(3, 1)).iter().map(|s| s.to_string()).collect();
        assert_eq!(listed, ["[0, 1]", "[0, 2]", "[1, 2]"]);
        assert!(pool(2, &Features::degree(2, 2)).is_empty());
    }
}
