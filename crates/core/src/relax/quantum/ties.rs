//! Newton systems in V_perp, for feature sets with few coinciding products.
//!
//! A class with s entries contributes s - 1 directions: an entry against the class's first. Their
//! Hessian is a Gram matrix over pairs of eigenvectors of which one is weighty, with the
//! diagonal pairs centred, so nothing cancels at low temperature.

use super::normal_matrix::{class_entries, transposed};
use crate::features::Classes;
use crate::linalg::{Cholesky, Gibbs, Square, multiply};
use faer::Par;
use faer::traits::pulp::Arch;

/// One direction `E_entry - ratio E_pivot` of V_perp, E symmetric unit matrices.
struct Tie {
    entry: (u32, u32),
    pivot: (u32, u32),
    ratio: f64,
}

/// The basis of V_perp with its workspace.
pub(super) struct Ties {
    ties: Vec<Tie>,
    classes: Vec<Vec<(u32, u32)>>,
    rows: Vec<f64>,
    /// Divided differences of exp where one eigenvalue is weighty, else zero.
    kernel: Square,
    cholesky: Cholesky,
    par: Par,
}

/// Relative ridge: directions without curvature do not move.
const RIDGE: f64 = 1e-15;

impl Ties {
    pub(super) fn new(classes: &Classes, par: Par) -> Self {
        let entries = class_entries(classes);
        let multiplicity = |e: (u32, u32)| if e.0 == e.1 { 1.0 } else { 2.0 };
        let ties = entries.iter().flat_map(|class| {
            let pivot = class[0];
            let tie = move |&entry: &(u32, u32)| Tie {
                entry,
                pivot,
                ratio: multiplicity(entry) / multiplicity(pivot),
            };
            class[1..].iter().map(tie).collect::<Vec<_>>()
        });
        Ties {
            ties: ties.collect(),
            classes: entries,
            rows: Vec::new(),
            kernel: Square::zeros(classes.n()),
            cholesky: Cholesky::default(),
            par,
        }
    }

    /// Writes the Newton direction and returns the moments it leads to.
    ///
    /// **Cost** M^2 n r + M^3 / 3 flops, M the dimension of V_perp, r the weighty eigenvalues.
    pub(super) fn solve(&mut self, gibbs: &Gibbs, tilt: f64, out: &mut [f64]) -> Option<Vec<f64>> {
        let n = gibbs.n();
        self.fill_kernel(gibbs);
        let mut step = Arch::new().dispatch(|| self.fill(gibbs, tilt));
        let length = n * gibbs.rank - gibbs.rank * (gibbs.rank - 1) / 2;
        if !self.ties.is_empty() {
            if !self.cholesky.factor_gram(&self.rows, length, self.ties.len(), RIDGE, self.par) {
                return None;
            }
            self.cholesky.solve(&mut step);
        }
        out.fill(0.0);
        for (tie, &value) in self.ties.iter().zip(&step) {
            for ((i, j), v) in [(tie.entry, value), (tie.pivot, -tie.ratio * value)] {
                let (i, j) = (i as usize, j as usize);
                out[i + n * j] += v;
                if i != j {
                    out[j + n * i] += v;
                }
            }
        }
        Some(self.moments_after(gibbs, out))
    }

    fn fill_kernel(&mut self, gibbs: &Gibbs) {
        let n = gibbs.n();
        let kernel = self.kernel.data_mut();
        kernel.fill(0.0);
        for l in n - gibbs.rank..n {
            for k in 0..=l {
                let value = gibbs.exp_kernel(k, l);
                kernel[k + n * l] = value;
                kernel[l + n * k] = value;
            }
        }
    }

    /// Fills the Gram rows and returns the right-hand side `<rho + tilt rho', D>`.
    #[inline(always)]
    fn fill(&mut self, gibbs: &Gibbs, tilt: f64) -> Vec<f64> {
        let (n, r) = (gibbs.n(), gibbs.rank);
        let length = n * r - r * (r - 1) / 2;
        self.rows.resize(length * self.ties.len(), 0.0);
        let transposed = transposed(&gibbs.eigen.vectors);
        let mean = gibbs.mean_value();
        let mut roots = Vec::with_capacity(length);
        for l in n - r..n {
            roots.extend(self.kernel.column(l)[..l].iter().map(|v| (2.0 * v).sqrt()));
            roots.push(gibbs.weights[l].sqrt());
        }
        let mut rhs = Vec::with_capacity(self.ties.len());
        for (row, tie) in self.rows.chunks_exact_mut(length).zip(&self.ties) {
            row.fill(0.0);
            add_top_outer(row, &transposed, tie.entry, 1.0, r);
            add_top_outer(row, &transposed, tie.pivot, -tie.ratio, r);
            let (mut average, mut total, mut at) = (0.0, 0.0, 0);
            for l in n - r..n {
                let value = row[at + l];
                average += gibbs.weights[l] * value;
                total += gibbs.weights[l] * (1.0 + tilt * (gibbs.eigen.values[l] - mean)) * value;
                at += l + 1;
            }
            at = 0;
            for l in n - r..n {
                row[at + l] -= average;
                at += l + 1;
            }
            row.iter_mut().zip(&roots).for_each(|(v, r)| *v *= r);
            rhs.push(total);
        }
        rhs
    }

    /// Moments of `n (rho (1 + <rho, D>) - L[D])`, which lies in V when D solves the system.
    fn moments_after(&self, gibbs: &Gibbs, direction: &[f64]) -> Vec<f64> {
        let n = gibbs.n();
        let vectors = &gibbs.eigen.vectors;
        let d = Square::from_column_major(n, direction.to_vec());
        let (mut first, mut second) = (Square::zeros(n), Square::zeros(n));
        multiply::squares(&d, vectors, &mut first);
        multiply::square_transposed_times(vectors, first.data(), n, second.data_mut());
        let shift: f64 = (0..n).map(|k| gibbs.weights[k] * second.at(k, k)).sum();
        for l in 0..n {
            for k in 0..n {
                let moved = -self.kernel.at(k, l) * second.at(k, l);
                second.data_mut()[k + n * l] =
                    if k == l { gibbs.weights[k] * (1.0 + shift) + moved } else { moved };
            }
        }
        multiply::squares(vectors, &second, &mut first);
        multiply::square_by_transpose(&first, vectors, &mut second);
        let mean = |class: &Vec<(u32, u32)>| {
            let sum: f64 =
                class.iter().map(|&(i, j)| entry_weight(i, j) * second.at(i as usize, j as usize)).sum();
            n as f64 * sum / class.iter().map(|&(i, j)| entry_weight(i, j)).sum::<f64>()
        };
        self.classes.iter().map(mean).collect()
    }
}

fn entry_weight(i: u32, j: u32) -> f64 {
    if i == j { 1.0 } else { 2.0 }
}

/// Adds `scale (u_i u_j^T + u_j u_i^T)` (or `u_i u_i^T`) in the eigenbasis, rows k <= l, l weighty.
#[inline(always)]
fn add_top_outer(row: &mut [f64], transposed: &Square, (i, j): (u32, u32), scale: f64, r: usize) {
    let n = transposed.n();
    let (u, v) = (transposed.column(i as usize), transposed.column(j as usize));
    let mut at = 0;
    for l in n - r..n {
        let target = &mut row[at..=at + l];
        if i == j {
            target.iter_mut().zip(u).for_each(|(t, a)| *t += scale * a * u[l]);
        } else {
            target.iter_mut().zip(u).zip(v).for_each(|((t, a), b)| *t += scale * (a * v[l] + b * u[l]));
        }
        at += l + 1;
    }
}
