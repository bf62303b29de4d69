//! One file per command.

pub(crate) mod bench;
mod bench_combined;
mod bench_memory;
mod bench_qics;
mod bench_quantum;
pub(crate) mod bound;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod exact;
pub(crate) mod generate;
pub(crate) mod info;
pub(crate) mod kl;
pub(crate) mod map;
pub(crate) mod marginals;
pub(crate) mod plot;
pub(crate) mod reproduce;
pub(crate) mod sweep;
pub(crate) mod verify;
