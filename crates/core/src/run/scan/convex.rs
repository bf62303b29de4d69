//! What brackets of log Z at some inverse temperatures prove at others.
//!
//! `beta -> log Z(beta)` is convex, so that for a < b < c
//! - `log Z(b)` is at most the chord of upper bounds at a and c;
//! - `log Z(c)` is at least the line through `(a, upper)` and `(b, lower)`, continued past b; likewise below a.

use super::record::ScanPoint;
use crate::certify::Interval;

/// Both sides at one inverse temperature; unknown ones are infinite.
#[derive(Clone, Copy, Debug)]
struct Known {
    beta: f64,
    lower: f64,
    upper: f64,
    /// Position in the list, `None` for what is known of beta = 0 without asking.
    at: Option<usize>,
}

/// Points beyond which only neighbours are asked for lower bounds.
const NEIGHBOURS_FROM: usize = 2000;

/// Replaces bounds by better ones that follow from other points; `free` is log Z(0) where that is known.
pub(super) fn tighten(points: &mut [ScanPoint], free: Option<Interval>) {
    let side = |value: Option<f64>, unknown: f64| value.unwrap_or(unknown);
    let known = points.iter().enumerate().map(|(at, p)| Known {
        beta: p.beta,
        lower: side(p.log_z.lower, f64::NEG_INFINITY),
        upper: side(p.log_z.upper, f64::INFINITY),
        at: Some(at),
    });
    let origin = free.map(|value| Known { beta: 0.0, lower: value.lo, upper: value.hi, at: None });
    let mut known: Vec<Known> = known.chain(origin).collect();
    known.sort_by(|a, b| a.beta.total_cmp(&b.beta));
    chords(&mut known);
    extrapolate(&mut known);
    known.reverse();
    extrapolate(&mut known);
    for entry in known {
        let Some(at) = entry.at else { continue };
        let point = &mut points[at];
        if entry.upper.is_finite() && point.log_z.upper.is_none_or(|v| entry.upper < v) {
            (point.log_z.upper, point.upper_method, point.upper_from_others) =
                (Some(entry.upper), None, true);
        }
        if entry.lower.is_finite() && point.log_z.lower.is_none_or(|v| entry.lower > v) {
            (point.log_z.lower, point.lower_method, point.lower_from_others) =
                (Some(entry.lower), None, true);
        }
        if let (Some(low), Some(high), Some(estimate)) =
            (point.log_z.lower, point.log_z.upper, point.log_z.estimate)
        {
            point.log_z.estimate = Some(estimate.max(low).min(high));
        }
    }
}

/// Upper bounds by the lower hull of upper bounds. The hull is found in plain floating point, which decides only which
/// chords are tried.
fn chords(known: &mut [Known]) {
    let mut hull: Vec<Known> = Vec::new();
    for &next in known.iter().filter(|k| k.upper.is_finite()) {
        while let [.., a, b] = hull[..]
            && (b.upper - a.upper) * (next.beta - a.beta) >= (next.upper - a.upper) * (b.beta - a.beta)
        {
            hull.pop();
        }
        hull.push(next);
    }
    let mut edge = 0;
    for entry in known.iter_mut() {
        while edge + 2 < hull.len() && hull[edge + 1].beta <= entry.beta {
            edge += 1;
        }
        if let Some((a, c)) = hull.get(edge).zip(hull.get(edge + 1))
            && a.beta < entry.beta
            && entry.beta < c.beta
        {
            entry.upper = entry.upper.min(line(*a, a.upper, *c, c.upper, entry.beta).hi);
        }
    }
}

/// Lower bounds by continuing lines, away from the first entry of the list.
fn extrapolate(known: &mut [Known]) {
    let reach = if known.len() > NEIGHBOURS_FROM { 2 } else { known.len() };
    for c in 2..known.len() {
        let (b, target) = (known[c - 1], known[c].beta);
        let mut best = known[c].lower;
        if b.lower.is_finite() && b.beta != target {
            for a in &known[(c - 1).saturating_sub(reach)..c - 1] {
                if a.upper.is_finite() && a.beta != b.beta {
                    best = best.max(line(*a, a.upper, b, b.lower, target).lo);
                }
            }
        }
        known[c].lower = best;
    }
}

/// The line through two points, at `beta`.
fn line(a: Known, at_a: f64, b: Known, at_b: f64, beta: f64) -> Interval {
    let point = Interval::point;
    let share = (point(beta) - point(a.beta)) / (point(b.beta) - point(a.beta));
    point(at_a) + share * (point(at_b) - point(at_a))
}
