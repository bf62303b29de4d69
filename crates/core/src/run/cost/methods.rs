//! What a bound costs on a model of a given shape.

use super::constants as c;
use super::{Estimate, Speed};
use crate::run::shape::{Kind, Shape};
use crate::settings::{Greedy, Method, Settings};

/// Bytes of a number.
const NUMBER: f64 = 8.0;

/// Until the method ends by itself. `None` for exact inference, which needs a plan, for methods that go on for as long as they
/// are let (`mean-field`, `wmb`, `branch`, `ais`, `combined` on large models), and where the method does not apply.
pub(crate) fn estimate(method: Method, shape: &Shape, settings: &Settings) -> Option<Estimate> {
    let speed = settings.ends().speed();
    let (d, m) = (shape.d as f64, shape.edges as f64);
    let n = shape.features? as f64;
    let pairwise = shape.kind != Kind::Tables;
    let of = |seconds: f64, numbers: f64| {
        let bytes = (NUMBER * numbers).min(u64::MAX as f64) as u64;
        Some(Estimate { seconds, bytes, gives_up: false })
    };
    match method {
        Method::Quantum => of(speed.dense_seconds(quantum_operations(n)), c::QUANTUM_SQUARES * n * n),
        Method::LogDet if pairwise => {
            of(speed.dense_seconds(c::LOGDET_CUBES * n.powi(3)), c::LOGDET_SQUARES * n * n)
        }
        Method::QuantumGreedy => {
            let rounds = match settings.greedy {
                Greedy::Count(count) => count as f64 / settings.greedy_batch as f64,
                Greedy::Auto => 1.0,
            };
            let operations = rounds * (0.5 * n * d) * c::CANDIDATE_CUBES * n.powi(3);
            of(speed.dense_seconds(operations), c::QUANTUM_SQUARES * n * n)
        }
        Method::QuantumDiag => {
            // Products of two features are at most n(n + 1)/2 and at most all monomials.
            let moments = (0.5 * n * (n + 1.0)).min(2f64.powf(d));
            let operations = c::METRIC_STEPS * (moments * n.powi(3) + moments.powi(3) / 3.0);
            of(speed.dense_seconds(c::METRIC_DRAG * operations), moments * moments)
        }
        Method::Trw if pairwise => {
            let share = if shape.has_fields { 1.0 } else { c::TRW_SYMMETRIC };
            let seconds = c::TRW_SECS * m * d * share / shape.coupling.max(1.0).powf(c::TRW_COLD);
            let seconds = seconds.min(c::TRW_EDGE_SECS * m);
            of(speed.table_seconds(seconds), 20.0 * (m + d))
        }
        Method::Bethe if pairwise => {
            let (base, slope, most) = c::BETHE_SPARSE;
            let sparse = (base + slope * m).min(most * m);
            let seconds = if shape.kind == Kind::Dense { c::BETHE_EDGE_SECS * m } else { sparse };
            of(speed.table_seconds(seconds), 20.0 * (m + d))
        }
        Method::Combined if pairwise => of(combined_seconds(shape, speed)?, 40.0 * d * d),
        _ => None,
    }
}

/// Operations of the quantum bound with a moment matrix of side n.
pub(crate) fn quantum_operations(n: f64) -> f64 {
    c::QUANTUM.0 * n.powf(c::QUANTUM.1)
}

/// The combined bound: Newton's method over the moments of all pairs, or of those of a chordal graph, and on larger dense models a
/// first-order method.
fn combined_seconds(shape: &Shape, speed: Speed) -> Option<f64> {
    let (d, m) = (shape.d as f64, shape.edges as f64);
    let is_dense = shape.kind == Kind::Dense;
    if shape.d > c::COMBINED_NEWTON_SPINS {
        let (base, scale, most) = c::COMBINED_FIRST;
        let ends = is_dense && shape.d <= most;
        return ends.then(|| speed.table_seconds(base + scale * d * d));
    }
    let all = 0.5 * d * (d + 1.0);
    let (moments, newton) =
        if is_dense { (all, c::COMBINED_NEWTON.0) } else { ((d + 2.0 * m).min(all), c::COMBINED_NEWTON.1) };
    let steps = speed.dense_seconds(c::COMBINED_STEPS * newton * moments.powi(3));
    Some(steps + speed.table_seconds(c::COMBINED_SECS.0 * moments.powf(c::COMBINED_SECS.1)))
}

/// One pass of mini-buckets with small tables and its verification, both sides.
pub(crate) fn pass_seconds(shape: &Shape, speed: Speed) -> f64 {
    let (per_entry, per_variable) = c::SMALL_TABLES;
    let entries = (per_entry * shape.entries).max(per_variable * shape.d as f64);
    speed.table_seconds(2.0 * (c::PASS_SECS + c::VERIFY_SECS) * entries)
}
