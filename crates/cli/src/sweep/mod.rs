//! `zbound sweep` around [`zbound::sweep`]: `config.rs` adds figures to the configuration, `runner.rs` spreads
//! instances over cores, `eta.rs` says how long the rest will take, `store.rs` keeps the records through crashes and
//! `tables.rs` writes them for other programs.

mod config;
mod eta;
#[cfg(feature = "parquet")]
mod parquet;
mod runner;
mod store;
mod tables;

pub(crate) use config::{Config, FigureSpec, Metric, PanelSpec, parse_config, read_config};
pub(crate) use runner::{RunSummary, run};
pub(crate) use store::{Store, read_lines};
pub(crate) use tables::write_tables;
pub(crate) use zbound::sweep::{COLUMNS, Instance, Job, Overrides, Plan, SweepRecord, hash};
