//! From the state of a solver to a solution with a proof.

use super::Job;
use super::point::Point;
use super::trees::{Messages, Mixture};
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::Result;
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::settings::{Method, Solver};
use crate::solution::{Solution, StopReason};

/// What a solver holds when it stops.
pub(super) struct Outcome {
    pub(super) stop: StopReason,
    pub(super) solver: Solver,
    pub(super) mixture: Mixture,
    /// The best dual point.
    pub(super) messages: Messages,
    /// The best primal point.
    pub(super) point: Point,
    /// Its value in the relaxation at hand, divided by eps.
    pub(super) lower: f64,
    pub(super) reason: Option<String>,
    /// Whether the answer is the bound of its messages: message passing that did not settle gives
    /// only an estimate.
    pub(super) settled: bool,
}

/// Certifies and packs an outcome.
pub(super) fn report(
    problem: &Problem,
    job: &Job<'_>,
    outcome: Outcome,
    monitor: Monitor<'_>,
) -> Result<Solution> {
    let (model, eps) = (job.model, problem.eps());
    let f = problem.polynomial();
    let constant = f.pairwise_part().constant();
    let Outcome { stop, solver, mixture, messages, point, lower, reason, settled } = outcome;
    let mut solution = Solution::new(Method::Trw, stop);
    let value = mixture.value(model, &messages);
    solution.solver = Some(solver);
    solution.reason = reason;
    solution.estimate = constant + eps * value;
    solution.means = Some(point.odds.iter().map(|u| u.tanh()).collect());
    solution.pairwise = Some(pair_moments(problem, job, &point));
    let mut primal = None;
    if settled {
        let proof = mixture.certificate(model, &messages, constant, eps);
        match proof.and_then(|proof| Ok((proof.verify(f)?, proof))) {
            Ok((upper, proof)) => {
                primal = Some(constant + eps * lower);
                solution.upper = Some(upper);
                solution.certificate = Some(proof);
                solution.forests = Some(mixture.edges(model));
            }
            Err(error) => {
                solution.stop = StopReason::NumericalTrouble;
                solution.reason = Some(format!("the bound could not be certified: {error}"));
            }
        }
    }
    Ok(solution.finish(primal, job.tol, problem, monitor))
}

/// `E x_i x_j` on the model's edges; spins joined by no coupling are independent given their means.
fn pair_moments(problem: &Problem, job: &Job<'_>, point: &Point) -> Vec<(u32, u32, f64)> {
    let mut moments: Vec<(u32, u32, f64)> = problem
        .polynomial()
        .pairwise_part()
        .edges()
        .iter()
        .map(|&[i, j]| (i, j, point.odds[i as usize].tanh() * point.odds[j as usize].tanh()))
        .collect();
    for (&name, edge) in job.model.edge_names.iter().zip(&point.edges) {
        moments[name as usize].2 = edge.moment;
    }
    moments
}

/// `Phi(f) <= max f <= c + sum |theta|`, when `f / eps` leaves the range of floating point.
pub(super) fn constant_bound(problem: &Problem) -> Result<Solution> {
    let f = problem.polynomial();
    let value = f.pairwise_part().constant() + f.l1_norm();
    let mut solution = Solution::new(Method::Trw, StopReason::NumericalTrouble);
    solution.reason =
        Some("f / eps exceeds the range of floating point; the bound is max f <= sum |theta|".into());
    solution.estimate = value;
    let components = vec![Component { weight: 1.0, form: Form::Constant { value: value.next_up() } }];
    let proof = Certificate { eps: problem.eps(), slack: Slack::default(), components, witness: None };
    solution.upper = proof.verify(f).ok();
    solution.certificate = Some(proof);
    Ok(solution)
}
