//! Where the path is, to first order: the moments at the current mu, their tangent, and the direction to them.

use super::Method;
use crate::relax::quantum::general::spectral_sum;

/// Error of the moments in the metric of the barrier, squared.
const ACCURACY: f64 = 1e-4;

/// Newton's system at the current state, solved for the path.
pub(super) struct Centring {
    /// Moments of the point of the path at the current mu, to first order.
    pub(super) moments: Vec<f64>,
    /// Their derivative in mu.
    tangent: Vec<f64>,
    /// `|Sigma^{-1/2} (S - Sigma) Sigma^{-1/2}|`, S the matrix of the moments.
    pub(super) distance: f64,
}

impl Centring {
    /// Moments of the point of the path at `change` beyond the current mu, to first order.
    pub(super) fn moments_at(&self, change: f64) -> Vec<f64> {
        self.moments.iter().zip(&self.tangent).map(|(m, t)| m + change * t).collect()
    }
}

impl Method<'_> {
    pub(super) fn centre(&mut self) -> Option<Centring> {
        let (vectors, sigma) = (&self.state.eigen.vectors, &self.soft.sigma);
        let n = sigma.len();
        if !self.system.factor(vectors, sigma, self.mu) {
            return None;
        }
        spectral_sum(vectors, |k| sigma[k], n, &mut self.scratch, &mut self.matrix);
        let mut moments = self.classes.means(self.matrix.data());
        moments[0] = 1.0;
        let target: Vec<f64> = sigma.iter().map(|s| 1.0 + self.mu / s).collect();
        self.system.solve(vectors, &target, ACCURACY * self.mu, &mut moments);
        let inverse: Vec<f64> = sigma.iter().map(|s| 1.0 / s).collect();
        let mut tangent = vec![0.0; moments.len()];
        self.system.solve(vectors, &inverse, 100.0 * ACCURACY / self.mu, &mut tangent);
        let distance = self.soft.distance(self.system.in_eigenbasis(vectors, &moments));
        let finite = distance.is_finite() && tangent.iter().all(|v| v.is_finite());
        finite.then_some(Centring { moments, tangent, distance })
    }

    /// Direction in V_perp towards the point of the path at `mu`.
    pub(super) fn direction(&mut self, mu: f64, centring: &Centring) -> Vec<f64> {
        let moments = centring.moments_at(mu - self.mu);
        let target: Vec<f64> = self.soft.sigma.iter().map(|s| 1.0 + mu / s).collect();
        let misfit = self.system.misfit(&self.state.eigen.vectors, &moments, &target);
        let mut direction = misfit.data().to_vec();
        self.classes.project_perp(&mut direction);
        direction
    }
}
