//! Dense symmetric linear algebra: storage, the eigensolver, Gibbs states, Wright omega.

mod cholesky;
mod eigen;
mod gibbs;
pub(crate) mod multiply;
pub(crate) mod partial;
mod square;
mod wright_omega;

pub(crate) use cholesky::Cholesky;
pub use eigen::{Eigen, EigenWork, eigh};
pub(crate) use gibbs::Gibbs;
pub use square::Square;
pub use wright_omega::wright_omega;
