//! V_perp for the features (1, x): zero-sum diagonals, with Newton systems by conjugate gradients.

mod ahead;
mod direct;
mod follow;
mod hessian;
mod pair_preconditioner;
mod quick;
mod start;

use super::path_newton::{DualSpace, Near, Schedule};
use crate::deadline::Deadline;
use crate::linalg::{EigenWork, Gibbs, Square, dot, eigenvalues_of, eigh_in_place, multiply};
pub(crate) use ahead::Ahead;
use direct::Direct;
use follow::{Followed, Follower};
use hessian::{BLOCK, DiagonalHessian};
use quick::Quick;
use start::Start;

/// Y = diag(y), sum y = 0. A Hessian product costs O(n^2 r), r the number of weighty eigenvalues.
///
/// **Memory** One n x n matrix, `A - Y` up to a factor; its lower triangle is the workspace of
/// decompositions.
pub(crate) struct Diagonal {
    /// `F - Y / ratio` at the point evaluated last, where `A = ratio F`.
    matrix: Square,
    ratio: f64,
    start: Start,
    density: Vec<f64>,
    logs: bool,
    follower: Follower,
    hessian: DiagonalHessian,
    quick: Quick,
    direct: Direct,
}

/// Newton on the logarithms of the diagonal is for states of high rank above this residual; at low
/// rank the diagonal is no longer like a softmax and plain Newton is better.
const LOG_SWITCH: f64 = 0.3;
/// Above this residual, at any rank.
const FAR: f64 = 0.6;
/// Workspaces of matrices this large are given back after use: they would add up.
const LARGE: usize = 300;
/// Up to this size the Hessian is formed and factored: conjugate gradients lose directions whose
/// curvature is far below the largest, which low temperatures have.
const DIRECT: usize = 48;
/// Relative accuracy of the step ahead: what it leaves is small next to the residual, which is small itself.
const AHEAD: f64 = 1e-2;

impl Diagonal {
    /// The space for `A = ratio * f`, f of zero diagonal; Newton systems are left as they are at the deadline.
    pub(crate) fn new(f: Square, ratio: f64, deadline: &Deadline) -> Self {
        Diagonal {
            start: Start::new(&f, ratio),
            density: vec![0.0; f.n()],
            matrix: f,
            ratio,
            logs: false,
            follower: Follower::default(),
            hessian: DiagonalHessian::new(deadline),
            quick: Quick::default(),
            direct: Direct::default(),
        }
    }

    /// `F - Y / ratio`.
    pub(crate) fn into_matrix(mut self, y: &[f64]) -> Square {
        self.set_diagonal(y);
        self.matrix
    }

    fn set_diagonal(&mut self, y: &[f64]) {
        let n = self.matrix.n();
        self.matrix.data_mut().iter_mut().step_by(n + 1).zip(y).for_each(|(m, y)| *m = -y / self.ratio);
    }

    /// `rho_ii`, the diagonal of the state.
    fn fill_density(&mut self, gibbs: &Gibbs) {
        self.density.fill(0.0);
        let n = gibbs.n();
        for k in n - gibbs.rank..n {
            let p = gibbs.weights[k];
            for (d, u) in self.density.iter_mut().zip(gibbs.eigen.vectors.column(k)) {
                *d += p * u * u;
            }
        }
    }

    /// Root mean square of `log(n rho_ii)`.
    fn log_size(&self) -> f64 {
        let n = self.density.len() as f64;
        let square = |d: &f64| (n * d).max(1e-300).ln().powi(2);
        (self.density.iter().map(square).sum::<f64>() / n).sqrt()
    }

    /// Derivative of the diagonal when B is scaled: `sum_k u_k^2 p_k (lambda_k - mean)`.
    fn tilted(&self, gibbs: &Gibbs, tilt: f64, out: &mut [f64]) {
        let (n, mean) = (gibbs.n(), gibbs.mean_value());
        for k in n - gibbs.rank..n {
            let weight = tilt * gibbs.weights[k] * (gibbs.eigen.values[k] - mean);
            for (o, u) in out.iter_mut().zip(gibbs.eigen.vectors.column(k)) {
                *o += weight * u * u;
            }
        }
    }

    /// The moments one Newton step ahead of `gibbs`. **Cost** one Newton system, O(n^2 r).
    pub(crate) fn ahead(&mut self, gibbs: &Gibbs) -> Ahead {
        let n = gibbs.n();
        self.logs = false;
        let mut step = vec![0.0; n];
        if !self.direction(gibbs, 0.0, AHEAD, &mut step) {
            step.fill(0.0);
        }
        Ahead::new(gibbs, &mut self.hessian, &step, dot(&self.density, &step))
    }
}

impl DualSpace for Diagonal {
    fn len(&self) -> usize {
        self.matrix.n()
    }

    fn hottest(&self) -> f64 {
        self.start.hottest()
    }

    fn start(&self, t: f64, y: &mut [f64]) {
        self.start.at(t, y);
    }

    fn guess(&self) -> Option<Vec<f64>> {
        self.start.frozen(1.0)
    }

    fn evaluate(
        &mut self,
        y: &[f64],
        t: f64,
        near: Option<Near<'_>>,
        out: &mut Gibbs,
        work: &mut EigenWork,
    ) -> bool {
        self.set_diagonal(y);
        let only = near.as_ref().is_some_and(|near| near.only);
        let scale = self.ratio / t;
        let follow = |near| self.follower.follow(&self.matrix, scale, y, t, near, out);
        match near.map_or(Followed::No, follow) {
            Followed::Yes => return true,
            Followed::Lost if only => return false,
            _ => {}
        }
        self.follower.release(y.len());
        let done = eigh_in_place(&mut self.matrix, &mut out.eigen, work);
        out.eigen.values.iter_mut().for_each(|v| *v *= self.ratio / t);
        out.partial = false;
        done && out.weigh()
    }

    fn schedule(&self) -> Schedule {
        // Longer steps than these lose the eigenvectors that are followed.
        Schedule { ready: 0.3, reject: 0.6, drop: 2.6, fastest: 2.6, growth: 1.2, smooth: 0.1, rough: 0.14 }
    }

    fn residual(&mut self, gibbs: &Gibbs) -> f64 {
        self.fill_density(gibbs);
        let logs = self.log_size();
        self.logs = logs > LOG_SWITCH && (2 * gibbs.rank > gibbs.n() || logs > FAR);
        logs
    }

    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, accuracy: f64, out: &mut [f64]) -> bool {
        self.fill_density(gibbs);
        let n = gibbs.n() as f64;
        let logs = self.logs && tilt == 0.0;
        let size = self.log_size();
        self.follower.aim_at(size, tilt);
        let mut rhs: Vec<f64> = if logs {
            // Newton on log(n rho_ii) = 0: exact for a diagonal A, and tame far from the solution.
            self.density.iter().map(|d| d * (n * d).max(0.05).ln()).collect()
        } else {
            self.density.iter().map(|d| d - 1.0 / n).collect()
        };
        let total: f64 = rhs.iter().sum();
        rhs.iter_mut().zip(&self.density).for_each(|(r, d)| *r -= total * d);
        self.tilted(gibbs, tilt, &mut rhs);
        if gibbs.n() <= DIRECT {
            if !self.direct.solve(gibbs, &rhs, out) {
                return false;
            }
        } else {
            let quick = self.quick.allows(gibbs, size, tilt);
            self.hessian.solve(gibbs, &self.density, &rhs, accuracy, quick, out);
        }
        if logs && !(self.slope(gibbs, out) > 0.0) {
            // Not a descent direction: the gradient's always is.
            self.logs = false;
            return self.direction(gibbs, tilt, accuracy, out);
        }
        out.iter().all(|v| v.is_finite())
    }

    fn slope(&self, gibbs: &Gibbs, direction: &[f64]) -> f64 {
        let n = gibbs.n();
        (n - gibbs.rank..n)
            .map(|k| {
                let u = gibbs.eigen.vectors.column(k);
                gibbs.weights[k] * u.iter().zip(direction).map(|(u, d)| u * u * d).sum::<f64>()
            })
            .sum()
    }

    /// `Sigma = D^(-1/2) (n rho) D^(-1/2)` has unit diagonal; its nonzero spectrum is that of an
    /// r x r matrix, so no decomposition of size n is needed.
    fn primal(&mut self, gibbs: &Gibbs, work: &mut EigenWork) -> f64 {
        let (n, r) = (gibbs.n(), gibbs.rank);
        self.fill_density(gibbs);
        let mut factor = vec![0.0; n * r];
        for (q, column) in factor.chunks_exact_mut(n).enumerate() {
            let k = n - r + q;
            let root = gibbs.weights[k].sqrt();
            for ((f, u), d) in column.iter_mut().zip(gibbs.eigen.vectors.column(k)).zip(&self.density) {
                *f = root * u / d.sqrt();
            }
        }
        self.set_diagonal(&vec![0.0; n]);
        let mut image = vec![0.0; n * BLOCK.min(r)];
        let mut linear = 0.0;
        for block in factor.chunks(n * BLOCK) {
            let image = &mut image[..block.len()];
            multiply::square_times(&self.matrix, block, block.len() / n, self.ratio, image);
            linear += dot(image, block);
        }
        let mut gram = Square::zeros(r);
        multiply::transposed_left(&factor, &factor, n, r, gram.data_mut());
        drop(factor);
        let mut spectrum = Vec::new();
        let mut own = EigenWork::default();
        let work = if r == n { work } else { &mut own };
        if !eigenvalues_of(&mut gram, &mut spectrum, work) {
            return f64::NEG_INFINITY;
        }
        let entropy: f64 = spectrum.iter().filter(|v| **v > 0.0).map(|v| v * v.ln()).sum();
        (linear - entropy) / n as f64
    }
}
