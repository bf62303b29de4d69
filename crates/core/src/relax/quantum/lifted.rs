//! The relaxation as a problem in matrices, and the algorithms that solve it.

use super::moments::{linear_moments, named_moments, state_moments};
use super::path_newton::{self, Pace};
use super::{Diagonal, General, chambolle_pock, interior_point, moments_are_smaller};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::features::Classes;
use crate::linalg::{Eigen, EigenWork, Gibbs, Square, eigh};
use crate::observer::Monitor;
use crate::problem::Problem;
use crate::settings::{Settings, Solver};
use crate::solution::StopReason;
use std::sync::Arc;

/// A way to minimise the dual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Newton's method in V_perp along the temperature, at the given pace.
    Newton(Pace),
    /// Newton's method in the moments along a barrier.
    InteriorPoint,
    /// Algorithm 1 of the paper.
    ChambollePock,
}

/// What every algorithm is given.
pub(super) struct Task<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a Settings,
    /// `F'` of an earlier solution.
    pub(super) start: Option<&'a Square>,
}

/// Where an algorithm stopped.
pub(super) struct Point {
    /// `F' = F - Y`.
    pub(super) matrix: Square,
    /// Its eigenpairs.
    pub(super) eigen: Eigen,
    /// Dual value in plain floating point, without the constant of f.
    pub(super) dual: f64,
    pub(super) primal: f64,
    pub(super) means: Vec<f64>,
    pub(super) pairs: Vec<f64>,
    pub(super) stop: StopReason,
}

impl Point {
    /// The point of a state at t = 1, in the units of f.
    fn new(
        matrix: Square,
        state: Gibbs,
        primal: f64,
        (means, pairs): (Vec<f64>, Vec<f64>),
        stop: StopReason,
        eps: f64,
    ) -> Self {
        let ratio = matrix.n() as f64 / eps;
        let mut eigen = state.eigen;
        eigen.values.iter_mut().for_each(|v| *v /= ratio);
        Point { matrix, eigen, dual: eps * state.log_mean, primal: eps * primal, means, pairs, stop }
    }

    /// Dual minus primal value, NaN when one is missing.
    pub(super) fn gap(&self) -> f64 {
        self.dual - self.primal
    }

    /// Whether another algorithm should have a try.
    pub(super) fn is_stuck(&self) -> bool {
        matches!(self.stop, StopReason::Stalled | StopReason::NumericalTrouble)
    }

    /// The better dual and the better primal of both; `other` came later and its end counts.
    pub(super) fn better(self, other: Point) -> Point {
        let converged = [self.stop, other.stop].contains(&StopReason::Converged);
        let stop = if converged { StopReason::Converged } else { other.stop };
        let (mut best, rest) =
            if other.dual < self.dual || !self.dual.is_finite() { (other, self) } else { (self, other) };
        if rest.primal > best.primal {
            best = Point { primal: rest.primal, means: rest.means, pairs: rest.pairs, ..best };
        }
        Point { stop, ..best }
    }
}

/// Up to this many features the moments are an affordable second side.
const SMALL: usize = 40;

/// `f = constant + phi^T F phi` with F spread over its classes.
pub(super) struct Lifted {
    /// Classes of the features; `None` for (1, x), where every off-diagonal entry is its own.
    classes: Option<Arc<Classes>>,
    matrix: Square,
    pub(super) constant: f64,
}

impl Lifted {
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let f = problem.polynomial();
        let n = problem.features().len();
        let constant = f.pairwise_part().constant();
        let mut matrix = Square::zeros(n);
        if let (true, Some(ising)) = (problem.features().is_linear(), f.as_ising()) {
            let data = matrix.data_mut();
            let mut set = |i: usize, j: usize, v: f64| {
                data[i + n * j] = 0.5 * v;
                data[j + n * i] = 0.5 * v;
            };
            ising.fields().iter().enumerate().for_each(|(i, h)| set(0, i + 1, *h));
            ising.triples().for_each(|(i, j, v)| set(i + 1, j + 1, v));
            return Ok(Lifted { classes: None, matrix, constant });
        }
        let classes = problem.features().classes();
        let mut values = classes.represent(f)?;
        values[0] = 0.0;
        classes.fill(&values, matrix.data_mut());
        Ok(Lifted { classes: Some(Arc::new(classes)), matrix, constant })
    }

    /// What to try for `solver`, in this order, until something converges.
    pub(super) fn algorithms(&self, solver: Solver) -> Vec<Algorithm> {
        use Algorithm::{ChambollePock, InteriorPoint, Newton};
        use Pace::{Fast, Slow};
        let mut tried = match &self.classes {
            _ if solver == Solver::ChambollePock => return vec![ChambollePock],
            Some(classes) if moments_are_smaller(classes) => vec![InteriorPoint],
            _ => vec![Newton(Fast), Newton(Slow)],
        };
        if self.matrix.n() <= SMALL {
            let other = if tried[0] == InteriorPoint { Newton(Slow) } else { InteriorPoint };
            tried.push(other);
        }
        tried.push(ChambollePock);
        tried
    }

    /// Runs one algorithm.
    pub(super) fn run(self, algorithm: Algorithm, task: &Task<'_>, monitor: &mut Monitor<'_>) -> Point {
        let classes = match (&self.classes, algorithm) {
            (Some(classes), _) => classes.clone(),
            (None, Algorithm::Newton(pace)) => return self.newton_linear(pace, task, monitor),
            (None, _) => Arc::new(task.problem.features().classes()),
        };
        match algorithm {
            Algorithm::Newton(pace) => self.newton(pace, &classes, task, monitor),
            Algorithm::InteriorPoint => self.interior_point(&classes, task, monitor),
            Algorithm::ChambollePock => self.chambolle_pock(&classes, task, monitor),
        }
    }

    /// Newton on the dual along the temperature by conjugate gradients, for (1, x); F, which only
    /// changes on its diagonal, becomes `F'` in place.
    fn newton_linear(self, pace: Pace, task: &Task<'_>, monitor: &mut Monitor<'_>) -> Point {
        let (ratio, units) = (self.ratio(task.problem), self.units(task.problem));
        let warm = self.start(task).map(|s| {
            let mut y: Vec<f64> = s.diagonal().map(|s| -ratio * s).collect();
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            y.iter_mut().for_each(|v| *v -= mean);
            y
        });
        let mut space = Diagonal::new(self.matrix, ratio, monitor.deadline());
        let tol = task.settings.tol;
        let outcome = path_newton::minimise(&mut space, warm.as_deref(), pace, tol, units, monitor);
        let moments = linear_moments(&space.ahead(&outcome.state), task.problem);
        let matrix = space.into_matrix(&outcome.y);
        Point::new(matrix, outcome.state, outcome.primal, moments, outcome.stop, task.problem.eps())
    }

    /// Newton on the dual along the temperature, in V_perp.
    fn newton(
        &self,
        pace: Pace,
        classes: &Arc<Classes>,
        task: &Task<'_>,
        monitor: &mut Monitor<'_>,
    ) -> Point {
        let Task { problem, settings, .. } = *task;
        let (scaled, units) = (self.scaled(self.ratio(problem)), self.units(problem));
        let warm = self.start(task).map(|s| self.dual_start(classes, s, problem));
        let mut space = General::new(classes.clone(), scaled, settings.threads, monitor.deadline());
        let outcome = path_newton::minimise(&mut space, warm.as_deref(), pace, settings.tol, units, monitor);
        let fitted = space.fitted().map(<[f64]>::to_vec);
        let moments = fitted.unwrap_or_else(|| state_moments(classes, &outcome.state));
        let matrix = self.minus(&outcome.y, problem);
        let moments = named_moments(classes, &moments, problem);
        Point::new(matrix, outcome.state, outcome.primal, moments, outcome.stop, problem.eps())
    }

    /// Newton on the moments along a barrier.
    fn interior_point(&self, classes: &Classes, task: &Task<'_>, monitor: &mut Monitor<'_>) -> Point {
        let Task { problem, settings, .. } = *task;
        let (scaled, units) = (self.scaled(self.ratio(problem)), self.units(problem));
        let warm = self.start(task).map(|s| self.dual_start(classes, s, problem));
        let outcome =
            interior_point::minimise(classes, &scaled, warm, settings.tol, units, settings.threads, monitor);
        let matrix = self.minus(&outcome.y, problem);
        let moments = named_moments(classes, &outcome.moments, problem);
        Point::new(matrix, outcome.state, outcome.primal, moments, outcome.stop, problem.eps())
    }

    /// Algorithm 1 of the paper.
    fn chambolle_pock(&self, classes: &Classes, task: &Task<'_>, monitor: &mut Monitor<'_>) -> Point {
        let (eps, ratio) = (task.problem.eps(), self.ratio(task.problem));
        let outcome =
            chambolle_pock::minimise(classes, &self.matrix, eps, self.constant, task.settings, monitor);
        let mut matrix = self.matrix.clone();
        matrix.data_mut().iter_mut().zip(outcome.y.data()).for_each(|(m, y)| *m -= y);
        matrix.symmetrize();
        let mut state = Gibbs::default();
        let mut work = EigenWork::default();
        let mut scaled = matrix.clone();
        scaled.data_mut().iter_mut().for_each(|v| *v *= ratio);
        let decomposed = state.decompose(&scaled, &mut work);
        let mut eigen = Eigen::default();
        let stop = if decomposed && eigh(&matrix, &mut eigen, &mut work) {
            outcome.stop
        } else {
            StopReason::NumericalTrouble
        };
        let (means, pairs) = named_moments(classes, &classes.means(outcome.sigma.data()), task.problem);
        let dual = if decomposed { eps * state.log_mean } else { f64::INFINITY };
        Point { matrix, eigen, dual, primal: outcome.primal, means, pairs, stop }
    }

    /// The start, when its size fits.
    fn start<'a>(&self, task: &Task<'a>) -> Option<&'a Square> {
        task.start.filter(|s| s.n() == self.matrix.n())
    }

    /// V_perp and the dual point of `start` in it, where Newton's method there comes first.
    pub(super) fn space(
        &self,
        problem: &Problem,
        start: &Square,
        deadline: &Deadline,
    ) -> Option<(General, Vec<f64>)> {
        let classes = self.classes.as_ref().filter(|c| start.n() == c.n())?;
        let newton = Algorithm::Newton(Pace::Fast);
        (self.algorithms(Solver::Auto)[0] == newton).then(|| {
            let space = General::new(classes.clone(), self.scaled(self.ratio(problem)), 1, deadline);
            (space, self.dual_start(classes, start, problem))
        })
    }

    /// `n / eps`: the dual is that of `A = (n/eps) F`.
    fn ratio(&self, problem: &Problem) -> f64 {
        self.matrix.n() as f64 / problem.eps()
    }

    fn scaled(&self, ratio: f64) -> Square {
        let mut scaled = self.matrix.clone();
        scaled.data_mut().iter_mut().for_each(|v| *v *= ratio);
        scaled
    }

    pub(super) fn units(&self, problem: &Problem) -> path_newton::Units {
        path_newton::Units { eps: problem.eps(), constant: self.constant }
    }

    /// `Y n/eps` from an earlier `F'`.
    fn dual_start(&self, classes: &Classes, start: &Square, problem: &Problem) -> Vec<f64> {
        let ratio = self.ratio(problem);
        let difference = self.matrix.data().iter().zip(start.data());
        let mut y: Vec<f64> = difference.map(|(f, s)| ratio * (f - s)).collect();
        classes.project_perp(&mut y);
        y
    }

    /// `F' = F - Y eps/n`.
    pub(super) fn minus(&self, y: &[f64], problem: &Problem) -> Square {
        let ratio = self.ratio(problem);
        let mut matrix = self.matrix.clone();
        matrix.data_mut().iter_mut().zip(y).for_each(|(m, y)| *m -= y / ratio);
        matrix.symmetrize();
        matrix
    }
}
