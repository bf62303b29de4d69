//! The relaxation as a convex program in the moments, and its points.
//!
//! ```text
//! max <theta, m> + t   over m, t
//! with t <= E_k(m)                    entropies: graphs, quantum, log-det       weights w_k
//!      Sigma_B(m) >= 0                positive moment matrices                  S_B
//!      1 + <c, m> >= 0                triangle inequalities                     nu_c
//! ```
//! in units of eps. The multipliers of any point, feasible or not, are the decomposition
//! `f + cuts + phi^T S phi = sum_k w_k f_k` of docs/theory.md, section 1.

use super::entropy::{Entropy, Evaluation};
use super::space::Space;
use super::two_tree::TwoTree;
use crate::linalg::Square;
use crate::relax::cuts::quad::{Quad, adjoint, slacks};

/// The data of the program; triples and graphs are generated while it is solved.
pub(super) struct Program {
    pub(super) space: Space,
    pub(super) theta: Vec<f64>,
    pub(super) triples: Vec<Triple>,
    /// Whether all triples are there.
    pub(super) complete: bool,
    /// Whether no two-trees will join but those that are there.
    pub(super) closed: bool,
    pub(super) entropies: Vec<Entropy>,
    /// Two-trees known beforehand: the model's own graph, when it is part of one, and those of a
    /// program with fewer features or of the first-order method. Should they be dropped, they may come back.
    pub(super) known: Vec<TwoTree>,
}

/// Four inequalities among three vertices of z = (1, x).
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Triple {
    pub(super) vertices: [u32; 3],
    /// Moments of the sides (k,l), (k,m), (l,m).
    pub(super) moments: [u32; 3],
}

/// Primal variables, slacks and multipliers.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) m: Vec<f64>,
    pub(super) t: f64,
    /// `S_B`.
    pub(super) squares: Vec<Square>,
    /// Slacks of the inequalities of every triple, and their multipliers.
    pub(super) cut_slacks: Vec<Quad>,
    pub(super) nu: Vec<Quad>,
    /// `E_k(m) - t`, and the weights.
    pub(super) entropy_slacks: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Triple {
    /// The triple of these vertices, `None` when a side has no moment.
    pub(super) fn new(space: &Space, [k, l, m]: [u32; 3]) -> Option<Self> {
        let moments = [space.vertices(k, l)?, space.vertices(k, m)?, space.vertices(l, m)?];
        Some(Triple { vertices: [k, l, m], moments })
    }

    /// Slacks of its inequalities.
    pub(super) fn slacks(&self, m: &[f64]) -> Quad {
        slacks(self.moments.map(|p| m[p as usize]))
    }

    /// Whether it only says that a pair of spins has a distribution.
    pub(super) fn is_pairwise(&self) -> bool {
        self.vertices[0] == 0
    }
}

impl Program {
    /// The uniform law with multipliers on the central path of parameter `mu`.
    pub(super) fn start(&self, mu: f64) -> Point {
        let count = self.entropies.len() as f64;
        let square = |n: usize| {
            let mut s = Square::identity(n);
            s.data_mut().iter_mut().for_each(|v| *v *= mu);
            s
        };
        Point {
            m: vec![0.0; self.space.len()],
            t: -mu * count,
            squares: self.space.blocks.iter().map(|b| square(b.n())).collect(),
            cut_slacks: vec![[1.0; 4]; self.triples.len()],
            nu: vec![[mu; 4]; self.triples.len()],
            entropy_slacks: vec![mu * count; self.entropies.len()],
            weights: vec![1.0 / count; self.entropies.len()],
        }
    }

    /// How many products of a slack and its multiplier there are.
    pub(super) fn complexity(&self) -> f64 {
        let squares: usize = self.space.blocks.iter().map(|b| b.n()).sum();
        (squares + 4 * self.triples.len() + self.entropies.len()) as f64
    }

    /// Mean product of slack and multiplier.
    pub(super) fn complementarity(&self, point: &Point, sigmas: &[Square]) -> f64 {
        let squares: f64 = sigmas.iter().zip(&point.squares).map(|(a, b)| a.dot(b)).sum();
        let cuts = point.cut_slacks.as_flattened().iter().zip(point.nu.as_flattened());
        let weights = point.entropy_slacks.iter().zip(&point.weights);
        let scalars: f64 = cuts.chain(weights).map(|(a, b)| a * b).sum();
        (squares + scalars) / self.complexity()
    }

    /// Derivative of the Lagrangian by the moments.
    pub(super) fn dual_residual(&self, point: &Point, weights: &[f64], at: &Evaluation) -> Vec<f64> {
        let mut out = self.theta.clone();
        for (gradient, w) in at.gradients.chunks_exact(out.len()).zip(weights) {
            out.iter_mut().zip(gradient).for_each(|(r, g)| *r += w * g);
        }
        for (block, s) in self.space.blocks.iter().zip(&point.squares) {
            block.gather(s, 1.0, &mut out);
        }
        self.add_cuts(&point.nu, &mut out);
        out
    }

    /// `out += sum_c values_c c`.
    pub(super) fn add_cuts(&self, values: &[Quad], out: &mut [f64]) {
        for (triple, values) in self.triples.iter().zip(values) {
            let along = adjoint(values);
            (0..3).for_each(|p| out[triple.moments[p] as usize] += along[p]);
        }
    }

    /// The factor that brings moments inside all inequalities, towards the uniform law.
    pub(super) fn shrink(&self, m: &[f64]) -> f64 {
        let least = self.triples.iter().flat_map(|triple| triple.slacks(m)).fold(f64::INFINITY, f64::min);
        if least < 0.0 { 1.0 / (1.0 - least) } else { 1.0 }
    }
}
