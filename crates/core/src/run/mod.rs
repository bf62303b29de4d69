//! The driver: which methods run, in which order, and what their results amount to.
//!
//! [`bound`] is what the command line, the Python package and sweeps call; [`scan`] calls it over temperature.

mod announce;
mod attempts;
mod beside;
mod carry;
mod components;
pub(crate) mod cost;
mod dispatch;
mod driver;
mod exact;
mod exact_plan;
mod features;
mod job;
mod plan;
mod portfolio;
mod report;
mod rounds;
mod scan;
pub(crate) mod shape;
mod steps;

pub use cost::{Estimate, forecast};
pub use driver::bound;
pub(crate) use exact::certified_exact;
pub(crate) use features::free_sets;
pub use plan::{BoundRequest, MethodChoice};
pub use report::{Outcome, Report};
pub use scan::{Betas, SCAN_SCHEMA, ScanPoint, ScanRecord, scan};
