//! The relative entropy of two moment matrices, and the greedy choice of features for it.

use super::{Distribution, bits};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::linalg::multiply::{square_transposed_times, squares};
use crate::linalg::{Eigen, EigenWork, Square, eigh};
use crate::model::VarSet;
use crate::observer::{Monitor, Silent};
use crate::settings::Settings;
use crate::solution::StopReason;
use std::collections::HashSet;

/// Lower bounds on `D(p || q)` from one set of features.
///
/// Both are computed from moments in floating point and cut off at a proved lower end of `D(p || q)` itself,
/// so that neither is ever above the divergence; with all `2^d` features, where the relaxation
/// is exact, they are that lower end.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Divergence {
    /// With `V = I/n`.
    pub kl_lower: f64,
    /// With the best diagonal V: the largest diagonal entry.
    pub kl_lower_diag: f64,
}

/// `D^QT(Sigma_p || Sigma_q)` and its diagonal-metric version.
///
/// **Cost** `d 2^d` for the moments, two eigendecompositions.
///
/// # Errors
/// Distributions of different size, a feature out of range, an eigensolver that fails.
pub fn divergence(p: &Distribution, q: &Distribution, features: &Features) -> Result<Divergence> {
    Pair::new(p, q)?.divergence(features.sets())
}

/// One step of [`greedy`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KlStep {
    /// The feature added.
    pub feature: VarSet,
    /// The bounds with it.
    pub divergence: Divergence,
}

/// Values closer than this are ties, which the first in the pool wins.
const TIE: f64 = 1e-10;

/// Adds `count` features to `features`, each the one at distance one from the set that raises `kl_lower` most.
///
/// The pool is `A xor {i}` for A in the set, in order, and i = 0, .., d - 1. Fewer are added when it runs empty.
///
/// # Errors
/// As [`divergence`].
pub fn greedy(p: &Distribution, q: &Distribution, features: &Features, count: usize) -> Result<Vec<KlStep>> {
    let mut silent = Silent;
    let mut monitor = Monitor::new(&Settings::default(), usize::MAX, &mut silent);
    Ok(greedy_with(p, q, features, count, &mut monitor)?.0)
}

/// As [`greedy`], watched: the steps taken, and why they are fewer than asked for if the monitor ended them.
pub(crate) fn greedy_with(
    p: &Distribution,
    q: &Distribution,
    features: &Features,
    count: usize,
    monitor: &mut Monitor<'_>,
) -> Result<(Vec<KlStep>, Option<StopReason>)> {
    let pair = Pair::new(p, q)?;
    let mut sets = features.sets().to_vec();
    let mut steps = Vec::new();
    for _ in 0..count {
        let mut values = Vec::new();
        for feature in pool(&sets, p.d()) {
            if let Some(stop) = monitor.interrupted() {
                return Ok((steps, Some(stop)));
            }
            sets.push(feature.clone());
            let divergence = pair.divergence(&sets);
            sets.pop();
            values.push(KlStep { feature, divergence: divergence? });
        }
        let value = |step: &KlStep| step.divergence.kl_lower;
        let top = values.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let Some(step) = values.into_iter().find(|s| value(s) >= top - TIE) else { break };
        sets.push(step.feature.clone());
        let bound = value(&step);
        steps.push(step);
        if let Some(stop) = monitor.iteration(bound, f64::NAN) {
            return Ok((steps, Some(stop)));
        }
    }
    Ok((steps, None))
}

/// Features at distance one from the set, each once.
fn pool(sets: &[VarSet], d: usize) -> Vec<VarSet> {
    let mut seen: HashSet<VarSet> = sets.iter().cloned().collect();
    let neighbours = sets.iter().flat_map(|set| (0..d).map(move |i| set.xor(&VarSet::singleton(i))));
    neighbours.filter(|set| seen.insert(set.clone())).collect()
}

/// All moments of two distributions.
struct Pair {
    d: usize,
    /// Proved lower end of `D(p || q)`.
    exact_down: f64,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Eigenvalues of B are raised to this fraction of the largest: `D(A, B + E) <= D(A, B) + tr V E`, by joint convexity and
/// homogeneity, so that what was added is taken off the bound.
const FLOOR: f64 = 1e-12;

impl Pair {
    fn new(p: &Distribution, q: &Distribution) -> Result<Self> {
        if p.d != q.d {
            return Err(Error::Model(format!("p is over {} spins and q over {}", p.d, q.d)));
        }
        Ok(Pair { d: p.d, exact_down: p.kl_down(q), p: p.moments(), q: q.moments() })
    }

    fn divergence(&self, sets: &[VarSet]) -> Result<Divergence> {
        if let Some(set) = sets.iter().find(|set| set.largest() >= Some(self.d)) {
            return Err(Error::Features(format!("feature {set} is out of range for d = {}", self.d)));
        }
        if self.d < usize::BITS as usize && sets.len() == 1 << self.d {
            // The Walsh-Hadamard transform makes both moment matrices diagonal: nothing is lost.
            return Ok(Divergence { kl_lower: self.exact_down, kl_lower_diag: self.exact_down });
        }
        let (a, b) = (matrix(sets, &self.p), matrix(sets, &self.q));
        let value = between(&a, &b, self.exact_down.is_finite())
            .ok_or_else(|| Error::Model("the eigensolver failed on the moments".into()))?;
        Ok(Divergence {
            kl_lower: value.kl_lower.min(self.exact_down),
            kl_lower_diag: value.kl_lower_diag.min(self.exact_down),
        })
    }
}

fn matrix(sets: &[VarSet], moments: &[f64]) -> Square {
    let names: Vec<usize> = sets.iter().map(bits).collect();
    let n = names.len();
    Square::from_column_major(n, (0..n * n).map(|k| moments[names[k % n] ^ names[k / n]]).collect())
}

/// The two traces. With `B = U diag(b) U^T` and `C = b^(-1/2) U^T A U b^(-1/2) = W diag(c) W^T` the matrix under the trace is
/// `G diag(h(c)) G^T`, `G = U b^(1/2) W`.
fn between(a: &Square, b: &Square, finite: bool) -> Option<Divergence> {
    let n = a.n();
    let mut work = EigenWork::default();
    let (mut of_b, mut of_c) = (Eigen::default(), Eigen::default());
    if !eigh(b, &mut of_b, &mut work) {
        return None;
    }
    let top = of_b.values.last().copied().unwrap_or(0.0);
    let (mut product, mut c) = (Square::zeros(n), Square::zeros(n));
    squares(a, &of_b.vectors, &mut product);
    square_transposed_times(&of_b.vectors, product.data(), n, c.data_mut());
    let lost: f64 = (0..n).filter(|&k| of_b.values[k] < FLOOR * top).map(|k| c.at(k, k)).sum();
    if !finite && lost > 1e-9 * n as f64 {
        // Some polynomial vanishes under q but not under p.
        return Some(Divergence { kl_lower: f64::INFINITY, kl_lower_diag: f64::INFINITY });
    }
    let raised: Vec<f64> = of_b.values.iter().map(|v| v.max(FLOOR * top)).collect();
    let added = raised.iter().zip(&of_b.values).fold(0.0f64, |m, (r, v)| m.max(r - v));
    let roots: Vec<f64> = raised.iter().map(|v| v.sqrt()).collect();
    for (k, v) in c.data_mut().iter_mut().enumerate() {
        *v /= roots[k % n] * roots[k / n];
    }
    c.symmetrize();
    if !eigh(&c, &mut of_c, &mut work) {
        return None;
    }
    let mut scaled = of_c.vectors.clone();
    scaled.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= roots[k % n]);
    let mut g = product;
    squares(&of_b.vectors, &scaled, &mut g);
    let h = |t: f64| if t <= 0.0 { 1.0 } else { t * t.ln() - t + 1.0 };
    let diagonal: Vec<f64> =
        (0..n).map(|i| (0..n).map(|k| h(of_c.values[k]) * g.at(i, k) * g.at(i, k)).sum()).collect();
    let largest = of_c.values.iter().fold(1.0f64, |m, c| m.max(*c));
    // An error of n u in B changes b h(a / b) by c times as much, one in A by log c times. This keeps values
    // honest; it is not what proves them.
    let allowance = (n as f64 * f64::EPSILON * (1.0 + largest)).min(1e-9);
    let lowered = |v: f64| (v - allowance - added).max(0.0);
    let kl_lower = lowered(diagonal.iter().sum::<f64>() / n as f64);
    let kl_lower_diag = lowered(diagonal.iter().fold(0.0f64, |m, v| m.max(*v)));
    Some(Divergence { kl_lower, kl_lower_diag })
}
