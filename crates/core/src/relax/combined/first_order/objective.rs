//! The augmented Lagrangian as a function of the rows of the factor.
//!
//! ```text
//! <theta, m> + softmin_k E_k(m) - penalties of the cuts,      m = moments of the normalised rows
//! ```

use super::entropies::{At, Entropies};
use super::factor::Factor;
use crate::linalg::{Square, dot, multiply, symmetric};
use crate::model::Ising;
use crate::relax::combined::gaussian::Gaussian;
use crate::relax::combined::team::Team;
use crate::relax::cuts::Pairs;
use crate::relax::cuts::augmented::Augmented;

/// The parameters theta: as a matrix where there are many, else by pair.
pub(super) enum Theta {
    /// Half of each in both places of a symmetric matrix over z.
    Dense(Square),
    /// By number of the pair.
    Sparse(Vec<f64>),
}

/// Share of the pairs with couplings from which a dense product is faster.
const DENSE: f64 = 0.1;

/// Everything that the objective is made of.
pub(super) struct Objective {
    pub(super) d: usize,
    pub(super) pairs: Pairs,
    pub(super) theta: Theta,
    pub(super) cuts: Augmented,
    pub(super) entropies: Entropies,
    pub(super) gaussian: Gaussian,
    pub(super) team: Team,
}

/// Columns of a product that one thread computes at a time.
const COLUMNS: usize = 32;

/// What an evaluation leaves behind.
pub(super) struct Evaluation {
    pub(super) value: f64,
    /// Moments by pair.
    pub(super) x: Vec<f64>,
    pub(super) at: At,
    /// Derivative by the rows.
    pub(super) gradient: Vec<f64>,
}

impl Objective {
    /// The model divided by eps, without cuts or graphs.
    pub(super) fn new(ising: &Ising, eps: f64, team: Team) -> Self {
        let (d, n) = (ising.d(), ising.d() + 1);
        let mut pairs = Pairs::means(d);
        let mut theta: Vec<f64> = ising.fields().iter().map(|h| h / eps).collect();
        let theta = if ising.edges().len() as f64 > DENSE * 0.5 * (d * d) as f64 {
            let mut square = Square::zeros(n);
            let mut set = |k: usize, l: usize, v: f64| {
                square.data_mut()[k + n * l] = 0.5 * v;
                square.data_mut()[l + n * k] = 0.5 * v;
            };
            theta.iter().enumerate().for_each(|(i, h)| set(0, i + 1, *h));
            ising.triples().for_each(|(i, j, v)| set(i + 1, j + 1, v / eps));
            Theta::Dense(square)
        } else {
            for (i, j, v) in ising.triples() {
                let (i, j) = (i.min(j) as u32 + 1, i.max(j) as u32 + 1);
                let number = pairs.number([i, j]) as usize;
                theta.resize(theta.len().max(number + 1), 0.0);
                theta[number] += v / eps;
            }
            Theta::Sparse(theta)
        };
        Objective {
            d,
            pairs,
            theta,
            cuts: Augmented::new(),
            entropies: Entropies::new(d),
            gaussian: Gaussian::first(),
            team,
        }
    }

    /// Evaluates at a factor; `None` when numbers leave floating point.
    ///
    /// **Cost** two products of n^2 r and d r^2 multiplications, and r per pair.
    pub(super) fn evaluate(&self, factor: &Factor) -> Option<Evaluation> {
        let r = factor.rank;
        let ends = &self.pairs.ends;
        let x: Vec<f64> = self.team.map(ends.len(), |p| factor.moment(ends[p]));
        let mut coefficients = vec![0.0; x.len()];
        let team = &self.team;
        let (log_det, graphs) =
            team.join(|| log_det(factor, &self.gaussian, team), || self.entropies.of_graphs(&x, team));
        let (log_det, along) = log_det?;
        let at = self.entropies.with_log_det(graphs, log_det, &mut coefficients);
        let penalty = self.cuts.evaluate(&x, &mut coefficients);
        let mut gradient = vec![0.0; factor.rows.len()];
        let linear = match &self.theta {
            Theta::Dense(square) => {
                let mut matrix = square.clone();
                self.scatter(&coefficients, &mut matrix);
                self.team.pieces(&mut gradient, COLUMNS * r, |k, out| {
                    let columns = out.len() / r;
                    let from = k * COLUMNS * factor.n;
                    let own = &matrix.data()[from..from + columns * factor.n];
                    multiply::tall_times(&factor.rows, r, own, columns, out, false);
                });
                let own: f64 = coefficients.iter().zip(&x).map(|(c, x)| c * x).sum();
                let total = dot(&gradient, &factor.rows);
                gradient.iter_mut().for_each(|g| *g *= 2.0);
                total - own
            }
            Theta::Sparse(theta) => {
                coefficients.iter_mut().zip(theta).for_each(|(c, t)| *c += t);
                for (&[k, l], c) in self.pairs.ends.iter().zip(&coefficients).filter(|(_, c)| **c != 0.0) {
                    let (k, l) = (r * k as usize, r * l as usize);
                    for p in 0..r {
                        gradient[k + p] += c * factor.rows[l + p];
                        gradient[l + p] += c * factor.rows[k + p];
                    }
                }
                theta.iter().zip(&x).map(|(t, x)| t * x).sum()
            }
        };
        let weight = at.weights[0];
        for (g, w) in gradient.chunks_exact_mut(r).skip(1).zip(along.chunks_exact((r - 1).max(1))) {
            g[1..].iter_mut().zip(w).for_each(|(g, w)| *g += weight * w);
        }
        let value = linear + at.soft + penalty;
        value.is_finite().then_some(Evaluation { value, x, at, gradient })
    }

    /// Adds half of every coefficient to both places of a symmetric matrix over z.
    pub(super) fn scatter(&self, coefficients: &[f64], matrix: &mut Square) {
        let n = matrix.n();
        for (&[k, l], c) in self.pairs.ends.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
            let (k, l) = (k as usize, l as usize);
            matrix.data_mut()[k + n * l] += 0.5 * c;
            matrix.data_mut()[l + n * k] += 0.5 * c;
        }
    }

    /// Minus the value and its derivative by rows of any length but zero, the first row left out: for minimisation.
    pub(super) fn negative(&self, rows: &[f64], rank: usize, out: &mut [f64]) -> f64 {
        let factor = self.factor(rows, rank);
        let Some(evaluation) = self.evaluate(&factor) else {
            out.fill(0.0);
            return f64::NAN;
        };
        let lengths = rows.chunks_exact(rank).map(|row| dot(row, row).sqrt());
        let all = out.chunks_exact_mut(rank).zip(lengths).enumerate();
        for (i, (out, length)) in all {
            let (row, g) = (factor.row(i + 1), &evaluation.gradient[rank * (i + 1)..rank * (i + 2)]);
            let along = dot(row, g);
            for ((o, v), g) in out.iter_mut().zip(row).zip(g) {
                *o = (along * v - g) / length;
            }
        }
        -evaluation.value
    }

    /// The factor with these rows, normalised, below the row of the constant.
    pub(super) fn factor(&self, rows: &[f64], rank: usize) -> Factor {
        let mut all = vec![0.0; rank];
        all.extend_from_slice(rows);
        let mut factor = Factor { n: self.d + 1, rank, rows: all };
        factor.normalize();
        factor
    }
}

/// `(1/2) log det(Sigma + s diag(0, I)) + d c`, and its derivative by the rows without their means.
///
/// With W the rows without means the determinant is that of `s I + W W^T`, which `s I + W^T W` gives too.
fn log_det(factor: &Factor, gaussian: &Gaussian, team: &Team) -> Option<(f64, Vec<f64>)> {
    let (d, r) = (factor.n - 1, factor.rank - 1);
    let tail = factor.tail();
    let mut gram = Square::zeros(r);
    multiply::outer_lower(&tail, r, d, gram.data_mut());
    gram.data_mut().iter_mut().step_by(r + 1).for_each(|v| *v += gaussian.variance);
    if !symmetric::cholesky(&mut gram) {
        return None;
    }
    let half_log: f64 = gram.diagonal().map(f64::ln).sum();
    let mut along = tail;
    team.pieces(&mut along, COLUMNS * r.max(1), |_, columns| {
        symmetric::cholesky_solve_columns(&gram, columns)
    });
    let rest = 0.5 * (d as f64 - r as f64) * gaussian.variance.ln();
    let value = half_log + rest + d as f64 * gaussian.entropy;
    Some((value, along))
}
