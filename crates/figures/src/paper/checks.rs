//! Ways in which a sentence about a figure can be true, and the number that decides.

use super::data::{Curve, FigureData, mean};
use crate::plot::number;
use serde::Serialize;

/// What the data say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The data agree.
    Holds,
    /// The data disagree.
    DoesNotHold,
    /// A curve it speaks about is missing.
    NoData,
}

/// A claim of the paper beside what the data show.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The paper's words.
    pub claim: String,
    /// How the words were made testable.
    pub test: String,
    /// What the data say.
    pub verdict: Verdict,
    /// The numbers behind the verdict, one entry per test.
    pub evidence: Vec<Evidence>,
}

/// One test and its number.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// Whether it came out as the words say.
    pub holds: bool,
    /// The number, with its names.
    pub text: String,
}

/// "Competitive" made a number: at most this much above, in nats per spin (7 % of the entropy log 2 of
/// a free spin).
pub(super) const COMPETITIVE: f64 = 0.05;

/// A test on one panel and row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// `a <= b + slack` in the mean at every common x in `[from, to]`.
    Below { panel: usize, row: usize, a: &'static str, b: &'static str, slack: f64, from: f64, to: f64 },
    /// `a > b + slack` in the mean at some x in `[from, to]`.
    SomewhereAbove {
        panel: usize,
        row: usize,
        a: &'static str,
        b: &'static str,
        slack: f64,
        from: f64,
        to: f64,
    },
    /// `|a| <= limit` in the mean at the largest x.
    EndsAtZero { panel: usize, row: usize, a: &'static str, limit: f64 },
    /// `a <= limit` in the mean at every x in `[from, to]`.
    AtMost { panel: usize, row: usize, a: &'static str, limit: f64, from: f64, to: f64 },
    /// The mean of `a` over all x is above that of `b`.
    LargerOnAverage { panel: usize, row: usize, a: &'static str, b: &'static str },
    /// The mean at the last x is below the mean at the first x.
    Falls { panel: usize, row: usize, a: &'static str },
    /// A straight line explains at least this share of the variance of the means over x.
    Straight { panel: usize, row: usize, a: &'static str, share: f64 },
    /// The mean at the last x is at most `factor` times the mean at the middle x.
    Flattens { panel: usize, row: usize, a: &'static str, factor: f64 },
    /// The slope of log mean against log x lies in `[low, high]`.
    Power { panel: usize, row: usize, a: &'static str, low: f64, high: f64 },
    /// A straight line explains at least (or, negated, less than) `share` of log gap over iterations, in the
    /// median over traces.
    Exponential { panel: usize, a: &'static str, share: f64, negate: bool },
}

/// Whether a check holds, and its number; `None` when a curve is missing.
type Outcome = Option<(bool, String)>;

impl Check {
    /// The panel it is about.
    fn panel(self) -> usize {
        match self {
            Check::Below { panel, .. }
            | Check::SomewhereAbove { panel, .. }
            | Check::EndsAtZero { panel, .. }
            | Check::AtMost { panel, .. }
            | Check::LargerOnAverage { panel, .. }
            | Check::Falls { panel, .. }
            | Check::Straight { panel, .. }
            | Check::Flattens { panel, .. }
            | Check::Power { panel, .. }
            | Check::Exponential { panel, .. } => panel,
        }
    }

    /// Whether it holds, and the number, with the letter of its panel where there are several.
    pub(super) fn evaluate(self, data: &FigureData) -> Option<Evidence> {
        let (holds, text) = self.measure(data)?;
        let letter = char::from(b'a' + self.panel() as u8);
        let text = if data.panels.len() > 1 { format!("({letter}) {text}") } else { text };
        Some(Evidence { holds, text })
    }

    fn measure(self, data: &FigureData) -> Outcome {
        match self {
            Check::Below { panel, row, a, b, slack, from, to } => {
                let worst = largest_excess(data, (panel, row), (a, b), (from, to))?;
                let limit = if slack > 0.0 { format!(" (limit {})", number(slack)) } else { String::new() };
                let excess = number(worst.1);
                Some((
                    worst.1 <= slack,
                    format!("largest {a} - {b} = {excess} at x = {}{limit}", number(worst.0)),
                ))
            }
            Check::SomewhereAbove { panel, row, a, b, slack, from, to } => {
                let worst = largest_excess(data, (panel, row), (a, b), (from, to))?;
                let excess = number(worst.1);
                Some((worst.1 > slack, format!("largest {a} - {b} = {excess} at x = {}", number(worst.0))))
            }
            Check::EndsAtZero { panel, row, a, limit } => {
                let (x, y) = data.curve(panel, row, a)?.means().last().copied()?;
                Some((y.abs() <= limit, format!("{a} = {} at x = {}", number(y), number(x))))
            }
            Check::AtMost { panel, row, a, limit, from, to } => {
                let means = data.curve(panel, row, a)?.means().into_iter();
                let (x, y) =
                    means.filter(|(x, _)| (from..=to).contains(x)).max_by(|p, q| p.1.total_cmp(&q.1))?;
                Some((y <= limit, format!("largest {a} = {} at x = {}", number(y), number(x))))
            }
            Check::LargerOnAverage { panel, row, a, b } => {
                let average = |name| {
                    let values: Vec<f64> =
                        data.curve(panel, row, name)?.means().into_iter().map(|p| p.1).collect();
                    Some(mean(&values))
                };
                let (left, right) = (average(a)?, average(b)?);
                Some((left > right, format!("{a} {} against {b} {}", number(left), number(right))))
            }
            Check::Falls { panel, row, a } => {
                let means = data.curve(panel, row, a)?.means();
                let (first, last) = (means.first()?, means.last()?);
                let evidence = format!("{a} goes from {} to {}", number(first.1), number(last.1));
                Some((last.1 < first.1, evidence))
            }
            Check::Straight { panel, row, a, share } => {
                let (slope, explained) = line_fit(&data.curve(panel, row, a)?.means())?;
                let evidence = format!("{a}: slope {}, R\u{b2} = {explained:.3}", number(slope));
                Some((explained >= share && slope > 0.0, evidence))
            }
            Check::Flattens { panel, row, a, factor } => {
                let means = data.curve(panel, row, a)?.means();
                let (middle, last) = (means.get(means.len() / 2)?, means.last()?);
                let ratio = last.1 / middle.1;
                let evidence = format!(
                    "{a}: {} at x = {}, {} at x = {}",
                    number(middle.1),
                    number(middle.0),
                    number(last.1),
                    number(last.0)
                );
                Some((ratio <= factor, evidence))
            }
            Check::Power { panel, row, a, low, high } => {
                let means = data.curve(panel, row, a)?.means();
                let logs: Vec<_> = means.iter().filter(|p| p.1 > 0.0).map(|p| (p.0.ln(), p.1.ln())).collect();
                let (slope, explained) = line_fit(&logs)?;
                let evidence =
                    format!("iterations grow as x^{slope:.2} (R\u{b2} = {explained:.2} in logarithms)");
                Some(((low..=high).contains(&slope), evidence))
            }
            Check::Exponential { panel, a, share, negate } => {
                exponential(data.curve(panel, 0, a)?, share, negate)
            }
        }
    }
}

/// Where the mean of `a` exceeds that of `b` most, and by how much.
fn largest_excess(
    data: &FigureData,
    (panel, row): (usize, usize),
    (a, b): (&str, &str),
    (from, to): (f64, f64),
) -> Option<(f64, f64)> {
    let (a, b) = (data.curve(panel, row, a)?, data.curve(panel, row, b)?);
    let other = b.means();
    let common = a.means().into_iter().filter(|(x, _)| *x >= from - 1e-9 && *x <= to + 1e-9);
    let excess = common.filter_map(|(x, y)| Some((x, y - other.iter().find(|p| p.0 == x)?.1)));
    excess.max_by(|p, q| p.1.total_cmp(&q.1))
}

/// Slope and share of the variance explained by a least-squares line.
fn line_fit(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    if points.len() < 3 {
        return None;
    }
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (mx, my) = (mean(&xs), mean(&ys));
    let product = |u: &[f64], mu: f64, v: &[f64], mv: f64| -> f64 {
        u.iter().zip(v).map(|(a, b)| (a - mu) * (b - mv)).sum()
    };
    let (xx, xy, yy) = (product(&xs, mx, &xs, mx), product(&xs, mx, &ys, my), product(&ys, my, &ys, my));
    (xx > 0.0 && yy > 0.0).then(|| (xy / xx, xy * xy / (xx * yy)))
}

fn exponential(curve: &Curve, share: f64, negate: bool) -> Outcome {
    let mut fits: Vec<(f64, f64)> = curve
        .traces
        .iter()
        .filter_map(|trace| {
            // Below 1e-12 of the start the gap is rounding.
            let floor = trace.first()? * 1e-12;
            let logs: Vec<_> = trace
                .iter()
                .enumerate()
                .filter(|(_, g)| **g > floor)
                .map(|(t, g)| (t as f64, g.ln()))
                .collect();
            line_fit(&logs)
        })
        .collect();
    fits.sort_by(|p, q| p.1.total_cmp(&q.1));
    let (_, explained) = *fits.get(fits.len() / 2)?;
    let ends: Vec<f64> = curve.traces.iter().filter_map(|t| t.last().copied()).collect();
    let lengths: Vec<f64> = curve.traces.iter().map(|t| t.len() as f64).collect();
    let evidence = format!(
        "{}: log gap over iterations has median R\u{b2} = {explained:.3}; mean final gap {} after {} iterations",
        curve.name,
        number(mean(&ends)),
        number(mean(&lengths).round())
    );
    Some(((explained >= share) != negate, evidence))
}
