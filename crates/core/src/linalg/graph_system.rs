//! Linear systems with the sparsity of a graph: envelope elimination, or a Krylov method where the
//! envelope would not fit.

use crate::deadline::Deadline;

/// A matrix with entries on the diagonal and, both ways, on a graph's edges.
///
/// Elimination does not pivot: matrices are positive definite up to a diagonal scaling, or close.
#[derive(Clone, Debug)]
pub(crate) struct GraphSystem {
    ends: Vec<[u32; 2]>,
    diagonal: Vec<f64>,
    /// Entries `[(i, j), (j, i)]` of the edge `[i, j]`.
    entries: Vec<[f64; 2]>,
    factor: Option<Envelope>,
    deadline: Deadline,
}

/// Rows of a factorisation, or steps of the Krylov method, between two looks at the clock.
const POLL_EVERY: usize = 16;

/// Above this many multiplications per factorisation the Krylov method takes over.
const ENVELOPE_WORK: f64 = 4e9;

/// Steps of the Krylov method: Newton directions need not be exact.
const KRYLOV_STEPS: usize = 300;

/// Relative residual at which the Krylov method stops.
const KRYLOV_TOL: f64 = 1e-10;

impl GraphSystem {
    /// The pattern of a graph on `d` nodes.
    ///
    /// At the deadline factorisations and solutions are left as they are, without meaning.
    ///
    /// **Cost** O(d + m) plus the envelope of a reverse Cuthill-McKee order.
    pub(crate) fn new(d: usize, ends: &[[u32; 2]], deadline: &Deadline) -> Self {
        let factor = Envelope::new(d, ends);
        GraphSystem {
            ends: ends.to_vec(),
            diagonal: vec![1.0; d],
            entries: vec![[0.0; 2]; ends.len()],
            factor,
            deadline: deadline.clone(),
        }
    }

    /// Whether the deadline has passed, so that solutions have no meaning.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.stop().is_some()
    }

    /// Sets the matrix and factors it.
    ///
    /// **Cost** twice the sum of squared envelope widths.
    pub(crate) fn set(&mut self, diagonal: &[f64], entries: &[[f64; 2]]) {
        self.diagonal.copy_from_slice(diagonal);
        self.entries.copy_from_slice(entries);
        if let Some(envelope) = &mut self.factor {
            envelope.factor(&self.ends, diagonal, entries, &self.deadline);
        }
    }

    /// `rhs <- matrix^-1 rhs`.
    pub(crate) fn solve(&self, rhs: &mut [f64]) {
        match &self.factor {
            Some(envelope) => envelope.solve(rhs),
            None => self.krylov(rhs),
        }
    }

    /// Diagonal entries and edge entries `(i, j)` of the inverse of a symmetric matrix; `None` where
    /// there is no factor, or when `stop` says so.
    ///
    /// **Cost** that of a factorisation (Takahashi, Fagan and Chin, 1973).
    pub(crate) fn inverse_entries(&self, stop: &mut dyn FnMut() -> bool) -> Option<(Vec<f64>, Vec<f64>)> {
        let envelope = self.factor.as_ref()?;
        let (diagonal, lower) = envelope.selected_inverse(stop)?;
        let position = |i: u32| envelope.position[i as usize] as usize;
        let on_edge = |&[i, j]: &[u32; 2]| {
            let (low, high) = (position(i).min(position(j)), position(i).max(position(j)));
            lower[envelope.slot(high, low)]
        };
        let nodes = (0..self.diagonal.len() as u32).map(|i| diagonal[position(i)]).collect();
        Some((nodes, self.ends.iter().map(on_edge).collect()))
    }

    fn multiply(&self, x: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = self.diagonal.iter().zip(x).map(|(a, x)| a * x).collect();
        for (&[i, j], v) in self.ends.iter().zip(&self.entries) {
            out[i as usize] += v[0] * x[j as usize];
            out[j as usize] += v[1] * x[i as usize];
        }
        out
    }

    /// BiCGSTAB (van der Vorst, 1992), preconditioned by the diagonal.
    fn krylov(&self, rhs: &mut [f64]) {
        let n = rhs.len();
        let scale = |r: &[f64]| -> Vec<f64> { r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect() };
        let mut x = vec![0.0; n];
        let mut residual = rhs.to_vec();
        let shadow = residual.clone();
        let target = KRYLOV_TOL * dot(&shadow, &shadow).sqrt();
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        let (mut product, mut direction) = (vec![0.0; n], vec![0.0; n]);
        for step in 0..KRYLOV_STEPS {
            let late = step % POLL_EVERY == POLL_EVERY - 1 && self.deadline.stop().is_some();
            if late || dot(&residual, &residual).sqrt() <= target {
                break;
            }
            let next = dot(&shadow, &residual);
            let beta = next / rho * alpha / omega;
            (0..n).for_each(|i| direction[i] = residual[i] + beta * (direction[i] - omega * product[i]));
            let scaled = scale(&direction);
            product = self.multiply(&scaled);
            rho = next;
            alpha = rho / dot(&shadow, &product);
            let half: Vec<f64> = residual.iter().zip(&product).map(|(r, v)| r - alpha * v).collect();
            let scaled_half = scale(&half);
            let image = self.multiply(&scaled_half);
            omega = dot(&image, &half) / dot(&image, &image);
            if !(alpha.is_finite() && omega.is_finite() && omega != 0.0) {
                break;
            }
            for i in 0..n {
                x[i] += alpha * scaled[i] + omega * scaled_half[i];
                residual[i] = half[i] - omega * image[i];
            }
        }
        rhs.copy_from_slice(&x);
    }
}

/// Rows of a unit lower and columns of an upper triangular factor, from their first nonzero on.
#[derive(Clone, Debug)]
struct Envelope {
    /// Position of every node in the elimination order.
    position: Vec<u32>,
    /// First column of every row of the lower factor, first row of every column of the upper.
    first: Vec<u32>,
    /// Where every row starts in `lower`, every column in `upper`; pivots are kept apart.
    start: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    pivots: Vec<f64>,
}

impl Envelope {
    fn new(d: usize, ends: &[[u32; 2]]) -> Option<Self> {
        let position = reverse_cuthill_mckee(d, ends);
        let mut first: Vec<u32> = (0..d as u32).collect();
        for &[i, j] in ends {
            let (a, b) = (position[i as usize], position[j as usize]);
            let (low, high) = (a.min(b), a.max(b) as usize);
            first[high] = first[high].min(low);
        }
        let mut start = vec![0];
        let (mut length, mut work) = (0usize, 0.0);
        for (i, &f) in first.iter().enumerate() {
            length += i - f as usize;
            work += ((i - f as usize) as f64).powi(2);
            start.push(length);
        }
        (work <= ENVELOPE_WORK).then(|| Envelope {
            position,
            first,
            start,
            lower: vec![0.0; length],
            upper: vec![0.0; length],
            pivots: vec![1.0; d],
        })
    }

    fn factor(&mut self, ends: &[[u32; 2]], diagonal: &[f64], entries: &[[f64; 2]], deadline: &Deadline) {
        self.lower.fill(0.0);
        self.upper.fill(0.0);
        (0..diagonal.len()).for_each(|i| self.pivots[self.position[i] as usize] = diagonal[i]);
        for (&[i, j], &[forth, back]) in ends.iter().zip(entries) {
            let (a, b) = (self.position[i as usize], self.position[j as usize]);
            let (low, high) = (a.min(b), a.max(b) as usize);
            let slot = self.start[high] + (low - self.first[high]) as usize;
            (self.lower[slot], self.upper[slot]) = if a > b { (forth, back) } else { (back, forth) };
        }
        for i in 0..self.first.len() {
            if i % POLL_EVERY == 0 && deadline.stop().is_some() {
                return;
            }
            let at = self.start[i];
            let (lower_done, lower_rest) = self.lower.split_at_mut(at);
            let (upper_done, upper_rest) = self.upper.split_at_mut(at);
            let width = self.start[i + 1] - at;
            let (row, column) = (&mut lower_rest[..width], &mut upper_rest[..width]);
            let first = self.first[i] as usize;
            for k in 0..width {
                let j = first + k;
                let from = first.max(self.first[j] as usize);
                let inner = self.start[j] + from - self.first[j] as usize..self.start[j + 1];
                let mine = from - first..k;
                column[k] -= dot(&lower_done[inner.clone()], &column[mine.clone()]);
                row[k] = (row[k] - dot(&upper_done[inner], &row[mine])) / self.pivots[j];
            }
            let original = self.pivots[i];
            let pivot = original - dot(row, column);
            // Rounding may eat a pivot; a floor keeps the step finite.
            self.pivots[i] = if pivot > 1e-14 * original { pivot } else { 1e-14 * original };
        }
    }

    /// Where entry (row, column) of the lower factor is kept.
    fn slot(&self, row: usize, column: usize) -> usize {
        self.start[row] + column - self.first[row] as usize
    }

    /// The entries of the inverse inside the envelope, for a symmetric matrix `L D L^T`: column i
    /// of the inverse below the diagonal is `-Z_ss l`, s the rows that reach column i and l their
    /// entries there. Any two of these rows meet inside the envelope.
    fn selected_inverse(&self, stop: &mut dyn FnMut() -> bool) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.first.len();
        // Rows that reach each column, increasing.
        let mut reach: Vec<Vec<usize>> = vec![Vec::new(); n];
        for i in 0..n {
            (self.first[i] as usize..i).for_each(|c| reach[c].push(i));
        }
        let (mut diagonal, mut inverse) = (vec![0.0; n], vec![0.0; self.lower.len()]);
        for i in (0..n).rev() {
            if i % 64 == 0 && stop() {
                return None;
            }
            let rows = &reach[i];
            let factor: Vec<f64> = rows.iter().map(|&r| self.lower[self.slot(r, i)]).collect();
            let mut column = vec![0.0; rows.len()];
            for (a, &r) in rows.iter().enumerate() {
                column[a] -= diagonal[r] * factor[a];
                for (b, &c) in rows[..a].iter().enumerate() {
                    let z = inverse[self.slot(r, c)];
                    column[a] -= z * factor[b];
                    column[b] -= z * factor[a];
                }
            }
            diagonal[i] = 1.0 / self.pivots[i] - dot(&column, &factor);
            rows.iter().zip(&column).for_each(|(&r, z)| inverse[self.slot(r, i)] = *z);
        }
        Some((diagonal, inverse))
    }

    fn solve(&self, rhs: &mut [f64]) {
        let n = self.first.len();
        let mut x = vec![0.0; n];
        (0..n).for_each(|i| x[self.position[i] as usize] = rhs[i]);
        for i in 0..n {
            let row = &self.lower[self.start[i]..self.start[i + 1]];
            x[i] -= dot(row, &x[self.first[i] as usize..i]);
        }
        for i in (0..n).rev() {
            x[i] /= self.pivots[i];
            let xi = x[i];
            let column = &self.upper[self.start[i]..self.start[i + 1]];
            x[self.first[i] as usize..i].iter_mut().zip(column).for_each(|(x, u)| *x -= u * xi);
        }
        (0..n).for_each(|i| rhs[i] = x[self.position[i] as usize]);
    }
}

/// Position of every node: breadth first from a far end, neighbours by degree, reversed.
fn reverse_cuthill_mckee(d: usize, ends: &[[u32; 2]]) -> Vec<u32> {
    let mut neighbours = vec![Vec::new(); d];
    for &[i, j] in ends {
        neighbours[i as usize].push(j);
        neighbours[j as usize].push(i);
    }
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    neighbours.iter_mut().for_each(|list| list.sort_by_key(|&j| (degree[j as usize], j)));
    let search = |root: usize, seen: &mut [bool]| -> Vec<u32> {
        let mut order = vec![root as u32];
        seen[root] = true;
        let mut head = 0;
        while head < order.len() {
            for &j in &neighbours[order[head] as usize] {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    order.push(j);
                }
            }
            head += 1;
        }
        order
    };
    let mut seen = vec![false; d];
    let mut order: Vec<u32> = Vec::with_capacity(d);
    for root in 0..d {
        if seen[root] {
            continue;
        }
        let component = search(root, &mut seen);
        // The node found last is far from `root`: a good place to start.
        component.iter().for_each(|&i| seen[i as usize] = false);
        order.extend(search(component[component.len() - 1] as usize, &mut seen));
    }
    let mut position = vec![0; d];
    order.iter().rev().enumerate().for_each(|(k, &i)| position[i as usize] = k as u32);
    position
}

/// Inner product with eight partial sums, which the compiler turns into vector code.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (blocks_a, blocks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = blocks_a.remainder().iter().zip(blocks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in blocks_a.zip(blocks_b) {
        (0..8).for_each(|k| lanes[k] += x[k] * y[k]);
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(rows: u32, columns: u32) -> Vec<[u32; 2]> {
        let at = |r: u32, c: u32| r * columns + c;
        let across = (0..rows).flat_map(|r| (1..columns).map(move |c| [at(r, c - 1), at(r, c)]));
        let down = (1..rows).flat_map(|r| (0..columns).map(move |c| [at(r - 1, c), at(r, c)]));
        across.chain(down).collect()
    }

    fn residual(system: &GraphSystem, d: usize) -> f64 {
        let rhs: Vec<f64> = (0..d).map(|i| ((i * 37 % 11) as f64) - 5.0).collect();
        let mut x = rhs.clone();
        system.solve(&mut x);
        let back = system.multiply(&x);
        back.iter().zip(&rhs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn envelope_and_krylov_solve_a_grid_with_an_isolated_node() {
        let ends = grid(7, 9);
        let d = 64;
        let entry = |e: usize| -0.3 + 0.01 * (e % 17) as f64;
        let entries: Vec<[f64; 2]> = (0..ends.len()).map(|e| [entry(e), entry(3 * e + 1)]).collect();
        let mut system = GraphSystem::new(d, &ends, &Deadline::default());
        system.set(&vec![2.0; d], &entries);
        assert!(residual(&system, d) < 1e-12);
        system.factor = None;
        assert!(residual(&system, d) < 1e-8);
    }

    #[test]
    fn selected_entries_of_the_inverse_match_solves() {
        let mut ends = grid(4, 6);
        ends.extend([[0, 23], [5, 18], [2, 13]]);
        let d = 25;
        let entries: Vec<[f64; 2]> = (0..ends.len()).map(|e| [0.1 - 0.04 * (e % 9) as f64; 2]).collect();
        let mut system = GraphSystem::new(d, &ends, &Deadline::default());
        system.set(&vec![1.7; d], &entries);
        let (nodes, edges) = system.inverse_entries(&mut || false).unwrap();
        for i in 0..d {
            let mut column = vec![0.0; d];
            column[i] = 1.0;
            system.solve(&mut column);
            assert!((column[i] - nodes[i]).abs() < 1e-13);
            for (&[a, b], z) in ends.iter().zip(&edges).filter(|(e, _)| e[1] as usize == i) {
                assert!((column[a as usize] - z).abs() < 1e-13, "{a} {b}");
            }
        }
    }

    #[test]
    fn the_envelope_of_a_grid_is_a_narrow_band() {
        let envelope = Envelope::new(400, &grid(20, 20)).unwrap();
        assert!(envelope.lower.len() < 400 * 24);
    }
}
