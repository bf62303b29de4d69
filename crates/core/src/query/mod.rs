//! Questions that are not one relaxation of log Z: maxima, divergences and marginals.

pub mod kl;
pub mod map;
pub mod marginals;
