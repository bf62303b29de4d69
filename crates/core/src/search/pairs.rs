//! The landscape of a pairwise model: one field a spin, kept up to date.

use super::landscape::{Draw, Landscape};
use crate::model::Ising;
use std::sync::Arc;

/// `f = c + sum h_i x_i + sum J_ij x_i x_j` by rows.
struct Couplings {
    constant: f64,
    fields: Vec<f64>,
    start: Vec<usize>,
    neighbour: Vec<u32>,
    coupling: Vec<f64>,
}

/// One assignment of spins with the field `h_i + sum_j J_ij x_j` on each.
#[derive(Clone)]
pub(super) struct Pairs {
    rows: Arc<Couplings>,
    spin: Vec<f64>,
    field: Vec<f64>,
}

impl Pairs {
    /// **Cost** O(d + m).
    pub(super) fn new(ising: &Ising) -> Self {
        let (d, adjacency) = (ising.d(), ising.adjacency());
        let (mut start, mut neighbour, mut coupling) = (vec![0], Vec::new(), Vec::new());
        for i in 0..d {
            for &(j, e) in adjacency.of(i) {
                let v = ising.couplings()[e as usize];
                if v != 0.0 {
                    neighbour.push(j);
                    coupling.push(v);
                }
            }
            start.push(neighbour.len());
        }
        let fields = ising.fields().to_vec();
        let rows = Arc::new(Couplings { constant: ising.constant(), fields, start, neighbour, coupling });
        let mut pairs = Pairs { rows, spin: vec![1.0; d], field: vec![0.0; d] };
        pairs.refresh();
        pairs
    }

    fn refresh(&mut self) {
        let rows = &*self.rows;
        for i in 0..self.spin.len() {
            let range = rows.start[i]..rows.start[i + 1];
            let pairs = rows.neighbour[range.clone()].iter().zip(&rows.coupling[range]);
            self.field[i] = rows.fields[i] + pairs.map(|(&j, v)| v * self.spin[j as usize]).sum::<f64>();
        }
    }

    fn flip(&mut self, i: usize) {
        self.spin[i] = -self.spin[i];
        let (rows, step) = (&*self.rows, 2.0 * self.spin[i]);
        let range = rows.start[i]..rows.start[i + 1];
        for (&j, v) in rows.neighbour[range.clone()].iter().zip(&rows.coupling[range]) {
            self.field[j as usize] += step * v;
        }
    }
}

impl Landscape for Pairs {
    fn d(&self) -> usize {
        self.spin.len()
    }

    fn set(&mut self, states: &[u32]) {
        self.spin.iter_mut().zip(states).for_each(|(x, &s)| *x = if s == 1 { 1.0 } else { -1.0 });
        self.refresh();
    }

    fn states(&self) -> Vec<u32> {
        self.spin.iter().map(|&x| u32::from(x > 0.0)).collect()
    }

    fn visit(&mut self, i: usize, temperature: f64, draw: &mut Draw<'_>) -> f64 {
        let gain = -2.0 * self.spin[i] * self.field[i];
        if draw.accepts(gain, temperature) {
            self.flip(i);
            return gain;
        }
        0.0
    }

    fn improve(&mut self, i: usize, least: f64) -> f64 {
        let gain = -2.0 * self.spin[i] * self.field[i];
        if gain > least {
            self.flip(i);
            return gain;
        }
        0.0
    }

    fn pulls(&self) -> Vec<f64> {
        let rows = &*self.rows;
        let square = |i: usize| {
            let row = &rows.coupling[rows.start[i]..rows.start[i + 1]];
            rows.fields[i] * rows.fields[i] + row.iter().map(|v| v * v).sum::<f64>()
        };
        (0..self.d()).map(|i| square(i).sqrt()).collect()
    }

    fn merit(&self, states: &[u32]) -> f64 {
        let rows = &*self.rows;
        let spin = |i: usize| if states[i] == 1 { 1.0 } else { -1.0 };
        let row = |i: usize| {
            let range = rows.start[i]..rows.start[i + 1];
            let pairs = rows.neighbour[range.clone()].iter().zip(&rows.coupling[range]);
            rows.fields[i] + 0.5 * pairs.map(|(&j, v)| v * spin(j as usize)).sum::<f64>()
        };
        rows.constant + (0..self.d()).map(|i| spin(i) * row(i)).sum::<f64>()
    }

    fn is_symmetric(&self) -> bool {
        self.rows.fields.iter().all(|h| *h == 0.0)
    }
}
