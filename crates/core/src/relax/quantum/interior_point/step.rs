//! Steps along the path, damped until the softened dual falls.

use super::Method;
use super::centring::Centring;
use crate::observer::Monitor;
use crate::relax::quantum::soft_state::SoftState;

/// Distances from the path up to which mu is lowered, and by which factors.
const DROPS: [(f64, f64); 3] = [(0.1, 1e-3), (0.5, 1e-2), (2.0, 0.1)];
/// The first drop is smaller: the path bends where the barrier is as large as A.
const FIRST_DROP: f64 = 0.3;
/// Step lengths tried along one direction.
const MAX_TRIALS: usize = 30;

impl Method<'_> {
    /// Follows the path to a lower mu, or comes closer to it; `false` when neither is possible.
    pub(super) fn advance(&mut self, centring: &Centring, least: f64, monitor: &mut Monitor<'_>) -> bool {
        let drop = DROPS.iter().find(|(near, _)| centring.distance < *near).map_or(1.0, |d| d.1);
        let gentle = if self.mu == self.hottest { FIRST_DROP } else { 0.0 };
        let mu = (self.mu * drop.max(gentle)).max(least);
        if mu < self.mu {
            let direction = self.direction(mu, centring);
            if self.descend(&direction, mu, 2, monitor) {
                return true;
            }
        }
        let direction = self.direction(self.mu, centring);
        self.descend(&direction, self.mu, MAX_TRIALS, monitor)
    }

    /// A damped step that lowers the softened dual at `mu`; `false` when no length tried does.
    fn descend(&mut self, direction: &[f64], mu: f64, trials: usize, monitor: &mut Monitor<'_>) -> bool {
        let here = if mu == self.mu { self.soft.clone() } else { SoftState::new(&self.state, mu) };
        let slope = here.slope(&self.state, direction, &mut self.scratch, &mut self.matrix);
        let before = here.value;
        let rounding = 8.0 * f64::EPSILON * before.abs().max(1.0);
        let mut length = 1.0;
        for _ in 0..trials {
            let y: Vec<f64> = self.y.iter().zip(direction).map(|(y, d)| y + length * d).collect();
            if self.decompose(&y, monitor) {
                let soft = SoftState::new(&self.trial, mu);
                let gain = before - soft.value;
                let end = soft.slope(&self.trial, direction, &mut self.scratch, &mut self.matrix);
                // A gain with a steep slope back is an overshoot across a narrow valley.
                if end > -0.5 * slope - rounding && gain > 0.1 * length * slope - rounding {
                    self.mu = mu;
                    self.accept(y, soft);
                    return true;
                }
                // The softened dual is convex: the secant of its slopes points to the minimum.
                let secant = slope / (slope - end);
                length *= if secant.is_finite() { secant.clamp(0.1, 0.7) } else { 0.3 };
            } else {
                length *= 0.3;
            }
            if monitor.interrupted().is_some() {
                return true;
            }
        }
        false
    }
}
