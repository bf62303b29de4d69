//! Tables that own their entries, as numbers or as logarithms.

use crate::exact::trim::DROPPED;
use crate::exact::vector::{EXP_ULPS, exp_all, log_all, max_of};

/// Logarithms beyond which products of numbers are not formed: `e^600 < 1e261`, far from the ends of the
/// range whatever factor of two is left over.
pub(crate) const SAFE: f64 = 600.0;
/// A large table is rescaled when its largest entry leaves `2^-30 .. 2^30`, a small one always.
const DRIFT: f64 = 30.0 * std::f64::consts::LN_2;
/// Entries up to which a table is small.
const SMALL: usize = 4096;
/// Room for rounded logarithms in the range of a table.
const MARGIN: f64 = 1e-6;

/// What the entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Numbers `>= 0`.
    Linear,
    /// Logarithms, `-inf` for 0.
    Log,
}

/// A table over variables named by their positions in the order, last eliminated first and fastest.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) scope: Vec<u32>,
    pub(crate) data: Vec<f64>,
    pub(crate) domain: Domain,
    /// Logarithms of the largest and of the smallest positive entry, rounded outward; `(-inf, inf)` when all
    /// entries are 0.
    pub(crate) highest: f64,
    pub(crate) lowest: f64,
}

/// A table, what was taken out of it, and the roundings on the way.
pub(crate) struct Scaled {
    pub(crate) table: Table,
    /// The true table is this one times `2^exponent e^offset`.
    pub(crate) exponent: i64,
    pub(crate) offset: f64,
    /// Bound, in units of u, on the error of every logarithm of an entry.
    pub(crate) roundings: f64,
}

impl Table {
    /// A factor with its variables put in order: `exp((theta - max theta)/eps)`, as logarithms where that
    /// leaves the range of numbers.
    ///
    /// Roundings: the difference, the product with 1/eps and 1/eps itself round numbers of at most the range
    /// of the table; the exponential adds its own.
    pub(crate) fn from_factor(positions: &[u32], states: &[u32], data: &[f64], eps: f64) -> Scaled {
        let (scope, mut entries) = sorted(positions, states, data);
        let top = max_of(&entries);
        if top == f64::NEG_INFINITY {
            return Table::impossible(scope, entries.len());
        }
        let least = entries.iter().copied().filter(|v| *v > f64::NEG_INFINITY).fold(top, f64::min);
        let range = (top - least) / eps;
        let linear = range <= SAFE;
        if linear {
            let zeros: Vec<usize> = (0..entries.len()).filter(|&k| entries[k] == f64::NEG_INFINITY).collect();
            exp_all(&mut entries, top, 1.0 / eps);
            zeros.into_iter().for_each(|k| entries[k] = 0.0);
        } else {
            entries.iter_mut().for_each(|v| *v = (*v - top) * (1.0 / eps));
        }
        let domain = if linear { Domain::Linear } else { Domain::Log };
        let table =
            Table { scope, data: entries, domain, highest: MARGIN, lowest: -range * (1.0 + MARGIN) - MARGIN };
        Scaled { table, exponent: 0, offset: top / eps, roundings: 3.0 * range + EXP_ULPS }
    }

    fn impossible(scope: Vec<u32>, len: usize) -> Scaled {
        let (highest, lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let table = Table { scope, data: vec![0.0; len], domain: Domain::Linear, highest, lowest };
        Scaled { table, exponent: 0, offset: 0.0, roundings: 0.0 }
    }

    /// A message of numbers with its extremes; large ones stay as they are unless they drift.
    pub(crate) fn from_numbers(scope: Vec<u32>, mut data: Vec<f64>, (least, most): (f64, f64)) -> Scaled {
        if most == 0.0 {
            return Table::impossible(scope, data.len());
        }
        let mut exponent = 0i64;
        let (mut highest, mut lowest) = (libm::log(most), libm::log(least));
        if highest.abs() > DRIFT || data.len() <= SMALL {
            exponent = i64::from(libm::ilogb(most));
            let (half, rest) = (power(-exponent / 2), power(-exponent - -exponent / 2));
            data.iter_mut().for_each(|x| *x = *x * half * rest);
            let moved = exponent as f64 * std::f64::consts::LN_2;
            (highest, lowest) = (highest - moved, lowest - moved);
        }
        let (highest, lowest) = (highest + MARGIN, lowest - MARGIN);
        let table = Table { scope, data, domain: Domain::Linear, highest, lowest };
        Scaled { table, exponent, offset: 0.0, roundings: 0.0 }
    }

    /// A message of logarithms, shifted so that the largest is 0; numbers again where they fit.
    pub(crate) fn from_logs(scope: Vec<u32>, mut data: Vec<f64>) -> Scaled {
        let offset = max_of(&data);
        if offset == f64::NEG_INFINITY {
            return Table::impossible(scope, data.len());
        }
        let mut lowest = 0.0f64;
        for x in &mut data {
            *x -= offset;
            let finite = if *x > f64::NEG_INFINITY { *x } else { 0.0 };
            lowest = if finite < lowest { finite } else { lowest };
        }
        let lowest = lowest * (1.0 + MARGIN) - MARGIN;
        // The shift rounds every entry, and so would the exponential.
        let mut roundings = -lowest;
        let mut table = Table { scope, data, domain: Domain::Log, highest: MARGIN, lowest };
        if lowest >= -SAFE {
            table.exponentiate();
            roundings += EXP_ULPS;
        }
        Scaled { table, exponent: 0, offset, roundings }
    }

    /// Drops entries far below the largest, so that the rest are numbers that can be multiplied; the logarithm of what
    /// any entry lost, and roundings, if there were such entries.
    pub(crate) fn trim(&mut self) -> Option<(f64, f64)> {
        if self.is_impossible() || self.lowest > self.highest - DROPPED {
            return None;
        }
        let cut = self.highest - DROPPED;
        match self.domain {
            Domain::Linear => {
                let least = libm::exp(cut);
                self.data.iter_mut().for_each(|x| *x = if *x < least { 0.0 } else { *x });
            }
            Domain::Log => {
                self.data.iter_mut().for_each(|x| *x = if *x < cut { f64::NEG_INFINITY } else { *x });
                self.exponentiate();
            }
        }
        self.lowest = cut - MARGIN;
        Some((cut + MARGIN, EXP_ULPS))
    }

    /// Logarithms to numbers; the range must fit.
    fn exponentiate(&mut self) {
        let zeros: Vec<usize> = (0..self.data.len()).filter(|&k| self.data[k] == f64::NEG_INFINITY).collect();
        exp_all(&mut self.data, 0.0, 1.0);
        zeros.into_iter().for_each(|k| self.data[k] = 0.0);
        self.domain = Domain::Linear;
    }

    /// The same table as logarithms, and the roundings that takes.
    pub(crate) fn logs(&self) -> (Table, f64) {
        let mut out = self.clone();
        if self.domain == Domain::Log {
            return (out, 0.0);
        }
        log_all(&mut out.data);
        out.domain = Domain::Log;
        let size = self.highest.abs().max(if self.lowest.is_finite() { self.lowest.abs() } else { 0.0 });
        (out, LOG_ROUNDINGS * (1.0 + size))
    }

    pub(crate) fn is_impossible(&self) -> bool {
        self.highest == f64::NEG_INFINITY
    }

    /// Largest magnitude of a logarithm.
    pub(crate) fn magnitude(&self) -> f64 {
        if self.is_impossible() { 0.0 } else { self.highest.abs().max(self.lowest.abs()) }
    }
}

/// Bound, in units of u, on the relative error of `libm::log`: documented below one unit in the last place,
/// which is two.
pub(crate) const LOG_ROUNDINGS: f64 = 4.0;

/// `2^k` for `|k| <= 1022`.
pub(crate) fn power(k: i64) -> f64 {
    f64::from_bits(((k.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// A factor's entries with its variables in decreasing order of position.
pub(crate) fn sorted(positions: &[u32], states: &[u32], data: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let mut scope = positions.to_vec();
    scope.sort_unstable_by(|x, y| y.cmp(x));
    if scope == positions {
        return (scope, data.to_vec());
    }
    let mut strides = vec![1; positions.len()];
    for k in 1..positions.len() {
        strides[k] = strides[k - 1] * states[positions[k - 1] as usize] as usize;
    }
    let stride_of = |p: &u32| positions.iter().position(|q| q == p).map_or(0, |k| strides[k]);
    let axes: Vec<(usize, usize)> =
        scope.iter().map(|p| (states[*p as usize] as usize, stride_of(p))).collect();
    (scope, offsets(&axes).into_iter().map(|at| data[at]).collect())
}

/// All sums of multiples of strides, first axis fastest: `(states, stride)` per axis.
pub(crate) fn offsets(axes: &[(usize, usize)]) -> Vec<usize> {
    let mut out = vec![0];
    for &(states, stride) in axes {
        let block = out.len();
        out.reserve(block * (states - 1));
        for state in 1..states {
            for k in 0..block {
                out.push(out[k] + state * stride);
            }
        }
    }
    out
}
