//! Linear systems with the sparsity of a graph: envelope elimination, or a Krylov method where the
//! envelope would not fit.

mod envelope;

use super::dot;
use crate::deadline::Deadline;
use envelope::Envelope;

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
}
