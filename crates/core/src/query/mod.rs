//! Questions that are not one relaxation of log Z: maxima, divergences, marginals, estimates, samples and branching.

pub mod ais;
pub mod branch;
pub mod kl;
pub mod map;
pub mod marginals;
pub mod sample;
