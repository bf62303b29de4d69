//! How many models of a comparison are closed to a gap, against time.

use crate::plot::{Axes, Chart, Mark, Panel, Point, Series, color};

/// One program at one gap.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Who answers.
    pub name: String,
    /// Width of the bracket relative to `max(1, |log Z|)`.
    pub gap: f64,
    /// Seconds, increasing, and the number of models within the gap from then on.
    pub points: Vec<(f64, usize)>,
}

/// Seconds before which times are drawn as this: a logarithmic axis has no zero.
const EARLIEST: f64 = 1e-3;

/// Width of the axes of a panel, in pixels.
const WIDTH: f64 = 260.0;

/// One panel per gap, one step function per program.
#[must_use]
pub fn chart(curves: &[Curve]) -> Chart {
    let mut gaps: Vec<f64> = Vec::new();
    for curve in curves {
        if !gaps.contains(&curve.gap) {
            gaps.push(curve.gap);
        }
    }
    let end = curves.iter().flat_map(|c| &c.points).map(|p| p.0).fold(1.0, f64::max);
    let panels = gaps.iter().map(|&gap| {
        let of_gap = curves.iter().filter(|c| c.gap == gap);
        let series = of_gap.enumerate().map(|(k, curve)| steps(curve, k, end)).collect();
        let axes = Axes { y_label: "models".into(), series, ..Axes::default() };
        Panel { title: title(gap), x_label: "seconds".into(), x_log: true, rows: vec![axes] }
    });
    Chart { id: "profile".into(), panels: panels.collect(), plot_width: Some(WIDTH) }
}

fn title(gap: f64) -> String {
    if gap < 1e-5 { "closed".into() } else { format!("within {} %", 100.0 * gap) }
}

fn steps(curve: &Curve, position: usize, end: f64) -> Series {
    let mut points = Vec::new();
    let mut push = |x: f64, y: usize| points.push(Point { x: x.max(EARLIEST), y: y as f64, sd: None });
    let mut before = 0;
    for &(seconds, count) in &curve.points {
        push(seconds, before);
        push(seconds, count);
        before = count;
    }
    push(end, before);
    Series { name: curve.name.clone(), color: color(&curve.name, position), mark: Mark::Trace, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_rises_in_steps_and_ends_with_the_last_time() {
        let curve = |gap| Curve { name: "auto".into(), gap, points: vec![(0.0, 1), (2.0, 2)] };
        let chart = chart(&[curve(1e-6), curve(0.01)]);
        assert_eq!(
            chart.panels.iter().map(|p| p.title.as_str()).collect::<Vec<_>>(),
            ["closed", "within 1 %"]
        );
        let ys: Vec<f64> = chart.panels[0].rows[0].series[0].points.iter().map(|p| p.y).collect();
        assert_eq!(ys, [0.0, 1.0, 1.0, 2.0, 2.0]);
        assert!(crate::plot::render(&chart).contains("within 1 %"));
    }
}
