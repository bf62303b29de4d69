//! From the name of a method to the bound behind it.

use crate::query::ais::Ais;
use crate::relax::{
    Bethe, Combined, LogDet, MeanField, Quantum, QuantumDiag, QuantumGreedy, Relaxation, TableBound, Trw, Wmb,
};
use crate::settings::Method;
use crate::solution::Solution;

/// The dispatch table. A method that is missing here is reported as not available. `quantum` begins at the dual point of an `earlier`
/// solution of the same model, at another temperature.
pub(crate) fn relaxation(method: Method, earlier: Option<&Solution>) -> Option<Box<dyn Relaxation>> {
    match method {
        Method::Quantum => Some(Box::new(earlier.map(Quantum::from_solution).unwrap_or_default())),
        Method::QuantumGreedy => Some(Box::new(QuantumGreedy)),
        Method::QuantumDiag => Some(Box::new(QuantumDiag)),
        Method::LogDet => Some(Box::new(LogDet)),
        Method::Trw => Some(Box::new(Trw)),
        Method::Bethe => Some(Box::new(Bethe)),
        Method::Combined => Some(Box::new(Combined)),
        _ => None,
    }
}

/// Methods that work on the model's tables, hard zeros and any number of states included.
pub(crate) fn table_bound(method: Method) -> Option<Box<dyn TableBound>> {
    match method {
        Method::Ais => Some(Box::new(Ais)),
        Method::MeanField => Some(Box::new(MeanField)),
        Method::Wmb => Some(Box::new(Wmb)),
        _ => None,
    }
}
