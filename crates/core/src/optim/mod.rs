//! One file per optimisation algorithm.

pub(crate) mod chambolle_pock;
mod class_rows;
mod diagonal;
mod general;
pub(crate) mod graph_system;
pub(crate) mod interior_point;
pub(crate) mod lbfgs;
mod moment_system;
mod normal_matrix;
pub(crate) mod path_newton;
pub(crate) mod simplex_qp;
mod soft_state;
mod stopping;
mod ties;

pub(crate) use class_rows::Rows;
pub(crate) use diagonal::{Ahead, Diagonal};
pub(crate) use general::General;
pub(crate) use moment_system::fill_log_kernel;
pub(crate) use normal_matrix::moments_are_smaller;
