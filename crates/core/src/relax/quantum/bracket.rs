//! Brackets of the relaxation's value that can be tightened, for comparing feature sets.

use super::General;
use super::NEWTON_ITERATIONS;
use super::lifted::{Lifted, Task};
use super::path_newton::{self, Outcome, Pace};
use crate::error::Result;
use crate::linalg::Square;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::{Settings, Solver};

/// A bracket in plain floating point, and where to go on from.
pub(crate) struct Bracket {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    problem: Problem,
    /// `F'` where the last solve ended.
    matrix: Square,
    kept: Option<Box<Kept>>,
}

/// A solve that goes on where it stopped.
struct Kept {
    lifted: Lifted,
    space: General,
    outcome: Outcome,
}

/// Up to this many features solves are kept; for more the memory counts, and starting again
/// costs little next to the solve.
const KEEP: usize = 24;

impl Bracket {
    /// Nothing is known yet; the first solve starts from `start` when its size fits.
    pub(crate) fn open(problem: Problem, start: Square) -> Self {
        Bracket { lower: f64::NEG_INFINITY, upper: f64::INFINITY, problem, matrix: start, kept: None }
    }

    /// Whether the values agree to `relative_tol max(eps, |phi|)`.
    pub(crate) fn is_within(&self, relative_tol: f64) -> bool {
        let allowed = relative_tol * self.upper.abs().max(self.problem.eps());
        self.upper.is_finite() && self.upper - self.lower <= allowed
    }

    /// Solves to the tolerance of `settings`, without a certificate.
    pub(crate) fn tighten(&mut self, settings: &Settings, observer: &mut dyn Observer) -> Result<()> {
        let mut monitor = Monitor::new(settings, NEWTON_ITERATIONS, observer);
        let kept = match self.kept.take() {
            Some(kept) => Some(kept.resume(&self.problem, settings, &mut monitor)),
            None => {
                let lifted = Lifted::new(&self.problem)?;
                let small = self.problem.features().len() <= KEEP;
                match lifted.space(&self.problem, &self.matrix, monitor.deadline()).filter(|_| small) {
                    Some((space, warm)) => {
                        Some(Kept::new(lifted, space, &warm, &self.problem, settings, &mut monitor))
                    }
                    None => {
                        self.solve_afresh(lifted, settings, &mut monitor);
                        None
                    }
                }
            }
        };
        if let Some(kept) = kept {
            let units = kept.lifted.units(&self.problem);
            self.narrow(units.phi(kept.outcome.primal), units.phi(kept.outcome.state.log_mean));
            self.kept = Some(Box::new(kept));
        }
        Ok(())
    }

    fn solve_afresh(&mut self, lifted: Lifted, settings: &Settings, monitor: &mut Monitor<'_>) {
        let (first, constant) = (lifted.algorithms(Solver::Auto)[0], lifted.constant);
        let task = Task { problem: &self.problem, settings, start: Some(&self.matrix) };
        let point = lifted.run(first, &task, monitor);
        self.narrow(constant + point.primal, constant + point.dual);
        self.matrix = point.matrix;
    }

    fn narrow(&mut self, lower: f64, upper: f64) {
        self.lower = self.lower.max(lower);
        self.upper = self.upper.min(upper);
    }

    /// `F'` at the end, a start for the next solve.
    pub(crate) fn into_matrix(self) -> Square {
        match self.kept {
            Some(kept) => kept.lifted.minus(&kept.outcome.y, &self.problem),
            None => self.matrix,
        }
    }
}

impl Kept {
    fn new(
        lifted: Lifted,
        mut space: General,
        warm: &[f64],
        problem: &Problem,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Self {
        let units = lifted.units(problem);
        let outcome = path_newton::minimise(&mut space, Some(warm), Pace::Fast, settings.tol, units, monitor);
        Kept { lifted, space, outcome }
    }

    fn resume(self, problem: &Problem, settings: &Settings, monitor: &mut Monitor<'_>) -> Self {
        let Kept { lifted, mut space, outcome } = self;
        let units = lifted.units(problem);
        let outcome = path_newton::resume(&mut space, outcome, settings.tol, units, monitor);
        Kept { lifted, space, outcome }
    }
}
