//! How fast the machine is, here and now.

use super::constants::{DECOMPOSITION, DENSE_RATE, TABLE_RATE};
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use std::hint::black_box;
use std::time::Instant;

/// Rates of the two kinds of work that methods spend their time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Speed {
    /// Operations of dense linear algebra per second, on one thread: products of matrices may be several times as fast, and on how
    /// many times machines differ.
    pub(crate) dense: f64,
    /// Sweeps over tables, in units of the machine that the constants belong to.
    pub(crate) tables: f64,
}

/// Side of the matrix whose decomposition is timed: a millisecond or two long.
const SIDE: usize = 128;

/// Entries of the table that is swept: as much as stays in a second-level cache, a tenth of a millisecond long.
const ENTRIES: usize = 1 << 16;

/// Times that each is repeated; the fastest counts, as the first looks at caches and touches pages.
const REPEATS: usize = 3;

impl Speed {
    /// That of the machine that the constants belong to: what decides where a run is to be the same on every machine.
    pub(crate) const SHIPPED: Speed = Speed { dense: DENSE_RATE, tables: 1.0 };

    /// Measured: some milliseconds.
    pub(crate) fn measured() -> Self {
        Speed { dense: dense_rate(), tables: table_rate() / TABLE_RATE }
    }

    /// Seconds of so many operations of dense linear algebra.
    pub(crate) fn dense_seconds(self, operations: f64) -> f64 {
        operations / self.dense
    }

    /// Seconds of work on tables that takes `seconds` on the machine that the constants belong to.
    pub(crate) fn table_seconds(self, seconds: f64) -> f64 {
        seconds / self.tables
    }
}

fn dense_rate() -> f64 {
    // Symmetric, and otherwise without a structure that would be a short cut.
    let entry = |k: usize| ((k / SIDE + 1) as f64 * (k % SIDE + 1) as f64 * 0.7).sin();
    let m = Square::from_column_major(SIDE, (0..SIDE * SIDE).map(entry).collect());
    let (mut out, mut work) = (Eigen::default(), EigenWork::default());
    let operations = DECOMPOSITION * (SIDE as f64).powi(3);
    operations / fastest(|| assert!(eigh(black_box(&m), &mut out, &mut work), "finite entries"))
}

/// The inner loop of elimination: products of two tables, added up over the states of one variable.
fn table_rate() -> f64 {
    let (a, b) = (vec![0.5f64; ENTRIES], vec![1.5f64; ENTRIES]);
    let mut out = vec![0.0f64; ENTRIES / 2];
    let seconds = fastest(|| {
        for (half, (a, b)) in a.chunks(ENTRIES / 2).zip(b.chunks(ENTRIES / 2)).enumerate() {
            let keep = if half == 0 { 0.0 } else { 1.0 };
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(x, (a, b))| *x = keep * *x + a * b);
        }
        black_box(&mut out);
    });
    ENTRIES as f64 / seconds
}

fn fastest(mut work: impl FnMut()) -> f64 {
    let mut seconds = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        work();
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    seconds.max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_a_computer() {
        let speed = Speed::measured();
        assert!((1e7..1e14).contains(&speed.dense), "{speed:?}");
        assert!((1e-4..1e4).contains(&speed.tables), "{speed:?}");
    }
}
