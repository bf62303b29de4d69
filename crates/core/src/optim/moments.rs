//! V_perp for any features, with Newton systems solved in the space of moments.
//!
//! The Newton step of the dual is a weighted least-squares fit of a moment matrix
//! `Sigma(m) = sum_C m_C A_C` to the Gibbs state: `H m = b`, `H_CD = <A_C, L^{-1} A_D>`, L the
//! derivative of exp (docs/theory.md, eq. 10). The fitted moments are the primal iterate, the
//! entropy is its own barrier and the temperature the path parameter.

use super::diagonal::power_norm;
use super::path_newton::DualSpace;
use crate::features::Classes;
use crate::spectral::{Cholesky, Eigen, EigenWork, Gibbs, Square, eigh, multiply};
use faer::Par;

/// Any Y whose entries sum to zero over every class, held as a full matrix.
pub(crate) struct Moments<'a> {
    classes: &'a Classes,
    a: Square,
    /// `A_C` as lists of entries (i <= j), one per class.
    entries: Vec<Vec<(u32, u32)>>,
    norm: f64,
    rho: Square,
    /// Moments of the last fit, for the primal value.
    fitted: Option<Vec<f64>>,
    rows: Vec<f64>,
    cholesky: Cholesky,
    scratch: [Square; 2],
    par: Par,
}

/// Weights are raised to this in the inverse kernel: directions below carry nothing to the bound,
/// and the normal equations stay solvable.
const WEIGHT_FLOOR: f64 = 1e-13;
/// Relative ridge of the scaled normal equations.
const RIDGE: f64 = 1e-14;

impl<'a> Moments<'a> {
    /// The space for `A = sum_C values_C A_C`.
    pub(crate) fn new(classes: &'a Classes, values: &[f64], threads: usize) -> Self {
        let n = classes.n();
        let mut a = Square::zeros(n);
        classes.fill(values, a.data_mut());
        let mut entries = vec![Vec::new(); classes.len()];
        for j in 0..n {
            for i in 0..=j {
                entries[classes.of()[i + n * j] as usize].push((i as u32, j as u32));
            }
        }
        let par = if threads > 1 && n > 64 { Par::rayon(threads) } else { Par::Seq };
        Moments {
            norm: power_norm(&a),
            classes,
            a,
            entries,
            rho: Square::zeros(n),
            fitted: None,
            rows: Vec::new(),
            cholesky: Cholesky::default(),
            scratch: [Square::zeros(n), Square::zeros(n)],
            par,
        }
    }

    /// The moments `E x^C` of the best primal point seen, if any fit was made.
    pub(crate) fn fitted(&self) -> Option<&[f64]> {
        self.fitted.as_deref()
    }

    /// `out <- U diag(w) U^T` for weights on the eigenvectors of the state.
    fn spectral_sum(&mut self, gibbs: &Gibbs, w: impl Fn(usize) -> f64, rank: usize) {
        let n = gibbs.n();
        let first = n - rank;
        let scaled = self.scratch[0].data_mut();
        for k in first..n {
            let weight = w(k);
            let target = &mut scaled[n * (k - first)..n * (k - first + 1)];
            target.iter_mut().zip(gibbs.eigen.vectors.column(k)).for_each(|(t, u)| *t = weight * u);
        }
        let top = &gibbs.eigen.vectors.data()[n * first..];
        multiply::outer(&self.scratch[0].data()[..n * rank], top, n, rank, self.rho.data_mut());
    }

    /// Rows `sqrt(K_kl) (U^T A_C U)_kl` of the least-squares problem, one column per class.
    fn fill_rows(&mut self, gibbs: &Gibbs) -> usize {
        let n = gibbs.n();
        let length = n * (n + 1) / 2;
        self.rows.resize(length * self.classes.len(), 0.0);
        // Row i of U, contiguous.
        let mut transposed = Square::zeros(n);
        for k in 0..n {
            for (i, u) in gibbs.eigen.vectors.column(k).iter().enumerate() {
                transposed.data_mut()[k + n * i] = *u;
            }
        }
        let mut roots = Vec::with_capacity(length);
        for l in 0..n {
            for k in 0..=l {
                let both = if k == l { 1.0 } else { 2.0 };
                roots.push((both * gibbs.log_kernel(k, l, WEIGHT_FLOOR)).sqrt());
            }
        }
        for (column, entries) in self.rows.chunks_exact_mut(length).zip(&self.entries) {
            column.fill(0.0);
            for &(i, j) in entries {
                add_symmetric_outer(column, transposed.column(i as usize), transposed.column(j as usize), i == j);
            }
            column.iter_mut().zip(&roots).for_each(|(v, r)| *v *= r);
        }
        length
    }
}

/// Adds the upper triangle of `u v^T + v u^T` (or `u u^T`), packed by columns.
fn add_symmetric_outer(packed: &mut [f64], u: &[f64], v: &[f64], same: bool) {
    let mut start = 0;
    for l in 0..u.len() {
        let target = &mut packed[start..=start + l];
        if same {
            target.iter_mut().zip(u).for_each(|(t, a)| *t += a * u[l]);
        } else {
            target.iter_mut().zip(u).zip(v).for_each(|((t, a), b)| *t += a * v[l] + b * u[l]);
        }
        start += l + 1;
    }
}

impl DualSpace for Moments<'_> {
    fn len(&self) -> usize {
        self.a.data().len()
    }

    fn scale(&self) -> f64 {
        self.norm
    }

    fn start(&self, t: f64, y: &mut [f64]) {
        // Second order in A/t, as for diagonals: proj_perp(A^2) / 2t.
        let mut square = Square::zeros(self.a.n());
        multiply::squares(&self.a, &self.a, &mut square);
        self.classes.project_perp(square.data_mut());
        y.iter_mut().zip(square.data()).for_each(|(y, s)| *y = s / (2.0 * t));
    }

    fn assemble(&self, y: &[f64], t: f64, out: &mut Square) {
        if out.n() != self.a.n() {
            *out = Square::zeros(self.a.n());
        }
        for ((o, a), y) in out.data_mut().iter_mut().zip(self.a.data()).zip(y) {
            *o = (a - y) / t;
        }
        out.symmetrize();
    }

    fn residual(&mut self, gibbs: &Gibbs) -> f64 {
        let n = gibbs.n() as f64;
        self.spectral_sum(gibbs, |k| gibbs.weights[k], gibbs.rank);
        self.classes.project_perp(self.rho.data_mut());
        n * (self.rho.data().iter().map(|v| v * v).sum::<f64>() / n).sqrt()
    }

    fn direction(&mut self, gibbs: &Gibbs, tilt: f64, _accuracy: f64, out: &mut [f64]) -> bool {
        let (n, count) = (gibbs.n(), self.classes.len());
        let mean = gibbs.mean_value();
        let raised = |k: usize| gibbs.weights[k].max(WEIGHT_FLOOR);
        let tilted = |k: usize| gibbs.weights[k] * (1.0 + tilt * (gibbs.eigen.values[k] - mean));
        let length = self.fill_rows(gibbs);
        if !self.cholesky.factor_gram(&self.rows, length, count, RIDGE, self.par) {
            return false;
        }
        self.spectral_sum(gibbs, |k| gibbs.weights[k] / raised(k), n);
        let mut rhs = self.classes.sums(self.rho.data());
        self.spectral_sum(gibbs, |k| tilted(k) / raised(k), n);
        rhs.extend(self.classes.sums(self.rho.data()));
        self.cholesky.solve(&mut rhs);
        let (h, g) = rhs.split_at(count);
        let s = (1.0 / n as f64 - g[0]) / h[0];
        let moments: Vec<f64> = h.iter().zip(g).map(|(h, g)| s * h + g).collect();
        self.step_to(gibbs, &moments, |k| (tilted(k) + s * gibbs.weights[k]) / raised(k), out);
        if tilt == 0.0 {
            self.fitted = Some(moments.iter().map(|m| m * n as f64).collect());
        }
        out.iter().all(|v| v.is_finite())
    }

    fn slope(&self, gibbs: &Gibbs, direction: &[f64]) -> f64 {
        let n = gibbs.n();
        let mut image = vec![0.0; n];
        let mut total = 0.0;
        for k in n - gibbs.rank..n {
            let u = gibbs.eigen.vectors.column(k);
            image.fill(0.0);
            for (column, x) in direction.chunks_exact(n).zip(u) {
                image.iter_mut().zip(column).for_each(|(o, c)| *o += c * x);
            }
            total += gibbs.weights[k] * image.iter().zip(u).map(|(a, b)| a * b).sum::<f64>();
        }
        total
    }

    fn primal(&mut self, gibbs: &Gibbs, work: &mut EigenWork) -> f64 {
        let n = gibbs.n();
        let mut sigma = Square::zeros(n);
        match &self.fitted {
            Some(moments) => self.classes.fill(moments, sigma.data_mut()),
            None => {
                self.spectral_sum(gibbs, |k| n as f64 * gibbs.weights[k], gibbs.rank);
                sigma.data_mut().copy_from_slice(self.rho.data());
                self.classes.project(sigma.data_mut());
            }
        }
        feasible_value(&self.a, &sigma, work)
    }
}

impl Moments<'_> {
    /// `out <- proj_perp( U (diag(w) - K o (U^T Sigma(m) U)) U^T )`.
    fn step_to(&mut self, gibbs: &Gibbs, moments: &[f64], w: impl Fn(usize) -> f64, out: &mut [f64]) {
        let n = gibbs.n();
        let vectors = &gibbs.eigen.vectors;
        let [first, second] = &mut self.scratch;
        self.classes.fill(moments, first.data_mut());
        multiply::squares(first, vectors, second);
        multiply::square_transposed_times(vectors, second.data(), n, first.data_mut());
        for l in 0..n {
            for k in 0..n {
                let fitted = gibbs.log_kernel(k, l, WEIGHT_FLOOR) * first.data()[k + n * l];
                first.data_mut()[k + n * l] = if k == l { w(k) - fitted } else { -fitted };
            }
        }
        multiply::squares(vectors, first, second);
        multiply::square_by_transpose(second, vectors, first);
        first.symmetrize();
        self.classes.project_perp(first.data_mut());
        out.copy_from_slice(first.data());
    }
}

/// `<A, Sigma>/n - tr Sigma log Sigma / n` after shrinking Sigma (unit diagonal, in V) towards I
/// until it is positive: `(1 - u) Sigma + u I`, as in the paper.
pub(crate) fn feasible_value(a: &Square, sigma: &Square, work: &mut EigenWork) -> f64 {
    let n = a.n() as f64;
    let mut spectrum = Eigen::default();
    if !eigh(sigma, &mut spectrum, work) {
        return f64::NEG_INFINITY;
    }
    let least = spectrum.values[0];
    let u = if least < 0.0 { -least / (1.0 - least) } else { 0.0 };
    let diagonal: f64 = a.diagonal().sum();
    let linear = (1.0 - u) * a.dot(sigma) + u * diagonal;
    let shrunk = spectrum.values.iter().map(|v| (1.0 - u) * v + u);
    let entropy: f64 = shrunk.filter(|v| *v > 0.0).map(|v| v * v.ln()).sum();
    (linear - entropy) / n
}
