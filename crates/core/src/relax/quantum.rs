//! The quantum relaxation a_eps(F) (paper, sections 3 and 4).
//!
//! `a_eps(F) = min_{Y in V_perp} eps log((1/n) tr exp((n/eps)(F - Y)))`: whatever Y an algorithm
//! stops at, the matrix `F' = F - Y` with its eigenpairs is a certificate.

use super::Relaxation;
use crate::certify::{Certificate, Component, Form, Slack};
use crate::error::{Error, Result};
use crate::features::Classes;
use crate::observer::{Monitor, Observer};
use crate::optim::{Ahead, Diagonal, General, chambolle_pock, path_newton};
use crate::problem::Problem;
use crate::settings::{Method, Settings, Solver};
use crate::solution::{Solution, StopReason};
use crate::spectral::{Eigen, EigenWork, Gibbs, Square, eigh};

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
/// Outer iterations of Newton's method; it converges in tens.
const NEWTON_ITERATIONS: usize = 300;
/// Chambolle-Pock iterations spent when Newton stalls.
const FALLBACK_ITERATIONS: usize = 2_000;

impl Quantum {
    /// A solve that starts from `F'`, a matrix of the problem's size.
    pub(crate) fn from_matrix(start: Square) -> Self {
        Quantum { start: Some(start) }
    }

    /// A solve that starts from the dual point of `solution`, on a nearby problem with the same
    /// features; solutions of other methods are ignored.
    #[must_use]
    pub fn from_solution(solution: &Solution) -> Self {
        let component = solution.certificate.as_ref().and_then(|c| c.components.first());
        let start = match component.map(|c| &c.form) {
            Some(Form::Spectral { matrix, .. }) => Some(matrix.clone()),
            _ => None,
        };
        Quantum { start }
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
        let lifted = Lifted::new(problem)?;
        let mut point = match solver {
            Solver::ChambollePock => lifted.chambolle_pock(problem, settings, &mut monitor)?,
            _ => lifted.newton(problem, self.start.as_ref(), settings, &mut monitor),
        };
        if settings.solver == Solver::Auto
            && matches!(point.stop, StopReason::Stalled | StopReason::NumericalTrouble)
        {
            let patience =
                settings.clone().with_max_iterations(Some(monitor.iterations + FALLBACK_ITERATIONS));
            monitor.extend(&patience);
            let second = lifted.chambolle_pock(problem, settings, &mut monitor)?;
            point = point.better(second);
        }
        Ok(finish(problem, lifted.constant, point, solver, monitor))
    }
}

/// A bracket of the relaxation's value in plain floating point, and where to go on from.
pub(crate) struct Bracket {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    /// `F'` at the end, a start for the next solve.
    pub(crate) matrix: Square,
}

/// Solves without a certificate, from `start` when its size fits: for comparing feature sets.
pub(crate) fn bracket(
    problem: &Problem,
    start: &Square,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Bracket> {
    let mut monitor = Monitor::new(settings, NEWTON_ITERATIONS, observer);
    let lifted = Lifted::new(problem)?;
    let point = lifted.newton(problem, Some(start), settings, &mut monitor);
    Ok(Bracket {
        lower: lifted.constant + point.primal,
        upper: lifted.constant + point.dual,
        matrix: point.matrix,
    })
}

/// Where an algorithm stopped.
struct Point {
    /// `F' = F - Y`.
    matrix: Square,
    /// Its eigenpairs.
    eigen: Eigen,
    /// Dual value in plain floating point, without the constant of f.
    dual: f64,
    primal: f64,
    means: Vec<f64>,
    pairs: Vec<f64>,
    stop: StopReason,
}

impl Point {
    fn better(self, other: Point) -> Point {
        let primal = self.primal.max(other.primal);
        let mut best = if other.dual < self.dual || !self.dual.is_finite() { other } else { self };
        best.primal = primal;
        best
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
    let n = problem.features().len() as u64;
    let classes = if problem.features().is_linear() { 0 } else { n * (n + 1) / 2 };
    // (1, x): six n x n matrices. Otherwise the normal equations have at most N <= n(n+1)/2 unknowns
    // and n(n+1)/2 rows; N is rarely above a quarter of that.
    let needed = 8 * (6 * n * n + classes / 4 * classes);
    if needed > settings.memory_limit {
        return Err(Error::Memory {
            what: format!("the quantum relaxation with {n} features"),
            needed_mib: needed >> 20,
            limit_mib: settings.memory_limit >> 20,
            hint: "ask for fewer features".into(),
        });
    }
    Ok(())
}

/// `f = constant + phi^T F phi` with F spread over its classes.
struct Lifted {
    /// Classes of the features; `None` for (1, x), where every off-diagonal entry is its own.
    classes: Option<Classes>,
    /// F by class, the constant taken out.
    values: Vec<f64>,
    matrix: Square,
    constant: f64,
}

impl Lifted {
    fn new(problem: &Problem) -> Result<Self> {
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
            return Ok(Lifted { classes: None, values: Vec::new(), matrix, constant });
        }
        let classes = problem.features().classes();
        let mut values = classes.represent(f)?;
        values[0] = 0.0;
        classes.fill(&values, matrix.data_mut());
        Ok(Lifted { classes: Some(classes), values, matrix, constant })
    }

    /// Newton on the dual along the temperature: by conjugate gradients for (1, x), in the space
    /// of moments otherwise.
    fn newton(
        &self,
        problem: &Problem,
        start: Option<&Square>,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Point {
        let (n, eps) = (self.matrix.n(), problem.eps());
        let ratio = n as f64 / eps;
        let units = path_newton::Units { eps, constant: self.constant };
        let usable = start.filter(|s| s.n() == n);
        let warm = usable.map(|s| self.dual_start(s, ratio));
        let mut outcome;
        let sigma;
        match &self.classes {
            None => {
                let mut scaled = self.matrix.clone();
                scaled.data_mut().iter_mut().for_each(|v| *v *= ratio);
                let diagonal = warm.map(|y| y.into_iter().step_by(n + 1).collect::<Vec<_>>());
                let mut space = Diagonal::new(&scaled);
                outcome =
                    path_newton::minimise(&mut space, diagonal.as_deref(), settings.tol, units, monitor);
                let ahead = space.ahead(&outcome.state);
                sigma = linear_moments(&ahead, problem);
            }
            Some(classes) if crate::optim::interior_point::suits(classes) => {
                let mut scaled = self.matrix.clone();
                scaled.data_mut().iter_mut().for_each(|v| *v *= ratio);
                let o = crate::optim::interior_point::minimise(
                    classes, &scaled, None, settings.tol, units, settings.threads, monitor);
                sigma = named_moments(classes, &o.moments, problem);
                outcome = path_newton::Outcome { y: o.y, state: o.state, primal: o.primal, stop: o.stop };
            }
            Some(classes) => {
                let scaled: Vec<f64> = self.values.iter().map(|v| v * ratio).collect();
                let mut space = General::new(classes, &scaled, settings.threads);
                outcome = path_newton::minimise(&mut space, warm.as_deref(), settings.tol, units, monitor);
                let fitted = space.fitted().map(<[f64]>::to_vec);
                let moments = fitted.unwrap_or_else(|| state_moments(classes, &outcome.state));
                sigma = named_moments(classes, &moments, problem);
            }
        }
        let mut matrix = self.matrix.clone();
        match self.classes {
            None => {
                matrix.data_mut().iter_mut().step_by(n + 1).zip(&outcome.y).for_each(|(m, y)| *m -= y / ratio)
            }
            Some(_) => matrix.data_mut().iter_mut().zip(&outcome.y).for_each(|(m, y)| *m -= y / ratio),
        }
        matrix.symmetrize();
        outcome.state.eigen.values.iter_mut().for_each(|v| *v /= ratio);
        Point {
            matrix,
            dual: eps * outcome.state.log_mean,
            eigen: outcome.state.eigen,
            primal: eps * outcome.primal,
            means: sigma.0,
            pairs: sigma.1,
            stop: outcome.stop,
        }
    }

    /// `Y n/eps` from an earlier `F'`.
    fn dual_start(&self, start: &Square, ratio: f64) -> Vec<f64> {
        let mut y: Vec<f64> =
            self.matrix.data().iter().zip(start.data()).map(|(f, s)| ratio * (f - s)).collect();
        match &self.classes {
            Some(classes) => classes.project_perp(&mut y),
            None => {
                let n = self.matrix.n();
                let mean = y.iter().step_by(n + 1).sum::<f64>() / n as f64;
                y.iter_mut().step_by(n + 1).for_each(|v| *v -= mean);
            }
        }
        y
    }

    fn chambolle_pock(
        &self,
        problem: &Problem,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Point> {
        let own;
        let classes = match &self.classes {
            Some(classes) => classes,
            None => {
                own = problem.features().classes();
                &own
            }
        };
        let eps = problem.eps();
        let outcome = chambolle_pock::minimise(classes, &self.matrix, eps, self.constant, settings, monitor);
        let n = self.matrix.n();
        let mut matrix = self.matrix.clone();
        matrix.data_mut().iter_mut().zip(outcome.y.data()).for_each(|(m, y)| *m -= y);
        matrix.symmetrize();
        let mut state = Gibbs::default();
        let mut work = EigenWork::default();
        let mut scaled = matrix.clone();
        scaled.data_mut().iter_mut().for_each(|v| *v *= n as f64 / eps);
        let decomposed = state.decompose(&scaled, &mut work);
        let mut eigen = Eigen::default();
        let stop = match decomposed && eigh(&matrix, &mut eigen, &mut work) {
            true => outcome.stop,
            false => StopReason::NumericalTrouble,
        };
        let sums = classes.sums(outcome.sigma.data());
        let moments: Vec<f64> = sums.iter().zip(classes.sizes()).map(|(s, k)| s / f64::from(*k)).collect();
        let (means, pairs) = named_moments(classes, &moments, problem);
        let dual = if decomposed { eps * state.log_mean } else { f64::INFINITY };
        Ok(Point { matrix, eigen, dual, primal: outcome.primal, means, pairs, stop })
    }
}

/// `E x_i` and `E x_i x_j` (per edge) for (1, x).
fn linear_moments(ahead: &Ahead, problem: &Problem) -> (Vec<f64>, Vec<f64>) {
    let means = (1..=problem.d()).map(|i| ahead.correlation(0, i)).collect();
    let edges = problem.polynomial().pairwise_part().edges().iter();
    (means, edges.map(|&[i, j]| ahead.correlation(i as usize + 1, j as usize + 1)).collect())
}

fn state_moments(classes: &Classes, state: &Gibbs) -> Vec<f64> {
    let n = state.n();
    let mut sums = vec![0.0; classes.len()];
    for (k, weight) in state.weights.iter().enumerate().skip(n - state.rank) {
        let u = state.eigen.vectors.column(k);
        for (c, &class) in classes.of().iter().enumerate() {
            sums[class as usize] += n as f64 * weight * u[c % n] * u[c / n];
        }
    }
    sums.iter().zip(classes.sizes()).map(|(s, k)| s / f64::from(*k)).collect()
}

/// Means and edge moments out of the moments by class; what no class holds is 0.
fn named_moments(classes: &Classes, moments: &[f64], problem: &Problem) -> (Vec<f64>, Vec<f64>) {
    use crate::model::VarSet;
    let of = |set: &VarSet| classes.find(set).map_or(0.0, |c| moments[c].clamp(-1.0, 1.0));
    let means = (0..problem.d()).map(|i| of(&VarSet::singleton(i))).collect();
    let edges = problem.polynomial().pairwise_part().edges().iter();
    (means, edges.map(|&[i, j]| of(&VarSet::pair(i as usize, j as usize))).collect())
}

/// Turns the point into a certificate and the certificate into the bound.
fn finish(problem: &Problem, constant: f64, point: Point, solver: Solver, monitor: Monitor<'_>) -> Solution {
    let mut solution = Solution::new(Method::Quantum, point.stop);
    solution.solver = Some(solver);
    solution.features = Some(problem.features().clone());
    solution.estimate = constant + point.dual;
    solution.means = Some(point.means);
    let edges = problem.polynomial().pairwise_part().edges().iter();
    solution.pairwise = Some(edges.zip(&point.pairs).map(|(&[i, j], &v)| (i, j, v)).collect());
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
            solution.relaxation_gap = Some(bound.phi() - (constant + point.primal)).filter(|g| g.is_finite());
            solution.certificate = Some(certificate);
        }
        Err(error) => solution.reason = Some(error.to_string()),
    }
    solution.iterations = monitor.iterations;
    solution.eigendecompositions = monitor.eigendecompositions;
    solution.seconds = monitor.seconds();
    solution.trace = monitor.trace;
    solution
}
