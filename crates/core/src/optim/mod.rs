//! One file per optimisation algorithm.

pub(crate) mod chambolle_pock;
mod diagonal;
mod diagonal_hessian;
mod fit;
mod general;
pub(crate) mod graph_system;
pub(crate) mod lbfgs;
mod pair_preconditioner;
pub(crate) mod path_newton;
pub(crate) mod simplex_qp;
mod ties;

pub(crate) use diagonal::{Ahead, Diagonal};
pub(crate) use general::General;
