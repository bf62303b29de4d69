//! The sparse matrix P of a pairwise function `c + z^T P z`, z = (1, x).

use crate::model::Ising;

/// P in compressed rows: symmetric, hollow, scaled by a power of two so that its largest entry is about 1.
pub(super) struct Quadratic {
    start: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// What the entries were divided by.
    pub(super) scale: f64,
}

impl Quadratic {
    /// **Cost** O(d + m).
    pub(super) fn new(ising: &Ising) -> Self {
        let n = ising.d() + 1;
        let terms = || {
            let fields = ising.fields().iter().enumerate().map(|(i, &h)| (0, i + 1, h));
            let couplings = ising.triples().map(|(i, j, v)| (i + 1, j + 1, v));
            fields.chain(couplings).filter(|e| e.2 != 0.0)
        };
        let largest = terms().fold(0.0f64, |top, e| top.max(e.2.abs()));
        let scale = if largest > 0.0 { f64::powi(2.0, largest.log2().floor() as i32) } else { 1.0 };
        let mut start = vec![0usize; n + 1];
        for (a, b, _) in terms() {
            start[a + 1] += 1;
            start[b + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut entries = vec![(0, 0.0); start[n]];
        for (a, b, v) in terms() {
            for (from, to) in [(a, b), (b, a)] {
                entries[next[from]] = (to as u32, 0.5 * (v / scale));
                next[from] += 1;
            }
        }
        Quadratic { start, entries, scale }
    }

    /// Number of rows, d + 1.
    pub(super) fn n(&self) -> usize {
        self.start.len() - 1
    }

    /// Entries of row `i`.
    pub(super) fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.start[i]..self.start[i + 1]]
    }

    /// `out <- (P X)_i` for X with rows of length `out.len()`.
    pub(super) fn row_times(&self, i: usize, x: &[f64], out: &mut [f64]) {
        let r = out.len();
        out.fill(0.0);
        for &(j, p) in self.row(i) {
            let source = &x[r * j as usize..r * (j as usize + 1)];
            out.iter_mut().zip(source).for_each(|(o, v)| *o += p * v);
        }
    }

    /// `out <- P X`, both with rows of length `r`.
    pub(super) fn times(&self, x: &[f64], r: usize, out: &mut [f64]) {
        for (i, row) in out.chunks_exact_mut(r).enumerate() {
            self.row_times(i, x, row);
        }
    }
}
