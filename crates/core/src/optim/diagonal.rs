//! V_perp for the features (1, x): zero-sum diagonals, with Newton systems by conjugate gradients.

use super::path_newton::DualSpace;
use crate::spectral::{Cholesky, EigenWork, Gibbs, Square, multiply};
use faer::Par;

/// Y = diag(y), sum y = 0. A Hessian product costs O(n^2 r), r the number of weighty eigenvalues.
pub(crate) struct Diagonal<'a> {
    a: &'a Square,
    squared_rows: Vec<f64>,
    norm: f64,
    density: Vec<f64>,
    logs: bool,
    krylov: Krylov,
    direct: Direct,
}

/// Newton on the logarithms of the diagonal is for states of high rank above this residual; at low
/// rank the diagonal is no longer like a softmax and plain Newton is better.
const LOG_SWITCH: f64 = 0.3;
/// Above this residual, at any rank.
const FAR: f64 = 0.6;
/// Up to this size the Hessian is formed and factored: conjugate gradients lose directions whose
/// curvature is far below the largest, which low temperatures have.
const DIRECT: usize = 48;
/// Conjugate gradient steps per system; more are never worth a decomposition.
const MAX_STEPS: usize = 300;

impl<'a> Diagonal<'a> {
    pub(crate) fn new(a: &'a Square) -> Self {
        let n = a.n();
        let squared_rows: Vec<f64> = (0..n).map(|j| a.column(j).iter().map(|v| v * v).sum()).collect();
        Diagonal {
            a,
            norm: power_norm(a),
            squared_rows,
            density: vec![0.0; n],
            logs: false,
            krylov: Krylov::default(),
            direct: Direct::default(),
        }
    }

    /// `rho_ii`, the diagonal of the state.
    fn fill_density(&mut self, gibbs: &Gibbs) {
        self.density.fill(0.0);
        let n = gibbs.n();
        for k in n - gibbs.rank..n {
            let p = gibbs.weights[k];
            for (d, u) in self.density.iter_mut().zip(gibbs.eigen.vectors.column(k)) {
                *d += p * u * u;
            }
        }
    }

    /// Derivative of the diagonal when B is scaled: `sum_k u_k^2 p_k (lambda_k - mean)`.
    fn tilted(&self, gibbs: &Gibbs, tilt: f64, out: &mut [f64]) {
        let (n, mean) = (gibbs.n(), gibbs.mean_value());
        for k in n - gibbs.rank..n {
            let weight = tilt * gibbs.weights[k] * (gibbs.eigen.values[k] - mean);
            for (o, u) in out.iter_mut().zip(gibbs.eigen.vectors.column(k)) {
                *o += weight * u * u;
            }
        }
    }
}

/// The moment matrix one Newton step ahead of a state, `n (rho (1 + <rho, D>) - L[D])`, in factors:
/// its error is quadratic in the residual of the state.
pub(crate) struct Ahead {
    rank: usize,
    /// Per vertex: `growth p_k u_k`, u_k and `U (G o (U^T D U_top))` over the weighty k, rows contiguous.
    weighted: Vec<f64>,
    top: Vec<f64>,
    moved: Vec<f64>,
    scale: Vec<f64>,
}

impl Ahead {
    fn new(gibbs: &Gibbs, moved: &[f64], growth: f64) -> Self {
        let (n, r) = (gibbs.n(), gibbs.rank);
        let rows =
            |columns: &[f64]| -> Vec<f64> { (0..n * r).map(|k| columns[k / r + n * (k % r)]).collect() };
        let top = rows(&gibbs.eigen.vectors.data()[n * (n - r)..]);
        let weights = &gibbs.weights[n - r..];
        let weighted = top.iter().enumerate().map(|(k, u)| growth * weights[k % r] * u).collect();
        let mut out = Ahead { rank: r, weighted, top, moved: rows(moved), scale: Vec::new() };
        out.scale = (0..n).map(|i| 1.0 / out.entry(i, i).max(f64::MIN_POSITIVE).sqrt()).collect();
        out
    }

    /// `E z_i z_j` for z = (1, x), scaled to unit diagonal.
    pub(crate) fn correlation(&self, i: usize, j: usize) -> f64 {
        (self.entry(i, j) * self.scale[i] * self.scale[j]).clamp(-1.0, 1.0)
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let of = |i: usize| self.rank * i..self.rank * (i + 1);
        let (ui, uj) = (&self.top[of(i)], &self.top[of(j)]);
        dot(&self.weighted[of(i)], uj) - 0.5 * (dot(&self.moved[of(i)], uj) + dot(&self.moved[of(j)], ui))
    }
}

impl Diagonal<'_> {
    /// The moments one Newton step ahead of `gibbs`. **Cost** one Newton system, O(n^2 r).
    pub(crate) fn ahead(&mut self, gibbs: &Gibbs) -> Ahead {
        let n = gibbs.n();
        self.logs = false;
        let mut step = vec![0.0; n];
        if !self.direction(gibbs, 0.0, 1e-3, &mut step) {
            step.fill(0.0);
        }
        self.krylov.prepare(gibbs, &self.density);
        let mut unused = vec![0.0; n];
        self.krylov.hessian(gibbs, &self.density, &step, &mut unused);
        Ahead::new(gibbs, &self.krylov.scaled, 1.0 + dot(&self.density, &step))
    }
}

impl DualSpace for Diagonal<'_> {
    fn len(&self) -> usize {
        self.a.n()
    }

    fn scale(&self) -> f64 {
        self.norm
    }

    fn start(&self, t: f64, y: &mut [f64]) {
        // Second order in A/t: diag exp((A - Y)/t) is constant for y_i = (A^2)_ii / 2t.
        y.iter_mut().zip(&self.squared_rows).for_each(|(y, s)| *y = s / (2.0 * t));
        center(y);
    }

    fn assemble(&self, y: &[f64], t: f64, out: &mut Square) {
        let n = self.a.n();
        if out.n() != n {
            *out = Square::zeros(n);
        }
        out.data_mut().iter_mut().zip(self.a.data()).for_each(|(o, a)| *o = a / t);
        out.data_mut().iter_mut().step_by(n + 1).zip(y).for_each(|(o, y)| *o -= y / t);
    }

    fn residual(&mut self, gibbs: &Gibbs) -> f64 {
        self.fill_density(gibbs);
        let n = gibbs.n() as f64;
        let square = |d: &f64| (n * d).max(1e-300).ln().powi(2);
        let logs = (self.density.iter().map(square).sum::<f64>() / n).sqrt();
        self.logs = logs > LOG_SWITCH && (2 * gibbs.rank > gibbs.n() || logs > FAR);
        logs
    }

    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, accuracy: f64, out: &mut [f64]) -> bool {
        self.fill_density(gibbs);
        let n = gibbs.n() as f64;
        let logs = self.logs && tilt == 0.0;
        let mut rhs: Vec<f64> = match logs {
            // Newton on log(n rho_ii) = 0: exact for a diagonal A, and tame far from the solution.
            true => self.density.iter().map(|d| d * (n * d).max(0.05).ln()).collect(),
            false => self.density.iter().map(|d| d - 1.0 / n).collect(),
        };
        let total: f64 = rhs.iter().sum();
        rhs.iter_mut().zip(&self.density).for_each(|(r, d)| *r -= total * d);
        self.tilted(gibbs, tilt, &mut rhs);
        if gibbs.n() <= DIRECT {
            if !self.direct.solve(gibbs, &rhs, out) {
                return false;
            }
        } else {
            self.krylov.prepare(gibbs, &self.density);
            self.krylov.solve(gibbs, &self.density, &rhs, accuracy, out);
        }
        if logs && !(self.slope(gibbs, out) > 0.0) {
            // Not a descent direction: the gradient's always is.
            self.logs = false;
            return self.direction(gibbs, tilt, accuracy, out);
        }
        out.iter().all(|v| v.is_finite())
    }

    fn slope(&self, gibbs: &Gibbs, direction: &[f64]) -> f64 {
        let n = gibbs.n();
        (n - gibbs.rank..n)
            .map(|k| {
                let u = gibbs.eigen.vectors.column(k);
                gibbs.weights[k] * u.iter().zip(direction).map(|(u, d)| u * u * d).sum::<f64>()
            })
            .sum()
    }

    /// `Sigma = D^(-1/2) (n rho) D^(-1/2)` has unit diagonal; its nonzero spectrum is that of an
    /// r x r matrix, so no decomposition of size n is needed.
    fn primal(&mut self, gibbs: &Gibbs, work: &mut EigenWork) -> f64 {
        let (n, r) = (gibbs.n(), gibbs.rank);
        self.fill_density(gibbs);
        let mut factor = vec![0.0; n * r];
        for (q, column) in factor.chunks_exact_mut(n).enumerate() {
            let k = n - r + q;
            let root = gibbs.weights[k].sqrt();
            for ((f, u), d) in column.iter_mut().zip(gibbs.eigen.vectors.column(k)).zip(&self.density) {
                *f = root * u / d.sqrt();
            }
        }
        let mut gram = Square::zeros(r);
        multiply::transposed_left(&factor, &factor, n, r, gram.data_mut());
        gram.symmetrize();
        let mut spectrum = crate::spectral::Eigen::default();
        let mut own = EigenWork::default();
        let work = if r == n { work } else { &mut own };
        if !crate::spectral::eigh(&gram, &mut spectrum, work) {
            return f64::NEG_INFINITY;
        }
        let entropy: f64 = spectrum.values.iter().filter(|v| **v > 0.0).map(|v| v * v.ln()).sum();
        let mut image = vec![0.0; n * r];
        multiply::square_times(self.a, &factor, r, &mut image);
        let linear: f64 = image.iter().zip(&factor).map(|(a, b)| a * b).sum();
        (linear - entropy) / n as f64
    }
}

/// Preconditioned conjugate gradients on the Hessian of g restricted to zero-sum diagonals.
#[derive(Default)]
struct Krylov {
    rank: usize,
    /// Kernel entries `G_kl` (doubled outside the weighty block), n x r.
    kernel: Vec<f64>,
    diagonal: Vec<f64>,
    scaled: Vec<f64>,
    inner: Vec<f64>,
}

impl Krylov {
    fn prepare(&mut self, gibbs: &Gibbs, density: &[f64]) {
        let (n, r) = (gibbs.n(), gibbs.rank);
        self.rank = r;
        self.kernel.resize(n * r, 0.0);
        self.scaled.resize(n * r, 0.0);
        self.inner.resize(n * r, 0.0);
        for q in 0..r {
            let l = n - r + q;
            for k in 0..n {
                let both = if k >= n - r { 1.0 } else { 2.0 };
                self.kernel[k + n * q] = both * gibbs.exp_kernel(k, l);
            }
        }
        // diag H_i = sum_kl G_kl U_ik^2 U_il^2 - rho_ii^2, by one product with the squared vectors.
        let mut squares = gibbs.eigen.vectors.clone();
        squares.data_mut().iter_mut().for_each(|u| *u *= *u);
        multiply::square_times(&squares, &self.kernel, r, &mut self.scaled);
        self.diagonal.clear();
        self.diagonal.extend(density.iter().map(|d| -d * d));
        for q in 0..r {
            let image = &self.scaled[n * q..n * (q + 1)];
            for ((h, s), u2) in self.diagonal.iter_mut().zip(image).zip(squares.column(n - r + q)) {
                *h += s * u2;
            }
        }
        let largest = self.diagonal.iter().fold(0.0f64, |m, v| m.max(*v));
        self.diagonal.iter_mut().for_each(|h| *h = h.max(1e-3 * largest).max(f64::MIN_POSITIVE));
    }

    /// `out <- H v`: two products of size n x n x r.
    fn hessian(&mut self, gibbs: &Gibbs, density: &[f64], v: &[f64], out: &mut [f64]) {
        let (n, r) = (gibbs.n(), self.rank);
        let vectors = &gibbs.eigen.vectors;
        let top = &vectors.data()[n * (n - r)..];
        for (scaled, u) in self.scaled.chunks_exact_mut(n).zip(top.chunks_exact(n)) {
            scaled.iter_mut().zip(u).zip(v).for_each(|((s, u), v)| *s = u * v);
        }
        multiply::square_transposed_times(vectors, &self.scaled, r, &mut self.inner);
        self.inner.iter_mut().zip(&self.kernel).for_each(|(w, g)| *w *= g);
        multiply::square_times(vectors, &self.inner, r, &mut self.scaled);
        let mean: f64 = density.iter().zip(v).map(|(d, v)| d * v).sum();
        out.iter_mut().zip(density).for_each(|(o, d)| *o = -d * mean);
        for (image, u) in self.scaled.chunks_exact(n).zip(top.chunks_exact(n)) {
            out.iter_mut().zip(image).zip(u).for_each(|((o, m), u)| *o += m * u);
        }
    }

    fn solve(&mut self, gibbs: &Gibbs, density: &[f64], rhs: &[f64], accuracy: f64, x: &mut [f64]) {
        let n = rhs.len();
        x.fill(0.0);
        let mut residual = rhs.to_vec();
        let target = accuracy * norm(rhs);
        let mut z = vec![0.0; n];
        let mut image = vec![0.0; n];
        self.precondition(&residual, &mut z);
        let mut p = z.clone();
        let mut rz = dot(&residual, &z);
        for _ in 0..MAX_STEPS {
            if !(norm(&residual) > target) || !(rz > 0.0) {
                break;
            }
            self.hessian(gibbs, density, &p, &mut image);
            let curvature = dot(&p, &image);
            if !(curvature > 0.0) {
                break;
            }
            let step = rz / curvature;
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
            residual.iter_mut().zip(&image).for_each(|(r, h)| *r -= step * h);
            self.precondition(&residual, &mut z);
            let next = dot(&residual, &z);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rz * *p);
            rz = next;
        }
        center(x);
    }

    fn precondition(&self, residual: &[f64], z: &mut [f64]) {
        z.iter_mut().zip(residual).zip(&self.diagonal).for_each(|((z, r), h)| *z = r / h);
        center(z);
    }
}

/// The Hessian formed as a Gram matrix, `M_ij = sum_kl G_kl U_ik U_il U_jk U_jl`.
///
/// The Hessian of g is `M - rho rho^T` with `M 1 = rho`, so on zero-sum right-hand sides
/// `M^{-1}` solves it.
#[derive(Default)]
struct Direct {
    rows: Vec<f64>,
    cholesky: Cholesky,
}

impl Direct {
    fn solve(&mut self, gibbs: &Gibbs, rhs: &[f64], out: &mut [f64]) -> bool {
        let (n, r) = (gibbs.n(), gibbs.rank);
        let length = n * r - r * (r - 1) / 2;
        self.rows.resize(length * n, 0.0);
        let mut row = 0;
        for l in n - r..n {
            for k in 0..=l {
                let both = if k == l { 1.0 } else { 2.0 };
                let root = (both * gibbs.exp_kernel(k, l)).sqrt();
                let (u, v) = (gibbs.eigen.vectors.column(k), gibbs.eigen.vectors.column(l));
                for i in 0..n {
                    self.rows[row + length * i] = root * u[i] * v[i];
                }
                row += 1;
            }
        }
        if !self.cholesky.factor_gram(&self.rows, length, n, 0.0, Par::Seq) {
            return false;
        }
        out.copy_from_slice(rhs);
        self.cholesky.solve(out);
        center(out);
        true
    }
}

fn center(v: &mut [f64]) {
    let mean = v.iter().sum::<f64>() / v.len().max(1) as f64;
    v.iter_mut().for_each(|x| *x -= mean);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// `|A|_2` within a few percent, by twelve power steps from a fixed start.
pub(crate) fn power_norm(a: &Square) -> f64 {
    let n = a.n();
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + ((i * 7919) % 31) as f64 / 31.0).collect();
    let mut estimate = 0.0;
    for _ in 0..12 {
        let length = norm(&v);
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        v.iter_mut().for_each(|x| *x /= length);
        let mut next = vec![0.0; n];
        for (j, x) in v.iter().enumerate() {
            next.iter_mut().zip(a.column(j)).for_each(|(o, c)| *o += c * x);
        }
        estimate = norm(&next).max(estimate);
        v = next;
    }
    estimate
}
