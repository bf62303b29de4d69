//! Partial decompositions: the top of the spectrum, followed from one point to the next.

use super::{FAR, LARGE};
use crate::linalg::partial::{PartialEigen, Task};
use crate::linalg::{Gibbs, Square};
use crate::relax::quantum::path_newton::Near;

/// From this size on, low temperatures decompose only the top of the spectrum.
const PARTIAL: usize = 64;
/// Blocks above this part of n are no cheaper than a full decomposition.
const LARGEST_BLOCK: usize = 6;
/// Exponents further than this below the top are not followed on the way: their weight is below e^-16.
const CUT_ON_THE_WAY: f64 = 16.0;
/// The same at the end: below e^-42 nothing is left next to 1.
const CUT_AT_THE_END: f64 = 42.0;
/// Relative residual of eigenpairs on the way.
const LOOSE: f64 = 0.02;
/// The least that is asked for.
const TIGHT: f64 = 1e-9;
/// Block steps before a full decomposition is made instead.
const STEPS: usize = 8;

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

    /// Decomposes `B = scale * matrix`, which belongs to `(y, t)`; `false` when this does not apply or
    /// did not converge.
    ///
    /// The top of the spectrum is followed from `near` by block steps. The other vectors are kept, with
    /// Rayleigh quotients for values: they only enter second derivatives.
    pub(super) fn follow(
        &mut self,
        matrix: &Square,
        scale: f64,
        y: &[f64],
        t: f64,
        near: Near<'_>,
        out: &mut Gibbs,
    ) -> bool {
        let (state, n) = (near.state, y.len());
        if n < PARTIAL || state.n() != n || self.far {
            return false;
        }
        let mut values = rayleigh(&near, y, t);
        let top = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let cut = if t > 1.0 { CUT_ON_THE_WAY } else { CUT_AT_THE_END };
        let first = values.iter().take_while(|v| top - **v > cut).count();
        let block = n - first + 2 + (n - first) / 8;
        if block * LARGEST_BLOCK > n {
            return false;
        }
        out.eigen.vectors.reset(n);
        let task = Task {
            matrix,
            scale,
            basis: &state.eigen.vectors,
            rayleigh: &values,
            block,
            tolerance: if t > 1.0 { self.aim.max(1e-3) } else { self.aim },
            max_steps: STEPS,
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
