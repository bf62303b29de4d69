//! V_perp for the features (1, x): zero-sum diagonals, with Newton systems by conjugate gradients.

use super::diagonal_hessian::{DiagonalHessian, center, dot, norm};
use super::path_newton::{DualSpace, Near, Schedule};
use crate::spectral::partial::{PartialEigen, Task};
use crate::spectral::{Cholesky, EigenWork, Gibbs, Square, multiply};
use faer::Par;

/// Y = diag(y), sum y = 0. A Hessian product costs O(n^2 r), r the number of weighty eigenvalues.
pub(crate) struct Diagonal<'a> {
    a: &'a Square,
    squared_rows: Vec<f64>,
    /// `|A|_2`, or the edge of the bulk of its spectrum when a few eigenvalues lie outside: those
    /// leave the diagonal of the state nearly constant.
    norm: f64,
    density: Vec<f64>,
    logs: bool,
    partial: PartialEigen,
    /// Residual at which the top eigenpairs are good enough for the step just computed.
    aim: f64,
    hessian: DiagonalHessian,
    direct: Direct,
}

/// Newton on the logarithms of the diagonal is for states of high rank above this residual; at low
/// rank the diagonal is no longer like a softmax and plain Newton is better.
const LOG_SWITCH: f64 = 0.3;
/// Above this residual, at any rank.
const FAR: f64 = 0.6;
/// From this size on, low temperatures decompose only the top of the spectrum.
const PARTIAL: usize = 64;
/// Blocks above this part of n are no cheaper than a full decomposition.
const LARGEST_BLOCK: usize = 6;
/// Eigenvalues further than this below the top are not followed, on the way and at the end.
const CUT_ON_THE_WAY: f64 = 16.0;
const CUT_AT_THE_END: f64 = 42.0;
/// Residual of eigenpairs on the way, and the least asked for.
const LOOSE: f64 = 0.02;
const TIGHT: f64 = 1e-9;
/// Block steps before a full decomposition is made instead.
const PARTIAL_STEPS: usize = 6;
/// Up to this size the Hessian is formed and factored: conjugate gradients lose directions whose
/// curvature is far below the largest, which low temperatures have.
const DIRECT: usize = 48;

impl<'a> Diagonal<'a> {
    pub(crate) fn new(a: &'a Square) -> Self {
        let n = a.n();
        let squared_rows: Vec<f64> = (0..n).map(|j| a.column(j).iter().map(|v| v * v).sum()).collect();
        Diagonal {
            a,
            norm: power_norm(a).min(2.0 * (squared_rows.iter().sum::<f64>() / n as f64).sqrt()),
            squared_rows,
            density: vec![0.0; n],
            logs: false,
            partial: PartialEigen::default(),
            aim: LOOSE,
            hessian: DiagonalHessian::default(),
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

    /// Root mean square of `log(n rho_ii)`.
    fn log_size(&self) -> f64 {
        let n = self.density.len() as f64;
        let square = |d: &f64| (n * d).max(1e-300).ln().powi(2);
        (self.density.iter().map(square).sum::<f64>() / n).sqrt()
    }

    /// The partial decomposition; `false` when it does not apply or did not converge.
    fn follow(&mut self, matrix: &Square, t: f64, near: Near<'_>, out: &mut Gibbs) -> bool {
        let (state, scale) = (near.state, near.t / t);
        let n = matrix.n();
        if n < PARTIAL || state.n() != n {
            return false;
        }
        // B = scale B_near + diag(shift).
        let own = self.a.diagonal().zip(near.y).map(|(a, y)| (a - y) / t);
        let shift: Vec<f64> = matrix.diagonal().zip(own).map(|(b, a)| b - a).collect();
        let mut values: Vec<f64> = state.eigen.values.iter().map(|v| v * scale).collect();
        for (value, u) in values.iter_mut().zip(state.eigen.vectors.data().chunks_exact(n)) {
            *value += u.iter().zip(&shift).map(|(u, s)| u * u * s).sum::<f64>();
        }
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let cut = if t > 1.0 { CUT_ON_THE_WAY } else { CUT_AT_THE_END };
        let first = values.iter().take_while(|v| top - **v > cut).count();
        let block = n - first + 2 + (n - first) / 8;
        if block * LARGEST_BLOCK > n {
            return false;
        }
        if out.eigen.vectors.n() != n {
            out.eigen.vectors = Square::zeros(n);
        }
        let tolerance = if t > 1.0 { self.aim.max(1e-3) } else { self.aim };
        let task = Task {
            matrix,
            basis: &state.eigen.vectors,
            rayleigh: &values,
            block,
            tolerance,
            max_steps: PARTIAL_STEPS,
        };
        let mut found = vec![0.0; block];
        let split = n * (n - block);
        if !self.partial.solve(&task, &mut found, &mut out.eigen.vectors.data_mut()[split..]) {
            return false;
        }
        out.eigen.vectors.data_mut()[..split].copy_from_slice(&state.eigen.vectors.data()[..split]);
        values[..n - block].iter_mut().for_each(|v| *v = v.min(found[0]));
        values[n - block..].copy_from_slice(&found);
        out.eigen.values = values;
        out.partial = true;
        out.weigh()
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
        let mut moved = vec![0.0; n * gibbs.rank];
        self.hessian.moved(gibbs, gibbs.rank, &step, n - gibbs.rank, &mut moved);
        Ahead::new(gibbs, &moved, 1.0 + dot(&self.density, &step))
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

    /// At low temperature the top of the spectrum is followed from `near` by block steps; its other
    /// vectors are kept, with Rayleigh quotients for values: they only enter second derivatives.
    fn decompose(
        &mut self,
        matrix: &mut Square,
        t: f64,
        near: Near<'_>,
        out: &mut Gibbs,
        work: &mut EigenWork,
    ) -> bool {
        self.follow(matrix, t, near, out) || out.decompose_in_place(matrix, work)
    }

    fn schedule(&self) -> Schedule {
        Schedule { ready: 0.2, growth: 1.2 }
    }

    fn residual(&mut self, gibbs: &Gibbs) -> f64 {
        self.fill_density(gibbs);
        let logs = self.log_size();
        self.logs = logs > LOG_SWITCH && (2 * gibbs.rank > gibbs.n() || logs > FAR);
        logs
    }

    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, accuracy: f64, out: &mut [f64]) -> bool {
        self.fill_density(gibbs);
        let n = gibbs.n() as f64;
        let logs = self.logs && tilt == 0.0;
        self.aim = if tilt == 0.0 { 0.05 * self.log_size().powf(1.5) } else { LOOSE }.clamp(TIGHT, LOOSE);
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
            self.hessian.solve(gibbs, &self.density, &rhs, accuracy, out);
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
