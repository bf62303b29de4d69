//! Zero temperature: certified upper bounds on `max f` and good assignments (paper, section 6).
//!
//! `max f <= a_0(F) = sup { tr Sigma F : Sigma in V, Sigma PSD, diag Sigma = 1 }`, the limit of the quantum relaxation; for (1, x) it
//! is the relaxation of max-cut. Small problems are solved by an interior-point method, large sparse ones in
//! factored form without n x n storage, other features by the quantum relaxation at a temperature near 0. [`MapRequest::close`]
//! goes on to the maximum itself: elimination, branch and bound, and the lattice that integer data lie on.

mod branch;
mod close;
mod cuts;
mod cycles;
mod interior_point;
mod lattice;
mod low_rank;
mod moments;
mod pairwise;
mod quadratic;
mod random;
mod record;
mod report;
mod rounding;

pub use cuts::Cuts;
pub use record::{MAP_SCHEMA, MapRecord, Proof};
pub use report::{MapReport, MapRequest, map};

use crate::certify::{Certificate, CertifiedBound, Witness};
use crate::error::Result;
use crate::features::{FeatureSpec, Features};
use crate::model::{Ising, Polynomial};
use crate::observer::{Monitor, Observer, Silent};
use crate::search::{Effort, best_spins};
use crate::settings::Settings;
use crate::solution::StopReason;
use std::time::Instant;

/// The zero-temperature relaxation.
///
/// ```
/// use zbound::query::map::{Cuts, Map};
/// use zbound::{FeatureSpec, Ising, Settings};
/// // A frustrated triangle: max f = 1, the plain relaxation proves 1.5, triangle cuts close the gap.
/// let f = Ising::new(3, &[0.0; 3], &[(0, 1, -1.0), (0, 2, -1.0), (1, 2, -1.0)])?.into();
/// let solve = |cuts| Map::new(cuts).solve(&f, &FeatureSpec::Default, &Settings::default());
/// let (plain, tight) = (solve(Cuts::None)?, solve(Cuts::Triangle)?);
/// assert!((plain.upper.unwrap().phi() - 1.5).abs() < 1e-6);
/// assert!((tight.upper.unwrap().phi() - 1.0).abs() < 1e-6);
/// assert_eq!(tight.value, 1.0);
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Map {
    cuts: Cuts,
}

/// The outcome of [`Map::solve`], in units of f.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct MapSolution {
    /// Proved upper bound on `max f`; `None` when certification failed (then `reason` says why).
    pub upper: Option<CertifiedBound>,
    /// `f(assignment)`.
    pub value: f64,
    /// The best assignment found.
    pub assignment: Vec<i8>,
    /// Distance from `upper` to a feasible value of the same relaxation.
    pub relaxation_gap: Option<f64>,
    /// Why it stopped.
    pub stop: StopReason,
    /// One sentence on anything unusual.
    pub reason: Option<String>,
    /// Iterations of the outermost loop.
    pub iterations: usize,
    /// Wall-clock seconds, certification and rounding included.
    pub seconds: f64,
    /// Features of the moment matrix; `None` for (1, x).
    pub features: Option<Features>,
    /// The proof of `upper`, with `assignment` as its witness.
    pub certificate: Option<Certificate>,
}

/// Outer iterations over all rounds of cuts when nothing else is asked for.
const ITERATIONS: usize = 100_000;

/// Share of the time limit that the relaxation may use; the rest is for assignments.
const RELAXATION_SHARE: f64 = 0.6;

/// What one solve of a relaxation holds.
struct Found {
    /// The proof at eps = 0 and what it proves, or why there is none.
    proof: Result<(Certificate, CertifiedBound)>,
    /// A feasible value of the relaxation, constant included.
    primal: f64,
    /// Factors of moments of (1, x) to round.
    factors: Vec<Factor>,
    stop: StopReason,
    reason: Option<String>,
}

/// `X = V V^T` for a moment matrix of (1, x), V by rows; empty when there is none.
struct Factor {
    rows: Vec<f64>,
    rank: usize,
}

impl Factor {
    /// Nothing to go by: assignments start at random.
    const NONE: Factor = Factor { rows: Vec::new(), rank: 0 };
}

impl Found {
    fn bound(&self) -> f64 {
        self.proof.as_ref().map_or(f64::INFINITY, |p| p.1.phi())
    }
}

impl Map {
    /// The relaxation with the given cuts.
    #[must_use]
    pub fn new(cuts: Cuts) -> Self {
        Map { cuts }
    }

    /// Bounds `max f` from above and looks for a maximiser, without being watched.
    ///
    /// # Errors
    /// As [`Map::solve_with`].
    pub fn solve(&self, f: &Polynomial, features: &FeatureSpec, settings: &Settings) -> Result<MapSolution> {
        self.solve_with(f, features, settings, &mut Silent)
    }

    /// Bounds `max f` from above and looks for a maximiser.
    ///
    /// Cuts apply to pairwise f; with other features than (1, x) their multipliers come from (1, x).
    ///
    /// **Cost** (1, x): some 200 n^3 flops for n up to 400, O(m sqrt(n)) per product and O(n sqrt(n)) memory
    /// above. Other features: as [`crate::relax::Quantum`].
    ///
    /// # Errors
    /// Bad settings, features that are malformed or cannot represent f, too little memory.
    pub fn solve_with(
        &self,
        f: &Polynomial,
        features: &FeatureSpec,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<MapSolution> {
        settings.validate()?;
        check_memory(f.d() + 1, settings)?;
        let start = Instant::now();
        let deadline = settings.ends();
        let limit = deadline.is_limited().then(|| RELAXATION_SHARE * deadline.seconds_left());
        let share = settings.for_part(&deadline, limit);
        let mut monitor = Monitor::new(&share, ITERATIONS, observer);
        let linear = |features: &Features| features.is_linear();
        let mut resolved = None;
        let found = match (f.as_ising(), features) {
            // No list of features: n may be large.
            (Some(ising), FeatureSpec::Default | FeatureSpec::Degree(1)) => {
                pairwise::solve(f, ising, self.cuts, settings, &mut monitor)
            }
            (ising, spec) => {
                let features = spec.resolve(f)?;
                match ising {
                    Some(ising) if linear(&features) => {
                        pairwise::solve(f, ising, self.cuts, settings, &mut monitor)
                    }
                    _ => self.lifted(f, ising, resolved.insert(features), settings, &mut monitor)?,
                }
            }
        };
        let iterations = monitor.iterations;
        let rest = settings.for_part(&deadline, None);
        let assignment = assignment(f, &found, &rest, &mut Monitor::new(&rest, usize::MAX, observer));
        let solution =
            MapSolution { features: resolved, iterations, ..finish(f, found, assignment, settings) };
        Ok(MapSolution { seconds: start.elapsed().as_secs_f64(), ..solution })
    }

    /// Features beyond (1, x): with and without the cuts that (1, x) asks for, whichever is better.
    fn lifted(
        &self,
        f: &Polynomial,
        ising: Option<&Ising>,
        features: &Features,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<Found> {
        let mut best = moments::solve(f, &[], features, settings, monitor)?;
        let Some(ising) = ising.filter(|_| self.cuts != Cuts::None) else {
            if self.cuts != Cuts::None {
                best.reason = Some("cuts need a pairwise model: none were used".into());
            }
            return Ok(best);
        };
        let flat = pairwise::solve(f, ising, self.cuts, settings, monitor);
        let list = flat.proof.as_ref().map_or_else(|_| Vec::new(), |p| p.0.slack.cuts.clone());
        if !list.is_empty() && monitor.interrupted().is_none() {
            let both = moments::solve(f, &list, features, settings, monitor)?;
            if both.bound() < best.bound() {
                best = both;
            }
        }
        if flat.bound() < best.bound() {
            best = Found { factors: best.factors, ..flat };
        }
        Ok(best)
    }
}

fn check_memory(n: usize, settings: &Settings) -> Result<()> {
    let what = format_args!("the zero-temperature relaxation of {n} rows");
    settings.require_memory(low_rank::memory(n), what, "raise the memory limit")
}

/// The best assignment that a search from the rounded moments finds.
fn assignment(f: &Polynomial, found: &Found, settings: &Settings, monitor: &mut Monitor<'_>) -> Vec<i8> {
    let rounded = found.factors.iter().flat_map(|v| rounding::starts(v, f.d(), settings.seed));
    let starts: Vec<Vec<i8>> = rounded.collect();
    let bound = found.bound();
    let enough = bound - settings.tol * bound.abs();
    best_spins(f, &starts, Effort { enough, ..Effort::full(settings) }, monitor)
}

fn finish(f: &Polynomial, found: Found, assignment: Vec<i8>, settings: &Settings) -> MapSolution {
    let mut solution = MapSolution {
        upper: None,
        value: f.value(&assignment),
        relaxation_gap: None,
        stop: found.stop,
        reason: found.reason,
        iterations: 0,
        seconds: 0.0,
        features: None,
        certificate: None,
        assignment,
    };
    match found.proof {
        Ok((mut certificate, bound)) => {
            certificate.witness = Some(Witness::Point { spins: solution.assignment.clone() });
            let gap = bound.phi() - found.primal;
            if gap.is_finite() {
                solution.relaxation_gap = Some(gap);
            }
            // The solver's own idea of the gap is an estimate; the word `converged` is about the proved one.
            let allowed = (settings.tol * bound.phi().abs()).max(1e-13 * f.l1_norm()).max(1e-300);
            if gap <= allowed {
                solution.stop = StopReason::Converged;
            } else if solution.stop == StopReason::Converged {
                solution.stop = StopReason::Stalled;
            }
            solution.upper = Some(bound);
            solution.certificate = Some(certificate);
        }
        Err(error) => solution.reason = Some(error.to_string()),
    }
    solution
}
