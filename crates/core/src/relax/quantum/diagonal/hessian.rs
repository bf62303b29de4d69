//! The Hessian of g on diagonals, `H v = diag L[diag v] - rho <rho, v>`, and its systems by
//! preconditioned conjugate gradients.

use super::LARGE;
use super::pair_preconditioner::PairPreconditioner;
use crate::deadline::Deadline;
use crate::linalg::{Gibbs, dot, multiply, norm};

/// Conjugate gradient steps per system; more are never worth a decomposition.
const MAX_STEPS: usize = 300;
/// Columns handled at once: workspaces stay n x BLOCK at any rank.
pub(super) const BLOCK: usize = 64;
/// Weight left out of the Hessian, as a part of `accuracy / n`: every coordinate has density about 1/n.
const TAIL: f64 = 0.3;
/// Above this accuracy a system takes so few steps that half the pairs in the preconditioner do.
const ROUGHLY: f64 = 0.03;

/// Products with the Hessian at one state, and solutions of Newton systems.
#[derive(Default)]
pub(super) struct DiagonalHessian {
    deadline: Deadline,
    rank: usize,
    kernel: Vec<f64>,
    scaled: Vec<f64>,
    inner: Vec<f64>,
    preconditioner: PairPreconditioner,
}

impl DiagonalHessian {
    /// Systems are left as they are at the deadline.
    pub(super) fn new(deadline: &Deadline) -> Self {
        DiagonalHessian { deadline: deadline.clone(), ..DiagonalHessian::default() }
    }

    /// Number of eigenvalues that matter for systems solved to `accuracy`.
    fn weighty(gibbs: &Gibbs, accuracy: f64) -> usize {
        let n = gibbs.n();
        let allowed = TAIL * accuracy / n as f64;
        let mut tail = 0.0;
        let ignored = gibbs.weights.iter().take_while(|&&p| {
            tail += p;
            tail <= allowed
        });
        (n - ignored.count()).clamp(1, gibbs.rank)
    }

    /// Columns `U (G o (U^T (v o U_l)))` for the eigenvectors l from `first` on, into `out`; G is
    /// doubled outside the last `rank` rows, whose pairs come once from either side.
    pub(super) fn moved(&mut self, gibbs: &Gibbs, rank: usize, v: &[f64], first: usize, out: &mut [f64]) {
        let n = gibbs.n();
        let columns = out.len() / n;
        let vectors = &gibbs.eigen.vectors;
        self.scaled.resize(n * columns, 0.0);
        self.inner.resize(n * columns, 0.0);
        self.kernel.resize(n, 0.0);
        for (q, scaled) in self.scaled.chunks_exact_mut(n).enumerate() {
            scaled.iter_mut().zip(vectors.column(first + q)).zip(v).for_each(|((s, u), v)| *s = u * v);
        }
        multiply::square_transposed_times(vectors, &self.scaled, columns, &mut self.inner);
        for (q, inner) in self.inner.chunks_exact_mut(n).enumerate() {
            gibbs.exp_kernel_column(first + q, &mut self.kernel);
            self.kernel[..n - rank].iter_mut().for_each(|g| *g *= 2.0);
            inner.iter_mut().zip(&self.kernel).for_each(|(w, g)| *w *= g);
        }
        multiply::square_times(vectors, &self.inner, columns, 1.0, out);
    }

    /// `out <- H v`: two products of size n x n x r.
    fn apply(&mut self, gibbs: &Gibbs, density: &[f64], v: &[f64], out: &mut [f64], image: &mut Vec<f64>) {
        let n = gibbs.n();
        let mean = dot(density, v);
        out.iter_mut().zip(density).for_each(|(o, d)| *o = -d * mean);
        for first in (n - self.rank..n).step_by(BLOCK) {
            let columns = BLOCK.min(n - first);
            image.resize(n * columns, 0.0);
            self.moved(gibbs, self.rank, v, first, image);
            for (q, image) in image.chunks_exact(n).enumerate() {
                let u = gibbs.eigen.vectors.column(first + q);
                out.iter_mut().zip(image).zip(u).for_each(|((o, m), u)| *o += m * u);
            }
        }
        // Nothing to do but for rounding and for what is left out.
        center(out);
    }

    /// Solves `H x = rhs` on zero-sum vectors to the relative `accuracy`; when `quick` and hot, where a
    /// product costs half a decomposition, by the preconditioner alone.
    pub(super) fn solve(
        &mut self,
        gibbs: &Gibbs,
        density: &[f64],
        rhs: &[f64],
        accuracy: f64,
        quick: bool,
        x: &mut [f64],
    ) {
        let n = rhs.len();
        self.rank = Self::weighty(gibbs, accuracy);
        let pairs = if accuracy > ROUGHLY { n / 4 } else { n / 2 };
        self.preconditioner.prepare(gibbs, self.rank, pairs);
        x.fill(0.0);
        let mut residual = rhs.to_vec();
        let target = accuracy * norm(rhs);
        let (mut z, mut image, mut block) = (vec![0.0; n], vec![0.0; n], Vec::new());
        self.preconditioner.apply(&residual, &mut z);
        if quick && 3 * self.rank > 2 * n {
            x.copy_from_slice(&z);
            self.release();
            return;
        }
        let mut p = z.clone();
        let mut rz = dot(&residual, &z);
        for _ in 0..MAX_STEPS {
            if !(norm(&residual) > target) || !(rz > 0.0) || self.deadline.stop().is_some() {
                break;
            }
            self.apply(gibbs, density, &p, &mut image, &mut block);
            let curvature = dot(&p, &image);
            if !(curvature > 0.0) {
                break;
            }
            let step = rz / curvature;
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
            residual.iter_mut().zip(&image).for_each(|(r, h)| *r -= step * h);
            self.preconditioner.apply(&residual, &mut z);
            let next = dot(&residual, &z);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rz * *p);
            rz = next;
        }
        center(x);
        self.release();
    }

    /// Gives back large workspaces.
    fn release(&mut self) {
        self.preconditioner.release();
        if self.kernel.len() >= LARGE {
            (self.scaled, self.inner) = (Vec::new(), Vec::new());
        }
    }
}

/// Takes the mean out.
pub(super) fn center(v: &mut [f64]) {
    let mean = v.iter().sum::<f64>() / v.len().max(1) as f64;
    v.iter_mut().for_each(|x| *x -= mean);
}
