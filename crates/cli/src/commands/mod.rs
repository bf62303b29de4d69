//! One file per command.

pub(crate) mod bench;
pub(crate) mod bound;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod exact;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod kl;
pub(crate) mod man;
pub(crate) mod map;
pub(crate) mod marginals;
#[cfg(feature = "figures")]
pub(crate) mod plot;
#[cfg(feature = "figures")]
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod scan;
pub(crate) mod sweep;
pub(crate) mod verify;
