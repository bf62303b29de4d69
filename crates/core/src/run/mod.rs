//! The driver: which methods run, in which order, and what their results amount to.
//!
//! [`bound`] is what the command line, the Python package and sweeps call.

mod driver;
mod plan;
mod report;

pub use driver::bound;
pub use plan::{BoundRequest, MethodChoice};
pub use report::{Outcome, Report};
