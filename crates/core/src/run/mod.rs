//! The driver: which methods run, in which order, and what their results amount to.
//!
//! [`bound`] is what the command line, the Python package and sweeps call.

mod driver;
mod kl;
mod map;
mod marginals;
mod plan;
mod report;

pub use driver::bound;
pub use kl::{KL_SCHEMA, KlRecord, KlStepRecord, Law, kl, kl_with};
pub use map::{MAP_SCHEMA, MapRecord, MapReport, MapRequest, map};
pub use marginals::{MARGINALS_SCHEMA, MarginalRecord, MarginalsRecord, marginals};
pub use plan::{BoundRequest, MethodChoice};
pub use report::{Outcome, Report};
