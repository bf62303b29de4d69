//! One file per optimisation algorithm.

pub(crate) mod graph_system;
pub(crate) mod lbfgs;
pub(crate) mod simplex_qp;
