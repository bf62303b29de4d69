//! `zbound sweep` around [`zbound::sweep`]: `config.rs` reads the configuration, `runner.rs` spreads
//! instances over cores, `eta.rs` says how long the rest will take, `store.rs` keeps the records through crashes and
//! `tables.rs` writes them for other programs.

mod config;
mod eta;
#[cfg(feature = "parquet")]
mod parquet;
mod runner;
mod store;
mod tables;

pub(crate) use config::read_config;
pub(crate) use runner::{RunSummary, run};
pub(crate) use store::Store;
#[cfg(feature = "figures")]
pub(crate) use store::read_lines;
pub(crate) use tables::write_tables;
#[cfg(feature = "figures")]
pub(crate) use zbound::sweep::{COLUMNS, SweepRecord, hash};
pub(crate) use zbound::sweep::{Job, Overrides, Plan};
