//! Sweeps: a grid of instances and methods, one record per pair. The command line stores these records, Python returns them.
//!
//! `config.rs` and `axis.rs` are the configuration, `instances.rs` draws and `plan.rs` turns both into jobs with keys, `solve.rs`
//! answers the jobs of one instance, and `record.rs` is what a record holds. Who runs the tasks, where and in what
//! order, is the caller's business: records do not depend on it.
//!
//! ```
//! use zbound::Silent;
//! use zbound::sweep::{Config, Overrides, Plan, solve, tasks};
//! let text = r#"{"grid": [{"family": "gaussian", "d": 4}], "method": [{"method": "quantum"}, {"method": "trw"}]}"#;
//! let config: Config = serde_json::from_str(text)?;
//! let plan = Plan::new(&config, &Overrides::default())?;
//! let (tasks, _) = tasks(plan.jobs.iter(), |_| false);
//! let records = solve(&tasks[0], None, &mut Silent).unwrap();
//! assert_eq!(records.len(), 2);
//! assert!(records.iter().all(|record| record.certified && record.bound >= record.exact));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod config;
mod hash;
mod instances;
mod kl;
mod plan;
mod record;
mod settings;
mod solve;

pub use axis::{Axis, AxisValue};
pub use config::{Config, GridSpec, MethodSpec};
pub use hash::hash;
pub use plan::{Job, Overrides, Plan, tasks};
pub use record::{COLUMNS, Cell, ERROR_STATUS, Instance, SweepRecord};
pub use settings::MethodSettings;
pub use solve::solve;
