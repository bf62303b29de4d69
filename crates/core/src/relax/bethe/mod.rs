//! The Bethe bound: on balanced pairwise models every locally consistent point is a proof.
//!
//! If a change of signs makes every coupling at least zero, then for all means and pair correlations with
//! `1 + a m_i + b m_j + ab c_ij >= 0` (Ruozzi 2012)
//! `eps log Z >= E f + eps (sum_i (1 - deg_i) H_i + sum_ij H_ij)`. Forests are balanced, and the bound is exact there.

mod balance;
mod maximise;
mod parts;
mod point;
mod propagation;

use self::balance::balance;
use self::maximise::{Starts, maximise};
use self::point::best_correlation;
use super::Relaxation;
use crate::certify::{Certificate, Slack, Witness};
use crate::error::{Error, Result};
use crate::model::{Ising, Polynomial};
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Method, Settings};
use crate::solution::{Solution, StopReason};

/// Whether a change of signs makes every coupling at least zero.
pub(crate) fn is_balanced(f: &Ising) -> bool {
    balance(f).is_ok()
}

/// The certified lower bound of the Bethe free energy, for balanced pairwise models.
///
/// Belief propagation from both saturated states, from the fields, from the best assignment that a search finds and
/// from random signs; for given means the best correlations have a closed form, and the best point of all is kept.
/// A point knows one mode only: on models of moderate size the bound is also taken on disjoint parts of the cube, in which
/// the most strongly coupled spins are fixed, and summed. Features and solver are ignored.
///
/// **Cost** O(d + m) per sweep.
///
/// **Errors** [`Error::NotApplicable`] when the model is not pairwise or not balanced; bad settings.
///
/// ```
/// use zbound::relax::{Bethe, Relaxation};
/// use zbound::{Features, Ising, Problem, Settings};
/// // A chain has no cycle: balanced, and exact.
/// let model = Ising::new(3, &[0.1, 0.0, -0.2], &[(0, 1, 0.5), (1, 2, -1.0)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// assert!(Bethe.solve(&problem, &Settings::default())?.lower.is_some());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Bethe;

impl Relaxation for Bethe {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let (f, eps) = (problem.polynomial(), problem.eps());
        let Some(ising) = f.as_ising() else {
            return Err(Error::NotApplicable("the model is not pairwise".into()));
        };
        let flips = balance(ising).map_err(|[i, j]| {
            Error::NotApplicable(format!(
                "the model is not balanced: the coupling of spins {i} and {j} closes a frustrated cycle"
            ))
        })?;
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let maximum = maximise(&ising.flip(&flips)?, eps, Starts::All, settings, &mut monitor);
        let log_two = std::f64::consts::LN_2;
        let mut solution = Solution::new(Method::Bethe, maximum.stop);
        solution.estimate = ising.constant() + eps * (maximum.point.value - f.d() as f64 * log_two);
        let whole = witness(ising, eps, &maximum.point.means, &flips);
        solution.means = Some(signed(&maximum.point.means, &flips));
        let split = parts::split(f, eps, &flips, solution.estimate, settings, &mut monitor);
        let mut tried = vec![whole];
        if let Some(split) = split {
            solution.estimate = split.estimate;
            solution.means = Some(split.means);
            tried.insert(0, split.witness);
        }
        certify(&mut solution, f, eps, tried);
        Ok(solution.finish(None, settings.tol, problem, monitor))
    }
}

/// Keeps the first witness that can be certified.
fn certify(solution: &mut Solution, f: &Polynomial, eps: f64, witnesses: Vec<Witness>) {
    for witness in witnesses {
        let certificate =
            Certificate { eps, slack: Slack::default(), components: Vec::new(), witness: Some(witness) };
        match certificate.verify_lower(f) {
            Ok(bound) => {
                solution.lower = Some(bound);
                solution.certificate = Some(certificate);
                solution.reason = None;
                return;
            }
            Err(error) => solution.reason = Some(format!("the bound could not be certified: {error}")),
        }
    }
    solution.stop = StopReason::NumericalTrouble;
}

/// Means of the flipped model as means of the model.
fn signed(means: &[f64], flips: &[i8]) -> Vec<f64> {
    means.iter().zip(flips).map(|(m, s)| m * f64::from(*s)).collect()
}

/// The point in the spins of the model: means of the flipped model with the best correlations.
fn witness(ising: &Ising, eps: f64, means: &[f64], flips: &[i8]) -> Witness {
    let coupled = || ising.triples().filter(|t| t.2 != 0.0);
    let correlation = |(i, j, v): (usize, usize, f64)| {
        let sign = f64::from(flips[i] * flips[j]);
        sign * best_correlation(sign * v / eps, means[i], means[j])
    };
    Witness::Bethe {
        means: signed(means, flips),
        edges: coupled().map(|(i, j, _)| [i as u32, j as u32]).collect(),
        correlations: coupled().map(correlation).collect(),
        flips: flips.to_vec(),
    }
}
