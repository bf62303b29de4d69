//! The quantum relaxation with a learned diagonal metric (paper, appendix C).
//!
//! `a^diag = sup_Sigma tr Sigma F - eps max_i [h(Sigma)]_ii`, `h(t) = t log t - t + 1`. With t for the maximum this is smooth and convex; a
//! barrier for `t > [h(Sigma)]_ii` and `Sigma > 0` and Newton's method on the moments solve it, and the barrier's multipliers are
//! the weights eta of the metric. Whatever point it stops at, the tangent there is a certificate.

mod barrier;
mod derivatives;
mod moments;
mod path;
mod proof;

use super::{Quantum, Relaxation, SpectralPoint};
use crate::error::{Error, Result};
use crate::model::VarSet;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use moments::Moments;
use path::{Outcome, follow_path};
use proof::{Proof, certificate, polished, prove};

/// The quantum relaxation whose metric `V = diag(eta)` is optimised: never above [`Quantum`].
///
/// ```
/// use zbound::relax::{Quantum, QuantumDiag, Relaxation};
/// use zbound::{Features, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.9, -0.2, 0.1], &[(0, 1, 0.5), (1, 2, -0.4)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let settings = Settings::default();
/// let learned = QuantumDiag.solve(&problem, &settings)?.upper.expect("certified");
/// let plain = Quantum::default().solve(&problem, &settings)?.upper.expect("certified");
/// assert!(learned.phi() <= plain.phi() + 1e-7);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantumDiag;

/// Newton steps over all barrier parameters.
const ITERATIONS: usize = 1000;
/// Features from which on the plain bound is found first, as an answer when time runs out.
const LONG: usize = 20;

impl Relaxation for QuantumDiag {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        check(problem, settings)?;
        let mut monitor = Monitor::new(settings, ITERATIONS, observer);
        let moments = Moments::new(problem)?;
        let mut plain = match problem.features().len() {
            n if n >= LONG && monitor.interrupted().is_none() => {
                Some(without_metric(problem, settings, &mut monitor)?)
            }
            _ => None,
        };
        let outcome = follow_path(problem, &moments, settings.tol, &mut monitor);
        let mut solution = finish(problem, &moments, outcome, settings, &mut monitor);
        if solution.stop != StopReason::Converged {
            if plain.is_none() && monitor.interrupted().is_none() {
                plain = Some(without_metric(problem, settings, &mut monitor)?);
            }
            if let Some(plain) = plain {
                replace_if_better(&mut solution, plain);
            }
        }
        Ok(solution.finish(None, settings.tol, problem, monitor))
    }
}

fn check(problem: &Problem, settings: &Settings) -> Result<()> {
    if settings.solver != Solver::Auto && settings.solver != Solver::InteriorPoint {
        return Err(Error::Setting(format!(
            "solver {} does not apply to quantum-diag; it has interior-point",
            settings.solver.name()
        )));
    }
    let n = problem.features().len() as f64;
    // The Hessian over at most n(n+1)/2 moments, twice, and n^3 divided differences; the conversion saturates.
    let needed = (8.0 * (2.0 * (n * (n + 1.0) / 2.0).powi(2) + 2.0 * n.powi(3))) as u64;
    settings.require_memory(
        needed,
        format_args!("metric learning with {n} features"),
        "ask for fewer features",
    )
}

/// The tangent at the last point as a certificate.
fn finish(
    problem: &Problem,
    moments: &Moments,
    outcome: Outcome,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Solution {
    let (eps, tol) = (problem.eps(), settings.tol);
    let primal = moments.constant + eps * outcome.barrier.primal(moments);
    let mut solution = Solution::new(Method::QuantumDiag, outcome.stop);
    solution.solver = Some(Solver::InteriorPoint);
    solution.features = Some(problem.features().clone());
    solution.means =
        Some((0..problem.d()).map(|i| outcome.barrier.moment(moments, &VarSet::singleton(i))).collect());
    let edges = problem.polynomial().pairwise_part().edges().iter();
    let pair =
        |&[i, j]: &[u32; 2]| (i, j, outcome.barrier.moment(moments, &VarSet::pair(i as usize, j as usize)));
    solution.pairwise = Some(edges.map(pair).collect());
    let mut proved = prove(problem, certificate(problem, moments, &outcome));
    let is_met = |bound: f64| bound - primal <= tol * bound.abs().max(eps);
    let is_open = !proved.as_ref().is_ok_and(|p| is_met(p.1.phi()));
    if is_open && outcome.stop == StopReason::Converged {
        let second = prove(problem, polished(problem, &outcome.barrier, primal, settings, monitor));
        let value = |p: &Result<Proof>| p.as_ref().map_or(f64::INFINITY, |p| p.1.phi());
        if value(&second) < value(&proved) {
            proved = second;
        }
    }
    match proved {
        Ok((certificate, bound)) => {
            solution.estimate = bound.phi();
            solution.relaxation_gap = Some((bound.phi() - primal).max(0.0)).filter(|g| g.is_finite());
            solution.upper = Some(bound);
            solution.certificate = Some(certificate);
            solution.point = Some(SpectralPoint::Moments(outcome.barrier.eigen));
            // Whether the plain bound is asked for depends on it.
            solution.settle(tol, eps);
        }
        Err(error) => {
            solution.estimate = primal;
            solution.reason = Some(error.to_string());
        }
    }
    solution
}

/// The plain quantum bound, which is never below this one's optimum and a thousand times cheaper.
fn without_metric(problem: &Problem, settings: &Settings, monitor: &mut Monitor<'_>) -> Result<Solution> {
    let inner = quantum_settings(settings, monitor);
    let plain = Quantum::default().solve_with(problem, &inner, &mut monitor.relay())?;
    monitor.eigendecompositions += plain.eigendecompositions;
    Ok(plain)
}

/// Settings of a quantum relaxation inside this one: all limits are those of the whole.
fn quantum_settings(settings: &Settings, monitor: &Monitor<'_>) -> Settings {
    Settings { solver: Solver::Auto, trace: false, ..settings.for_part(monitor.deadline(), None) }
}

/// Takes the plain bound when it is the better of what could be reached.
fn replace_if_better(solution: &mut Solution, plain: Solution) {
    let value = |s: &Solution| s.upper.map_or(f64::INFINITY, |b| b.phi());
    if value(&plain) < value(solution) {
        let primal = value(solution) - solution.relaxation_gap.unwrap_or(f64::INFINITY);
        solution.relaxation_gap = Some(value(&plain) - primal).filter(|g| g.is_finite());
        solution.upper = plain.upper;
        solution.certificate = plain.certificate;
        solution.point = plain.point;
        solution.estimate = plain.estimate;
        solution.means = plain.means;
        solution.pairwise = plain.pairwise;
        let limits = [StopReason::TimeLimit, StopReason::Cancelled, StopReason::MaxIterations];
        let what = if limits.contains(&solution.stop) { "did not end" } else { "stalled" };
        solution.reason = Some(format!("metric learning {what}: this is the bound without it"));
    }
}
