//! Newton's method on the smooth dual, following the temperature down.
//!
//! Minimises `g(Y) = log((1/n) tr exp(A - Y))` over Y in V_perp (docs/theory.md, eq. 8). At a high
//! temperature t the problem `t log((1/n) tr exp((A - Y)/t))` is nearly quadratic; each
//! decomposition serves one combined step that corrects the residual at t and predicts the
//! solution at the next, lower t. At t = 1 Newton converges quadratically.

use super::stopping::Progress;
pub(crate) use super::stopping::Units;
use crate::observer::Monitor;
use crate::solution::StopReason;
use crate::spectral::{EigenWork, Gibbs, Square};

/// How Y is parametrised and how Newton systems on it are solved.
pub(crate) trait DualSpace {
    /// Number of coordinates of Y.
    fn len(&self) -> usize;

    /// `|A|`, an estimate of the spectral radius of A.
    fn scale(&self) -> f64;

    /// A start at high temperature `t`.
    fn start(&self, t: f64, y: &mut [f64]);

    /// `out <- (A - Y) / t`.
    fn assemble(&self, y: &[f64], t: f64, out: &mut Square);

    /// Decomposes `matrix`, which belongs to temperature `t`; a space may follow only what matters
    /// from the accepted state, and then says so in [`Gibbs::partial`].
    fn decompose(
        &mut self,
        matrix: &mut Square,
        _t: f64,
        _near: Near<'_>,
        out: &mut Gibbs,
        work: &mut EigenWork,
    ) -> bool {
        out.decompose_in_place(matrix, work)
    }

    /// When the temperature may fall.
    fn schedule(&self) -> Schedule {
        Schedule { ready: READY, growth: 1.5 }
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

/// When the temperature is lowered, and how much the factor between temperatures changes.
#[derive(Clone, Copy)]
pub(crate) struct Schedule {
    /// Largest residual from which the temperature is lowered.
    pub(crate) ready: f64,
    /// Change of the factor after a smooth or a rough step.
    pub(crate) growth: f64,
}

/// The accepted state, with the point and the temperature it belongs to.
pub(crate) struct Near<'a> {
    pub(crate) state: &'a Gibbs,
    pub(crate) y: &'a [f64],
    pub(crate) t: f64,
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
const READY: f64 = 0.3; // below: lower the temperature
const SMOOTH: f64 = 0.15; // below: lower it faster next time
const ROUGH: f64 = 0.5; // above: lower it more slowly next time
const REJECT: f64 = 1.2; // above: take the step back
const COARSE: f64 = 0.05; // relative accuracy of Newton systems on the way
const MAX_TRIALS: usize = 30; // step lengths tried along one direction
const WARM: f64 = 2.0; // above: a warm start is worse than none
const START_FRACTION: f64 = 0.25; // first temperature, as a fraction of |A|

/// How fast the temperature falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// By a factor of up to 10 a step, as the residual allows.
    Fast,
    /// By a factor of at most 1.6 a step, from closer solutions: for states that change abruptly.
    Slow,
}

impl Pace {
    /// First and largest drop of the temperature, and the residual below which it drops.
    fn limits(self, ready: f64) -> (f64, f64, f64) {
        match self {
            Pace::Fast => (3.0, 10.0, ready),
            Pace::Slow => (1.6, 1.6, 0.2 * ready),
        }
    }
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
    let schedule = walk.space.schedule();
    let (mut drop, fastest, calm) = pace.limits(schedule.ready);
    let mut ready = calm;
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
        if walk.t > 1.0 && walk.residual < ready {
            let next = lower(walk.t, drop);
            if walk.try_lower(next) {
                ready = calm;
                match walk.residual {
                    r if r < SMOOTH => drop = (drop * schedule.growth).min(fastest),
                    r if r > ROUGH => drop = (drop / schedule.growth).max(1.5),
                    _ => {}
                }
            } else {
                drop = drop.sqrt().max(1.3);
                ready = ready.min(0.5 * walk.residual);
            }
        } else if !walk.newton_step() {
            break StopReason::Stalled;
        }
    };
    walk.finish(best_primal, stop)
}

fn lower(t: f64, drop: f64) -> f64 {
    let next = t / drop;
    if next < 1.3 { 1.0 } else { next }
}

struct Walk<'a, 'm> {
    space: &'a mut dyn DualSpace,
    monitor: &'a mut Monitor<'m>,
    y: Vec<f64>,
    t: f64,
    state: Gibbs,
    residual: f64,
    failed: bool,
    trial_y: Vec<f64>,
    trial_state: Gibbs,
    direction: Vec<f64>,
    matrix: Square,
    work: EigenWork,
}

impl<'a, 'm> Walk<'a, 'm> {
    fn new(space: &'a mut dyn DualSpace, warm: Option<&[f64]>, monitor: &'a mut Monitor<'m>) -> Self {
        let len = space.len();
        let t = if warm.is_some() { 1.0 } else { (START_FRACTION * space.scale()).max(1.0) };
        let mut y = vec![0.0; len];
        match warm {
            Some(given) => y.copy_from_slice(given),
            None => space.start(t, &mut y),
        }
        let mut walk = Walk::at(space, monitor, y, t);
        let residual = walk.evaluate_trial(t);
        walk.failed = !residual.is_finite();
        walk.accept(t, residual);
        if warm.is_some() && !(residual < WARM) {
            walk.restart();
        }
        walk
    }

    /// The walk of an earlier outcome.
    fn again(space: &'a mut dyn DualSpace, earlier: Outcome, monitor: &'a mut Monitor<'m>) -> Self {
        let mut walk = Walk::at(space, monitor, earlier.y, 1.0);
        (walk.state, walk.residual) = (earlier.state, earlier.residual);
        if !(walk.residual < WARM) {
            walk.restart();
        }
        walk
    }

    fn at(space: &'a mut dyn DualSpace, monitor: &'a mut Monitor<'m>, y: Vec<f64>, t: f64) -> Self {
        let len = y.len();
        Walk {
            space,
            monitor,
            trial_y: y.clone(),
            y,
            t,
            state: Gibbs::default(),
            residual: f64::NAN,
            failed: false,
            trial_state: Gibbs::default(),
            direction: vec![0.0; len],
            matrix: Square::default(),
            work: EigenWork::default(),
        }
    }

    /// Forgets a bad warm start.
    fn restart(&mut self) {
        let t = (START_FRACTION * self.space.scale()).max(1.0);
        self.space.start(t, &mut self.trial_y);
        let residual = self.evaluate_trial(t);
        self.failed = !residual.is_finite();
        self.accept(t, residual);
    }

    /// Whether the state at t can be within tolerance of the optimum at t = 1: their values differ
    /// by at most `t log n`.
    fn is_near_target(&self, relative_tol: f64, units: Units) -> bool {
        if self.t == 1.0 {
            return true;
        }
        let value = self.state.log_mean_at(self.t);
        let n = self.state.n() as f64;
        self.residual < READY && self.t * n.ln() <= 30.0 * units.allowed(relative_tol, value)
    }

    /// Decomposes at `trial_y` and temperature `t`; the residual, NaN on failure.
    fn evaluate_trial(&mut self, t: f64) -> f64 {
        self.space.assemble(&self.trial_y, t, &mut self.matrix);
        self.monitor.eigendecompositions += 1;
        let near = Near { state: &self.state, y: &self.y, t: self.t };
        if !self.space.decompose(&mut self.matrix, t, near, &mut self.trial_state, &mut self.work) {
            return f64::NAN;
        }
        self.space.residual(&self.trial_state)
    }

    fn accept(&mut self, t: f64, residual: f64) {
        std::mem::swap(&mut self.y, &mut self.trial_y);
        std::mem::swap(&mut self.state, &mut self.trial_state);
        self.t = t;
        self.residual = residual;
    }

    fn set_trial(&mut self, step: f64) {
        for ((trial, y), d) in self.trial_y.iter_mut().zip(&self.y).zip(&self.direction) {
            *trial = y + step * d;
        }
    }

    /// One predictor-corrector step to temperature `next`; `false` leaves everything as it was.
    fn try_lower(&mut self, next: f64) -> bool {
        let tilt = 1.0 - next / self.t;
        if !self.space.direction(&self.state, tilt, COARSE, &mut self.direction) {
            return false;
        }
        self.set_trial(self.t);
        let residual = self.evaluate_trial(next);
        if !(residual < REJECT) {
            return false;
        }
        self.accept(next, residual);
        true
    }

    /// One damped Newton step at the current temperature; `false` when no step decreases g.
    fn newton_step(&mut self) -> bool {
        let accuracy = if self.t > 1.0 { COARSE } else { COARSE.min(0.3 * self.residual.powf(1.3)) };
        if !self.space.direction(&self.state, 0.0, accuracy, &mut self.direction) {
            return false;
        }
        let slope = self.space.slope(&self.state, &self.direction);
        let before = self.state.log_mean;
        let rounding = 8.0 * f64::EPSILON * before.abs().max(1.0);
        if !(slope > rounding) {
            return self.refine();
        }
        let mut step = 1.0;
        for _ in 0..MAX_TRIALS {
            self.set_trial(step * self.t);
            let residual = self.evaluate_trial(self.t);
            let end = self.space.slope(&self.trial_state, &self.direction);
            let gain = before - self.trial_state.log_mean;
            if residual.is_finite()
                && (end.abs() <= 0.7 * slope && gain > -rounding || gain > 0.1 * step * slope)
            {
                self.accept(self.t, residual);
                return true;
            }
            if self.state.partial {
                // The direction came from vectors that are only nearly those of the state.
                return self.complete();
            }
            // g is convex along the step: the secant of its slopes points to the minimum.
            let secant = slope / (slope - end);
            step *= if secant.is_finite() { secant.clamp(0.1, 0.7) } else { 0.3 };
            if self.monitor.interrupted().is_some() {
                return true;
            }
        }
        false
    }

    /// A full step when g can no longer tell: it counts if it halves the residual.
    fn refine(&mut self) -> bool {
        self.set_trial(self.t);
        let residual = self.evaluate_trial(self.t);
        if !(residual < 0.5 * self.residual) {
            return false;
        }
        self.accept(self.t, residual);
        true
    }

    /// Replaces a partial state by the full one.
    fn complete(&mut self) -> bool {
        self.space.assemble(&self.y, self.t, &mut self.matrix);
        self.monitor.eigendecompositions += 1;
        let done = self.state.decompose_in_place(&mut self.matrix, &mut self.work);
        self.residual = self.space.residual(&self.state);
        done && self.residual.is_finite()
    }

    /// Returns to t = 1 if the walk was stopped on the way: Y is feasible at any temperature.
    fn finish(mut self, primal: f64, stop: StopReason) -> Outcome {
        if self.t != 1.0 && !self.failed {
            self.trial_y.copy_from_slice(&self.y);
            let residual = self.evaluate_trial(1.0);
            self.failed = !residual.is_finite();
            self.accept(1.0, residual);
        }
        if self.state.partial && !self.failed {
            self.failed = !self.complete();
        }
        let stop = if self.failed { StopReason::NumericalTrouble } else { stop };
        Outcome { y: self.y, state: self.state, residual: self.residual, primal, stop }
    }
}
