//! V_perp for any features, with Newton systems solved among its matrices ([`Ties`]).
//!
//! The Newton step of the dual gives, to second order, the optimal moments, which are the primal
//! iterate. The entropy is its own barrier and the temperature the path parameter. For features
//! with many coinciding products V_perp is large and [`super::interior_point`] takes over.

use super::normal_matrix::perp_operations;
use super::path_newton::{DualSpace, Near};
use super::ties::Ties;
use crate::deadline::Deadline;
use crate::features::Classes;
use crate::linalg::{EigenWork, Gibbs, Square, eigenvalues, multiply, power_norm};
use faer::Par;
use std::sync::Arc;

/// First temperature, as a part of |A|.
const HOTTEST: f64 = 0.2;
/// Residual beyond which feasible points made from the state are bad.
const FAR: f64 = 0.5;
/// Shrinking that costs less than this in the value is no loss.
const ROUNDING: f64 = 1e-11;

/// Any Y whose entries sum to zero over every class, held as a full matrix.
pub(crate) struct General {
    deadline: Deadline,
    /// Those of a Newton system.
    operations: f64,
    classes: Arc<Classes>,
    a: Square,
    norm: f64,
    rho: Square,
    ties: Ties,
    /// Moments of the last Newton step, for the primal value.
    fitted: Option<Vec<f64>>,
    /// The Newton direction at the current state, when the primal value asked for it first.
    ready: Option<Vec<f64>>,
    /// Whether the state is too far from feasible for a primal point that is worth its cost.
    far: bool,
    scratch: Square,
}

impl General {
    /// The space for A in V.
    pub(crate) fn new(classes: Arc<Classes>, a: Square, threads: usize, deadline: &Deadline) -> Self {
        let n = classes.n();
        let par = if threads > 1 && n > 64 { Par::rayon(threads) } else { Par::Seq };
        General {
            deadline: deadline.clone(),
            operations: perp_operations(&classes),
            norm: power_norm(&a),
            a,
            rho: Square::zeros(n),
            ties: Ties::new(&classes, par),
            classes,
            fitted: None,
            ready: None,
            far: false,
            scratch: Square::zeros(n),
        }
    }

    /// The moments `E x^C` of the last Newton step, if any was made.
    pub(crate) fn fitted(&self) -> Option<&[f64]> {
        self.fitted.as_deref()
    }

    /// `rho <- n sum_k p_k u_k u_k^T`.
    fn fill_rho(&mut self, gibbs: &Gibbs) {
        let n = gibbs.n();
        let weight = |k: usize| n as f64 * gibbs.weights[k];
        spectral_sum(&gibbs.eigen.vectors, weight, gibbs.rank, &mut self.scratch, &mut self.rho);
    }
}

/// `out <- sum_k w_k u_k u_k^T` over the last `rank` eigenvectors.
pub(super) fn spectral_sum(
    vectors: &Square,
    w: impl Fn(usize) -> f64,
    rank: usize,
    scratch: &mut Square,
    out: &mut Square,
) {
    let n = vectors.n();
    let first = n - rank;
    for k in first..n {
        let weight = w(k);
        let target = &mut scratch.data_mut()[n * (k - first)..n * (k - first + 1)];
        target.iter_mut().zip(vectors.column(k)).for_each(|(t, u)| *t = weight * u);
    }
    let top = &vectors.data()[n * first..];
    multiply::outer(&scratch.data()[..n * rank], top, n, rank, out.data_mut());
}

impl DualSpace for General {
    fn len(&self) -> usize {
        self.a.data().len()
    }

    fn hottest(&self) -> f64 {
        HOTTEST * self.norm
    }

    fn start(&self, t: f64, y: &mut [f64]) {
        // Second order in A/t, as for diagonals: proj_perp(A^2) / 2t.
        let mut square = Square::zeros(self.a.n());
        multiply::squares(&self.a, &self.a, &mut square);
        self.classes.project_perp(square.data_mut());
        y.iter_mut().zip(square.data()).for_each(|(y, s)| *y = s / (2.0 * t));
    }

    fn evaluate(
        &mut self,
        y: &[f64],
        t: f64,
        _near: Option<Near<'_>>,
        out: &mut Gibbs,
        work: &mut EigenWork,
    ) -> bool {
        for ((o, a), y) in self.scratch.data_mut().iter_mut().zip(self.a.data()).zip(y) {
            *o = (a - y) / t;
        }
        self.scratch.symmetrize();
        out.decompose_in_place(&mut self.scratch, work)
    }

    fn residual(&mut self, gibbs: &Gibbs) -> f64 {
        self.ready = None;
        self.fill_rho(gibbs);
        self.classes.project_perp(self.rho.data_mut());
        let residual = (self.rho.data().iter().map(|v| v * v).sum::<f64>() / gibbs.n() as f64).sqrt();
        self.far = residual > FAR;
        residual
    }

    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, _accuracy: f64, out: &mut [f64]) -> bool {
        if let (0.0, Some(ready)) = (tilt, self.ready.take()) {
            out.copy_from_slice(&ready);
            return true;
        }
        if !self.deadline.may_begin(self.operations) {
            return false;
        }
        let Some(moments) = self.ties.solve(gibbs, tilt, out) else { return false };
        if tilt == 0.0 {
            self.fitted = Some(moments);
        }
        out.iter().all(|v| v.is_finite())
    }

    fn slope(&self, gibbs: &Gibbs, direction: &[f64]) -> f64 {
        let n = gibbs.n();
        let mut image = vec![0.0; n];
        let mut total = 0.0;
        for k in n - gibbs.rank..n {
            let u = gibbs.eigen.vectors.column(k);
            image.fill(0.0);
            for (column, x) in direction.chunks_exact(n).zip(u) {
                image.iter_mut().zip(column).for_each(|(o, c)| *o += c * x);
            }
            total += gibbs.weights[k] * image.iter().zip(u).map(|(a, b)| a * b).sum::<f64>();
        }
        total
    }

    fn primal(&mut self, gibbs: &Gibbs, work: &mut EigenWork) -> f64 {
        if self.far {
            return f64::NEG_INFINITY;
        }
        let mut direction = vec![0.0; self.len()];
        if !self.direction(gibbs, 0.0, 0.0, &mut direction) {
            return f64::NEG_INFINITY;
        }
        self.ready = Some(direction);
        let mut sigma = Square::zeros(gibbs.n());
        self.classes.fill(self.fitted.as_deref().unwrap_or_default(), sigma.data_mut());
        let (of_fit, shrunk) = shrunk_value(&self.a, &sigma, work);
        if shrunk * (1.0 + self.norm) < ROUNDING {
            return of_fit;
        }
        // The fit errs by rounding where weights are tiny; the projected state by its residual.
        self.fill_rho(gibbs);
        self.classes.project(self.rho.data_mut());
        of_fit.max(feasible_value(&self.a, &self.rho, work))
    }
}

/// `<A, Sigma>/n - tr Sigma log Sigma / n` after shrinking Sigma (unit diagonal, in V) towards I
/// until it is positive: `(1 - u) Sigma + u I`, as in the paper.
pub(crate) fn feasible_value(a: &Square, sigma: &Square, work: &mut EigenWork) -> f64 {
    shrunk_value(a, sigma, work).0
}

/// The value and u.
fn shrunk_value(a: &Square, sigma: &Square, work: &mut EigenWork) -> (f64, f64) {
    let n = a.n() as f64;
    let mut spectrum = Vec::new();
    if !eigenvalues(sigma, &mut spectrum, work) {
        return (f64::NEG_INFINITY, 1.0);
    }
    let least = spectrum[0];
    let u = if least < 0.0 { -least / (1.0 - least) } else { 0.0 };
    let diagonal: f64 = a.diagonal().sum();
    let linear = (1.0 - u) * a.dot(sigma) + u * diagonal;
    let shrunk = spectrum.iter().map(|v| (1.0 - u) * v + u);
    let entropy: f64 = shrunk.filter(|v| *v > 0.0).map(|v| v * v.ln()).sum();
    ((linear - entropy) / n, u)
}
