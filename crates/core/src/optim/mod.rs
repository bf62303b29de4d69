//! One file per optimisation algorithm.
