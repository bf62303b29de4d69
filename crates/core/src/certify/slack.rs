//! Functions that are nonnegative on the cube: cycle inequalities and sums of squares.

use super::certificate::{Cut, Slack};
use super::defect::Defect;
use super::enclosure::spectrum_radius;
use super::interval::{Interval, add_up, mul_up};
use crate::error::{Error, Result};

/// Adds the slack to the defect; returns how far below zero the sums of squares can fall.
///
/// # Errors
/// [`Error::Certificate`] for a cut that is not valid on the cube or a negative multiplier.
pub(crate) fn add(slack: &Slack, d: usize, defect: &mut Defect) -> Result<f64> {
    for cut in &slack.cuts {
        check_cut(cut, d)?;
        add_cut(cut, defect);
    }
    let mut negative_up = 0.0;
    for square in &slack.squares {
        // phi^T S phi >= n lambda_min(S) >= n (min Lambda - r).
        let radius_up = spectrum_radius(&square.matrix, &square.eigen)?;
        let least = square.eigen.values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
        let short = add_up(radius_up, -least).max(0.0);
        negative_up = add_up(negative_up, mul_up(square.features.len() as f64, short));
        defect.add_quadratic(Interval::ONE, &square.features, &square.matrix)?;
    }
    Ok(negative_up)
}

/// `sum_p s_p y_p`, `y_p = z_p z_{p+1}`, reaches -k only when every `y_p = -s_p`; but `prod y_p = 1` around a cycle, so
/// `(-1)^k prod s_p = -1` rules that out and the next value is `-(k - 2)`.
fn check_cut(cut: &Cut, d: usize) -> Result<()> {
    let k = cut.cycle.len();
    if !(cut.multiplier >= 0.0 && cut.multiplier.is_finite()) {
        return Err(Error::Certificate(format!("a cut has multiplier {}", cut.multiplier)));
    }
    if k < 3 || cut.signs.len() != k || cut.signs.iter().any(|s| *s != 1 && *s != -1) {
        return Err(Error::Certificate("a cut is not a signed cycle of length three or more".into()));
    }
    let mut vertices = cut.cycle.clone();
    vertices.sort_unstable();
    if vertices.windows(2).any(|w| w[0] == w[1]) || vertices[k - 1] as usize > d {
        return Err(Error::Certificate(format!("the cycle {:?} repeats or exceeds vertices", cut.cycle)));
    }
    let negative = cut.signs.iter().filter(|s| **s < 0).count();
    if (k + negative).is_multiple_of(2) {
        return Err(Error::Certificate(format!("the signs of cycle {:?} are not a valid cut", cut.cycle)));
    }
    Ok(())
}

fn add_cut(cut: &Cut, defect: &mut Defect) {
    let k = cut.cycle.len();
    let multiplier = Interval::point(cut.multiplier);
    defect.add_pair(0, 0, Interval::point((k - 2) as f64) * multiplier);
    for p in 0..k {
        let (a, b) = (cut.cycle[p] as usize, cut.cycle[(p + 1) % k] as usize);
        let signed = if cut.signs[p] > 0 { multiplier } else { -multiplier };
        defect.add_pair(a.min(b), a.max(b), signed);
    }
}
