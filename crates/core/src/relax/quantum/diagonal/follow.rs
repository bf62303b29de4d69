//! Partial decompositions: the top of the spectrum, followed from one point to the next.

use super::{FAR, LARGE};
use crate::linalg::partial::{PartialEigen, Task};
use crate::linalg::turn::complement;
use crate::linalg::{Gibbs, Square};
use crate::relax::quantum::path_newton::Near;

/// From this size on, low temperatures decompose only the top of the spectrum.
const PARTIAL: usize = 64;
/// Blocks above this part of n are no cheaper than a full decomposition.
const LARGEST_BLOCK: usize = 6;
/// Eigenvalues are followed down to where a residual of 1 meets the tolerance, weighted as it is, and this much further.
const CUT: f64 = 2.0;
/// Relative residual of eigenpairs on the way.
const LOOSE: f64 = 0.02;
/// The least that is asked for.
const TIGHT: f64 = 1e-9;
/// Block steps before a full decomposition is made instead.
const STEPS: usize = 12;

/// What came of following.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    Yes,
    /// It does not apply, or would cost as much as a full decomposition.
    No,
    /// It did not converge.
    Lost,
}

/// Follows eigenpairs along steps, as accurately as the steps deserve.
#[derive(Default)]
pub(super) struct Follower {
    partial: PartialEigen,
    /// Residual at which eigenpairs are good enough for the step just computed.
    aim: f64,
    /// Whether that step is too long to follow them along it.
    far: bool,
}

impl Follower {
    /// Prepares for a step from a state of residual `size`.
    pub(super) fn aim_at(&mut self, size: f64, tilt: f64) {
        self.far = size > FAR;
        self.aim = if tilt == 0.0 { 0.05 * size.powf(1.5) } else { LOOSE }.clamp(TIGHT, LOOSE);
    }

    /// Gives back the workspaces of large matrices.
    pub(super) fn release(&mut self, n: usize) {
        if n >= LARGE {
            self.partial = PartialEigen::default();
        }
    }

    /// Decomposes `B = scale * matrix`, which belongs to `(y, t)`.
    ///
    /// The top of the spectrum is followed from `near` by block steps. The other vectors are turned until they are orthogonal
    /// to it, with their old Rayleigh quotients for values: they enter second derivatives, and the next block steps,
    /// which would miss what no vector of the basis has.
    pub(super) fn follow(
        &mut self,
        matrix: &Square,
        scale: f64,
        y: &[f64],
        t: f64,
        near: Near<'_>,
        out: &mut Gibbs,
    ) -> Followed {
        let (state, n) = (near.state, y.len());
        if n < PARTIAL || state.n() != n || self.far {
            return Followed::No;
        }
        let mut values = rayleigh(&near, y, t);
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let tolerance = if t > 1.0 { self.aim.max(1e-3) } else { self.aim };
        let cut = CUT - 2.0 * tolerance.ln();
        let first = values.iter().take_while(|v| top - **v > cut).count();
        let block = n - first + 2 + (n - first) / 8;
        if block * LARGEST_BLOCK > n {
            return Followed::No;
        }
        out.eigen.vectors.reset(n);
        let task = Task {
            matrix,
            scale,
            basis: &state.eigen.vectors,
            rayleigh: &values,
            block,
            tolerance,
            max_steps: STEPS,
        };
        let mut found = vec![0.0; block];
        let split = n * (n - block);
        if !self.partial.solve(&task, &mut found, &mut out.eigen.vectors.data_mut()[split..]) {
            return Followed::Lost;
        }
        let (rest, top) = out.eigen.vectors.data_mut().split_at_mut(split);
        if !complement(&state.eigen.vectors, top, rest) {
            return Followed::Lost;
        }
        values[..n - block].iter_mut().for_each(|v| *v = v.min(found[0]));
        values[n - block..].copy_from_slice(&found);
        out.eigen.values = values;
        out.partial = true;
        if out.weigh() { Followed::Yes } else { Followed::Lost }
    }
}

/// `u_k^T B u_k` for the eigenvectors of `near`: B is `(near.t / t) B_near` plus a diagonal.
fn rayleigh(near: &Near<'_>, y: &[f64], t: f64) -> Vec<f64> {
    let shift: Vec<f64> = near.y.iter().zip(y).map(|(a, b)| (a - b) / t).collect();
    let of = |(value, u): (&f64, &[f64])| {
        value * (near.t / t) + u.iter().zip(&shift).map(|(u, s)| u * u * s).sum::<f64>()
    };
    let eigen = &near.state.eigen;
    eigen.values.iter().zip(eigen.vectors.data().chunks_exact(y.len())).map(of).collect()
}
