//! The tree-reweighted bound (Wainwright, Jaakkola, Willsky 2005), by Newton's method.
//!
//! For forests T with weights `w_T` and parameters with `sum_T w_T theta_T = theta`, convexity gives
//! `Phi(theta) <= sum_T w_T Phi(theta_T)`, each term exact by sum-product. The best parameters
//! depend on the forests only through the edge probabilities rho; they are found by Newton's
//! method on messages ([`newton`]) and written out for every forest, which is the certificate.

mod edge;
mod message_passing;
mod newton;
mod point;
mod quadratic;
mod report;
mod resistance;
mod rho;
mod simplex_qp;
mod solve;
pub(crate) mod spanning;
pub(crate) mod trees;
mod wilson;

use self::report::{constant_bound, report};
use self::trees::{Mixture, Scaled};
use super::Relaxation;
use crate::error::{Error, Result};
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Rho, Settings, Solver};
use crate::solution::Solution;

/// The tree-reweighted upper bound on a pairwise model; exact on forests.
///
/// `min over theta_T of sum_T w_T Phi(theta_T)`, with the edge probabilities of
/// [`Settings::rho`](crate::Settings): the default optimises them too, except under message passing,
/// which takes the uniform ones and gives an estimate without a bound unless it converges. Features are
/// ignored.
///
/// **Cost** for fixed probabilities about ten Newton steps, each O(m) plus one sparse factorisation
/// on the graph; optimised probabilities repeat that a few tens of times and add
/// a quadratic program over up to 1200 forests.
///
/// **Errors** `NotApplicable` for terms of arity three or more; `Setting` for a solver other than
/// `Auto` and `MessagePassing`.
///
/// ```
/// use zbound::relax::{Relaxation, Trw};
/// use zbound::{Features, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.1, 0.0, -0.2], &[(0, 1, 0.5), (1, 2, -1.0), (0, 2, 0.3)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let solution = Trw.solve(&problem, &Settings::default())?;
/// assert!(solution.relaxation_gap.unwrap() < 1e-7);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Trw;

impl Relaxation for Trw {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let ising = problem.polynomial().as_ising().ok_or_else(|| {
            Error::NotApplicable(
                "trw needs a pairwise model; this one has a term of arity three or more".into(),
            )
        })?;
        if !matches!(settings.solver, Solver::Auto | Solver::MessagePassing) {
            return Err(Error::Setting(format!(
                "solver {} is inapplicable to trw: expected auto or message-passing",
                settings.solver.name()
            )));
        }
        let passing = settings.solver == Solver::MessagePassing;
        let optimise = settings.rho == Rho::Optimized && !passing;
        let Some(model) = Scaled::new(ising, problem.eps(), !optimise) else {
            return constant_bound(problem);
        };
        let mut monitor = Monitor::new(settings, default_iterations(passing), observer);
        let eps = problem.eps();
        // Message passing works at fixed probabilities.
        let rho = if optimise || settings.rho != Rho::Optimized { settings.rho } else { Rho::Uniform };
        let (mixture, note) = Mixture::start(&model, rho, &mut || monitor.interrupted().is_some());
        let is_limited = monitor.deadline().is_limited();
        let forest_secs = if is_limited { mixture.forest_proof_seconds(&model, eps) } else { 0.0 };
        let (constant, tol) = (ising.constant() / eps, settings.tol);
        let job = Job { model: &model, constant, eps, tol, forest_secs };
        job.reserve(&mixture, &mut monitor);
        let mut outcome = match (passing, optimise) {
            (true, _) => solve::pass(&job, mixture, &mut monitor),
            (false, false) => solve::solve_fixed(&job, mixture, &mut monitor),
            (false, true) => solve::solve_optimised(&job, mixture, &mut monitor),
        };
        outcome.reason = match (outcome.reason, note) {
            (Some(reason), Some(note)) => Some(format!("{reason}; {note}")),
            (reason, note) => reason.or(note),
        };
        report(problem, &job, outcome, monitor)
    }
}

/// What every stage of a solve needs; values of the model and the constant are divided by eps.
struct Job<'a> {
    model: &'a Scaled,
    constant: f64,
    eps: f64,
    tol: f64,
    /// Seconds that the proof of a forest takes, under a time limit.
    forest_secs: f64,
}

impl Job<'_> {
    /// Keeps time for the proof of a mixture.
    fn reserve(&self, mixture: &Mixture, monitor: &mut Monitor<'_>) {
        if self.forest_secs > 0.0 {
            monitor.reserve_seconds(self.forest_secs * mixture.forests.len() as f64);
        }
    }

    /// The gap at which a bound of `upper` (without the constant) counts as converged.
    fn allowed_gap(&self, upper: f64) -> f64 {
        // A tenth of the tolerance is for the width of the certificate.
        0.9 * self.tol * (self.constant + upper).abs().max(1.0)
    }
}

/// Sweeps of message passing, Newton steps otherwise.
fn default_iterations(passing: bool) -> usize {
    if passing { message_passing::MAX_SWEEPS } else { 10_000 }
}
