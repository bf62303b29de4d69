//! Extension module of the Python package `zbound`: conversions, errors and the way in and out of
//! long work. Everything a user sees is documented in `python/zbound`.

mod branch;
mod certificate;
mod couplings;
mod enter;
mod errors;
mod history;
mod kl;
mod map;
mod marginals;
mod model;
mod polynomials;
mod read;
mod scan;
mod slices;
mod solve;
mod state;
mod sweep;

use pyo3::prelude::*;

/// The compiled part of zbound.
#[pymodule]
mod _zbound {
    #[pymodule_export]
    use crate::branch::{branch_expand, branch_total};
    #[pymodule_export]
    use crate::certificate::Certificate;
    #[pymodule_export]
    use crate::enter::panic_for_tests;
    #[pymodule_export]
    use crate::kl::kl;
    #[pymodule_export]
    use crate::map::map;
    #[pymodule_export]
    use crate::marginals::{marginal_intervals, sample};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::polynomials::{Ising, Polynomial};
    #[pymodule_export]
    use crate::read::{generate, read, read_bytes};
    #[pymodule_export]
    use crate::scan::temperature_scan;
    #[pymodule_export]
    use crate::slices::{slice_plan, slice_solve, slice_total};
    #[pymodule_export]
    use crate::solve::{bound, exact};
    #[pymodule_export]
    use crate::state::restore;
    #[pymodule_export]
    use crate::sweep::{sweep_plan, sweep_row, sweep_solve};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
