//! One file per optimisation algorithm.

pub(crate) mod chambolle_pock;
mod diagonal;
mod moments;
pub(crate) mod path_newton;

pub(crate) use diagonal::Diagonal;
pub(crate) use moments::Moments;
