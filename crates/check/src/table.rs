//! Tables over cliques of variables.

use crate::interval::exact_add;

/// Values over `scope`, first variable fastest, over the states that are left.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) scope: Vec<u32>,
    pub(crate) values: Vec<f64>,
    /// Every finite value is this close to the exact one; `-inf` is exact.
    pub(crate) error: f64,
    /// Largest finite absolute value.
    pub(crate) size: f64,
}

impl Table {
    pub(crate) fn new(scope: Vec<u32>, values: Vec<f64>, error: f64) -> Table {
        let size = size_of(&values);
        Table { scope, values, error, size }
    }
}

/// Largest finite absolute value.
pub(crate) fn size_of(values: &[f64]) -> f64 {
    values.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// Numbers of states of the variables of a clique.
pub(crate) fn shape(clique: &[u32], states: &[Vec<u32>]) -> Vec<usize> {
    clique.iter().map(|&v| states[v as usize].len()).collect()
}

/// Entries of a table, as a float that cannot overflow.
pub(crate) fn entries(clique: &[u32], states: &[Vec<u32>]) -> f64 {
    clique.iter().fold(1.0, |n, &v| n * states[v as usize].len() as f64)
}

/// Strides of a table over `scope` seen from a clique: 0 for variables it does not have.
fn strides(scope: &[u32], clique: &[u32], states: &[Vec<u32>]) -> Vec<usize> {
    let mut out = vec![0; clique.len()];
    let mut stride = 1;
    for v in scope {
        if let Some(p) = clique.iter().position(|w| w == v) {
            out[p] = stride;
        }
        stride *= states[*v as usize].len();
    }
    out
}

/// Adds `sign * table` to the table `theta` over `clique`. Variables outside the clique must have one state.
pub(crate) fn accumulate(
    theta: &mut [f64],
    clique: &[u32],
    states: &[Vec<u32>],
    (scope, values, sign): (&[u32], &[f64], f64),
) {
    let steps = strides(scope, clique, states);
    let sizes = shape(clique, states);
    add(theta, &sizes, &steps, values, 0, sign);
}

/// A sum of tables over a clique; of many tables, what rounding misses is summed on the side.
pub(crate) struct Sum {
    theta: Vec<f64>,
    /// Of each entry, the sum of what was missed; empty for few tables.
    missed: Vec<f64>,
}

/// Tables up to which plain sums are good enough.
const FEW: usize = 8;

/// By how many times `2^-52 M` a sum of `count` tables can err, M the sum of their sizes.
pub(crate) fn sum_roundings(count: usize) -> f64 {
    let count = count as f64;
    if count <= FEW as f64 { count } else { 1.0 + count * count * f64::EPSILON }
}

impl Sum {
    /// Zero, for `count` tables.
    pub(crate) fn new(length: usize, count: usize) -> Sum {
        Sum { theta: vec![0.0; length], missed: vec![0.0; if count > FEW { length } else { 0 }] }
    }

    /// As [`accumulate`].
    pub(crate) fn add(&mut self, clique: &[u32], states: &[Vec<u32>], table: (&[u32], &[f64], f64)) {
        if self.missed.is_empty() {
            return accumulate(&mut self.theta, clique, states, table);
        }
        let mut own = vec![0.0; self.theta.len()];
        accumulate(&mut own, clique, states, table);
        for ((t, missed), v) in self.theta.iter_mut().zip(&mut self.missed).zip(own) {
            let (sum, miss) = exact_add(*t, v);
            *t = sum;
            // Where a value is -inf there is nothing to miss.
            *missed += if miss.is_finite() { miss } else { 0.0 };
        }
    }

    pub(crate) fn total(mut self) -> Vec<f64> {
        self.theta.iter_mut().zip(&self.missed).for_each(|(t, missed)| *t += missed);
        self.theta
    }
}

fn add(theta: &mut [f64], sizes: &[usize], steps: &[usize], values: &[f64], base: usize, sign: f64) {
    if steps.iter().all(|s| *s == 0) {
        let value = sign * values[base];
        theta.iter_mut().for_each(|t| *t += value);
        return;
    }
    match sizes {
        [] => theta[0] += sign * values[base],
        [_] => theta.iter_mut().enumerate().for_each(|(s, t)| *t += sign * values[base + s * steps[0]]),
        [first, _] => {
            for (r, row) in theta.chunks_exact_mut(*first).enumerate() {
                let base = base + r * steps[1];
                row.iter_mut().enumerate().for_each(|(s, t)| *t += sign * values[base + s * steps[0]]);
            }
        }
        [.., last] => {
            let (n, chunk) = (sizes.len() - 1, theta.len() / last);
            for (s, part) in theta.chunks_exact_mut(chunk).enumerate() {
                add(part, &sizes[..n], &steps[..n], values, base + s * steps[n], sign);
            }
        }
    }
}

/// A table restricted to the states that are left of the `full` numbers of states.
pub(crate) fn restrict(scope: &[u32], values: &[f64], full: &[usize], states: &[Vec<u32>]) -> Vec<f64> {
    let (mut offsets, mut stride) = (vec![0usize], 1);
    for &v in scope {
        let lower = std::mem::take(&mut offsets);
        states[v as usize]
            .iter()
            .for_each(|s| offsets.extend(lower.iter().map(|o| o + *s as usize * stride)));
        stride *= full[v as usize];
    }
    offsets.into_iter().map(|o| values[o]).collect()
}
