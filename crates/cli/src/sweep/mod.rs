//! Sweeps: a grid of instances and methods, solved on all cores, one record per pair.
//!
//! `config.rs` reads the TOML file, `plan.rs` turns it into jobs with seeds and keys, `solve.rs`
//! answers one instance, `runner.rs` spreads instances over cores, `store.rs` keeps the records
//! through crashes, and `record.rs` is what a record holds.

mod axis;
mod config;
mod eta;
mod kl;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod record;
mod runner;
mod settings;
mod solve;
mod store;

pub(crate) use config::{Config, FigureSpec, Metric, PanelSpec};
pub(crate) use plan::{Job, Overrides, Plan, hash};
pub(crate) use record::{COLUMNS, Instance, SweepRecord, write_tables};
pub(crate) use runner::{RunSummary, run};
pub(crate) use store::{Store, read_lines};
