//! The quantum relaxation with a learned diagonal metric (paper, appendix C).
//!
//! `a^diag = sup_Sigma tr Sigma F - eps max_i [h(Sigma)]_ii`, `h(t) = t log t - t + 1`. With t for the maximum this is smooth and convex; a
//! barrier for `t > [h(Sigma)]_ii` and `Sigma > 0` and Newton's method on the moments solve it, and the barrier's multipliers are
//! the weights eta of the metric. Whatever point it stops at, the tangent there is a certificate.

mod barrier;
mod derivatives;

use super::{Quantum, Relaxation};
use crate::certify::{Certificate, CertifiedBound, Component, Form, QuantumPoint, Slack};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use crate::model::{Polynomial, VarSet};
use crate::observer::{Monitor, Observer};
use crate::problem::{EPS_RANGE, Problem};
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use barrier::{Barrier, Moments};
use derivatives::gradient;

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
/// The barrier parameter is multiplied by this from stage to stage.
const SHRINK: f64 = 0.2;
/// Newton steps per stage.
const PER_STAGE: usize = 20;
/// Squared Newton decrement, relative to mu, at which a stage ends.
const CENTRED: f64 = 1e-3;
/// Barrier parameter, relative to the value, from which on multipliers are variables of their own.
const NEAR: f64 = 1e-4;
/// Features from which on the plain bound is found first, as an answer when time runs out.
const LONG: usize = 20;
/// Eigenvalues of Sigma, next to an average of 1, that carry few correct digits.
const NOISE: f64 = 1e-10;

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

/// Where the path ended, in units of eps.
struct Outcome {
    barrier: Barrier,
    mu: f64,
    stop: StopReason,
}

/// Minimises along decreasing barrier parameters until the proved gap, some `2 n mu`, is small.
fn follow_path(problem: &Problem, moments: &Moments, tol: f64, monitor: &mut Monitor<'_>) -> Outcome {
    let (n, eps) = (moments.n() as f64, problem.eps());
    let constant = moments.constant / eps;
    let mut barrier = Barrier::start(moments);
    let mut mu = moments.scale().max(1.0) / n;
    loop {
        let size = (constant + barrier.primal(moments)).abs().max(1.0);
        // Below that the smallest eigenvalues are rounding, and further stages would follow it.
        let is_noise = barrier.eigen.values[0] < NOISE;
        let is_last = 2.0 * n * mu <= 0.4 * tol * size || is_noise;
        let is_near = mu <= NEAR * size;
        for _ in 0..PER_STAGE {
            let primal = eps * (constant + barrier.primal(moments));
            if let Some(stop) = monitor.iteration(primal, primal + eps * 2.0 * n * mu) {
                return Outcome { barrier, mu, stop };
            }
            let mut interruption = None;
            let mut stop = || {
                interruption = interruption.or_else(|| monitor.interrupted());
                interruption.is_some()
            };
            if is_near {
                let moved = barrier.refine(moments, mu, &mut stop);
                monitor.eigendecompositions += 1;
                if let Some(stop) = interruption {
                    return Outcome { barrier, mu, stop };
                }
                // The proof pays n times for what is left of the gradient.
                if !moved || barrier.residual(moments, mu) <= 0.05 * mu {
                    break;
                }
                continue;
            }
            let progress = barrier.newton(moments, mu, &mut stop);
            monitor.eigendecompositions += progress.evaluations;
            if let Some(stop) = interruption {
                return Outcome { barrier, mu, stop };
            }
            if progress.is_stuck && progress.decrement > CENTRED {
                return Outcome { barrier, mu, stop: StopReason::Stalled };
            }
            if progress.is_stuck || progress.decrement <= CENTRED {
                break;
            }
        }
        if is_last {
            return Outcome { barrier, mu, stop: StopReason::Converged };
        }
        mu *= SHRINK;
    }
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

/// A certificate and what it proves.
type Proof = (Certificate, CertifiedBound);

fn prove(problem: &Problem, certificate: Result<Certificate>) -> Result<Proof> {
    let certificate = certificate?;
    let bound = certificate.verify(problem.polynomial())?;
    Ok((certificate, bound))
}

/// As [`certificate`] with the best Y for the linear function `F - eps N`, found by the quantum relaxation near zero
/// temperature: at low temperature `mu Sigma^-1` is mostly rounding, and this does without it.
fn polished(
    problem: &Problem,
    barrier: &Barrier,
    primal: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Certificate> {
    let (eps, features, tol) = (problem.eps(), problem.features(), settings.tol);
    let total: f64 = barrier.eta.iter().sum();
    let eta: Vec<f64> = barrier.eta.iter().map(|w| w / total).collect();
    let classes = features.classes();
    let slope = classes.sums(gradient(&barrier.eigen, &eta).data());
    let removed = classes.sets().iter().zip(&slope).map(|(set, v)| (set.clone(), -eps * v));
    let linear = problem.polynomial().coefficients().chain(removed);
    let f = Polynomial::from_coefficients(problem.d(), linear)?;
    let cost = (features.len() as f64).ln().max(1.0);
    let near_zero = (0.2 * tol * primal.abs().max(eps) / cost).clamp(*EPS_RANGE.start(), *EPS_RANGE.end());
    let flat = Problem::new(f, features.clone())?.with_temperature(near_zero)?;
    let inner = quantum_settings(settings, monitor).with_tol(tol.clamp(1e-12, 1e-3));
    let solution = Quantum::default().solve_with(&flat, &inner, &mut monitor.relay())?;
    let Some(QuantumPoint { matrix, eigen }) = solution.certificate.and_then(Certificate::into_quantum_point)
    else {
        return Err(Error::Certificate("the tangent could not be bounded".into()));
    };
    let form = Form::Tangent { features: features.clone(), eta, point: barrier.eigen.clone(), matrix, eigen };
    Ok(Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    })
}

/// `K = F - eps N - Y` with the Y in V_perp that leaves `c I - mu Sigma^-1`, the stationarity of the barrier.
fn certificate(problem: &Problem, moments: &Moments, outcome: &Outcome) -> Result<Certificate> {
    let eps = problem.eps();
    let barrier = &outcome.barrier;
    let total: f64 = barrier.eta.iter().sum();
    let eta: Vec<f64> = barrier.eta.iter().map(|w| w / total).collect();
    let n = eta.len();
    let mut matrix = moments.matrix();
    let slope = gradient(&barrier.eigen, &eta);
    matrix.data_mut().iter_mut().zip(slope.data()).for_each(|(f, g)| *f -= g);
    let inverse = barrier.inverse();
    let mut stationary = matrix;
    stationary.data_mut().iter_mut().zip(inverse.data()).for_each(|(k, i)| *k += outcome.mu * i);
    moments.classes.project(stationary.data_mut());
    for (k, i) in stationary.data_mut().iter_mut().zip(inverse.data()) {
        *k = eps * (*k - outcome.mu * i);
    }
    // The constant of f joins the diagonal.
    stationary.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v += moments.constant / n as f64);
    stationary.symmetrize();
    let mut eigen = Eigen::default();
    if !eigh(&stationary, &mut eigen, &mut EigenWork::default()) {
        return Err(Error::Certificate("the eigensolver failed".into()));
    }
    let form = Form::Tangent {
        features: problem.features().clone(),
        eta,
        point: barrier.eigen.clone(),
        matrix: stationary,
        eigen,
    };
    Ok(Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    })
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
        solution.estimate = plain.estimate;
        solution.means = plain.means;
        solution.pairwise = plain.pairwise;
        let limits = [StopReason::TimeLimit, StopReason::Cancelled, StopReason::MaxIterations];
        let what = if limits.contains(&solution.stop) { "did not end" } else { "stalled" };
        solution.reason = Some(format!("metric learning {what}: this is the bound without it"));
    }
}

/// Sigma from its moments by class.
fn assemble(moments: &Moments, values: &[f64]) -> Square {
    let mut sigma = Square::zeros(moments.n());
    moments.classes.fill(values, sigma.data_mut());
    sigma
}
