//! The quantum relaxation a_eps(F) (paper, sections 3 and 4).
//!
//! `a_eps(F) = min_{Y in V_perp} eps log((1/n) tr exp((n/eps)(F - Y)))`: whatever Y an algorithm
//! stops at, the matrix `F' = F - Y` with its eigenpairs is a certificate.

mod bracket;
mod chambolle_pock;
mod class_rows;
mod diagonal;
mod general;
mod interior_point;
mod lifted;
mod moment_system;
mod moments;
mod normal_matrix;
mod path_newton;
mod soft_state;
mod stopping;
mod ties;

use super::{DualPoint, Relaxation, SpectralPoint};
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::{Error, Result};
use crate::linalg::Square;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
pub(crate) use bracket::Bracket;
pub(crate) use class_rows::Rows;
use diagonal::{Ahead, Diagonal};
use general::General;
use lifted::{Algorithm, Lifted, Point, Task};
pub(crate) use moment_system::fill_log_kernel;
use normal_matrix::moments_are_smaller;

/// The quantum relaxation with the problem's features.
///
/// ```
/// use zbound::relax::{Quantum, Relaxation};
/// use zbound::{Features, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.3, -0.2, 0.1], &[(0, 1, 0.5), (1, 2, -0.4)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let solution = Quantum::default().solve(&problem, &Settings::default())?;
/// let bound = solution.upper.expect("certified");
/// assert!(bound.phi() > 0.0 && solution.relaxation_gap.unwrap() < 1e-7);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Quantum {
    /// `F' = F - Y` of an earlier solution with the same features to start from (see
    /// [`Quantum::from_solution`]).
    start: Option<Square>,
}

/// Chambolle-Pock iterations when nothing else is asked for.
const CHAMBOLLE_POCK_ITERATIONS: usize = 100_000;
/// Outer iterations of second-order methods; they converge in tens.
const NEWTON_ITERATIONS: usize = 300;
/// Chambolle-Pock iterations spent when everything else stalls.
const FALLBACK_ITERATIONS: usize = 2_000;
/// Relative gap below which Chambolle-Pock would add nothing.
const CLOSE: f64 = 1e-5;

/// Operations of an eigendecomposition, in units of n^3.
pub(crate) const DECOMPOSITION: f64 = 9.0;
/// Operations between the last iteration and the certified bound, in units of n^3: the state at the final temperature,
/// perhaps completed, the moments one step ahead, and the two products of the certificate.
const ENDING: f64 = 2.0 * DECOMPOSITION + 9.0;

impl Quantum {
    /// A solve that starts from `F'`, a matrix of the problem's size.
    pub(crate) fn from_matrix(start: Square) -> Self {
        Quantum { start: Some(start) }
    }

    /// A solve that starts from the dual point of `solution`, on a nearby problem with the same
    /// features; solutions of other methods are ignored.
    #[must_use]
    pub fn from_solution(solution: &Solution) -> Self {
        let point = solution.point.as_ref().and_then(SpectralPoint::dual);
        Quantum { start: point.map(|point| point.matrix.clone()) }
    }
}

impl Relaxation for Quantum {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let solver = choose(problem, settings)?;
        check_memory(problem, settings)?;
        let default_iterations = match solver {
            Solver::ChambollePock => CHAMBOLLE_POCK_ITERATIONS,
            _ => NEWTON_ITERATIONS,
        };
        let mut monitor = Monitor::new(settings, default_iterations, observer);
        let cube = (problem.features().len() as f64).powi(3);
        monitor.reserve(ENDING * cube);
        if !monitor.deadline().may_begin(DECOMPOSITION * cube) {
            return Ok(Solution::new(Method::Quantum, StopReason::TimeLimit).finish(
                None,
                settings.tol,
                problem,
                monitor,
            ));
        }
        let lifted = Lifted::new(problem)?;
        let constant = lifted.constant;
        let mut algorithms = lifted.algorithms(solver).into_iter();
        let first = algorithms.next().unwrap_or(Algorithm::ChambollePock);
        // The other half of the tolerance is for the width of the certificate.
        let halved = settings.clone().with_tol((0.5 * settings.tol).max(1e-15));
        let task = Task { problem, settings: &halved, start: self.start.as_ref() };
        let mut point = lifted.run(first, &task, &mut monitor);
        for algorithm in algorithms.filter(|_| settings.solver == Solver::Auto) {
            let first_order = algorithm == Algorithm::ChambollePock;
            let is_close = point.gap() <= CLOSE * (constant + point.dual).abs().max(problem.eps());
            if !point.is_stuck() || first_order && is_close {
                break;
            }
            monitor.allow(if first_order { FALLBACK_ITERATIONS } else { NEWTON_ITERATIONS }, settings);
            let lifted = Lifted::new(problem)?;
            let task = Task { problem, settings: &halved, start: None };
            point = point.better(lifted.run(algorithm, &task, &mut monitor));
        }
        Ok(finish(problem, constant, point, solver, settings.tol, monitor))
    }
}

fn choose(problem: &Problem, settings: &Settings) -> Result<Solver> {
    let linear = problem.features().is_linear();
    match settings.solver {
        Solver::Auto if linear => Ok(Solver::Newton),
        Solver::Auto => Ok(Solver::InteriorPoint),
        Solver::Newton if !linear => Err(Error::Setting(
            "solver newton needs the features (1, x); use interior-point or chambolle-pock for others".into(),
        )),
        Solver::InteriorPoint if linear => Ok(Solver::Newton),
        Solver::MessagePassing => Err(Error::Setting(
            "solver message-passing belongs to trw; quantum has newton, interior-point and chambolle-pock"
                .into(),
        )),
        other => Ok(other),
    }
}

fn check_memory(problem: &Problem, settings: &Settings) -> Result<()> {
    let n = problem.features().len() as f64;
    let classes = if problem.features().is_linear() { 0.0 } else { n * (n + 1.0) / 2.0 };
    // (1, x): six n x n matrices. Otherwise the normal equations have at most N <= n(n+1)/2 unknowns
    // and n(n+1)/2 rows; N is rarely above a quarter of that.
    // The conversion saturates.
    let needed = (8.0 * (6.0 * n * n + 0.25 * classes * classes)) as u64;
    let what = format_args!("the quantum relaxation with {n} features");
    settings.require_memory(needed, what, "ask for fewer features")
}

/// Turns the point into a certificate and the certificate into the bound.
fn finish(
    problem: &Problem,
    constant: f64,
    point: Point,
    solver: Solver,
    tol: f64,
    monitor: Monitor<'_>,
) -> Solution {
    let mut solution = Solution::new(Method::Quantum, point.stop);
    solution.solver = Some(solver);
    solution.features = Some(problem.features().clone());
    solution.estimate = constant + point.dual;
    solution.means = Some(point.means);
    let edges = problem.polynomial().pairwise_part().edges().iter();
    solution.pairwise = Some(edges.zip(&point.pairs).map(|(&[i, j], &v)| (i, j, v)).collect());
    let dual = DualPoint { matrix: point.matrix.clone(), eigen: point.eigen.clone() };
    let form =
        Form::Spectral { features: problem.features().clone(), matrix: point.matrix, eigen: point.eigen };
    let certificate = Certificate {
        eps: problem.eps(),
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    };
    match certificate.verify(problem.polynomial()) {
        Ok(bound) => {
            solution.upper = Some(bound);
            solution.certificate = Some(certificate);
            solution.point = Some(SpectralPoint::Dual(dual));
        }
        Err(error) => solution.reason = Some(error.to_string()),
    }
    solution.finish(Some(constant + point.primal), tol, problem, monitor)
}
