//! The semidefinite relaxation of a large sparse pairwise function in factored form.
//!
//! `max <P, Sigma>` over `Sigma >= 0, diag Sigma = 1` with `Sigma = R R^T`, R of r ~ sqrt(2n) columns and unit rows: at that
//! rank second-order points are global (Burer and Monteiro). With `y_i = <(P R)_i, R_i>` and `S = diag(y) - P` the
//! gradient is `S R`, a Hessian product is one product with S, and `sum y = <P, Sigma>`, so that the distance to the
//! dual is `n max(0, -lambda_min(S))`. No n x n matrix is stored.

use super::quadratic::Quadratic;
use super::random::Normal;
use crate::deadline::Deadline;
use crate::linalg::lanczos::{Smallest, smallest};
use crate::linalg::{dot, norm};
use crate::observer::Monitor;
use crate::solution::StopReason;

/// Where the algorithm stopped, in the scaled units of [`Quadratic`].
pub(super) struct Outcome {
    /// R by rows.
    pub(super) rows: Vec<f64>,
    /// Its number of columns.
    pub(super) rank: usize,
    /// y; `diag(y) - P` is positive semidefinite up to `shift`.
    pub(super) y: Vec<f64>,
    /// Estimate of `max(0, -lambda_min(diag(y) - P))`.
    pub(super) shift: f64,
    /// `<P, R R^T>`.
    pub(super) value: f64,
    /// Why it stopped.
    pub(super) stop: StopReason,
}

/// Coordinate sweeps before second-order steps.
const SWEEPS: usize = 40;
/// Conjugate gradient steps per trust-region step.
const INNER: usize = 400;
/// Lanczos steps per look at the smallest eigenvalue of S.
const LANCZOS: usize = 250;
/// Lanczos steps before the gap is believed to be closed.
const CONFIRM: usize = 800;

/// Solves to a gap of `tol |sum y + constant|`.
///
/// **Cost** O(m r) per product with P, some thousands of products; O(n r) memory.
pub(super) fn solve(p: &Quadratic, constant: f64, tol: f64, seed: u64, monitor: &mut Monitor<'_>) -> Outcome {
    let n = p.n();
    let rank = starting_rank(n);
    let mut point = Point::random(p, rank, seed, monitor.deadline());
    for _ in 0..SWEEPS {
        if monitor.interrupted().is_some() {
            break;
        }
        point.sweep(p);
    }
    point.refresh(p);
    let mut normal = Normal::new(seed ^ 0x5eed);
    let mut radius = (n as f64).sqrt();
    let mut target = 1e-2 * point.gradient_norm();
    let mut best: Option<(f64, Vec<f64>, f64)> = None;
    let mut stuck = false;
    let scale = p.scale;
    let stop = loop {
        let upper = best.as_ref().map_or(f64::NAN, |b| constant + scale * b.0);
        if let Some(stop) = monitor.iteration(constant + scale * point.value(), upper) {
            break stop;
        }
        if point.gradient_norm() <= target {
            let Some((pair, shift)) = point.look(p, normal.vector(n), tol, constant / scale) else {
                break StopReason::NumericalTrouble;
            };
            let bound = point.value() + n as f64 * shift;
            if best.as_ref().is_none_or(|b| bound < b.0) {
                best = Some((bound, point.y.clone(), shift));
            }
            let size = (constant / scale + bound).abs();
            if n as f64 * shift <= tol * size {
                break StopReason::Converged;
            }
            let floor = 1e-14 * norm(&point.y).max(f64::MIN_POSITIVE);
            if target <= floor {
                break StopReason::Stalled;
            }
            target = (0.1 * point.gradient_norm()).max(floor);
            if pair.value < -10.0 * point.gradient_norm() {
                point.escape(p, &pair);
            }
        }
        if !point.step(p, &mut radius) {
            // Rounding hides the descent: one look at the dual, then stop.
            if stuck {
                break StopReason::Stalled;
            }
            (stuck, target) = (true, f64::INFINITY);
        }
    };
    let (_, y, shift) = match best {
        Some(best) => best,
        None => {
            let shift = point.smallest(p, normal.vector(n), LANCZOS).map_or(0.0, |s| (-s.value).max(0.0));
            (0.0, point.y.clone(), shift)
        }
    };
    Outcome { value: point.value(), rows: point.rows, rank: point.rank, y, shift, stop }
}

/// Columns of R to begin with. Optimal ranks of sparse problems stay far below the worst case sqrt(2n); should a column be
/// missing, [`Point::escape`] adds it.
fn starting_rank(n: usize) -> usize {
    (((2 * n) as f64).sqrt().ceil() as usize + 1).min(n).min(128)
}

/// Bytes that [`solve`] needs: ten copies of R and the Lanczos vectors.
pub(super) fn memory(n: usize) -> u64 {
    8 * n as u64 * (10 * starting_rank(n) as u64 + 64) + (128 << 20)
}

/// R with everything derived from it.
struct Point {
    rank: usize,
    rows: Vec<f64>,
    /// S R.
    gradient: Vec<f64>,
    y: Vec<f64>,
    deadline: Deadline,
}

impl Point {
    fn random(p: &Quadratic, rank: usize, seed: u64, deadline: &Deadline) -> Self {
        let n = p.n();
        let mut rows = Normal::new(seed).vector(n * rank);
        rows.chunks_exact_mut(rank).for_each(normalize);
        Point { rank, gradient: vec![0.0; rows.len()], rows, y: vec![0.0; n], deadline: deadline.clone() }
    }

    /// One round of exact maximisation over each row in turn.
    fn sweep(&mut self, p: &Quadratic) {
        let r = self.rank;
        let mut g = vec![0.0; r];
        for i in 0..p.n() {
            p.row_times(i, &self.rows, &mut g);
            let length = norm(&g);
            if length > 0.0 {
                self.rows[r * i..r * (i + 1)].iter_mut().zip(&g).for_each(|(v, g)| *v = g / length);
            }
        }
    }

    fn refresh(&mut self, p: &Quadratic) {
        let r = self.rank;
        p.times(&self.rows, r, &mut self.gradient);
        for (i, (g, v)) in self.gradient.chunks_exact_mut(r).zip(self.rows.chunks_exact(r)).enumerate() {
            self.y[i] = dot(g, v);
            g.iter_mut().zip(v).for_each(|(g, v)| *g = self.y[i] * v - *g);
        }
    }

    fn value(&self) -> f64 {
        self.y.iter().sum()
    }

    fn gradient_norm(&self) -> f64 {
        norm(&self.gradient)
    }

    /// Smallest eigenvalue of S.
    fn smallest(&self, p: &Quadratic, start: Vec<f64>, steps: usize) -> Option<Smallest> {
        let y = &self.y;
        let mut apply = |x: &[f64], out: &mut [f64]| {
            p.times(x, 1, out);
            out.iter_mut().zip(x).zip(y).for_each(|((o, x), y)| *o = y * x - *o);
        };
        let largest = y.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        // All vectors are kept: not more than 128 MiB of them.
        let steps = steps.min((1 << 24) / p.n()).max(20);
        smallest(&mut apply, start, 1e-12 * largest, steps, &self.deadline)
    }

    /// The smallest eigenpair of S and the shift that makes S positive: a short run, and a long one from there
    /// when the short one finds the gap closed, because Ritz values err on the side of a closed gap.
    fn look(&self, p: &Quadratic, start: Vec<f64>, tol: f64, constant: f64) -> Option<(Smallest, f64)> {
        let n = p.n() as f64;
        let mut pair = self.smallest(p, start, LANCZOS)?;
        let closed = |shift: f64| n * shift <= tol * (constant + self.value() + n * shift).abs();
        if closed(-pair.value) {
            let second = self.smallest(p, pair.vector.clone(), CONFIRM)?;
            if second.value < pair.value {
                pair = second;
            }
        }
        let shift = (pair.residual.min(0.1 * pair.value.abs()) - pair.value).max(0.0);
        Some((pair, shift))
    }

    /// The tangent part of `S U`, into `out`.
    fn hessian(&self, p: &Quadratic, u: &[f64], out: &mut [f64]) {
        let r = self.rank;
        p.times(u, r, out);
        let rows = self.rows.chunks_exact(r).zip(u.chunks_exact(r));
        for ((o, (v, u)), y) in out.chunks_exact_mut(r).zip(rows).zip(&self.y) {
            o.iter_mut().zip(u).for_each(|(o, u)| *o = y * u - *o);
            let c = dot(o, v);
            o.iter_mut().zip(v).for_each(|(o, v)| *o -= c * v);
        }
    }

    /// One trust-region step on `-<P, R R^T> / 2`; `false` when nothing can be gained in floating point.
    fn step(&mut self, p: &Quadratic, radius: &mut f64) -> bool {
        let before = self.value();
        for _ in 0..12 {
            if self.deadline.stop().is_some() {
                return true;
            }
            let (direction, predicted, at_boundary) = self.truncated_cg(p, *radius);
            let mut trial = Point {
                rank: self.rank,
                rows: self.rows.clone(),
                gradient: vec![0.0; self.rows.len()],
                y: self.y.clone(),
                deadline: self.deadline.clone(),
            };
            trial.rows.iter_mut().zip(&direction).for_each(|(v, u)| *v += u);
            trial.rows.chunks_exact_mut(self.rank).for_each(normalize);
            trial.refresh(p);
            // Differences of values drown in rounding near the end: compare with that much forgiven.
            let noise = 1e-14 * before.abs().max(1e-300);
            let actual = 0.5 * (trial.value() - before);
            let ratio = (actual + noise) / (predicted + noise);
            if ratio < 0.25 {
                *radius = 0.25 * norm(&direction).min(*radius);
            } else if ratio > 0.75 && at_boundary {
                *radius *= 2.0;
            }
            if ratio > 0.1 {
                *self = trial;
                return predicted > 0.0;
            }
        }
        false
    }

    /// Steihaug's method for `min <g, U> + <U, H U>/2`, `|U| <= radius`, preconditioned by y: the step,
    /// the decrease it promises, and whether it ends on the boundary.
    fn truncated_cg(&self, p: &Quadratic, radius: f64) -> (Vec<f64>, f64, bool) {
        let (n, r) = (p.n(), self.rank);
        let mean = self.y.iter().map(|v| v.abs()).sum::<f64>() / n as f64;
        let weights: Vec<f64> =
            self.y.iter().map(|y| 1.0 / y.max(0.1 * mean).max(f64::MIN_POSITIVE)).collect();
        let precondition = |g: &[f64]| -> Vec<f64> {
            let rows = g.chunks_exact(r).zip(&weights);
            rows.flat_map(|(row, w)| row.iter().map(move |v| w * v)).collect()
        };
        let mut step = vec![0.0; n * r];
        let mut residual = self.gradient.clone();
        let mut z = precondition(&residual);
        let mut direction: Vec<f64> = z.iter().map(|v| -v).collect();
        let mut product = vec![0.0; n * r];
        let mut rz = dot(&residual, &z);
        let first = norm(&residual);
        let enough = first * first.sqrt().min(0.1);
        let mut predicted = 0.0;
        for _ in 0..INNER {
            if self.deadline.stop().is_some() {
                break;
            }
            self.hessian(p, &direction, &mut product);
            let curvature = dot(&direction, &product);
            let alpha = rz / curvature;
            let (a, b, c) = (dot(&direction, &direction), dot(&step, &direction), dot(&step, &step));
            if !(curvature > 0.0) || c + 2.0 * alpha * b + alpha * alpha * a >= radius * radius {
                let tau = (-b + (b * b + a * (radius * radius - c)).max(0.0).sqrt()) / a;
                predicted += -tau * dot(&residual, &direction) - 0.5 * tau * tau * curvature;
                step.iter_mut().zip(&direction).for_each(|(s, d)| *s += tau * d);
                return (step, predicted, true);
            }
            predicted += 0.5 * alpha * rz;
            step.iter_mut().zip(&direction).for_each(|(s, d)| *s += alpha * d);
            residual.iter_mut().zip(&product).for_each(|(g, h)| *g += alpha * h);
            if norm(&residual) <= enough {
                break;
            }
            z = precondition(&residual);
            let next = dot(&residual, &z);
            let beta = next / rz;
            rz = next;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = beta * *d - z);
        }
        (step, predicted, false)
    }

    /// Leaves a saddle: a new column along the eigenvector of negative curvature.
    fn escape(&mut self, p: &Quadratic, pair: &Smallest) {
        let (n, r) = (p.n(), self.rank);
        let largest = pair.vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let mut t = 0.5 / largest.max(f64::MIN_POSITIVE);
        for _ in 0..20 {
            let mut rows = vec![0.0; n * (r + 1)];
            for (i, row) in rows.chunks_exact_mut(r + 1).enumerate() {
                row[..r].copy_from_slice(&self.rows[r * i..r * (i + 1)]);
                row[r] = t * pair.vector[i];
                normalize(row);
            }
            let gradient = vec![0.0; rows.len()];
            let (y, deadline) = (self.y.clone(), self.deadline.clone());
            let mut trial = Point { rank: r + 1, gradient, rows, y, deadline };
            trial.refresh(p);
            if trial.value() > self.value() {
                *self = trial;
                return;
            }
            t *= 0.5;
        }
    }
}

fn normalize(row: &mut [f64]) {
    let length = norm(row);
    if length > 0.0 {
        row.iter_mut().for_each(|v| *v /= length);
    } else if let Some(first) = row.first_mut() {
        *first = 1.0;
    }
}
