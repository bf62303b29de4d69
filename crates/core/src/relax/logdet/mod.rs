//! The log-determinant relaxation: the entropy of the spins is at most that of a Gaussian.
//!
//! For a pairwise f with moments `Sigma = E z z^T`, z = (1, x),
//! ```text
//! Phi(f) <= max <F, Sigma> + (eps/2) log det(Sigma + diag(0, I)/3) + (eps d/2) log(pi e/2) - eps d log 2
//! ```
//! over unit-diagonal Sigma >= 0 that satisfy `1 + a mu_i + b mu_j + ab mu_ij >= 0` on chosen pairs.
//! The bound that is reported is the dual one, with multipliers of every constraint as its proof.

mod cuts;
mod dense;
mod interior_point;
mod kronecker;
mod matrix;
mod newton;
mod scaling;
mod structured;

use crate::certify::{Certificate, Component, Cut, Form, Slack, SumOfSquares};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::model::Ising;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::relax::Relaxation;
use crate::settings::{Method, Settings, Solver};
use crate::solution::Solution;
use crate::spectral::{Eigen, EigenWork, Square, eigh};
use cuts::{Cuts, SIGNS};
use interior_point::{MAX_ITERATIONS, Outcome, Program};

/// The log-determinant relaxation of Jordan and Wainwright, with the pairwise constraints of
/// [`Settings::pairwise`].
///
/// Solved in units of eps by a feasible primal-dual interior-point method, so that a valid bound
/// exists after any number of iterations.
///
/// **Cost** per iteration: a factorisation over the `n (n - 1) / 2` moments.
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
        let program = in_units_of_eps(model, problem.eps(), settings);
        let outcome = interior_point::solve(&program, 0.5 * settings.tol, problem.eps(), &mut monitor);
        report(problem, model, &program, outcome, &mut monitor)
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

fn report(
    problem: &Problem,
    model: &Ising,
    program: &Program,
    outcome: Outcome,
    monitor: &mut Monitor<'_>,
) -> Result<Solution> {
    let eps = problem.eps();
    let mut solution = Solution::new(Method::LogDet, outcome.stop);
    solution.solver = Some(Solver::InteriorPoint);
    solution.estimate = eps * 0.5 * (outcome.upper + outcome.lower);
    solution.relaxation_gap = Some(eps * (outcome.upper - outcome.lower));
    solution.features = Some(Features::degree(model.d(), 1));
    let sigma = &outcome.sigma;
    let d = model.d();
    solution.means = Some((0..d).map(|i| sigma.at(i + 1, 0)).collect());
    let moment = |&[i, j]: &[u32; 2]| (i, j, sigma.at(i as usize + 1, j as usize + 1));
    solution.pairwise = Some(model.edges().iter().map(moment).collect());
    let certificate = certificate(model, program, &outcome, eps, monitor);
    solution.certificate = certificate;
    solution.iterations = monitor.iterations;
    solution.eigendecompositions = monitor.eigendecompositions;
    solution.trace = std::mem::take(&mut monitor.trace);
    solution.seconds = monitor.seconds();
    Ok(solution)
}

/// The dual point as a proof: `f + cuts + z^T S z = z^T F' z` and `diag(lambda) - F' > 0`.
fn certificate(
    model: &Ising,
    program: &Program,
    outcome: &Outcome,
    eps: f64,
    monitor: &mut Monitor<'_>,
) -> Option<Certificate> {
    let n = model.d() + 1;
    let point = &outcome.dual;
    let scaled = |a: &Square| Square::from_column_major(n, a.data().iter().map(|v| eps * v).collect());
    let (s, m) = (scaled(&point.s), scaled(&point.m));
    let multipliers: f64 = point.nu.iter().flatten().map(|v| eps * v).sum();
    let corner = model.constant() + multipliers + s.diagonal().sum::<f64>();
    let mut lambda: Vec<f64> = m.diagonal().collect();
    lambda[0] += corner;
    let mut matrix = m.clone();
    matrix.data_mut().iter_mut().for_each(|v| *v = -*v);
    matrix.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = 0.0);
    matrix.data_mut()[0] = corner;
    let mut work = EigenWork::default();
    let mut decompose = |a: &Square| {
        let mut eigen = Eigen::default();
        monitor.eigendecompositions += 1;
        eigh(a, &mut eigen, &mut work).then_some(eigen)
    };
    let square = SumOfSquares {
        features: Features::degree(model.d(), 1),
        eigen: decompose(&s)?,
        matrix: s,
    };
    let form = Form::LogDet { lambda, matrix, eigen: decompose(&m)? };
    let cuts = program.cuts.pairs.iter().zip(&point.nu).flat_map(|(&[i, j], nu)| {
        let cut = move |(k, &v): (usize, &f64)| {
            let [a, b] = SIGNS[k];
            Cut { multiplier: eps * v, cycle: vec![0, i, j], signs: vec![a, a * b, b] }
        };
        nu.iter().enumerate().filter(|(_, v)| **v > 0.0).map(cut).collect::<Vec<_>>()
    });
    Some(Certificate {
        eps,
        slack: Slack { cuts: cuts.collect(), squares: vec![square] },
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    })
}
