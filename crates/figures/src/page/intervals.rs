//! Proved intervals of methods, one below the other.

use super::charts::{LOWER, UPPER};
use crate::plot::{Scale, escape, number};
use std::fmt::Write as _;
use zbound::record::{BoundRecord, MethodRecord};

const WIDTH: f64 = 390.0;
const LEFT: f64 = 112.0;
const RIGHT: f64 = 20.0;
const ROW: f64 = 22.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 40.0;

/// Largest ratio of the widest to the narrowest distance from the bracket at which bounds share an axis: beyond, the
/// far ones are drawn as arrows.
const REACH: f64 = 12.0;

/// The picture, or `None` when no method proves anything.
pub(super) fn methods(record: &BoundRecord) -> Option<String> {
    let shown: Vec<&MethodRecord> =
        record.results.iter().filter(|r| r.log_z.lower.is_some() || r.log_z.upper.is_some()).collect();
    if shown.is_empty() {
        return None;
    }
    let (low, high) = range(record, &shown);
    let scale = Scale::new([low, high].into_iter(), false, LEFT, WIDTH - RIGHT, 0.06);
    let bottom = TOP + ROW * shown.len() as f64;
    let height = bottom + BOTTOM;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart rows\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-size=\"11\" role=\"img\" aria-label=\"proved intervals of the methods\">\n"
    );
    // `write!` into a string cannot fail.
    for (value, label) in scale.ticks(4) {
        let x = scale.position(value);
        let _ = writeln!(
            out,
            "<path d=\"M{x:.2} {TOP}V{bottom}\" stroke=\"currentColor\" stroke-opacity=\"0.13\"/>\
             <text x=\"{x:.2}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"currentColor\">{label}</text>",
            bottom + 15.0
        );
    }
    let best = record.best.log_z;
    if let (Some(lower), Some(upper)) = (best.lower, best.upper) {
        let (from, to) = (scale.position(lower), scale.position(upper));
        let _ = writeln!(
            out,
            "<rect x=\"{from:.2}\" y=\"{TOP}\" width=\"{:.2}\" height=\"{}\" fill=\"currentColor\" fill-opacity=\"0.09\"/>",
            (to - from).max(1.0),
            bottom - TOP
        );
    }
    for (k, result) in shown.iter().enumerate() {
        draw(&mut out, result, TOP + ROW * (k as f64 + 0.5), &scale, (low, high));
    }
    let name = if record.eps == 1.0 { "log Z" } else { "eps log Z" };
    let middle = 0.5 * (LEFT + WIDTH - RIGHT);
    let _ = writeln!(
        out,
        "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"12\" fill=\"currentColor\">{name}</text></svg>",
        bottom + 33.0
    );
    Some(out)
}

/// The part of the axis that is drawn: all bounds that are not much farther out than the nearest ones.
fn range(record: &BoundRecord, shown: &[&MethodRecord]) -> (f64, f64) {
    let sides: Vec<f64> = shown.iter().flat_map(|r| [r.log_z.lower, r.log_z.upper]).flatten().collect();
    let (low, high) =
        sides.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let (Some(lower), Some(upper)) = (record.best.log_z.lower, record.best.log_z.upper) else {
        return (low, high);
    };
    let width = upper - lower;
    if width <= 1e-6 * upper.abs().max(1.0) {
        return (low, high);
    }
    (low.max(lower - REACH * width), high.min(upper + REACH * width))
}

fn draw(out: &mut String, result: &MethodRecord, y: f64, scale: &Scale, (low, high): (f64, f64)) {
    let (lower, upper) = (result.log_z.lower, result.log_z.upper);
    let title = format!(
        "{}: {} to {}",
        result.method.name(),
        lower.map_or_else(|| "-inf".to_owned(), number),
        upper.map_or_else(|| "inf".to_owned(), number)
    );
    let _ = writeln!(
        out,
        "<g><title>{}</title><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"currentColor\">{}</text>",
        escape(&title),
        LEFT - 10.0,
        y + 4.0,
        escape(result.method.name())
    );
    let at = |value: f64| scale.position(value.clamp(low, high));
    let (from, to) = (lower.map_or(LEFT, at), upper.map_or(WIDTH - RIGHT, at));
    let dash = if lower.is_some() && upper.is_some() { "" } else { " stroke-dasharray=\"3 3\"" };
    let _ = writeln!(
        out,
        "<path d=\"M{from:.2} {y:.1}H{to:.2}\" stroke=\"currentColor\" stroke-opacity=\"0.5\" stroke-width=\"2\"{dash}/>"
    );
    for (side, color, step) in [(lower, LOWER, -1.0), (upper, UPPER, 1.0)] {
        let Some(value) = side else { continue };
        let (x, is_far) = (at(value), value < low || value > high);
        let shape = if is_far {
            // An arrow: the bound lies beyond the axis.
            format!("M{:.2} {:.1}l{:.1} 5l{:.1} 5z", x, y - 5.0, 7.0 * step, -7.0 * step)
        } else {
            // To either side, so that both are seen where they meet.
            format!("M{x:.2} {:.1}h{:.1}v14H{x:.2}z", y - 7.0, 3.0 * step)
        };
        let _ = writeln!(out, "<path d=\"{shape}\" fill=\"{color}\"/>");
    }
    out.push_str("</g>\n");
}
