//! Linear algebra that several methods use. Nothing here is trusted.

mod cholesky;
mod eigen;
mod gibbs;
pub(crate) mod graph_system;
pub(crate) mod lanczos;
pub(crate) mod lbfgs;
pub(crate) mod multiply;
pub(crate) mod partial;
mod power;
pub(crate) mod scaling;
mod small_eigen;
mod square;
pub(crate) mod symmetric;
mod tiled;
pub(crate) mod turn;
mod vector;
mod wright_omega;

pub(crate) use cholesky::Cholesky;
pub use eigen::{Eigen, EigenWork, eigh};
pub(crate) use eigen::{eigenvalues, eigenvalues_of, eigh_in_place};
pub(crate) use gibbs::Gibbs;
pub use multiply::prepare;
pub(crate) use power::{dominant, power_norm};
pub use square::Square;
pub(crate) use tiled::Tiled;
pub(crate) use vector::{dot, longest_step, norm};
pub use wright_omega::wright_omega;
