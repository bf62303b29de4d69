//! Dense symmetric linear algebra: storage, the eigensolver, Gibbs states, Wright omega.

mod cholesky;
mod eigen;
mod gibbs;
pub(crate) mod multiply;
pub(crate) mod partial;
mod power;
mod small_eigen;
mod square;
mod tiled;
mod wright_omega;

pub(crate) use cholesky::Cholesky;
pub use eigen::{Eigen, EigenWork, eigh};
pub(crate) use eigen::{eigenvalues, eigenvalues_of, eigh_in_place};
pub(crate) use gibbs::Gibbs;
pub use multiply::prepare;
pub(crate) use power::{dominant, power_norm};
pub use square::Square;
pub(crate) use tiled::Tiled;
pub use wright_omega::wright_omega;
