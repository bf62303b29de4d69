//! One file per optimisation algorithm.

pub(crate) mod chambolle_pock;
mod diagonal;
mod fit;
mod general;
pub(crate) mod path_newton;
mod ties;

pub(crate) use diagonal::{Ahead, Diagonal};
pub(crate) use general::General;
