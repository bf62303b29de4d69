//! The normal matrix of the moment fit, `H_CD = <A_C, U (K o (U^T A_D U)) U^T>`.
//!
//! Two ways to form H: as a Gram matrix of weighted rows `U^T A_C U` (few classes), or through the
//! resolvents of Sigma (many): with `K_kl = int_0^inf ds / ((s_k + s)(s_l + s)) + mu / (s_k s_l)`,
//!
//! `H_CD = int tr A_C R_s A_D R_s ds + mu tr A_C R_0 A_D R_0`, `R_s = U diag(1 / (s_k + s)) U^T`,
//!
//! and since A_C and A_D are partial permutations, every product `R_ik R_jl` lands on the entries
//! (class(i,j), class(k,l)): a product of thin matrices and a scatter instead of n^2 N^2 flops.

use super::class_rows::Rows;
use super::general::spectral_sum;
use crate::features::Classes;
use crate::linalg::{Square, multiply};
use faer::Par;

/// How H is formed, with its workspace.
pub(super) enum NormalMatrix {
    Rows(Rows),
    Resolvents(Resolvents),
}

impl NormalMatrix {
    pub(super) fn new(classes: &Classes, par: Par) -> Self {
        let n = classes.n();
        if classes.len() < ROWS_UP_TO * n {
            NormalMatrix::Rows(Rows::new(classes, par))
        } else {
            NormalMatrix::Resolvents(Resolvents::new(n, par))
        }
    }

    /// The lower triangle of H, by columns.
    pub(super) fn lower(
        &mut self,
        classes: &Classes,
        vectors: &Square,
        sigma: &[f64],
        mu: f64,
        kernel: &Square,
    ) -> Vec<f64> {
        match self {
            NormalMatrix::Rows(rows) => rows.lower(vectors, kernel),
            NormalMatrix::Resolvents(resolvents) => resolvents.lower(classes, vectors, sigma, mu),
        }
    }
}

/// Operations of a Newton system in the moments: its assembly and its factorisation.
pub(crate) fn moment_operations(classes: &Classes) -> f64 {
    let n = classes.n() as f64;
    let (pairs, inside) = (0.5 * n * (n + 1.0), classes.len() as f64);
    let assembly = if classes.len() < ROWS_UP_TO * classes.n() {
        pairs * (inside * inside + n * n)
    } else {
        pairs * pairs * SCATTER_COST
    };
    assembly + inside.powi(3) / 3.0
}

/// Operations of a Newton system in V_perp.
pub(crate) fn perp_operations(classes: &Classes) -> f64 {
    let n = classes.n() as f64;
    let pairs = 0.5 * n * (n + 1.0);
    let perp = pairs - classes.len() as f64;
    perp * perp * (pairs + perp / 3.0)
}

/// Whether Newton systems cost less in the moments than in V_perp.
pub(crate) fn moments_are_smaller(classes: &Classes) -> bool {
    let n = classes.n() as f64;
    let perp = 0.5 * n * (n + 1.0) - classes.len() as f64;
    perp > SMALL_PERP && moment_operations(classes) < perp_operations(classes)
}

/// Up to this many dimensions V_perp is taken.
const SMALL_PERP: f64 = 30.0;
/// Flops that a pair of pairs is worth: the nodes of the quadrature and two scattered additions.
const SCATTER_COST: f64 = 50.0;
/// Up to this many classes per feature the Gram matrix costs less than resolvents.
const ROWS_UP_TO: usize = 4;

/// Row i of U as a contiguous column.
pub(super) fn transposed(vectors: &Square) -> Square {
    let n = vectors.n();
    let mut out = Square::zeros(n);
    for k in 0..n {
        for (i, u) in vectors.column(k).iter().enumerate() {
            out.data_mut()[k + n * i] = *u;
        }
    }
    out
}

/// Entries (i <= j) of every class.
pub(super) fn class_entries(classes: &Classes) -> Vec<Vec<(u32, u32)>> {
    let n = classes.n();
    let mut entries = vec![Vec::new(); classes.len()];
    for j in 0..n {
        for i in 0..=j {
            entries[classes.of()[i + n * j] as usize].push((i as u32, j as u32));
        }
    }
    entries
}

/// Resolvents at the nodes of a quadrature, side by side.
pub(super) struct Resolvents {
    /// `sqrt(w_q) R_q[k, i]` at `k + n (q + nodes i)`, diagonal entries halved.
    panel: Vec<f64>,
    scratch: [Square; 2],
    par: Par,
}

/// Step of the trapezoidal rule in log s: relative error of K about `2 exp(-2 pi^2 / STEP)`.
const STEP: f64 = 1.6;
/// The rule runs this far beyond the spectrum in log s; the tails are summed in closed form, up
/// to a relative error `exp(-2 MARGIN)`.
const MARGIN: f64 = 4.0;
/// Above this many features H is summed in two parts, whatever the number of threads.
const SPLIT: usize = 64;

impl Resolvents {
    fn new(n: usize, par: Par) -> Self {
        Resolvents { panel: Vec::new(), scratch: [Square::zeros(n), Square::zeros(n)], par }
    }

    /// **Cost** q n^4 / 4 flops and n^4 / 4 scattered additions for q nodes, about 20.
    fn lower(&mut self, classes: &Classes, vectors: &Square, sigma: &[f64], mu: f64) -> Vec<f64> {
        let nodes = self.fill_panel(vectors, sigma, mu);
        let n = classes.n();
        let panel = &self.panel;
        let part = |which: usize, parts: usize| {
            let mut sum = vec![0.0; classes.len() * classes.len()];
            let mut block = vec![0.0; n * n];
            (0..n)
                .skip(which)
                .step_by(parts)
                .for_each(|j| scatter(classes, panel, nodes, j, &mut block, &mut sum));
            sum
        };
        let mut sum = match (n > SPLIT, self.par) {
            (false, _) => part(0, 1),
            (true, Par::Seq) => add(part(0, 2), &part(1, 2)),
            (true, _) => {
                let (first, second) = rayon::join(|| part(0, 2), || part(1, 2));
                add(first, &second)
            }
        };
        add_transpose_to_lower(&mut sum, classes.len());
        sum
    }

    fn fill_panel(&mut self, vectors: &Square, sigma: &[f64], mu: f64) -> usize {
        let n = sigma.len();
        let rule = quadrature(sigma, mu);
        let nodes = rule.len();
        self.panel.resize(n * n * nodes, 0.0);
        let [scratch, resolvent] = &mut self.scratch;
        for (q, node) in rule.iter().enumerate() {
            let value = |k: usize| node.root_weight * node.resolvent(sigma[k]);
            spectral_sum(vectors, value, n, scratch, resolvent);
            for i in 0..n {
                let target = &mut self.panel[n * (q + nodes * i)..][..n];
                target.copy_from_slice(resolvent.column(i));
                target[i] *= 0.5;
            }
        }
        nodes
    }
}

/// One term `weight (s_k + at)^-1 (s_l + at)^-1` of the quadrature of K.
struct Node {
    /// `None` is the point at infinity, where the resolvent is the identity.
    at: Option<f64>,
    root_weight: f64,
}

impl Node {
    fn resolvent(&self, weight: f64) -> f64 {
        self.at.map_or(1.0, |at| 1.0 / (weight + at))
    }
}

/// Trapezoidal rule in `log s` over the range of the eigenvalues, with both tails and the barrier.
fn quadrature(values: &[f64], mu: f64) -> Vec<Node> {
    let least = values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    let most = values.iter().fold(0.0f64, |m, v| m.max(*v));
    let (first, last) = (least.ln() - MARGIN, most.ln() + MARGIN);
    let steps = ((last - first) / STEP).ceil();
    let top = first + steps * STEP;
    let tail = STEP / STEP.exp_m1();
    let mut rule = vec![
        Node { at: Some(0.0), root_weight: (tail * first.exp() + mu).sqrt() },
        Node { at: None, root_weight: (tail * (-top).exp()).sqrt() },
    ];
    rule.extend((0..=steps as usize).map(|k| {
        let s = (first + k as f64 * STEP).exp();
        Node { at: Some(s), root_weight: (STEP * s).sqrt() }
    }));
    rule
}

/// Adds all products `R_ik R_jl` with i >= j, k >= i, l >= j to the halves of H they belong to.
fn scatter(classes: &Classes, panel: &[f64], nodes: usize, j: usize, block: &mut [f64], sum: &mut [f64]) {
    let (n, count, of) = (classes.n(), classes.len(), classes.of());
    let thin = |i: usize| (&panel[n * nodes * i..n * nodes * (i + 1)], i);
    for i in j..n {
        // block[l - j, k - i] = sum_q R_jl R_ik
        let block = &mut block[..(n - j) * (n - i)];
        multiply::lower_rows_outer(thin(j), thin(i), n, nodes, block);
        let twice = if i == j { 1.0 } else { 2.0 };
        let (first, il) = (of[i + n * j] as usize * count, &of[j + n * i..n * (i + 1)]);
        for (column, k) in block.chunks_exact(n - j).zip(i..) {
            let second = of[k + n * j] as usize * count;
            let kl = &of[j + n * k..n * (k + 1)];
            for ((v, &kl), &il) in column.iter().zip(kl).zip(il) {
                sum[first + kl as usize] += twice * v;
                sum[second + il as usize] += twice * v;
            }
        }
    }
}

fn add(mut sum: Vec<f64>, other: &[f64]) -> Vec<f64> {
    sum.iter_mut().zip(other).for_each(|(s, o)| *s += o);
    sum
}

/// `M <- M + M^T` on the lower triangle, block by block for the cache.
fn add_transpose_to_lower(matrix: &mut [f64], size: usize) {
    const BLOCK: usize = 32;
    for column in (0..size).step_by(BLOCK) {
        for row in (column..size).step_by(BLOCK) {
            for j in column..(column + BLOCK).min(size) {
                for i in row.max(j)..(row + BLOCK).min(size) {
                    matrix[i + size * j] += matrix[j + size * i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::linalg::{Eigen, EigenWork, eigh};

    #[test]
    fn both_ways_to_form_the_normal_matrix_agree() {
        for (d, mu) in [(4, 0.0), (5, 1e-6)] {
            let classes = Features::degree(d, 2).classes();
            let n = classes.n();
            let entry = |k: usize| ((k % n + k / n) as f64 * 1.7 + ((k % n) * (k / n)) as f64).sin();
            let a = Square::from_column_major(n, (0..n * n).map(entry).collect());
            let (mut eigen, mut work) = (Eigen::default(), EigenWork::default());
            assert!(eigh(&a, &mut eigen, &mut work));
            let sigma: Vec<f64> = (0..n).map(|k| (25.0 * (k as f64 / n as f64 - 1.0)).exp()).collect();
            let mut kernel = Square::zeros(n);
            for k in 0..n * n {
                let (s, t) = (sigma[k % n], sigma[k / n]);
                let log = if s == t { 1.0 / s } else { (s.ln() - t.ln()) / (s - t) };
                kernel.data_mut()[k] = log + mu / (s * t);
            }
            let mut rows = Rows::new(&classes, Par::Seq);
            let exact = rows.lower(&eigen.vectors, &kernel);
            let found = Resolvents::new(n, Par::Seq).lower(&classes, &eigen.vectors, &sigma, mu);
            let size = classes.len();
            for j in 0..size {
                for i in j..size {
                    let scale = (exact[i * (size + 1)] * exact[j * (size + 1)]).sqrt();
                    let error = (exact[i + size * j] - found[i + size * j]).abs();
                    assert!(error < 1e-3 * scale, "d {d}: ({i}, {j}) {error:e} of {scale:e}");
                }
            }
        }
    }
}
