//! Certified intervals for the marginals of single spins.

mod intervals;
mod report;

pub use intervals::marginal_intervals;
pub use report::{MARGINALS_SCHEMA, MarginalRecord, MarginalsRecord, marginals};
