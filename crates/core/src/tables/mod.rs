//! The table engine: elimination orders, plans and kernels over variables of any number of states.

pub(crate) mod alike;
pub(crate) mod buckets;
pub(crate) mod exchange;
pub(crate) mod layout;
pub(crate) mod linear;
pub(crate) mod log;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod propagate;
pub(crate) mod reduce;
pub(crate) mod runs;
pub(crate) mod spare;
pub(crate) mod table;
pub(crate) mod view;
pub(crate) mod weighted;
