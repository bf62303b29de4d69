//! Newton's method on the smooth dual, following the temperature down.
//!
//! Minimises `g(Y) = log((1/n) tr exp(A - Y))` over Y in V_perp (docs/theory.md, eq. 8). At a high
//! temperature t the problem `t log((1/n) tr exp((A - Y)/t))` is nearly quadratic; each
//! decomposition serves one combined step that corrects the residual at t and predicts the
//! solution at the next, lower t. At t = 1 Newton converges quadratically.

mod walk;

use super::stopping::Progress;
pub(crate) use super::stopping::Units;
use crate::linalg::{EigenWork, Gibbs};
use crate::observer::Monitor;
use crate::solution::StopReason;
use walk::Walk;

/// How Y is parametrised and how Newton systems on it are solved.
pub(crate) trait DualSpace {
    /// Number of coordinates of Y.
    fn len(&self) -> usize;

    /// The temperature to start at.
    fn hottest(&self) -> f64;

    /// A start at high temperature `t`.
    fn start(&self, t: f64, y: &mut [f64]);

    /// A point that may be close to the solution at t = 1, worth a decomposition to find out.
    fn guess(&self) -> Option<Vec<f64>> {
        None
    }

    /// Decomposes `(A - Y) / t` into `out`. Given the accepted state, a space may follow from it only what
    /// matters, and then says so in [`Gibbs::partial`].
    fn evaluate(
        &mut self,
        y: &[f64],
        t: f64,
        near: Option<Near<'_>>,
        out: &mut Gibbs,
        work: &mut EigenWork,
    ) -> bool;

    /// When and how far the temperature may fall.
    fn schedule(&self) -> Schedule {
        Schedule { ready: 0.3, reject: 1.2, drop: 3.0, fastest: 10.0, growth: 1.5, smooth: 0.15, rough: 0.5 }
    }

    /// Size of `proj_perp(n rho)`, dimensionless: about 1 when the state is far from feasible.
    fn residual(&mut self, gibbs: &Gibbs) -> f64;

    /// Newton direction (in units of B) for the residual plus `tilt` times the derivative of the
    /// state with respect to log B: `tilt = 1 - t_next/t` predicts the next temperature.
    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, accuracy: f64, out: &mut [f64]) -> bool;

    /// `<rho, D>`: the decrease of g per unit step along D.
    fn slope(&self, gibbs: &Gibbs, direction: &[f64]) -> f64;

    /// Value of g's primal at a feasible point made from the state at t = 1.
    fn primal(&mut self, gibbs: &Gibbs, work: &mut EigenWork) -> f64;
}

/// When and how far the temperature is lowered.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    /// Largest residual from which the temperature is lowered.
    pub(crate) ready: f64,
    /// Residual above which a step to a lower temperature is taken back.
    pub(crate) reject: f64,
    /// First and largest factor between temperatures.
    pub(crate) drop: f64,
    pub(crate) fastest: f64,
    /// Change of the factor after a smooth or a rough step.
    pub(crate) growth: f64,
    /// Residuals below and above which a step was smooth or rough.
    pub(crate) smooth: f64,
    pub(crate) rough: f64,
}

impl Schedule {
    /// At the pace of `pace`.
    fn at(self, pace: Pace) -> Self {
        match pace {
            Pace::Fast => self,
            Pace::Slow => Schedule { ready: 0.2 * self.ready, drop: 1.6, fastest: 1.6, ..self },
        }
    }
}

/// The accepted state, with the point and the temperature it belongs to.
pub(crate) struct Near<'a> {
    pub(crate) state: &'a Gibbs,
    pub(crate) y: &'a [f64],
    pub(crate) t: f64,
    /// Whether to fail where following it fails: a shorter step costs less than a full decomposition.
    pub(crate) only: bool,
}

/// Where the method stands; the state belongs to `(y, t)`.
pub(crate) struct Outcome {
    /// Dual variable at the best dual value at t = 1 (or the last point when t > 1).
    pub(crate) y: Vec<f64>,
    /// The decomposition of `A - Y`.
    pub(crate) state: Gibbs,
    /// Size of the state's residual.
    residual: f64,
    /// Best primal value.
    pub(crate) primal: f64,
    /// Why it ended.
    pub(crate) stop: StopReason,
}

// The thresholds below are on `residual`; they were chosen for few decompositions over random
// models of the paper's families, d = 30 to 300, and are not delicate.
/// Residual below which the temperature is lowered.
const READY: f64 = 0.3;
/// Relative accuracy of Newton systems on the way.
const COARSE: f64 = 0.05;
/// A Newton step takes the residual r to about `1.3 r^2` and the gap, which is as `r^2`, to this many `r^2` times
/// itself; the margin is for systems solved inexactly. Where that is the end, all eigenpairs are computed at once.
const FINAL: f64 = 9.0;

/// How fast the temperature falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As the schedule says.
    Fast,
    /// By a factor of at most 1.6 a step, from closer solutions: for states that change abruptly.
    Slow,
}

/// Runs from high temperature to t = 1, or from `warm` at t = 1, until the gap is at most
/// `relative_tol max(eps, |phi|)`.
pub(crate) fn minimise(
    space: &mut dyn DualSpace,
    warm: Option<&[f64]>,
    pace: Pace,
    relative_tol: f64,
    units: Units,
    monitor: &mut Monitor<'_>,
) -> Outcome {
    let walk = Walk::new(space, warm, monitor);
    follow(walk, None, pace, relative_tol, units)
}

/// Goes on from where an earlier run in the same space ended, to a smaller gap.
pub(crate) fn resume(
    space: &mut dyn DualSpace,
    earlier: Outcome,
    relative_tol: f64,
    units: Units,
    monitor: &mut Monitor<'_>,
) -> Outcome {
    let primal = earlier.primal;
    let walk = Walk::again(space, earlier, monitor);
    follow(walk, Some(primal), Pace::Fast, relative_tol, units)
}

/// The main loop; `primal` is the value at the first state if it is known.
fn follow(
    mut walk: Walk<'_, '_>,
    mut primal: Option<f64>,
    pace: Pace,
    relative_tol: f64,
    units: Units,
) -> Outcome {
    let mut descent = Descent::new(walk.space.schedule().at(pace));
    let mut best_primal = f64::NEG_INFINITY;
    let mut progress = Progress::default();
    let stop = loop {
        if walk.failed {
            break StopReason::NumericalTrouble;
        }
        let mut dual = f64::NAN;
        if walk.is_near_target(relative_tol, units) {
            let value = primal.take().unwrap_or_else(|| walk.space.primal(&walk.state, &mut walk.work));
            best_primal = best_primal.max(value);
            dual = walk.state.log_mean_at(walk.t);
        }
        let primal = if best_primal.is_finite() { best_primal } else { f64::NAN };
        let limit = walk.monitor.iteration(units.phi(primal), units.phi(dual));
        if dual - primal <= units.allowed(relative_tol, dual) {
            if !walk.state.partial {
                break StopReason::Converged;
            }
            // The values above are those of the top of the spectrum: look at all of it.
            walk.failed = !walk.complete();
            continue;
        }
        if let Some(reason) = limit {
            break reason;
        }
        if walk.t == 1.0 && progress.is_stalled(dual - primal) {
            break StopReason::Stalled;
        }
        if descent.is_ready(&walk) {
            descent.lower(&mut walk);
        } else {
            let next = FINAL * walk.residual.powi(2) * (dual - primal);
            walk.whole = walk.state.partial && next <= units.allowed(relative_tol, dual);
            if !walk.newton_step() {
                break StopReason::Stalled;
            }
        }
    };
    walk.finish(best_primal, stop)
}

/// How the temperature has been lowered so far.
struct Descent {
    schedule: Schedule,
    drop: f64,
    ready: f64,
}

impl Descent {
    fn new(schedule: Schedule) -> Self {
        Descent { schedule, drop: schedule.drop, ready: schedule.ready }
    }

    fn is_ready(&self, walk: &Walk<'_, '_>) -> bool {
        walk.t > 1.0 && walk.residual < self.ready
    }

    /// Tries one step down; the next one depends on where it led.
    fn lower(&mut self, walk: &mut Walk<'_, '_>) {
        let Schedule { ready, reject, fastest, growth, smooth, rough, .. } = self.schedule;
        let found = walk.try_lower(lower(walk.t, self.drop), reject);
        if found < reject {
            self.ready = ready;
            match found {
                r if r < smooth => self.drop = (self.drop * growth).min(fastest),
                r if r > rough => self.drop = (self.drop / growth).max(1.5),
                _ => {}
            }
        } else {
            self.drop = self.drop.sqrt().max(1.3);
            // A state that could not be followed so far says nothing against the present point.
            self.ready = if found.is_nan() { self.ready } else { self.ready.min(0.5 * walk.residual) };
        }
    }
}

/// The next temperature on the way to 1 in equal steps of at most `drop`.
fn lower(t: f64, drop: f64) -> f64 {
    let steps = (t.ln() / drop.ln() - 1e-9).ceil();
    if steps > 1.0 { t.powf(1.0 - 1.0 / steps) } else { 1.0 }
}
