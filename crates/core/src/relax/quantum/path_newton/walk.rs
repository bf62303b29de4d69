//! The state of the method and its steps.

use super::{COARSE, DualSpace, Near, Outcome, READY, Units};
use crate::linalg::{EigenWork, Gibbs};
use crate::observer::Monitor;
use crate::relax::quantum::DECOMPOSITION;
use crate::solution::StopReason;

/// Step lengths tried along one direction.
const MAX_TRIALS: usize = 30;
/// Residual above which a warm start is worse than none.
const WARM: f64 = 2.0;
/// Steps by a smaller factor are worth a full decomposition.
const SHORT: f64 = 1.7;

/// An accepted point with its state, and a trial one.
pub(super) struct Walk<'a, 'm> {
    pub(super) space: &'a mut dyn DualSpace,
    pub(super) monitor: &'a mut Monitor<'m>,
    pub(super) t: f64,
    pub(super) state: Gibbs,
    pub(super) residual: f64,
    /// Whether a decomposition failed.
    pub(super) failed: bool,
    pub(super) work: EigenWork,
    /// Whether the next state is decomposed as a whole.
    pub(super) whole: bool,
    y: Vec<f64>,
    trial_y: Vec<f64>,
    trial_state: Gibbs,
    direction: Vec<f64>,
}

impl<'a, 'm> Walk<'a, 'm> {
    /// At `warm` or the space's own guess for t = 1 if that is close, else at a high temperature.
    pub(super) fn new(
        space: &'a mut dyn DualSpace,
        warm: Option<&[f64]>,
        monitor: &'a mut Monitor<'m>,
    ) -> Self {
        let (first, limit) = match warm {
            Some(y) => (Some(y.to_vec()), WARM),
            None => (space.guess(), READY),
        };
        let near = first.is_some();
        let mut walk = Walk::at(space, monitor, first.unwrap_or_default());
        if near {
            walk.begin(1.0);
        }
        let n = walk.state.n() as f64;
        if !near || !(walk.residual < limit) && walk.monitor.deadline().may_begin(DECOMPOSITION * n.powi(3)) {
            walk.restart();
        }
        walk
    }

    /// The walk of an earlier outcome.
    pub(super) fn again(
        space: &'a mut dyn DualSpace,
        earlier: Outcome,
        monitor: &'a mut Monitor<'m>,
    ) -> Self {
        let mut walk = Walk::at(space, monitor, earlier.y);
        (walk.state, walk.residual) = (earlier.state, earlier.residual);
        if !(walk.residual < WARM) {
            walk.restart();
        }
        walk
    }

    fn at(space: &'a mut dyn DualSpace, monitor: &'a mut Monitor<'m>, mut y: Vec<f64>) -> Self {
        let len = space.len();
        y.resize(len, 0.0);
        Walk {
            space,
            monitor,
            trial_y: y.clone(),
            y,
            t: 1.0,
            state: Gibbs::default(),
            residual: f64::NAN,
            failed: false,
            trial_state: Gibbs::default(),
            direction: vec![0.0; len],
            work: EigenWork::default(),
            whole: false,
        }
    }

    /// Starts at high temperature, forgetting a bad warm start.
    fn restart(&mut self) {
        let t = self.space.hottest().max(1.0);
        self.space.start(t, &mut self.trial_y);
        self.begin(t);
    }

    /// Accepts the trial point whatever it is.
    fn begin(&mut self, t: f64) {
        let residual = self.evaluate_at(t);
        self.failed = !residual.is_finite();
        self.accept(t, residual);
    }

    /// Whether the state at t can be within tolerance of the optimum at t = 1: their values differ
    /// by at most `t log n`.
    pub(super) fn is_near_target(&self, relative_tol: f64, units: Units) -> bool {
        if self.t == 1.0 {
            return true;
        }
        let value = self.state.log_mean_at(self.t);
        let n = self.state.n() as f64;
        self.residual < READY && self.t * n.ln() <= 30.0 * units.allowed(relative_tol, value)
    }

    /// Decomposes at `trial_y` and temperature `t`, following the accepted state if that will do; the
    /// residual, NaN on failure.
    fn evaluate_trial(&mut self, t: f64) -> f64 {
        let n = self.state.n() as f64;
        if !self.monitor.deadline().may_begin(DECOMPOSITION * n.powi(3)) {
            return f64::NAN;
        }
        self.evaluate_at(t)
    }

    /// The same whatever the time: for the first state and the last, which are accounted for.
    fn evaluate_at(&mut self, t: f64) -> f64 {
        self.monitor.eigendecompositions += 1;
        let only = self.state.partial && self.t > SHORT * t;
        let near = Near { state: &self.state, y: &self.y, t: self.t, only };
        let near = (!std::mem::take(&mut self.whole)).then_some(near);
        if self.space.evaluate(&self.trial_y, t, near, &mut self.trial_state, &mut self.work) {
            self.space.residual(&self.trial_state)
        } else {
            f64::NAN
        }
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

    /// One predictor-corrector step to temperature `next`, made if its residual is below `reject`; that
    /// residual, NaN when the state was not found.
    pub(super) fn try_lower(&mut self, next: f64, reject: f64) -> f64 {
        let tilt = 1.0 - next / self.t;
        if !self.space.direction(&self.state, tilt, COARSE, &mut self.direction) {
            return f64::INFINITY;
        }
        self.set_trial(self.t);
        let residual = self.evaluate_trial(next);
        if residual < reject {
            self.accept(next, residual);
        }
        residual
    }

    /// One damped Newton step at the current temperature; `false` when no step decreases g.
    pub(super) fn newton_step(&mut self) -> bool {
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
    pub(super) fn complete(&mut self) -> bool {
        self.monitor.eigendecompositions += 1;
        let done = self.space.evaluate(&self.y, self.t, None, &mut self.state, &mut self.work);
        self.residual = self.space.residual(&self.state);
        done && self.residual.is_finite()
    }

    /// Returns to t = 1 if the walk was stopped on the way: Y is feasible at any temperature.
    pub(super) fn finish(mut self, primal: f64, stop: StopReason) -> Outcome {
        if self.t != 1.0 && !self.failed {
            self.trial_y.copy_from_slice(&self.y);
            let residual = self.evaluate_at(1.0);
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
