//! The Bethe value of a balanced pairwise model (docs/certificate-format.md, section 6).

use crate::cert::Bethe;
use crate::interval::{Interval, ONE, ZERO, at, exact_add};
use crate::model::Terms;
use crate::require;
use crate::states::nonnegative;
use std::collections::BTreeMap;

/// Encloses the Bethe value; couplings outside the edges, and the widths of the others, are paid for.
pub(crate) fn value(point: &Bethe, terms: &Terms, d: usize, eps: f64) -> Result<Interval, String> {
    let fits = point.means.len() == d && point.flips.len() == d;
    require(fits && point.means.iter().all(|m| m.abs() <= 1.0), "a Bethe witness does not fit the model")?;
    let mut edges: BTreeMap<&[usize], f64> = BTreeMap::new();
    let mut degree = vec![0i64; d];
    let mut entropy = ZERO;
    for (edge, &c) in point.edges.iter().zip(&point.correlations) {
        let [i, j] = edge[..] else { return Err("an edge does not have two ends".into()) };
        require(i < j && j < d && edges.insert(edge, c).is_none(), "an edge is repeated or out of range")?;
        degree[i] += 1;
        degree[j] += 1;
        for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let p = probability([1.0, a * point.means[i], b * point.means[j], a * b * c])?;
            entropy = entropy - information(p * at(0.25));
        }
    }
    let (mut value, mut unpaid) = (ZERO, ZERO);
    for (set, &theta) in terms {
        match set[..] {
            [] => value = value + theta,
            [i] => value = value + theta * at(point.means[i]),
            [i, j] => match edges.get(&set[..]) {
                None => unpaid = unpaid + at(theta.size()),
                Some(&c) => {
                    // Any coupling of the right sign will do: what it misses of the true one is paid for.
                    let sign = f64::from(point.flips[i] * point.flips[j]);
                    let (middle, _) = theta.middle();
                    let own =
                        if middle * sign < 0.0 && theta.lo <= 0.0 && theta.hi >= 0.0 { 0.0 } else { middle };
                    require(own * sign >= 0.0, "a coupling is negative after the flips")?;
                    value = value + at(own) * at(c);
                    unpaid = unpaid + at((theta - at(own)).size());
                }
            },
            _ => return Err("a Bethe witness is for pairwise models".into()),
        }
    }
    for (&mean, degree) in point.means.iter().zip(degree) {
        let single = [ONE + at(mean), ONE - at(mean)].map(|p| information(p * at(0.5)));
        entropy = entropy - at((1 - degree) as f64) * (single[0] + single[1]);
    }
    Ok(value + at(eps) * entropy - unpaid)
}

/// A sum of four floats that must not be negative, decided exactly: parts that do not overlap have the sign of the largest.
fn probability(terms: [f64; 4]) -> Result<Interval, String> {
    let mut parts: Vec<f64> = Vec::with_capacity(4);
    for term in terms {
        let mut carry = term;
        for part in &mut parts {
            (carry, *part) = exact_add(carry, *part);
        }
        parts.push(carry);
    }
    let leading = parts.iter().rev().copied().find(|v| *v != 0.0).unwrap_or(0.0);
    require(leading >= 0.0, "a pair has a negative probability")?;
    Ok(nonnegative(parts.iter().fold(ZERO, |sum, v| sum + at(*v))))
}

/// `p log p`, 0 at 0; it falls to -1/e at 1/e.
fn information(p: Interval) -> Interval {
    if p.hi <= 0.0 {
        return ZERO;
    }
    let high = at(p.hi) * at(p.hi).log();
    if p.lo > 0.0 {
        p * p.log()
    } else if p.hi < 0.3 {
        Interval { lo: high.lo, hi: 0.0 }
    } else {
        Interval { lo: -0.4, hi: high.hi.max(0.0) }
    }
}
