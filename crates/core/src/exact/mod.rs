//! Exact inference: the oracles.
