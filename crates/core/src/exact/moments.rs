//! Means and pair moments from block sums: no work per pair and state.

use super::layout::Layout;

/// Sums over the states of some blocks, weighted by `exp((f - shift)/eps)`.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// Sum of weights.
    pub(crate) total: f64,
    /// Sum of weights times the part of `f - shift` outside g.
    energy: f64,
    /// `sum_h u_h v_h^T`, weights of the states of A and B before the factor W.
    pub(crate) joint: Vec<f64>,
    /// For each spin of H, sums of `x_j` and of `x_j x_i`, i in A and B.
    high: Vec<f64>,
    /// Sums of `x_j x_k` over pairs of H, row by row.
    high_pairs: Vec<f64>,
    inner: usize,
    scratch: Vec<f64>,
}

/// Moments of the Gibbs distribution.
#[derive(Debug)]
pub(crate) struct Moments {
    pub(crate) means: Vec<f64>,
    /// All pairs i < j in lexicographic order.
    pub(crate) pairs: Vec<(u32, u32, f64)>,
    /// `E f - shift`.
    pub(crate) energy: f64,
}

impl Tally {
    pub(crate) fn new(layout: &Layout, want_moments: bool) -> Self {
        let (high, inner) = (layout.high(), layout.a + layout.b);
        let sized = |n: usize| vec![0.0; if want_moments { n } else { 0 }];
        Tally {
            total: 0.0,
            energy: 0.0,
            joint: sized(1 << inner),
            high: sized(high * (inner + 1)),
            high_pairs: sized(high * high),
            inner,
            scratch: vec![0.0; inner + 1],
        }
    }

    /// Adds a block of which only the sum is wanted; `weights` is used up.
    pub(crate) fn add_total(&mut self, weights: &mut [f64]) {
        let mut size = weights.len();
        while size > 1 {
            size /= 2;
            let (low, high) = weights.split_at_mut(size);
            low.iter_mut().zip(high).for_each(|(l, h)| *l += *h);
        }
        self.total += weights[0];
    }

    /// Adds block h: values `(alpha, weights)` over A, `(beta, weights)` over B, and the constant.
    pub(crate) fn add_block(
        &mut self,
        h: u64,
        constant: f64,
        (alpha, of_a): (&[f64], &mut [f64]),
        (beta, of_b): (&[f64], &mut [f64]),
    ) {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let inside = dot(alpha, of_a) + dot(beta, of_b);
        let a = alpha.len().trailing_zeros() as usize;
        let weight = signed_sums(of_a, &mut self.scratch[1..1 + a]);
        signed_sums(of_b, &mut self.scratch[1 + a..]);
        self.scratch[0] = weight;
        self.total += weight;
        self.energy += constant * weight + inside;
        let spins = self.high.len() / (self.inner + 1);
        for j in 0..spins {
            let sign = spin(h, j);
            let row = &mut self.high[j * (self.inner + 1)..][..self.inner + 1];
            row.iter_mut().zip(&self.scratch).for_each(|(sum, m)| *sum += sign * m);
            for k in j + 1..spins {
                self.high_pairs[j * spins + k] += sign * spin(h, k) * weight;
            }
        }
    }

    /// Adds the sums of another task.
    pub(crate) fn absorb(&mut self, other: &Tally) {
        self.total += other.total;
        self.energy += other.energy;
        for (mine, theirs) in [
            (&mut self.joint, &other.joint),
            (&mut self.high, &other.high),
            (&mut self.high_pairs, &other.high_pairs),
        ] {
            mine.iter_mut().zip(theirs).for_each(|(x, y)| *x += y);
        }
    }

    /// Turns sums into moments; `table` is W.
    pub(crate) fn moments(mut self, layout: &Layout, table: &[f64], total: f64) -> Moments {
        let (d, inner) = (layout.d, self.inner);
        self.joint.iter_mut().zip(table).for_each(|(w, t)| *w *= t);
        let energy = self.energy + self.joint.iter().zip(&layout.cross).map(|(w, g)| w * g).sum::<f64>();
        let mut second = vec![0.0; d * d];
        let mut means = vec![0.0; d];
        // Walsh-Hadamard: entry S becomes the sum of x^S times the weight.
        walsh(&mut self.joint);
        for i in 0..inner {
            means[i] = self.joint[1 << i] / total;
            for j in i + 1..inner {
                second[i * d + j] = self.joint[1 << i | 1 << j] / total;
            }
        }
        let spins = layout.high();
        for j in 0..spins {
            let row = &self.high[j * (inner + 1)..][..inner + 1];
            means[inner + j] = row[0] / total;
            for i in 0..inner {
                second[i * d + inner + j] = row[1 + i] / total;
            }
            for k in j + 1..spins {
                second[(inner + j) * d + inner + k] = self.high_pairs[j * spins + k] / total;
            }
        }
        let clamp = |m: f64| m.clamp(-1.0, 1.0);
        means.iter_mut().for_each(|m| *m = clamp(*m));
        let pairs = (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j)));
        let pairs = pairs.map(|(i, j)| (i as u32, j as u32, clamp(second[i * d + j]))).collect();
        Moments { means, pairs, energy: energy / total }
    }
}

/// Spin j of the state with number h.
fn spin(h: u64, j: usize) -> f64 {
    if h >> j & 1 == 1 { 1.0 } else { -1.0 }
}

/// `sum_x weights[x] x_i` for each bit i, and returns the sum of weights, which are used up.
pub(crate) fn signed_sums(weights: &mut [f64], out: &mut [f64]) -> f64 {
    let mut size = weights.len();
    for slot in out.iter_mut().rev() {
        size /= 2;
        let (low, high) = weights[..2 * size].split_at_mut(size);
        let mut difference = 0.0;
        for (l, h) in low.iter_mut().zip(high) {
            difference += *h - *l;
            *l += *h;
        }
        *slot = difference;
    }
    weights[0]
}

/// Values `w(x)` to sums `sum_x w(x) x^S`, bit i of an index meaning `x_i = +1` or `i in S`.
fn walsh(w: &mut [f64]) {
    let mut half = 1;
    while half < w.len() {
        for block in w.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (l, h) in low.iter_mut().zip(high) {
                (*l, *h) = (*l + *h, *h - *l);
            }
        }
        half *= 2;
    }
}
