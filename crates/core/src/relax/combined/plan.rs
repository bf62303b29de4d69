//! What fits into the time that is left.

use super::program::Program;
use crate::model::Ising;
use crate::observer::Monitor;
pub(super) use crate::run::cost::constants::LOGDET_CUBES as LOG_DET;
use crate::run::cost::constants::{COMBINED_NEWTON as NEWTON, COMBINED_STEPS as STEPS};
pub(super) use crate::run::cost::quantum_operations;
pub(super) use crate::run::shape::is_dense;

/// Seconds that Newton steps may take without a limit when the first-order method has a bound already.
const PATIENCE_SECS: f64 = 300.0;
/// Share of the time left for the first-order method where another one follows.
const FIRST: f64 = 0.3;

/// Whether the interior-point method can be expected to end in time.
pub(super) fn newton_is_affordable(program: &Program, monitor: &Monitor<'_>) -> bool {
    let factor = if program.space.blocks.len() > 1 { NEWTON.1 } else { NEWTON.0 };
    is_affordable(factor, program.space.len(), 1.0, monitor)
}

fn is_affordable(factor: f64, moments: usize, share: f64, monitor: &Monitor<'_>) -> bool {
    let seconds = monitor.deadline().dense_seconds(STEPS * factor * (moments as f64).powi(3));
    seconds <= share * monitor.seconds_left().unwrap_or(PATIENCE_SECS)
}

/// Share of the time left for the first-order method: all where nothing can follow it.
pub(super) fn first_order_share(ising: &Ising, monitor: &Monitor<'_>) -> f64 {
    let moments = ising.d() * (ising.d() + 1) / 2;
    if is_affordable(NEWTON.0, moments, 1.0 - FIRST, monitor) { FIRST } else { 1.0 }
}
