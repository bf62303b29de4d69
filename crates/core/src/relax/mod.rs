//! One folder per bound, and what several of them share.

mod bethe;
mod combined;
pub(crate) mod cuts;
pub(crate) mod forest;
mod logdet;
mod mean_field;
mod moments;
mod quantum;
mod quantum_diag;
mod quantum_greedy;
mod spectral_point;
mod trw;
mod wmb;

pub use bethe::Bethe;
pub(crate) use bethe::is_balanced;
pub use combined::Combined;
pub(crate) use combined::{CombinedStart, combined_from};
pub use logdet::LogDet;
pub use mean_field::MeanField;
pub(crate) use mean_field::quick as quick_mean_field;
pub use moments::term_moments;
pub use quantum::Quantum;
pub use quantum_diag::QuantumDiag;
pub use quantum_greedy::QuantumGreedy;
pub(crate) use spectral_point::{DualPoint, SpectralPoint};
pub use trw::Trw;
pub use wmb::Wmb;

use crate::error::Result;
use crate::model::FactorModel;
use crate::observer::{Observer, Silent};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;

/// A method that bounds phi.
pub trait Relaxation {
    /// Solves without being watched.
    ///
    /// # Errors
    /// Bad settings, or a problem the method does not apply to. Stopping early is not an error.
    fn solve(&self, problem: &Problem, settings: &Settings) -> Result<Solution> {
        self.solve_with(problem, settings, &mut Silent)
    }

    /// Solves under an observer that sees every iteration and may cancel.
    ///
    /// # Errors
    /// As [`Relaxation::solve`].
    fn solve_with(
        &self,
        problem: &Problem,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution>;
}

/// A method that bounds log Z from the model's tables: any arity, any number of states, hard zeros.
pub trait TableBound {
    /// Solves under an observer that sees every iteration and may cancel. `tables` has the evidence
    /// applied; the solution's values are on phi, the mean over all joint states.
    ///
    /// # Errors
    /// As [`Relaxation::solve`].
    fn solve_tables(
        &self,
        tables: &FactorModel,
        eps: f64,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Solution>;
}
