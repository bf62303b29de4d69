//! One primal-dual step: linear algebra of the optimality conditions.

use super::curvature::Curvature;
use super::entropy::{Evaluation, add_curvature};
use super::program::{Point, Program};
use crate::linalg::scaling::Scaling;
use crate::linalg::symmetric::{plus, step_to_boundary};
use crate::linalg::{Cholesky, EigenWork, Square, dot, longest_step, multiply};
use crate::relax::cuts::quad::{Quad, gram, sides};
use faer::Par;

/// A direction in all variables.
pub(super) struct Step {
    m: Vec<f64>,
    t: f64,
    sigmas: Vec<Square>,
    squares: Vec<Square>,
    cut_slacks: Vec<Quad>,
    nu: Vec<Quad>,
    entropy_slacks: Vec<f64>,
    weights: Vec<f64>,
}

/// The factored optimality conditions at a point.
pub(super) struct Linearised<'a> {
    program: &'a Program,
    point: &'a Point,
    at: &'a Evaluation,
    scalings: Vec<Scaling>,
    curvature: &'a Curvature,
    /// `L^{-1} grad E_k`, one after the other, `H = L L^T` the curvature.
    half_solved: Vec<f64>,
    /// `grad E^T H^{-1} grad E + diag(entropy slacks / weights)`.
    border: Cholesky,
    /// Derivative of the Lagrangian by the moments.
    dual_residual: Vec<f64>,
}

impl<'a> Linearised<'a> {
    /// Assembles and factors; `None` when rounding has the upper hand.
    ///
    /// **Cost** n^4/2 per block for the assembly, N^3/3 for the factor, N^2 per entropy.
    pub(super) fn new(
        program: &'a Program,
        point: &'a Point,
        sigmas: &[Square],
        at: &'a Evaluation,
        curvature: &'a mut Curvature,
        work: &mut EigenWork,
    ) -> Option<Self> {
        let space = &program.space;
        let pairs = sigmas.iter().zip(&point.squares);
        let scalings: Vec<Scaling> =
            pairs.map(|(sigma, s)| Scaling::new(sigma, s, work)).collect::<Option<_>>()?;
        curvature.clear();
        for (block, scaling) in space.blocks.iter().zip(&scalings) {
            block.add_curvature(std::slice::from_ref(&scaling.t), curvature);
        }
        add_curvature(&program.entropies, space, &point.m, &point.weights, at, curvature);
        for ((triple, y), nu) in program.triples.iter().zip(&point.cut_slacks).zip(&point.nu) {
            let block = gram(&std::array::from_fn(|p| nu[p] / y[p]));
            let at = triple.moments.map(|k| k as usize);
            for p in 0..3 {
                (0..=p).for_each(|q| curvature.add(at[p], at[q], block[p][q]));
            }
        }
        if !curvature.factor() {
            return None;
        }
        let mut half_solved = at.gradients.clone();
        curvature.solve_lower(&mut half_solved);
        let count = point.entropy_slacks.len();
        let mut lower = vec![0.0; count * count];
        multiply::gram_lower(&half_solved, space.len(), count, &mut lower, Par::Seq);
        for k in 0..count {
            lower[k * (count + 1)] += point.entropy_slacks[k] / point.weights[k];
        }
        let mut border = Cholesky::default();
        let dual_residual = program.dual_residual(point, &point.weights, at);
        border.factor(lower, count, 0.0, Par::Seq).then_some(Linearised {
            program,
            point,
            at,
            scalings,
            curvature,
            half_solved,
            border,
            dual_residual,
        })
    }

    /// The step towards products of slack and multiplier equal to `target`, with Mehrotra's second-order
    /// term of a predicted step.
    pub(super) fn step(&self, target: f64, predicted: Option<&Step>) -> Step {
        let (program, point) = (self.program, self.point);
        let space = &program.space;
        let targets: Vec<Square> = self
            .scalings
            .iter()
            .enumerate()
            .map(|(b, s)| s.constant_part(target, predicted.map(|p| (&p.sigmas[b], &p.squares[b]))))
            .collect();
        let second = |c: usize, p: usize| predicted.map_or(0.0, |s| s.cut_slacks[c][p] * s.nu[c][p]);
        // Multipliers of the inequalities if the moments did not move.
        let mut nu: Vec<Quad> = Vec::with_capacity(program.triples.len());
        let mut cut_residuals: Vec<Quad> = Vec::with_capacity(program.triples.len());
        for (c, triple) in program.triples.iter().enumerate() {
            let (g, y, v) = (triple.slacks(&point.m), &point.cut_slacks[c], &point.nu[c]);
            let residual: Quad = std::array::from_fn(|p| g[p] - y[p]);
            nu.push(std::array::from_fn(|p| {
                (target - second(c, p) - v[p] * y[p] - v[p] * residual[p]) / y[p]
            }));
            cut_residuals.push(residual);
        }
        let mut m = self.dual_residual.clone();
        for (block, toward) in space.blocks.iter().zip(&targets) {
            block.gather(toward, 1.0, &mut m);
        }
        program.add_cuts(&nu, &mut m);
        self.curvature.solve_lower(&mut m);
        let (weights, t) = self.border_step(target, predicted, &m);
        for (column, w) in self.half_solved.chunks_exact(m.len()).zip(&weights) {
            m.iter_mut().zip(column).for_each(|(m, v)| *m += w * v);
        }
        self.curvature.solve_upper(&mut m);
        let sigmas: Vec<Square> = space.blocks.iter().map(|b| b.fill(&m, 0.0)).collect();
        let squares = sigmas.iter().zip(&self.scalings).zip(targets).map(|((d, s), mut toward)| {
            toward.data_mut().iter_mut().zip(s.apply(d).data()).for_each(|(a, v)| *a -= v);
            toward
        });
        let squares = squares.collect();
        let mut cut_slacks = cut_residuals;
        for (c, triple) in program.triples.iter().enumerate() {
            let along = sides(0.0, triple.moments.map(|k| m[k as usize]));
            for p in 0..4 {
                cut_slacks[c][p] += along[p];
                nu[c][p] -= point.nu[c][p] / point.cut_slacks[c][p] * along[p];
            }
        }
        let gradients = self.at.gradients.chunks_exact(m.len());
        let entropy_slacks =
            gradients.enumerate().map(|(k, g)| dot(g, &m) - t + self.entropy_residual(k)).collect();
        Step { m, t, sigmas, squares, cut_slacks, nu, entropy_slacks, weights }
    }

    /// `E_k(m) - t` less the slack that stands for it.
    fn entropy_residual(&self, k: usize) -> f64 {
        self.at.values[k] - self.point.t - self.point.entropy_slacks[k]
    }

    /// Steps of the weights and of t, given L^T times the moments' step at fixed weights.
    fn border_step(&self, target: f64, predicted: Option<&Step>, m: &[f64]) -> (Vec<f64>, f64) {
        let point = self.point;
        let mut first: Vec<f64> = (0..point.entropy_slacks.len())
            .map(|k| {
                let second = predicted.map_or(0.0, |s| s.entropy_slacks[k] * s.weights[k]);
                let wanted =
                    (target - second) / point.weights[k] - point.entropy_slacks[k] - self.entropy_residual(k);
                wanted - dot(&self.half_solved[k * m.len()..(k + 1) * m.len()], m)
            })
            .collect();
        let mut ones = vec![1.0; first.len()];
        self.border.solve(&mut first);
        self.border.solve(&mut ones);
        let excess = 1.0 - point.weights.iter().sum::<f64>() - first.iter().sum::<f64>();
        let t = excess / ones.iter().sum::<f64>();
        first.iter_mut().zip(&ones).for_each(|(w, one)| *w += t * one);
        (first, t)
    }
}

impl Step {
    /// How far the primal and the dual variables can go, at most 1.
    pub(super) fn step_lengths(&self, point: &Point, sigmas: &[Square]) -> (f64, f64) {
        let matrix = |values: &[Square], steps: &[Square]| {
            values.iter().zip(steps).map(|(v, s)| step_to_boundary(v, s)).fold(1.0, f64::min)
        };
        let primal = longest_step(point.cut_slacks.as_flattened(), self.cut_slacks.as_flattened())
            .min(longest_step(&point.entropy_slacks, &self.entropy_slacks))
            .min(matrix(sigmas, &self.sigmas));
        let dual = longest_step(point.nu.as_flattened(), self.nu.as_flattened())
            .min(longest_step(&point.weights, &self.weights))
            .min(matrix(&point.squares, &self.squares));
        (primal, dual)
    }

    /// Mean product of slack and multiplier after steps of these lengths.
    pub(super) fn complementarity_after(
        &self,
        program: &Program,
        point: &Point,
        sigmas: &[Square],
        by: (f64, f64),
    ) -> f64 {
        let moved = self.moved(point, by);
        let sigmas: Vec<Square> = sigmas.iter().zip(&self.sigmas).map(|(a, b)| plus(a, by.0, b)).collect();
        program.complementarity(&moved, &sigmas)
    }

    /// The point after steps of these lengths.
    pub(super) fn moved(&self, point: &Point, (primal, dual): (f64, f64)) -> Point {
        let along = |values: &[f64], steps: &[f64], by: f64| -> Vec<f64> {
            values.iter().zip(steps).map(|(v, s)| v + by * s).collect()
        };
        let four = |values: &[Quad], steps: &[Quad], by: f64| -> Vec<Quad> {
            values.iter().zip(steps).map(|(v, s)| std::array::from_fn(|p| v[p] + by * s[p])).collect()
        };
        let squares = point.squares.iter().zip(&self.squares);
        Point {
            m: along(&point.m, &self.m, primal),
            t: point.t + primal * self.t,
            squares: squares.map(|(a, b)| plus(a, dual, b)).collect(),
            cut_slacks: four(&point.cut_slacks, &self.cut_slacks, primal),
            nu: four(&point.nu, &self.nu, dual),
            entropy_slacks: along(&point.entropy_slacks, &self.entropy_slacks, primal),
            weights: along(&point.weights, &self.weights, dual),
        }
    }
}
