//! An interior-point method on the moments, for feature sets with many coinciding products.
//!
//! The dual `log((1/n) tr exp(A - Y))` is flat where the Gibbs state has no weight, and the state has
//! eigenvalues down to `e^-50` there. A barrier `mu log det Sigma` in the primal holds them at about
//! mu (see [`SoftState`]) and costs mu in the value; mu falls from step to step. Newton's step in Y is
//! the weighted least-squares fit of a moment matrix S to the softened state, with
//!
//! `Y <- Y + proj_perp K[Sigma - S]`
//!
//! K the derivative of `log - mu/.` (docs/theory.md, eq. 10). S is the primal iterate: its error is
//! quadratic. Lowering mu moves Sigma but hardly Y, which is why the steps are long.

mod centring;
mod step;

use crate::features::Classes;
use crate::linalg::{EigenWork, Gibbs, Square, power_norm};
use crate::observer::Monitor;
use crate::relax::quantum::general::{feasible_value, spectral_sum};
use crate::relax::quantum::moment_system::MomentSystem;
use crate::relax::quantum::normal_matrix::moment_operations;
use crate::relax::quantum::soft_state::SoftState;
use crate::relax::quantum::stopping::{Progress, Units};
use crate::solution::StopReason;
use centring::Centring;
use faer::Par;

/// Where the method stands.
pub(crate) struct Outcome {
    /// Dual variable at the best dual value.
    pub(crate) y: Vec<f64>,
    /// The decomposition of `A - Y`.
    pub(crate) state: Gibbs,
    /// Best primal value.
    pub(crate) primal: f64,
    /// The moments behind it.
    pub(crate) moments: Vec<f64>,
    /// Why it ended.
    pub(crate) stop: StopReason,
}

/// mu ends at this fraction of the gap that is allowed.
const LAST_MU: f64 = 0.1;
/// The primal point is taken this fraction of mu further down the path.
const AHEAD: f64 = 0.9;
/// While mu exceeds this multiple of the gap that is allowed, few points are turned into bounds,
const EARLY: f64 = 1e3;
/// one in so many.
const SELDOM: usize = 5;
/// Distance from the path at which the moments are as accurate as they will be reported.
const POLISHED: f64 = 0.02;
/// A gap below this fraction of |A| at Y = 0 puts the start further down the path.
const NEARLY_DONE: f64 = 0.05;
/// A warm start begins at this fraction of |A|, and counts if it is this close to the path.
const WARM: (f64, f64) = (1e-4, 20.0);

/// Runs from `warm` or Y = 0 until the gap is at most `relative_tol max(eps, |phi|)`.
pub(crate) fn minimise(
    classes: &Classes,
    a: &Square,
    warm: Option<Vec<f64>>,
    relative_tol: f64,
    units: Units,
    threads: usize,
    monitor: &mut Monitor<'_>,
) -> Outcome {
    let mut method = Method::new(classes, a, threads);
    let mut progress = Progress::default();
    if !method.start(warm, monitor) {
        return method.into_outcome(StopReason::NumericalTrouble);
    }
    if method.dual - method.primal <= units.allowed(relative_tol, method.dual) {
        let _ = monitor.iteration(units.phi(method.primal), units.phi(method.dual));
        return method.into_outcome(StopReason::Converged);
    }
    let operations = moment_operations(classes);
    let stop = loop {
        if !monitor.deadline().may_begin(operations) {
            break StopReason::TimeLimit;
        }
        let Some(centring) = method.centre() else { break StopReason::NumericalTrouble };
        let allowed = units.allowed(relative_tol, method.dual);
        let least = LAST_MU * allowed;
        method.keep_primal(&centring, allowed);
        let gap = method.dual - method.primal;
        let limit = monitor.iteration(units.phi(method.primal), units.phi(method.dual));
        if gap <= allowed {
            method.polish(&centring, least, monitor);
            break StopReason::Converged;
        }
        if let Some(reason) = limit {
            break reason;
        }
        if progress.is_stalled(gap) || !method.advance(&centring, least, monitor) {
            break StopReason::Stalled;
        }
    };
    method.into_outcome(stop)
}

struct Method<'a> {
    classes: &'a Classes,
    a: &'a Square,
    system: MomentSystem<'a>,
    mu: f64,
    /// Where the path begins.
    hottest: f64,
    y: Vec<f64>,
    /// The decomposition of `A - Y` and its softened state.
    state: Gibbs,
    soft: SoftState,
    trial: Gibbs,
    /// Best values so far, and where.
    dual: f64,
    best: Option<(Vec<f64>, Gibbs)>,
    primal: f64,
    moments: Vec<f64>,
    /// Points of the path since the last whose primal value was taken.
    unseen: usize,
    matrix: Square,
    scratch: Square,
    work: EigenWork,
}

impl<'a> Method<'a> {
    fn new(classes: &'a Classes, a: &'a Square, threads: usize) -> Self {
        let n = classes.n();
        let par = if threads > 1 && n > 64 { Par::rayon(threads) } else { Par::Seq };
        let mut moments = vec![0.0; classes.len()];
        moments[0] = 1.0;
        Method {
            classes,
            a,
            system: MomentSystem::new(classes, par),
            mu: 1.0,
            hottest: 1.0,
            y: vec![0.0; n * n],
            state: Gibbs::default(),
            soft: SoftState::default(),
            trial: Gibbs::default(),
            dual: f64::INFINITY,
            best: None,
            primal: f64::NEG_INFINITY,
            moments,
            unseen: 0,
            matrix: Square::zeros(n),
            scratch: Square::zeros(n),
            work: EigenWork::default(),
        }
    }

    /// Begins at `warm` with a low barrier if that is near the path, else at Y = 0 with a high one.
    fn start(&mut self, warm: Option<Vec<f64>>, monitor: &mut Monitor<'_>) -> bool {
        self.hottest = power_norm(self.a).max(1e-12);
        if let Some(y) = warm {
            self.mu = WARM.0 * self.hottest;
            let system = moment_operations(self.classes);
            if self.begin(y, monitor)
                && monitor.deadline().may_begin(system)
                && self.centre().is_some_and(|c| c.distance < WARM.1)
            {
                return true;
            }
        }
        self.mu = self.hottest;
        if !self.begin(vec![0.0; self.a.data().len()], monitor) {
            return false;
        }
        // On the path the gap is about mu: a start with a small gap is far down already.
        let gap = self.dual - self.primal;
        if gap > 0.0 && gap < NEARLY_DONE * self.hottest {
            self.mu = gap;
            self.soft = SoftState::new(&self.state, self.mu);
        }
        true
    }

    fn begin(&mut self, y: Vec<f64>, monitor: &mut Monitor<'_>) -> bool {
        if !self.decompose(&y, monitor) {
            return false;
        }
        let soft = SoftState::new(&self.trial, self.mu);
        self.accept(y, soft);
        // With all features, and near a good start, the state itself is feasible.
        let n = self.a.n();
        let weight = |k: usize| n as f64 * self.state.weights[k];
        spectral_sum(&self.state.eigen.vectors, weight, n, &mut self.scratch, &mut self.matrix);
        let moments = self.classes.means(self.matrix.data());
        self.try_primal(moments);
        true
    }

    /// Decomposes `A - Y` into the trial.
    fn decompose(&mut self, y: &[f64], monitor: &mut Monitor<'_>) -> bool {
        for ((m, a), y) in self.matrix.data_mut().iter_mut().zip(self.a.data()).zip(y) {
            *m = a - y;
        }
        self.matrix.symmetrize();
        monitor.eigendecompositions += 1;
        self.trial.decompose(&self.matrix, &mut self.work)
    }

    fn accept(&mut self, y: Vec<f64>, soft: SoftState) {
        self.y = y;
        self.soft = soft;
        std::mem::swap(&mut self.state, &mut self.trial);
        if self.state.log_mean < self.dual {
            self.dual = self.state.log_mean;
            self.best = Some((self.y.clone(), self.state.clone()));
        }
    }

    /// The primal value of the moments further down the path, or else of those at the current mu,
    /// now and then while the gap is sure to exceed `allowed`: on the path it is about mu.
    fn keep_primal(&mut self, centring: &Centring, allowed: f64) {
        self.unseen += 1;
        if self.mu > EARLY * allowed && self.unseen < SELDOM {
            return;
        }
        self.unseen = 0;
        if !self.try_primal(centring.moments_at(-AHEAD * self.mu)) {
            self.try_primal(centring.moments.clone());
        }
    }

    fn try_primal(&mut self, moments: Vec<f64>) -> bool {
        self.classes.fill(&moments, self.matrix.data_mut());
        let value = feasible_value(self.a, &self.matrix, &mut self.work);
        if value > self.primal {
            self.primal = value;
            self.moments = moments;
            return true;
        }
        false
    }

    /// One more step for the moments: they err like the root of the gap.
    fn polish(&mut self, centring: &Centring, least: f64, monitor: &mut Monitor<'_>) {
        let done = centring.distance < POLISHED && self.mu <= least;
        if done
            || !self.advance(centring, least, monitor)
            || !monitor.deadline().may_begin(moment_operations(self.classes))
        {
            return;
        }
        if let Some(last) = self.centre().filter(|last| last.distance < centring.distance.min(1.0)) {
            self.moments = last.moments_at(-self.mu);
        }
    }

    fn into_outcome(self, stop: StopReason) -> Outcome {
        let (y, state) = self.best.unwrap_or((self.y, self.state));
        Outcome { y, state, primal: self.primal, moments: self.moments, stop }
    }
}
