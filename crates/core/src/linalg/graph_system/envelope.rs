//! A sparse factorisation in the envelope of a banded order.

use super::POLL_EVERY;
use crate::deadline::Deadline;
use crate::linalg::dot;

/// Above this many multiplications per factorisation, a second or two, the Krylov method takes over.
const ENVELOPE_WORK: f64 = 4e9;

/// Rows of a unit lower and columns of an upper triangular factor, from their first nonzero on.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    /// Position of every node in the elimination order.
    pub(super) position: Vec<u32>,
    /// First column of every row of the lower factor, first row of every column of the upper.
    first: Vec<u32>,
    /// Where every row starts in `lower`, every column in `upper`; pivots are kept apart.
    start: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    pivots: Vec<f64>,
}

impl Envelope {
    pub(super) fn new(d: usize, ends: &[[u32; 2]]) -> Option<Self> {
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

    pub(super) fn factor(
        &mut self,
        ends: &[[u32; 2]],
        diagonal: &[f64],
        entries: &[[f64; 2]],
        deadline: &Deadline,
    ) {
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
    pub(super) fn slot(&self, row: usize, column: usize) -> usize {
        self.start[row] + column - self.first[row] as usize
    }

    /// The entries of the inverse inside the envelope, for a symmetric matrix `L D L^T`: column i
    /// of the inverse below the diagonal is `-Z_ss l`, s the rows that reach column i and l their
    /// entries there. Any two of these rows meet inside the envelope.
    pub(super) fn selected_inverse(&self, stop: &mut dyn FnMut() -> bool) -> Option<(Vec<f64>, Vec<f64>)> {
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

    pub(super) fn solve(&self, rhs: &mut [f64]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_of_a_grid_is_a_narrow_band() {
        let at = |r: u32, c: u32| 20 * r + c;
        let across = (0..20).flat_map(|r| (1..20).map(move |c| [at(r, c - 1), at(r, c)]));
        let down = (1..20).flat_map(|r| (0..20).map(move |c| [at(r - 1, c), at(r, c)]));
        let envelope = Envelope::new(400, &across.chain(down).collect::<Vec<_>>()).unwrap();
        assert!(envelope.lower.len() < 400 * 24);
    }
}
