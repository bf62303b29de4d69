//! Questions that are not one relaxation of log Z: maxima, divergences, marginals and estimates.

pub mod ais;
pub mod kl;
pub mod map;
pub mod marginals;
