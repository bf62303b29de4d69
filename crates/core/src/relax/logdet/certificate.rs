//! From a dual point to the data of a proof.

use super::interior_point::{Point, Program};
use crate::certify::{Certificate, Component, Cut, Form, Noise, Slack, SumOfSquares};
use crate::features::Features;
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use crate::relax::cuts::Triangle;
use crate::relax::cuts::quad::SIGNS;

/// Thresholds, relative to the largest multiplier, below which cuts are left out.
const PRUNING: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];

/// Leaves out cuts with small multipliers as long as the dual value stays below `limit`.
///
/// A slack constraint costs what its multiplier adds, so this shortens proofs and rarely loosens
/// them.
pub(super) fn prune(program: &Program, point: Point, limit: f64) -> Point {
    let largest = point.nu.iter().flatten().fold(0.0, |m: f64, v| m.max(*v));
    for threshold in PRUNING.map(|t| t * largest) {
        let mut nu = point.nu.clone();
        nu.iter_mut().flatten().filter(|v| **v < threshold).for_each(|v| *v = 0.0);
        let m = program.complete(&point.s, &nu, point.m.diagonal());
        let pruned = Point { nu, m, ..point.clone() };
        if program.dual_value(&pruned).is_some_and(|value| value <= limit) {
            return pruned;
        }
    }
    point
}

/// The proof `f + cuts + z^T S z = z^T F' z`, `diag(lambda) - F' > 0`, in the model's units; `None`
/// when an eigendecomposition fails.
///
/// **Cost** two eigendecompositions.
pub(super) fn certificate(
    program: &Program,
    point: &Point,
    features: &Features,
    constant: f64,
    eps: f64,
) -> Option<Certificate> {
    let n = features.len();
    let scaled = |a: &Square| Square::from_column_major(n, a.data().iter().map(|v| eps * v).collect());
    let (s, mut m) = (scaled(&point.s), scaled(&point.m));
    let multipliers: f64 = point.nu.iter().flatten().map(|v| eps * v).sum();
    let corner = constant + multipliers + s.diagonal().sum::<f64>();
    let mut lambda: Vec<f64> = m.diagonal().collect();
    lambda[0] += corner;
    // What is decomposed is what the checker forms: the difference of the stored numbers.
    m.data_mut()[0] = lambda[0] - corner;
    let mut matrix = m.clone();
    matrix.data_mut().iter_mut().for_each(|v| *v = -*v);
    matrix.data_mut().iter_mut().step_by(n + 1).for_each(|v| *v = 0.0);
    matrix.data_mut()[0] = corner;

    let mut work = EigenWork::default();
    let mut decompose = |a: &Square| {
        let mut eigen = Eigen::default();
        eigh(a, &mut eigen, &mut work).then_some(eigen)
    };
    let form = Form::LogDet { noise: Noise::default(), lambda, matrix, eigen: decompose(&m)? };
    let mut slack = Slack { cuts: cuts(program, point, eps), squares: Vec::new() };
    if s.data().iter().any(|v| *v != 0.0) {
        let eigen = decompose(&s)?;
        slack.squares.push(SumOfSquares { features: features.clone(), matrix: s, eigen });
    }
    Some(Certificate { eps, slack, components: vec![Component { weight: 1.0, form }], witness: None })
}

/// The proof of `Phi(f) <= constant + |f|_1`, which needs no computation.
pub(super) fn trivial(constant: f64, eps: f64) -> Certificate {
    let form = Form::Constant { value: constant };
    let components = vec![Component { weight: 1.0, form }];
    Certificate { eps, slack: Slack::default(), components, witness: None }
}

/// The cuts with a positive multiplier, each a triangle through vertex 0.
fn cuts(program: &Program, point: &Point, eps: f64) -> Vec<Cut> {
    let mut out = Vec::new();
    for (&[i, j], nu) in program.cuts.pairs.iter().zip(&point.nu) {
        let own = nu.iter().zip(SIGNS).filter(|(v, _)| **v > 0.0);
        out.extend(own.map(|(v, signs)| Triangle { vertices: [0, i, j], signs }.cut(eps * v)));
    }
    out
}
