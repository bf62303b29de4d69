//! Dense symmetric linear algebra: storage, the eigensolver, Gibbs states, Wright omega.

mod eigen;
mod square;

pub use eigen::{Eigen, EigenWork, eigh};
pub use square::Square;
