//! The tangent at a point of the path as a certificate.

use super::barrier::Barrier;
use super::derivatives::gradient;
use super::moments::Moments;
use super::path::Outcome;
use super::quantum_settings;
use crate::certify::{Certificate, CertifiedBound, Component, Form, Slack};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, EigenWork, eigh};
use crate::model::Polynomial;
use crate::observer::Monitor;
use crate::problem::{EPS_RANGE, Problem};
use crate::relax::{DualPoint, Quantum, Relaxation, SpectralPoint};
use crate::settings::Settings;

/// A certificate and what it proves.
pub(super) type Proof = (Certificate, CertifiedBound);

pub(super) fn prove(problem: &Problem, certificate: Result<Certificate>) -> Result<Proof> {
    let certificate = certificate?;
    let bound = certificate.verify(problem.polynomial())?;
    Ok((certificate, bound))
}

/// As [`certificate`] with the best Y for the linear function `F - eps N`, found by the quantum relaxation near zero
/// temperature: at low temperature `mu Sigma^-1` is mostly rounding, and this does without it.
pub(super) fn polished(
    problem: &Problem,
    barrier: &Barrier,
    primal: f64,
    settings: &Settings,
    monitor: &mut Monitor<'_>,
) -> Result<Certificate> {
    let (eps, features, tol) = (problem.eps(), problem.features(), settings.tol);
    let total: f64 = barrier.eta.iter().sum();
    let eta: Vec<f64> = barrier.eta.iter().map(|w| w / total).collect();
    let classes = features.classes();
    let slope = classes.sums(gradient(&barrier.eigen, &eta).data());
    let removed = classes.sets().iter().zip(&slope).map(|(set, v)| (set.clone(), -eps * v));
    let linear = problem.polynomial().coefficients().chain(removed);
    let f = Polynomial::from_coefficients(problem.d(), linear)?;
    let cost = (features.len() as f64).ln().max(1.0);
    let near_zero = (0.2 * tol * primal.abs().max(eps) / cost).clamp(*EPS_RANGE.start(), *EPS_RANGE.end());
    let flat = Problem::new(f, features.clone())?.with_temperature(near_zero)?;
    let inner = quantum_settings(settings, monitor).with_tol(tol.clamp(1e-12, 1e-3));
    let solution = Quantum::default().solve_with(&flat, &inner, &mut monitor.relay())?;
    let Some(DualPoint { matrix, eigen }) = solution.point.and_then(SpectralPoint::into_dual) else {
        return Err(Error::Certificate("the tangent could not be bounded".into()));
    };
    let form = Form::Tangent { features: features.clone(), eta, point: barrier.eigen.clone(), matrix, eigen };
    Ok(Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    })
}

/// `K = F - eps N - Y` with the Y in V_perp that leaves `c I - mu Sigma^-1`, the stationarity of the barrier.
pub(super) fn certificate(problem: &Problem, moments: &Moments, outcome: &Outcome) -> Result<Certificate> {
    let eps = problem.eps();
    let barrier = &outcome.barrier;
    let total: f64 = barrier.eta.iter().sum();
    let eta: Vec<f64> = barrier.eta.iter().map(|w| w / total).collect();
    let n = eta.len();
    let mut matrix = moments.matrix();
    let slope = gradient(&barrier.eigen, &eta);
    matrix.data_mut().iter_mut().zip(slope.data()).for_each(|(f, g)| *f -= g);
    let inverse = barrier.inverse();
    let mut stationary = matrix;
    stationary.data_mut().iter_mut().zip(inverse.data()).for_each(|(k, i)| *k += outcome.mu * i);
    moments.classes.project(stationary.data_mut());
    for (k, i) in stationary.data_mut().iter_mut().zip(inverse.data()) {
        *k = eps * (*k - outcome.mu * i);
    }
    // The constant of f joins the diagonal.
    stationary.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v += moments.constant / n as f64);
    stationary.symmetrize();
    let mut eigen = Eigen::default();
    if !eigh(&stationary, &mut eigen, &mut EigenWork::default()) {
        return Err(Error::Certificate("the eigensolver failed".into()));
    }
    let form = Form::Tangent {
        features: problem.features().clone(),
        eta,
        point: barrier.eigen.clone(),
        matrix: stationary,
        eigen,
    };
    Ok(Certificate {
        eps,
        slack: Slack::default(),
        components: vec![Component { weight: 1.0, form }],
        witness: None,
    })
}
