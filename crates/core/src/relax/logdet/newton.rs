//! One linearisation of the optimality conditions, and the steps it gives.

use super::cuts::{Cuts, zip_quads};
use super::dense::DenseSystem;
use super::interior_point::{Point, shifted};
use super::kronecker::Kronecker;
use super::structured::StructuredSystem;
use crate::linalg::scaling::Scaling;
use crate::linalg::symmetric::{clear_diagonal, plus};
use crate::linalg::{EigenWork, Square};
use crate::relax::cuts::quad::Quad;

/// A change of every variable of a [`Point`].
pub(super) struct Step {
    pub(super) sigma: Square,
    pub(super) slack: Vec<Quad>,
    pub(super) s: Square,
    pub(super) nu: Vec<Quad>,
    pub(super) m: Square,
}

/// Scalings of both matrix pairs and the ratios `nu / s` at a point.
pub(super) struct Linearization<'a> {
    point: &'a Point,
    cuts: &'a Cuts,
    psd: Scaling,
    gauss: Scaling,
    weights: Vec<Quad>,
}

/// A factorised Newton system.
pub(super) enum System<'a> {
    Dense(DenseSystem),
    Structured(Box<StructuredSystem<'a>>),
}

impl<'a> Linearization<'a> {
    /// `None` when a matrix of the point is not numerically definite.
    pub(super) fn new(point: &'a Point, cuts: &'a Cuts, work: &mut EigenWork) -> Option<Self> {
        let psd = Scaling::new(&point.sigma, &point.s, work)?;
        let gauss = Scaling::new(&shifted(&point.sigma), &point.m, work)?;
        let weights = zip_quads(&point.nu, &point.slack, |nu, s| nu / s);
        Some(Linearization { point, cuts, psd, gauss, weights })
    }

    /// `None` when the factorisation fails.
    pub(super) fn system(&'a self, dense: bool, work: &mut EigenWork) -> Option<System<'a>> {
        let n = self.point.sigma.n();
        if dense {
            let scalings = [&self.gauss.t, &self.psd.t];
            return DenseSystem::new(scalings, self.cuts, &self.weights).map(System::Dense);
        }
        let kronecker = Kronecker::new(&self.gauss.g, &self.gauss.g_inv, &self.psd.t, work)?;
        StructuredSystem::new(kronecker, n, self.cuts, &self.weights)
            .map(|system| System::Structured(Box::new(system)))
    }

    /// The step towards `Sigma S = target I`, `s nu = target`, `X M = gauss_target I`, with
    /// Mehrotra's second-order terms when the predictor is given; `tolerance` is on the square of
    /// the relative perturbation of M by an inexact solve.
    pub(super) fn direction(
        &self,
        system: &System<'_>,
        [target, cut_target, gauss_target]: [f64; 3],
        predictor: Option<&Step>,
        tolerance: f64,
        interrupted: &mut dyn FnMut() -> bool,
    ) -> Step {
        let s = self.psd.constant_part(target, predictor.map(|p| (&p.sigma, &p.s)));
        let m = self.gauss.constant_part(gauss_target, predictor.map(|p| (&p.sigma, &p.m)));
        let mut nu = zip_quads(&self.point.nu, &self.point.slack, |nu, s| cut_target / s - nu);
        if let Some(p) = predictor {
            let product = zip_quads(&p.slack, &p.nu, |ds, dnu| ds * dnu);
            let second = zip_quads(&product, &self.point.slack, |product, s| product / s);
            nu = zip_quads(&nu, &second, |nu, second| nu - second);
        }
        let mut rhs = plus(&s, 1.0, &m);
        self.cuts.add_adjoint(&nu, &mut rhs);
        clear_diagonal(&mut rhs);
        let sigma = match system {
            System::Dense(system) => system.solve(&rhs),
            System::Structured(system) => system.solve(&rhs, tolerance, interrupted),
        };
        let slack = self.cuts.values(&sigma, 0.0);
        let change = zip_quads(&self.weights, &slack, |w, ds| w * ds);
        let nu = zip_quads(&nu, &change, |nu, change| nu - change);
        let s = plus(&s, -1.0, &self.psd.apply(&sigma));
        let linearized = plus(&m, -1.0, &self.gauss.apply(&sigma));
        // The hollow part keeps the dual feasible, so that what an inexact solve leaves over is
        // seen by the step length.
        let m = self.cuts.complete(&s, &nu, linearized.diagonal());
        Step { sigma, slack, s, nu, m }
    }
}
