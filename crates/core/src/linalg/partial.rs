//! The top of a spectrum by block Davidson steps, preconditioned with a basis that nearly
//! diagonalises the matrix: the eigenvectors of a similar one.

use super::eigen::{Eigen, EigenWork, eigh};
use super::multiply;
use super::square::Square;

/// Gram eigenvalues below this are directions already in the space.
const DEPENDENT: f64 = 1e-12;
/// Steps before the rate is judged.
const PATIENCE: usize = 4;

/// Workspaces of [`PartialEigen::solve`], each n x block.
#[derive(Default)]
pub(crate) struct PartialEigen {
    x: Vec<f64>,
    image: Vec<f64>,
    step: Vec<f64>,
    step_image: Vec<f64>,
    spare: Vec<f64>,
    small: Small,
}

/// Decompositions of matrices of the block's size.
#[derive(Default)]
struct Small {
    matrix: Square,
    eigen: Eigen,
    work: EigenWork,
}

/// What to compute, and from where.
pub(crate) struct Task<'a> {
    /// The symmetric matrix, up to the factor `scale`.
    pub(crate) matrix: &'a Square,
    /// Positive.
    pub(crate) scale: f64,
    /// Columns that nearly diagonalise it; the last `block` are the start.
    pub(crate) basis: &'a Square,
    /// `basis_k^T matrix basis_k`.
    pub(crate) rayleigh: &'a [f64],
    /// Number of eigenpairs.
    pub(crate) block: usize,
    /// Largest `exp((theta - theta_max) / 2) |B x - theta x|` that will do.
    pub(crate) tolerance: f64,
    /// Steps before giving up.
    pub(crate) max_steps: usize,
}

impl PartialEigen {
    /// The top eigenpairs, values increasing, into `values` and `vectors` (n x block); `false`
    /// when the tolerance is not reached. That the pairs are eigenpairs is verified by residuals; that
    /// no larger eigenvalue was missed is not.
    ///
    /// **Cost** per step three products n x n x block.
    #[must_use]
    pub(crate) fn solve(&mut self, task: &Task<'_>, values: &mut [f64], vectors: &mut [f64]) -> bool {
        let (n, b) = (task.matrix.n(), task.block);
        self.x.clear();
        self.x.extend_from_slice(&task.basis.data()[n * (n - b)..]);
        if !self.small.orthonormalise(&mut self.x, n, &mut self.spare) || self.x.len() != n * b {
            return false;
        }
        self.image.resize(n * b, 0.0);
        multiply::square_times(task.matrix, &self.x, b, task.scale, &mut self.image);
        if !self.small.ritz(&self.x, &self.image, n, b) {
            return false;
        }
        values.copy_from_slice(&self.small.eigen.values);
        for block in [&mut self.x, &mut self.image] {
            self.spare.resize(n * b, 0.0);
            multiply::tall_times(block, n, self.small.eigen.vectors.data(), b, &mut self.spare, false);
            std::mem::swap(block, &mut self.spare);
        }
        let mut last = f64::INFINITY;
        for left in (0..=task.max_steps).rev() {
            let size = self.residual(n, values);
            if size <= task.tolerance {
                vectors.copy_from_slice(&self.x);
                return true;
            }
            // At the present rate the tolerance must come within reach; the rate improves with time.
            let forecast = size * (size / last).min(1.0).powi(left as i32 + 1);
            let hopeless = task.max_steps - left >= PATIENCE && forecast > task.tolerance;
            if left == 0 || hopeless || !size.is_finite() || !self.improve(task, values) {
                break;
            }
            last = size;
        }
        false
    }

    /// `step <- image - x theta`; its size weighted by the square roots of the Gibbs weights.
    fn residual(&mut self, n: usize, values: &[f64]) -> f64 {
        let top = values[values.len() - 1];
        self.step.clear();
        let mut size = 0.0f64;
        for ((x, image), theta) in self.x.chunks_exact(n).zip(self.image.chunks_exact(n)).zip(values) {
            let from = self.step.len();
            self.step.extend(image.iter().zip(x).map(|(w, x)| w - theta * x));
            let square: f64 = self.step[from..].iter().map(|r| r * r).sum();
            size = size.max((0.5 * (theta - top)).exp() * square.sqrt());
        }
        size
    }

    /// One Davidson step: corrections `V (theta - rayleigh)^-1 V^T r`, then Rayleigh-Ritz on both.
    fn improve(&mut self, task: &Task<'_>, values: &mut [f64]) -> bool {
        let (n, b) = (task.matrix.n(), task.block);
        self.spare.resize(n * b, 0.0);
        multiply::square_transposed_times(task.basis, &self.step, b, &mut self.spare);
        let least = 0.05 * (values[0] - task.rayleigh[n - b - 1]).abs().max(0.1);
        for (column, theta) in self.spare.chunks_exact_mut(n).zip(&*values) {
            column[n - b..].fill(0.0);
            for (c, rayleigh) in column.iter_mut().zip(&task.rayleigh[..n - b]) {
                *c /= (theta - rayleigh).max(least);
            }
        }
        multiply::square_times(task.basis, &self.spare, b, 1.0, &mut self.step);
        for _ in 0..2 {
            let m = self.step.len() / n;
            self.small.matrix.reset(b.max(m));
            let overlap = &mut self.small.matrix.data_mut()[..b * m];
            multiply::tall_transposed_tall(&self.x, &self.step, n, overlap);
            overlap.iter_mut().for_each(|v| *v = -*v);
            multiply::tall_times(&self.x, n, overlap, m, &mut self.step, true);
            if !self.small.orthonormalise(&mut self.step, n, &mut self.spare) {
                return false;
            }
        }
        let m = self.step.len() / n;
        self.step_image.resize(n * m, 0.0);
        multiply::square_times(task.matrix, &self.step, m, task.scale, &mut self.step_image);
        self.rotate(n, b, m, values)
    }

    /// Keeps the top `b` Ritz pairs of `[x, step]`.
    fn rotate(&mut self, n: usize, b: usize, m: usize, values: &mut [f64]) -> bool {
        let size = b + m;
        let mut cross = vec![0.0; (b + m) * m];
        multiply::tall_transposed_tall(&self.x, &self.step_image, n, &mut cross[..b * m]);
        multiply::tall_transposed_tall(&self.step, &self.step_image, n, &mut cross[b * m..]);
        let small = &mut self.small;
        small.matrix.reset(size);
        let data = small.matrix.data_mut();
        data.fill(0.0);
        (0..b).for_each(|k| data[k * (size + 1)] = values[k]);
        for j in 0..m {
            for i in 0..b {
                data[b + j + size * i] = cross[i + b * j];
            }
            for i in 0..m {
                data[b + i + size * (b + j)] = cross[b * m + i + m * j];
            }
        }
        if !eigh(&small.matrix, &mut small.eigen, &mut small.work) {
            return false;
        }
        values.copy_from_slice(&small.eigen.values[m..]);
        let chosen = &small.eigen.vectors.data()[size * m..];
        let (upper, lower): (Vec<f64>, Vec<f64>) = (
            chosen.chunks_exact(size).flat_map(|c| c[..b].to_vec()).collect(),
            chosen.chunks_exact(size).flat_map(|c| c[b..].to_vec()).collect(),
        );
        self.spare.resize(n * b, 0.0);
        for (kept, new) in [(&mut self.x, &self.step), (&mut self.image, &self.step_image)] {
            multiply::tall_times(kept, n, &upper, b, &mut self.spare, false);
            multiply::tall_times(new, n, &lower, b, &mut self.spare, true);
            std::mem::swap(kept, &mut self.spare);
        }
        true
    }
}

impl Small {
    /// Replaces the columns of `block` by an orthonormal basis of their span, dependent ones dropped.
    fn orthonormalise(&mut self, block: &mut Vec<f64>, n: usize, spare: &mut Vec<f64>) -> bool {
        for column in block.chunks_exact_mut(n) {
            let length = column.iter().map(|v| v * v).sum::<f64>().sqrt();
            let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
            column.iter_mut().for_each(|v| *v *= scale);
        }
        let m = block.len() / n;
        self.matrix.reset(m);
        multiply::tall_transposed_tall(block, block, n, self.matrix.data_mut());
        if !eigh(&self.matrix, &mut self.eigen, &mut self.work) {
            return false;
        }
        let first = self.eigen.values.iter().take_while(|v| !(**v > DEPENDENT)).count();
        for (column, value) in
            self.eigen.vectors.data_mut().chunks_exact_mut(m).zip(&self.eigen.values).skip(first)
        {
            let scale = 1.0 / value.sqrt();
            column.iter_mut().for_each(|v| *v *= scale);
        }
        spare.resize(n * (m - first), 0.0);
        multiply::tall_times(block, n, &self.eigen.vectors.data()[m * first..], m - first, spare, false);
        std::mem::swap(block, spare);
        true
    }

    /// Decomposes `x^T image`.
    fn ritz(&mut self, x: &[f64], image: &[f64], n: usize, b: usize) -> bool {
        self.matrix.reset(b);
        multiply::tall_transposed_tall(x, image, n, self.matrix.data_mut());
        eigh(&self.matrix, &mut self.eigen, &mut self.work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A diagonal matrix plus a small symmetric perturbation, against the full decomposition.
    #[test]
    fn top_pairs_agree_with_the_full_decomposition() {
        let (n, b) = (80, 7);
        let entry = |i: usize, j: usize| ((i * j + i + j) as f64 * 12.9898).sin() * 0.05;
        let mut matrix = Square::from_column_major(n, (0..n * n).map(|k| entry(k % n, k / n)).collect());
        (0..n).for_each(|i| matrix.data_mut()[i * (n + 1)] = i as f64);
        let rayleigh: Vec<f64> = matrix.diagonal().collect();
        let mut full = Eigen::default();
        assert!(eigh(&matrix, &mut full, &mut EigenWork::default()));
        let (mut values, mut vectors) = (vec![0.0; b], vec![0.0; n * b]);
        let basis = Square::identity(n);
        let task = Task {
            matrix: &matrix,
            scale: 1.0,
            basis: &basis,
            rayleigh: &rayleigh,
            block: b,
            tolerance: 1e-10,
            max_steps: 20,
        };
        assert!(PartialEigen::default().solve(&task, &mut values, &mut vectors));
        let top = full.values[n - 1];
        for (found, exact) in values.iter().zip(&full.values[n - b..]) {
            // Residuals are weighted by exp((theta - top) / 2).
            assert!((found - exact).abs() < 1e-9 * (top - exact).exp(), "{found} {exact}");
        }
    }
}
