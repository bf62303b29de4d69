//! The driver: which methods run, in which order, and what their results amount to.
//!
//! [`bound`] is what the command line, the Python package and sweeps call.

mod driver;
mod plan;
mod report;

pub use driver::bound;
pub(crate) use driver::free_sets;
pub use plan::{BoundRequest, MethodChoice};
pub(crate) use plan::{CHEAP_OPERATIONS, exact_fits};
pub use report::{Outcome, Report};
