//! The relaxation with triangle cuts of a part of the cube, by a first-order method that starts where its parent ended.
//!
//! `max <P, X>` over `X = U^T U` with unit columns; cuts enter through multipliers, and L-BFGS climbs the smooth function
//! that is left. A step costs two products of an n x n with an n x r matrix, r about `2 sqrt(2n)`, where an interior point
//! would factorise a matrix with a row per cut. Whatever the multipliers are, they prove a bound.

use crate::deadline::Deadline;
use crate::linalg::lbfgs::{LbfgsOptions, minimise};
use crate::linalg::multiply::{tall_times, transposed_left};
use crate::linalg::{EigenWork, eigenvalues_of};
use crate::linalg::{Square, dot, norm};
use crate::query::map::quadratic::Quadratic;
use crate::query::map::random::Normal;
use crate::relax::cuts::{Triangle, violated};
use std::collections::{HashMap, HashSet};

/// Penalty of a violated cut in units of the mean of y, its growth in rounds that hardly reduce violations, and how far it
/// may grow in all: larger penalties bend the function more than L-BFGS can follow.
const PENALTY: (f64, f64, f64) = (0.5, 1.5, 10.0);
/// Violations that fall by less than the first factor, and are larger than the second, call for a larger penalty.
const SLOW: (f64, f64) = (0.7, 0.01);
/// Cuts with less slack than this stay although their multiplier is zero: moments move by about as much in a round.
const NEARLY_TIGHT: f64 = 0.02;
/// Violations of an inequality of size one below this are not worth a cut.
const VIOLATION: f64 = 1e-3;
/// Cuts added per round and vertex.
const NEW_CUTS: usize = 3;
/// Steps and gradient changes that L-BFGS keeps.
const MEMORY: usize = 8;
/// Length of the gradient, in scaled units, at which a climb ends.
const FLAT: f64 = 1e-6;

/// Where a climb ended, in units of f, for the parts of its part.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// Columns of U, for the constant and the free spins.
    columns: Vec<f64>,
    rank: usize,
    /// Cuts with their multipliers; vertices are numbered as the columns.
    cuts: Vec<(Triangle, f64)>,
    penalty: f64,
}

impl Start {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.columns.len() as u64 + size_of::<(Triangle, f64)>() as u64 * self.cuts.len() as u64
    }

    /// The same with one more spin fixed, the one of column `gone`.
    pub(super) fn fixed(&self, gone: usize, spin: i8) -> Self {
        let r = self.rank;
        let mut columns = self.columns.clone();
        // The constant moves towards what it is now tied to.
        let tied = &self.columns[gone * r..(gone + 1) * r];
        columns.iter_mut().zip(tied).for_each(|(c, t)| *c += f64::from(spin) * t);
        normalize(&mut columns[..r]);
        columns.drain(gone * r..(gone + 1) * r);
        let mut merged: HashMap<Triangle, f64> = HashMap::new();
        let mut order = Vec::new();
        for (cut, nu) in &self.cuts {
            let Some(cut) = restricted(cut, gone as u32, spin) else { continue };
            *merged.entry(cut).or_insert_with(|| {
                order.push(cut);
                0.0
            }) += nu;
        }
        let cuts = order.into_iter().map(|cut| (cut, merged[&cut])).collect();
        Start { columns, cuts, ..*self }
    }
}

/// A cut after vertex `gone` has become `spin` times the constant and those behind it have moved up; nothing is left of one
/// that had both.
fn restricted(cut: &Triangle, gone: u32, spin: i8) -> Option<Triangle> {
    let [ab, ac, bc] = cut.signs;
    let [a, b, c] = cut.vertices;
    let moved = |v: u32| v - u32::from(v > gone);
    let Some(k) = cut.vertices.iter().position(|&v| v == gone) else {
        return Some(Triangle { vertices: cut.vertices.map(moved), signs: cut.signs });
    };
    if a == 0 {
        return None;
    }
    let (pair, signs) = match k {
        0 => ([b, c], [spin * ab, spin * ac, bc]),
        1 => ([a, c], [spin * ab, spin * bc, ac]),
        _ => ([a, b], [spin * ac, spin * bc, ab]),
    };
    Some(Triangle { vertices: [0, moved(pair[0]), moved(pair[1])], signs })
}

/// Rows of U. Those that X needs without cuts are half as many; with fewer the climb ends early in places where the
/// multipliers prove less, and trees of dense models of 100 spins have two to three times the nodes.
fn rows_for(n: usize) -> usize {
    (2 * ((2 * n) as f64).sqrt() as usize + 1).min(n)
}

/// What multipliers prove, in scaled units: `max <P, X> <= bound`.
pub(super) struct Dual {
    /// Multipliers of all cuts present.
    pub(super) gamma: Vec<f64>,
    /// `diag(y)` less P and the cuts is positive semidefinite.
    pub(super) y: Vec<f64>,
    pub(super) bound: f64,
}

/// A climb under way.
pub(super) struct Climb {
    function: Function,
    columns: Vec<f64>,
    /// The largest violation of the last round.
    violation: f64,
    largest_penalty: f64,
    rounds: usize,
    until: Deadline,
    work: EigenWork,
}

impl Climb {
    /// A climb from where a larger part's ended, or from a fixed random point.
    pub(super) fn new(p: &Quadratic, start: Option<&Start>, until: &Deadline) -> Self {
        let n = p.n();
        let mut matrix = Square::zeros(n);
        for i in 0..n {
            p.row(i).iter().for_each(|&(j, v)| matrix.data_mut()[i + n * j as usize] = v);
        }
        let start = start.filter(|start| start.columns.len() == n * start.rank);
        let rank = start.map_or_else(|| rows_for(n), |start| start.rank);
        let columns = start.map_or_else(
            || {
                let mut columns = Normal::new(n as u64).vector(n * rank);
                columns.chunks_exact_mut(rank).for_each(normalize);
                columns
            },
            |start| start.columns.clone(),
        );
        let cuts = start
            .map_or_else(Vec::new, |start| start.cuts.iter().map(|&(cut, nu)| (cut, nu / p.scale)).collect());
        let penalty = start.map_or(1.0, |start| start.penalty / p.scale);
        let (unit, x, c) = (columns.clone(), Square::zeros(n), Square::zeros(n));
        Climb {
            function: Function { rank, matrix, cuts, penalty, unit, x, c },
            columns,
            violation: 1.0,
            largest_penalty: if start.is_some() { PENALTY.2 / PENALTY.1 * penalty } else { f64::INFINITY },
            rounds: 0,
            until: until.clone(),
            work: EigenWork::default(),
        }
    }

    /// Joins the cuts that the last round asks for, then maximises over the columns in so many steps.
    pub(super) fn round(&mut self, steps: usize) {
        if self.rounds > 0 {
            self.renew();
        }
        self.rounds += 1;
        let (function, until) = (&mut self.function, &self.until);
        let options = LbfgsOptions { memory: MEMORY, max_iterations: steps, gradient_tol: FLAT };
        let mut objective = |columns: &[f64], out: &mut [f64]| function.negative(columns, out);
        let stopped = &mut |_: f64, _: &[f64]| until.stop().is_some();
        let _ = minimise(&mut objective, &mut self.columns, None, options, stopped);
        self.columns.chunks_exact_mut(function.rank).for_each(normalize);
        function.evaluate_at(&self.columns);
    }

    /// X.
    pub(super) fn moments(&self) -> &Square {
        &self.function.x
    }

    /// The cuts present.
    pub(super) fn cuts(&self) -> impl Iterator<Item = &Triangle> {
        self.function.cuts.iter().map(|(cut, _)| cut)
    }

    /// What the multipliers that the moments call for prove, up to rounding; `None` when the linear algebra fails.
    pub(super) fn dual(&mut self) -> Option<Dual> {
        let mut y = self.function.diagonal();
        let (n, mut z) = (y.len(), self.function.c.clone());
        z.data_mut().iter_mut().for_each(|v| *v = -*v);
        z.data_mut().iter_mut().step_by(n + 1).zip(&y).for_each(|(v, y)| *v += y);
        let mut values = Vec::new();
        if !eigenvalues_of(&mut z, &mut values, &mut self.work) {
            return None;
        }
        let shift = (-values[0]).max(0.0);
        y.iter_mut().for_each(|y| *y += shift);
        let gamma: Vec<f64> = self.function.cuts.iter().map(|cut| self.function.multiplier(cut)).collect();
        let bound = y.iter().sum::<f64>() + gamma.iter().sum::<f64>();
        bound.is_finite().then_some(Dual { gamma, y, bound })
    }

    /// Takes over the multipliers, forgets cuts that are slack and adds violated ones.
    fn renew(&mut self) {
        let n = self.function.x.n();
        if self.largest_penalty.is_infinite() {
            let mean = self.function.diagonal().iter().sum::<f64>() / n as f64;
            self.function.penalty = PENALTY.0 * mean.max(f64::MIN_POSITIVE);
            self.largest_penalty = PENALTY.2 * self.function.penalty;
        }
        let old = self.function.update();
        let present: HashSet<Triangle> = self.cuts().copied().collect();
        let count = NEW_CUTS * n;
        let found = violated(&self.function.x, 0..n, VIOLATION, count + present.len());
        let new = found.into_iter().filter(|(_, cut)| !present.contains(cut)).take(count);
        let new: Vec<(f64, Triangle)> = new.collect();
        let worst = new.iter().fold(0.0f64, |worst, (slack, _)| worst.max(-slack));
        self.function.cuts.extend(new.into_iter().map(|(_, cut)| (cut, 0.0)));
        if self.rounds > 2 && old > SLOW.0 * self.violation && old > SLOW.1 {
            self.function.penalty = (PENALTY.1 * self.function.penalty).min(self.largest_penalty);
        }
        self.violation = old.max(worst);
    }

    /// Where the parts of this part begin.
    pub(super) fn end(self, scale: f64) -> Start {
        let function = self.function;
        let cuts = function.cuts.iter().map(|cut| (cut.0, scale * function.multiplier(cut))).collect();
        Start { columns: self.columns, rank: function.rank, cuts, penalty: scale * function.penalty }
    }
}

/// The augmented Lagrangian `<P, X> - sum_k (max(0, nu_k - rho g_k)^2 - nu_k^2) / (2 rho)`, `g_k = 1 + <A_k, X>`.
struct Function {
    rank: usize,
    /// P.
    matrix: Square,
    /// Cuts and their multipliers nu.
    cuts: Vec<(Triangle, f64)>,
    /// rho.
    penalty: f64,
    /// Where it was evaluated last: U, X, and P with the cuts that X calls for.
    unit: Vec<f64>,
    x: Square,
    c: Square,
}

impl Function {
    /// The multiplier that the moments call for.
    fn multiplier(&self, (cut, nu): &(Triangle, f64)) -> f64 {
        (nu - self.penalty * (1.0 + cut.moment(&self.x))).max(0.0)
    }

    /// y, for which the columns of U are in the kernel of `diag(y) - C` as far as they are stationary.
    fn diagonal(&self) -> Vec<f64> {
        let mut product = vec![0.0; self.unit.len()];
        tall_times(&self.unit, self.rank, self.c.data(), self.x.n(), &mut product, false);
        let columns = self.unit.chunks_exact(self.rank).zip(product.chunks_exact(self.rank));
        columns.map(|(u, g)| dot(u, g)).collect()
    }

    /// Its value at unit columns.
    fn evaluate_at(&mut self, columns: &[f64]) -> f64 {
        let n = self.x.n();
        self.unit.copy_from_slice(columns);
        self.unit.chunks_exact_mut(self.rank).for_each(normalize);
        transposed_left(&self.unit, &self.unit, self.rank, n, self.x.data_mut());
        self.c.data_mut().copy_from_slice(self.matrix.data());
        let mut priced = 0.0;
        for cut in &self.cuts {
            let y = (cut.1 - self.penalty * (1.0 + cut.0.moment(&self.x))).max(0.0);
            priced -= (y - cut.1) * (y + cut.1);
            if y > 0.0 {
                let data = self.c.data_mut();
                for (i, j, s) in cut.0.entries() {
                    data[i + n * j] += 0.5 * s * y;
                    data[j + n * i] += 0.5 * s * y;
                }
            }
        }
        self.matrix.dot(&self.x) + 0.5 * priced / self.penalty
    }

    /// Minus its value and derivative by columns of any length but zero.
    fn negative(&mut self, columns: &[f64], out: &mut [f64]) -> f64 {
        let value = self.evaluate_at(columns);
        tall_times(&self.unit, self.rank, self.c.data(), self.x.n(), out, false);
        let all = out.chunks_exact_mut(self.rank).zip(self.unit.chunks_exact(self.rank));
        for ((out, unit), column) in all.zip(columns.chunks_exact(self.rank)) {
            let (along, length) = (dot(out, unit), norm(column).max(f64::MIN_POSITIVE));
            out.iter_mut().zip(unit).for_each(|(o, u)| *o = 2.0 * (along * u - *o) / length);
        }
        -value
    }

    /// Takes over the multipliers and forgets cuts that are slack; returns the largest violation.
    fn update(&mut self) -> f64 {
        let (x, penalty) = (&self.x, self.penalty);
        let mut violation = 0.0f64;
        self.cuts.retain_mut(|(cut, nu)| {
            let slack = 1.0 + cut.moment(x);
            violation = violation.max(-slack);
            *nu = (*nu - penalty * slack).max(0.0);
            *nu > 0.0 || slack < NEARLY_TIGHT
        });
        violation
    }
}

fn normalize(column: &mut [f64]) {
    let length = norm(column);
    if length > 0.0 && length.is_finite() {
        column.iter_mut().for_each(|v| *v /= length);
    } else {
        column.fill(0.0);
        column[0] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relax::cuts::quad::SIGNS;

    fn moment(cut: &Triangle, z: &[i8]) -> i8 {
        let [a, b, c] = cut.vertices.map(|v| z[v as usize]);
        cut.signs[0] * a * b + cut.signs[1] * a * c + cut.signs[2] * b * c
    }

    #[test]
    fn a_start_with_a_fixed_spin_has_the_cuts_of_the_rest() {
        let vertices = [[0, 1, 2], [1, 2, 3], [1, 2, 4], [0, 3, 4], [2, 3, 4]];
        let all = vertices.into_iter().flat_map(|v| SIGNS.map(|signs| Triangle { vertices: v, signs }));
        for cut in all {
            for (gone, spin) in (1..5usize).flat_map(|gone| [(gone, 1i8), (gone, -1)]) {
                let columns = (0..10).map(|k| f64::from(k).sin()).collect();
                let start = Start { columns, rank: 2, cuts: vec![(cut, 0.5), (cut, 0.25)], penalty: 1.0 };
                let rest = start.fixed(gone, spin);
                assert_eq!(rest.columns.len(), 8);
                let has_both = cut.vertices[0] == 0 && cut.vertices.contains(&(gone as u32));
                assert_eq!(rest.cuts.len(), usize::from(!has_both));
                for (now, nu) in &rest.cuts {
                    assert_eq!(*nu, 0.75);
                    for bits in 0..16u32 {
                        let mut z = vec![1i8; 5];
                        (1..5).for_each(|i| z[i] = if bits >> (i - 1) & 1 == 1 { 1 } else { -1 });
                        z[gone] = spin;
                        let mut others = z.clone();
                        others.remove(gone);
                        assert_eq!(moment(&cut, &z), moment(now, &others));
                    }
                }
            }
        }
    }
}
