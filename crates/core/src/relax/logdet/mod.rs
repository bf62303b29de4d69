//! The log-determinant relaxation: the entropy of the spins is at most that of a Gaussian.
//!
//! For a pairwise f with moments `Sigma = E z z^T`, z = (1, x),
//! ```text
//! Phi(f) <= max <F, Sigma> + (eps/2) log det(Sigma + diag(0, I)/3) + (eps d/2) log(pi e/2) - eps d log 2
//! ```
//! over unit-diagonal Sigma >= 0 that satisfy `1 + a mu_i + b mu_j + ab mu_ij >= 0` on chosen pairs.
//! The bound that is reported is the dual one, with multipliers of every constraint as its proof.

mod certificate;
mod cuts;
mod dense;
mod interior_point;
mod kronecker;
mod newton;
mod structured;

use crate::error::{Error, Result};
use crate::features::FeatureSpec;
use crate::linalg::Square;
use crate::model::Ising;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::relax::Relaxation;
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use cuts::Cuts;
use interior_point::{MAX_ITERATIONS, Outcome, Program};

/// The log-determinant relaxation of Jordan and Wainwright, with the pairwise constraints of
/// [`Settings::pairwise`].
///
/// Solved in units of eps by a feasible primal-dual interior-point method, so that a valid bound
/// exists after any number of iterations.
///
/// **Cost** some 10 to 20 iterations of O(n^3) each: about 100 products of n x n matrices, and as
/// many again for every few conjugate gradient steps when pairwise constraints are active.
///
/// ```
/// use zbound::{Features, Ising, Problem, Settings, relax::{LogDet, Relaxation}};
/// let model = Ising::new(3, &[0.0; 3], &[])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let solution = LogDet.solve(&problem, &Settings::default())?;
/// // A Gaussian of the same covariance has more entropy than three fair coins.
/// assert!((solution.estimate - 3.0 * 0.176485).abs() < 1e-5);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogDet;

/// Working memory per entry of an n x n matrix: some 120 matrices, cuts of all pairs included.
const BYTES_PER_ENTRY: u64 = 1000;

/// Operations before the first iteration, in units of n^3: an eigendecomposition and two determinants.
const START: f64 = 10.0;

/// Operations after the last, in units of n^3: two eigendecompositions, up to six determinants, and the four products of
/// the certificate.
const ENDING: f64 = 28.0;

impl Relaxation for LogDet {
    /// # Errors
    /// A model with terms of arity above two, a solver other than `Auto` and `InteriorPoint`, bad
    /// settings, or a model too large for the memory limit.
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let model = applicable(problem, settings)?;
        let mut monitor = Monitor::new(settings, MAX_ITERATIONS, observer);
        let cube = (model.d() as f64 + 1.0).powi(3);
        monitor.reserve(ENDING * cube);
        if !monitor.deadline().may_begin(START * cube) {
            let solution = Solution::new(Method::LogDet, StopReason::TimeLimit);
            return Ok(solution.finish(None, settings.tol, problem, monitor));
        }
        let program = in_units_of_eps(model, problem.eps(), settings);
        let outcome = interior_point::solve(&program, 0.5 * settings.tol, problem.eps(), &mut monitor);
        report(problem, settings, &program, outcome, monitor)
    }
}

fn applicable<'a>(problem: &'a Problem, settings: &Settings) -> Result<&'a Ising> {
    let Some(model) = problem.polynomial().as_ising() else {
        return Err(Error::NotApplicable(
            "logdet needs a pairwise model; this one has terms of three or more variables".into(),
        ));
    };
    if !matches!(settings.solver, Solver::Auto | Solver::InteriorPoint) {
        return Err(Error::Setting(format!(
            "solver {} is inapplicable to logdet; use auto or interior-point",
            settings.solver.name()
        )));
    }
    let n = model.d() as u64 + 1;
    let needed = BYTES_PER_ENTRY.saturating_mul(n.saturating_mul(n));
    let what = format_args!("logdet with d = {}", model.d());
    settings.require_memory(needed, what, "raise the memory limit or use trw")?;
    Ok(model)
}

/// Divides f by eps; the constant joins the offset.
fn in_units_of_eps(model: &Ising, eps: f64, settings: &Settings) -> Program {
    let (d, n) = (model.d(), model.d() + 1);
    let mut f = Square::zeros(n);
    let mut set = |i: usize, j: usize, v: f64| {
        f.data_mut()[i + n * j] = 0.5 * v / eps;
        f.data_mut()[j + n * i] = 0.5 * v / eps;
    };
    model.fields().iter().enumerate().for_each(|(i, &h)| set(0, i + 1, h));
    model.triples().for_each(|(i, j, v)| set(i + 1, j + 1, v));
    let entropy = 0.5 * (std::f64::consts::PI * std::f64::consts::E / 2.0).ln() - std::f64::consts::LN_2;
    let offset = model.constant() / eps + d as f64 * entropy;
    Program { f, cuts: Cuts::new(model, settings.pairwise), offset }
}

/// Turns the best bracket into a solution whose upper bound is the verified certificate's.
fn report(
    problem: &Problem,
    settings: &Settings,
    program: &Program,
    outcome: Outcome,
    mut monitor: Monitor<'_>,
) -> Result<Solution> {
    let (eps, model) = (problem.eps(), problem.polynomial().pairwise_part());
    let features = FeatureSpec::Degree(1).resolve(problem.polynomial())?;
    let mut solution = Solution::new(Method::LogDet, outcome.stop);
    solution.solver = Some(Solver::InteriorPoint);
    solution.estimate = eps * 0.5 * (outcome.upper + outcome.lower);
    let allowance = 0.01 * settings.tol * outcome.upper.abs().max(1.0);
    let dual = certificate::prune(program, outcome.dual, outcome.upper + allowance);
    let dual = certificate::certificate(program, &dual, &features, model.constant(), eps);
    let proof = dual.and_then(|c| c.verify(problem.polynomial()).ok().map(|bound| (c, bound)));
    let (certificate, bound) = match proof {
        Some(proof) => proof,
        // Values beyond floating point: what is left is that f is at most its l1 norm.
        None => {
            solution.stop = StopReason::NumericalTrouble;
            solution.reason = Some("the dual point could not be certified; the bound is trivial".into());
            let trivial = certificate::trivial(model.constant(), eps);
            let bound = trivial.verify(problem.polynomial())?;
            (trivial, bound)
        }
    };
    solution.upper = Some(bound);
    solution.certificate = Some(certificate);
    let sigma = &outcome.sigma;
    let moment = |&[i, j]: &[u32; 2]| (i, j, sigma.at(i as usize + 1, j as usize + 1));
    solution.means = Some((1..=model.d()).map(|i| sigma.at(i, 0)).collect());
    solution.pairwise = Some(model.edges().iter().map(moment).collect());
    solution.features = Some(features);
    monitor.eigendecompositions += 2;
    Ok(solution.finish(Some(eps * outcome.lower), settings.tol, problem, monitor))
}
