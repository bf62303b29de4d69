//! Mean-field lower bounds: `Phi(f) >= E_q f - eps D(q || uniform)` for distributions q that factorise.

mod ascent;
mod blocks;
mod crossing;
mod law;
mod layer;
mod lines;
mod mixture;
mod partition;
mod product;
mod spins;
mod tables;
mod wide;
mod width;

pub(crate) use self::spins::quick;

use self::spins::explore;
use super::Relaxation;
use crate::error::Result;
use crate::observer::{Monitor, Observer};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;

/// The certified lower bound of mean field: independent spins for any polynomial, independent trees
/// for pairwise models, independent blocks of bounded width for tables of any arity and cardinality, and the best
/// assignment found.
///
/// Coordinate ascent from several starts, cooled from high temperature, found by a search or random; seeded by
/// [`Settings::seed`](crate::Settings). Features and solver are ignored. As a [`super::TableBound`] it takes hard zeros,
/// as long as they lie inside blocks.
///
/// **Cost** O(size of the model) per sweep.
///
/// **Errors** bad settings only.
///
/// ```
/// use zbound::relax::{MeanField, Relaxation};
/// use zbound::{Features, Ising, Problem, Settings};
/// let model = Ising::new(3, &[0.1, 0.0, -0.2], &[(0, 1, 0.5), (1, 2, -1.0)])?;
/// let problem = Problem::new(model, Features::degree(3, 1))?;
/// let solution = MeanField.solve(&problem, &Settings::default())?;
/// assert!(solution.lower.is_some());
/// # Ok::<(), zbound::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MeanField;

impl Relaxation for MeanField {
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        settings.validate()?;
        let mut monitor = Monitor::new(settings, usize::MAX, observer);
        let (solution, _) = explore(problem.polynomial(), problem.eps(), settings, &mut monitor);
        Ok(solution.finish(None, settings.tol, problem, monitor))
    }
}
