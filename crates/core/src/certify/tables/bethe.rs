//! The Bethe value of a balanced pairwise model.
//!
//! If a change of signs makes every coupling at least 0, then every locally consistent `(tau_i, tau_ij)` gives
//! `eps log Z >= <theta, tau> + eps (sum_i (1 - deg_i) H_i + sum_ij H_ij)` (Ruozzi 2012). With `tau_ij(a, b) = (1 + a mu_i + b mu_j + ab c_ij)/4`
//! consistency is the sign of these four numbers, which is decided exactly.

use crate::certify::interval::{Interval, add_up, two_sum};
use crate::error::{Error, Result};
use crate::model::Polynomial;

/// Encloses the Bethe value of `f` less what couplings outside `edges` can take away.
pub(in crate::certify) fn bethe(
    f: &Polynomial,
    means: &[f64],
    edges: &[[u32; 2]],
    correlations: &[f64],
    flips: &[i8],
    eps: f64,
) -> Result<Interval> {
    let d = f.d();
    let Some(ising) = f.as_ising() else {
        return Err(Error::Certificate("a Bethe witness is for pairwise models".into()));
    };
    let shaped = means.len() == d && flips.len() == d && edges.len() == correlations.len();
    if !shaped || flips.iter().any(|s| *s != 1 && *s != -1) || !means.iter().all(|m| m.abs() <= 1.0) {
        return Err(Error::Certificate("a Bethe witness does not fit the model".into()));
    }
    let ordered = edges.windows(2).all(|w| w[0] < w[1]);
    if !ordered || edges.iter().any(|&[i, j]| i >= j || j as usize >= d) {
        return Err(Error::Certificate("the edges of a Bethe witness are not in order".into()));
    }
    let mut degree = vec![0i64; d];
    let mut value = Interval::point(ising.constant());
    let mut entropy = Interval::ZERO;
    for (&[i, j], &c) in edges.iter().zip(correlations) {
        let (i, j) = (i as usize, j as usize);
        degree[i] += 1;
        degree[j] += 1;
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let terms = [1.0, a * means[i], b * means[j], a * b * c];
            entropy = entropy - information(probability(&terms)? * Interval::point(0.25));
        }
    }
    let (mut unpaid, mut next) = (0.0, 0);
    for (i, j, v) in ising.triples().filter(|t| t.2 != 0.0) {
        let edge = [i as u32, j as u32];
        while next < edges.len() && edges[next] < edge {
            next += 1;
        }
        if edges.get(next) != Some(&edge) {
            unpaid = add_up(unpaid, v.abs());
        } else if v * f64::from(flips[i] * flips[j]) < 0.0 {
            return Err(Error::Certificate(format!(
                "the coupling of {i} and {j} is negative after the flips"
            )));
        } else {
            value = value + Interval::point(v) * Interval::point(correlations[next]);
        }
    }
    for i in 0..d {
        value = value + Interval::point(ising.fields()[i]) * Interval::point(means[i]);
        let half = Interval::point(0.5);
        let single = [1.0, -1.0].map(|a| information(half * (Interval::ONE + Interval::point(a * means[i]))));
        entropy = entropy - Interval::point((1 - degree[i]) as f64) * (single[0] + single[1]);
    }
    Ok(value + Interval::point(eps) * entropy - Interval::point(unpaid))
}

/// The sum of the terms as an interval, known to be at least 0.
fn probability(terms: &[f64; 4]) -> Result<Interval> {
    let parts = expansion(terms);
    let leading = parts.iter().rev().find(|v| **v != 0.0).copied().unwrap_or(0.0);
    // Written so that NaN is refused.
    if !(leading >= 0.0) {
        return Err(Error::Certificate("a pair of a Bethe witness has a negative probability".into()));
    }
    let sum = parts.iter().fold(Interval::ZERO, |sum, v| sum + Interval::point(*v));
    Ok(super::states::nonnegative(sum))
}

/// The exact sum as numbers that do not overlap, in increasing size: the last nonzero one has the sign of all.
fn expansion(terms: &[f64; 4]) -> Vec<f64> {
    let mut parts: Vec<f64> = Vec::with_capacity(4);
    for &term in terms {
        let mut carry = term;
        for part in &mut parts {
            let (sum, error) = two_sum(carry, *part);
            *part = error;
            carry = sum;
        }
        parts.push(carry);
    }
    parts
}

/// `p log p`, 0 at 0.
fn information(p: Interval) -> Interval {
    if p.hi <= 0.0 {
        return Interval::ZERO;
    }
    if p.lo > 0.0 {
        return p * p.log();
    }
    // p lies in [0, hi]: p log p falls down to -1/e at 1/e.
    let low = Interval::point(p.hi) * Interval::point(p.hi).log();
    if p.hi < 0.3 { Interval { lo: low.lo, hi: 0.0 } } else { Interval { lo: -0.4, hi: low.hi.max(0.0) } }
}
