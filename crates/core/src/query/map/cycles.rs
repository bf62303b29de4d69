//! Cycle inequalities of large sparse functions: their multipliers by a first-order method.
//!
//! `max <P, X>` over `X = R R^T` with unit rows, as in [`super::low_rank`], and over the cycle inequalities of the graph of P,
//! which enter through multipliers ([`Augmented`]); L-BFGS climbs the smooth function that is left. Between rounds
//! violated cycles join. Whatever the multipliers are, f with their cuts added is at least f, and the relaxation
//! without cuts bounds it: every round proves something, and the best multipliers are kept.

use super::quadratic::Quadratic;
use super::random::Normal;
use crate::certify::Cut;
use crate::deadline::Deadline;
use crate::linalg::lanczos::smallest;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::linalg::multiply::transposed_left;
use crate::linalg::{Square, dot, norm};
use crate::observer::Monitor;
use crate::relax::cuts::augmented::Augmented;
use crate::relax::cuts::{Cycle, Network, Pairs, violated};

/// The best multipliers found, in the scaled units of [`Quadratic`].
pub(super) struct Outcome {
    /// Cuts with positive multipliers.
    pub(super) cuts: Vec<(Cycle, f64)>,
    /// y; `diag(y)` less P and the cuts is positive semidefinite up to `shift`.
    pub(super) y: Vec<f64>,
    /// Estimate of how far it is from that.
    pub(super) shift: f64,
    /// What they prove if the estimate is right.
    pub(super) bound: f64,
    /// `<P, X>` of moments that satisfy all cuts present.
    pub(super) primal: f64,
}

impl Outcome {
    /// The cuts as data of a proof, with multipliers in the model's units.
    pub(super) fn list(&self, scale: f64) -> Vec<Cut> {
        self.cuts.iter().map(|(cycle, v)| cycle.cut(scale * v)).collect()
    }
}

/// Rounds at most; toruspm3-8-50 and G11 end after some 40.
const ROUNDS: usize = 150;
/// L-BFGS steps of a round: at first, and at most.
const STEPS: (usize, usize) = (60, 480);
/// Multiplications over all steps: about a minute, so that large models end without a time limit too.
const WORK: f64 = 6e10;
/// Multiplications of a step, per number in R, beside those with pairs: the vectors that L-BFGS keeps.
const STEP: f64 = 40.0;
/// Rounds without a better bound after which there are twice the steps in a round and, when these are the most, the
/// search ends; and the relative gain that counts as one.
const PATIENCE: (usize, f64) = (4, 3e-5);
/// Cuts added per round and vertex.
const NEW_CUTS: usize = 4;
/// Violations below this are left alone.
const VIOLATION: f64 = 1e-3;
/// Penalty of a violated cut in units of the mean of y, its growth in rounds that hardly reduce violations, and how far it
/// may grow in all: larger penalties bend the function more than L-BFGS can follow.
const PENALTY: (f64, f64, f64) = (0.5, 1.5, 10.0);
/// Violations that fall by less than the first factor, and are larger than the second, call for a larger penalty.
const SLOW: (f64, f64) = (0.7, 0.01);
/// Columns of R at most: with cuts, optimal ranks are far below those without.
const RANK: usize = 40;
/// Lanczos steps for the smallest eigenvalue of a round.
const LANCZOS: usize = 150;
/// Vertices up to which triangles over all pairs join when there are few cycles left to add, and on dense graphs, where
/// cycles are triangles.
const ALL_PAIRS: (usize, usize) = (1000, 4000);
/// Triples looked at between two looks at the clock: a tenth of a second.
const TRIPLES: usize = 100_000_000;
/// Edges per pair above which all triangles are looked at instead of cycles.
const DENSE: f64 = 0.15;
/// Share of the time left that the search may take; the rest is for the relaxation with the cuts it found.
const SHARE: f64 = 0.7;

/// Finds multipliers until rounds stop paying or the time is over; `constant` is f's, in scaled units.
///
/// **Cost** O(pairs r) per step and one search of shortest paths per round.
pub(super) fn multipliers(
    p: &Quadratic,
    constant: f64,
    seed: u64,
    monitor: &mut Monitor<'_>,
) -> Option<Outcome> {
    let until = monitor.deadline().within(monitor.seconds_left().map(|left| SHARE * left));
    let mut climb = Climb::new(p, seed, until);
    let mut normal = Normal::new(seed ^ 0xc7c1e5);
    let mut best: Option<Outcome> = None;
    let (mut idle, mut violation, mut steps) = (0, 1.0f64, STEPS.0);
    let (mut work, mut largest_penalty) = (0.0, f64::INFINITY);
    for round in 0..ROUNDS {
        work += climb.climb(steps);
        let x = climb.moments();
        let Some(found) = climb.dual(&x, normal.vector(p.n())) else { break };
        let mean = found.y.iter().sum::<f64>() / p.n() as f64;
        let before = best.as_ref().map_or(f64::INFINITY, |best| best.bound);
        let gain = before - found.bound;
        let size = (found.bound + constant).abs();
        idle = if gain > PATIENCE.1 * size { 0 } else { idle + 1 };
        if idle >= PATIENCE.0 && steps < STEPS.1 {
            (idle, steps) = (0, (2 * steps).min(STEPS.1));
        }
        if gain > 0.0 {
            best = Some(found);
        }
        let value = |bound: f64| p.scale * (constant + bound);
        let upper = best.as_ref().map_or(f64::INFINITY, |best| value(best.bound));
        let is_stopped = monitor.iteration(f64::NAN, upper).is_some() || climb.until.stop().is_some();
        if is_stopped || idle >= PATIENCE.0 || work > WORK {
            break;
        }
        if round == 0 {
            climb.cuts.penalty = PENALTY.0 * mean.max(f64::MIN_POSITIVE);
            largest_penalty = PENALTY.2 * climb.cuts.penalty;
        }
        let old = climb.cuts.update(&x);
        let new = climb.separate(&x);
        if round > 1 && old > SLOW.0 * violation && old > SLOW.1 {
            climb.cuts.penalty = (PENALTY.1 * climb.cuts.penalty).min(largest_penalty);
        }
        violation = old.max(new);
    }
    best
}

struct Climb<'a> {
    p: &'a Quadratic,
    /// The edges of P first.
    pairs: Pairs,
    /// Twice P, by edge.
    theta: Vec<f64>,
    network: Network,
    cuts: Augmented,
    rows: Vec<f64>,
    rank: usize,
    until: Deadline,
}

impl<'a> Climb<'a> {
    fn new(p: &'a Quadratic, seed: u64, until: Deadline) -> Self {
        let n = p.n();
        let (mut pairs, mut theta) = (Pairs::default(), Vec::new());
        for i in 0..n as u32 {
            for &(j, v) in p.row(i as usize).iter().filter(|(j, _)| *j > i) {
                let _ = pairs.number([i, j]);
                theta.push(2.0 * v);
            }
        }
        let rank = (((2 * n) as f64).sqrt() as usize + 1).min(RANK);
        let mut rows = Normal::new(seed).vector(n * rank);
        rows.chunks_exact_mut(rank).for_each(normalize);
        let network = Network::new(n, &pairs.ends);
        Climb { p, pairs, theta, network, cuts: Augmented::new(), rows, rank, until }
    }

    /// Moments by pair.
    fn moments(&self) -> Vec<f64> {
        self.pairs.ends.iter().map(|&ends| self.moment(&self.rows, ends)).collect()
    }

    fn moment(&self, rows: &[f64], [k, l]: [u32; 2]) -> f64 {
        let (k, l) = (self.rank * k as usize, self.rank * l as usize);
        dot(&rows[k..k + self.rank], &rows[l..l + self.rank])
    }

    /// Maximises over the rows; returns the multiplications that took.
    fn climb(&mut self, steps: usize) -> f64 {
        let mut rows = std::mem::take(&mut self.rows);
        let options = LbfgsOptions { memory: 8, max_iterations: steps, gradient_tol: 1e-7 };
        let mut calls = 0;
        let mut objective = |rows: &[f64], out: &mut [f64]| {
            calls += 1;
            self.negative(rows, out)
        };
        let _ = minimise(&mut objective, &mut rows, None, options, &mut |_, _| self.until.stop().is_some());
        rows.chunks_exact_mut(self.rank).for_each(normalize);
        let per_call = STEP * rows.len() as f64 + (3 * self.rank * self.pairs.ends.len()) as f64;
        self.rows = rows;
        f64::from(calls) * per_call
    }

    /// Minus the augmented Lagrangian and its derivative by rows of any length but zero.
    fn negative(&self, rows: &[f64], out: &mut [f64]) -> f64 {
        let mut unit = rows.to_vec();
        unit.chunks_exact_mut(self.rank).for_each(normalize);
        let x: Vec<f64> = self.pairs.ends.iter().map(|&ends| self.moment(&unit, ends)).collect();
        let mut coefficients = vec![0.0; x.len()];
        let penalty = self.cuts.evaluate(&x, &mut coefficients);
        coefficients.iter_mut().zip(&self.theta).for_each(|(c, t)| *c += t);
        self.times(&coefficients, &unit, out);
        let all = out.chunks_exact_mut(self.rank).zip(unit.chunks_exact(self.rank));
        for ((out, unit), row) in all.zip(rows.chunks_exact(self.rank)) {
            let (along, length) = (dot(out, unit), norm(row).max(f64::MIN_POSITIVE));
            out.iter_mut().zip(unit).for_each(|(o, v)| *o = (along * v - *o) / length);
        }
        -(self.theta.iter().zip(&x).map(|(t, x)| t * x).sum::<f64>() + penalty)
    }

    /// `out <- C X` for the symmetric matrix with these entries by pair and X with rows of equal length.
    fn times(&self, coefficients: &[f64], x: &[f64], out: &mut [f64]) {
        let r = x.len() / self.p.n();
        out.fill(0.0);
        for (&[k, l], &c) in self.pairs.ends.iter().zip(coefficients).filter(|(_, c)| **c != 0.0) {
            let (k, l) = (r * k as usize, r * l as usize);
            out[k..k + r].iter_mut().zip(&x[l..l + r]).for_each(|(o, v)| *o += c * v);
            out[l..l + r].iter_mut().zip(&x[k..k + r]).for_each(|(o, v)| *o += c * v);
        }
    }

    /// What the multipliers that the moments call for prove.
    fn dual(&self, x: &[f64], start: Vec<f64>) -> Option<Outcome> {
        let n = self.p.n();
        let mut coefficients = vec![0.0; x.len()];
        let mut bound = 0.0;
        let mut cuts = Vec::new();
        // Towards independence every cut has slack: how far is enough for all of them.
        let mut shrink = 1.0f64;
        for cut in &self.cuts.list {
            let (v, slack, constant) = (self.cuts.multiplier(cut, x), cut.slack(x), cut.cycle.constant());
            if v > 0.0 {
                cut.add(v, &mut coefficients);
                bound += constant * v;
                cuts.push((cut.cycle.clone(), v));
            }
            if slack < 0.0 {
                shrink = shrink.min(constant / (constant - slack));
            }
        }
        coefficients.iter_mut().zip(&self.theta).for_each(|(c, t)| *c += t);
        // Half of every coefficient stands at both places of the matrix.
        coefficients.iter_mut().for_each(|c| *c *= 0.5);
        let mut product = vec![0.0; self.rows.len()];
        self.times(&coefficients, &self.rows, &mut product);
        let rows = self.rows.chunks_exact(self.rank).zip(product.chunks_exact(self.rank));
        let y: Vec<f64> = rows.map(|(v, g)| dot(v, g)).collect();
        let mut apply = |x: &[f64], out: &mut [f64]| {
            self.times(&coefficients, x, out);
            out.iter_mut().zip(x).zip(&y).for_each(|((o, x), y)| *o = y * x - *o);
        };
        let largest = y.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let pair = smallest(&mut apply, start, 1e-6 * largest, LANCZOS, &self.until)?;
        let shift = (pair.residual.min(0.1 * pair.value.abs()) - pair.value).max(0.0);
        bound += y.iter().sum::<f64>() + n as f64 * shift;
        let primal = shrink * self.theta.iter().zip(x).map(|(t, x)| t * x).sum::<f64>();
        bound.is_finite().then_some(Outcome { cuts, y, shift, bound, primal })
    }

    /// Adds violated cycles; the largest violation among them.
    fn separate(&mut self, x: &[f64]) -> f64 {
        let n = self.p.n();
        let count = NEW_CUTS * n;
        let edges = self.theta.len();
        let mut worst = 0.0f64;
        let mut added = 0;
        let is_dense = edges as f64 >= DENSE * 0.5 * (n * n) as f64;
        if !is_dense {
            let most = count + self.cuts.list.len();
            let until = &self.until;
            let found = self.network.violated(x, VIOLATION, most, &mut || until.stop().is_some());
            let before = self.cuts.list.len();
            worst = self.cuts.extend(found, count, &mut self.pairs);
            added = self.cuts.list.len() - before;
        }
        if n <= (if is_dense { ALL_PAIRS.1 } else { ALL_PAIRS.0 }) && added < n / 4 {
            let found = self.triangles(count + self.cuts.list.len());
            worst = worst.max(self.cuts.extend(found, count - added, &mut self.pairs));
        }
        worst
    }

    /// Violated triangles over all pairs, at most `most` of those with each first vertex in turn, until the time is over.
    fn triangles(&self, most: usize) -> Vec<(f64, Cycle)> {
        let n = self.p.n();
        let mut moments = Square::zeros(n);
        transposed_left(&self.rows, &self.rows, self.rank, n, moments.data_mut());
        let (mut found, mut first) = (Vec::new(), 0);
        let step = (TRIPLES / (n * n)).max(1);
        while first < n && self.until.stop().is_none() {
            let next = (first + step).min(n);
            found.extend(violated(&moments, first..next, VIOLATION, most));
            first = next;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(most);
        found.into_iter().map(|(slack, triangle)| (slack, triangle.into())).collect()
    }
}

fn normalize(row: &mut [f64]) {
    let length = norm(row);
    if length > 0.0 && length.is_finite() {
        row.iter_mut().for_each(|v| *v /= length);
    } else {
        row.fill(0.0);
        row[0] = 1.0;
    }
}
