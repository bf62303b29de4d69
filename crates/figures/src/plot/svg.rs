//! A chart as SVG. Drawn without scripts or external styles, so that it stands alone; the classes
//! and `data-` attributes let the HTML report add hovering and toggling.

use super::chart::{Axes, Chart, Mark, Panel, Point, Series};
use super::layout::{Area, LEGEND_MARK, Layout};
use super::scale::Scale;
use std::fmt::Write as _;

/// Text sizes in pixels.
const TICK_SIZE: u32 = 11;
const LABEL_SIZE: u32 = 12;
const TITLE_SIZE: u32 = 13;

/// The whole picture.
pub fn render(chart: &Chart) -> String {
    let layout = Layout::new(chart);
    let (width, height) = (layout.width, layout.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" color=\"#222\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (k, (panel, areas)) in chart.panels.iter().zip(&layout.axes).enumerate() {
        draw_panel(&mut out, panel, areas, &format!("{}-{k}", chart.id));
    }
    for (name, color, x, y) in &layout.legend {
        draw_legend(&mut out, name, color, *x, *y);
    }
    out + "</svg>\n"
}

/// A number for people: four significant digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value == 0.0 => "0".into(),
        s if s.is_finite() && !(1e-3..1e5).contains(&s) => format!("{value:.2e}"),
        s => {
            let decimals = (3 - s.log10().floor() as i32).clamp(0, 6) as usize;
            let text = format!("{value:.decimals$}");
            if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        }
    }
}

/// Escapes text for XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A coordinate, to a hundredth of a pixel.
fn px(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

/// `write!` into a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => { let _ = writeln!($out, $($arg)*); };
}

fn text(out: &mut String, (x, y): (f64, f64), size: u32, anchor: &str, extra: &str, words: &str) {
    put!(
        out,
        "<text x=\"{}\" y=\"{}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"currentColor\"{extra}>{}</text>",
        px(x),
        px(y),
        escape(words)
    );
}

fn draw_panel(out: &mut String, panel: &Panel, areas: &[Area], id: &str) {
    let Some((first, last)) = areas.first().zip(areas.last()) else { return };
    let title = (first.x + 0.5 * first.width, first.y - 12.0);
    text(out, title, TITLE_SIZE, "middle", " font-weight=\"bold\"", &panel.title);
    let values = panel.rows.iter().flat_map(|r| &r.series).flat_map(|s| &s.points).map(|p| p.x);
    let x = Scale::new(values, panel.x_log, first.x, first.x + first.width, 0.03);
    for (k, (axes, area)) in panel.rows.iter().zip(areas).enumerate() {
        draw_axes(out, axes, *area, &x, k + 1 == areas.len(), &format!("{id}-{k}"));
    }
    let label = (last.x + 0.5 * last.width, last.y + last.height + 34.0);
    text(out, label, LABEL_SIZE, "middle", "", &panel.x_label);
}

fn draw_axes(out: &mut String, axes: &Axes, area: Area, x: &Scale, with_x_labels: bool, id: &str) {
    let Area { x: left, y: top, width, height } = area;
    let bottom = top + height;
    let band = |p: &Point| {
        let sd = p.sd.unwrap_or(0.0);
        // On a logarithmic axis the lower edge of a band may be negative: it must not stretch the axis.
        if axes.y_log { [p.y, p.y] } else { [p.y - sd, p.y + sd] }
    };
    let zero = axes.zero_line.then_some(0.0);
    let values = axes.series.iter().flat_map(|s| &s.points).flat_map(band).chain(zero);
    let y = Scale::new(values, axes.y_log, bottom, top, 0.05);
    put!(
        out,
        "<clipPath id=\"{id}\"><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/></clipPath>"
    );
    put!(out, "<g stroke=\"currentColor\" stroke-opacity=\"0.13\">");
    let (x_ticks, y_ticks) = (x.ticks(6), y.ticks(if height > 180.0 { 6 } else { 3 }));
    for (value, _) in &x_ticks {
        let at = px(x.position(*value));
        put!(out, "<path d=\"M{at} {top}V{}\"/>", px(bottom));
    }
    for (value, _) in &y_ticks {
        put!(out, "<path d=\"M{left} {}H{}\"/>", px(y.position(*value)), px(left + width));
    }
    put!(out, "</g>");
    for (value, label) in y_ticks {
        text(out, (left - 6.0, y.position(value) + 4.0), TICK_SIZE, "end", "", &label);
    }
    for (value, label) in x_ticks.iter().filter(|_| with_x_labels) {
        text(out, (x.position(*value), bottom + 16.0), TICK_SIZE, "middle", "", label);
    }
    if axes.zero_line {
        let at = px(y.position(0.0));
        put!(out, "<path d=\"M{left} {at}H{}\" stroke=\"#888\" stroke-width=\"1.2\"/>", px(left + width));
    }
    put!(out, "<g clip-path=\"url(#{id})\">");
    axes.series.iter().for_each(|series| draw_series(out, series, x, &y));
    put!(out, "</g>");
    put!(
        out,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"currentColor\" \
         stroke-opacity=\"0.6\"/>"
    );
    let (label_x, label_y) = (left - 50.0, top + 0.5 * height);
    let turn = format!(" transform=\"rotate(-90 {} {})\"", px(label_x), px(label_y));
    let size = if 6.6 * axes.y_label.len() as f64 > height { TICK_SIZE } else { LABEL_SIZE };
    text(out, (label_x, label_y), size, "middle", &turn, &axes.y_label);
}

fn draw_series(out: &mut String, series: &Series, x: &Scale, y: &Scale) {
    let place = |p: &Point| (px(x.position(p.x)), px(y.position(p.y)));
    // A value that is not a number has no place on the axes.
    let points: Vec<&Point> = series.points.iter().filter(|p| p.x.is_finite() && p.y.is_finite()).collect();
    let data: Vec<String> = points
        .iter()
        .map(|p| {
            let (at_x, at_y) = place(p);
            let sd = p.sd.map_or_else(String::new, number);
            format!("{at_x} {at_y} {} {} {sd}", number(p.x), number(p.y))
        })
        .collect();
    let (name, color) = (escape(&series.name), &series.color);
    put!(out, "<g class=\"series\" data-name=\"{name}\" data-points=\"{}\">", data.join(";"));
    let line: Vec<String> = points.iter().map(|p| place(p)).map(|(x, y)| format!("{x} {y}")).collect();
    if series.mark == Mark::Line && points.iter().any(|p| p.sd.is_some_and(|sd| sd > 0.0)) {
        let edge = |p: &Point, side: f64| {
            let at = y.position(p.y + side * p.sd.unwrap_or(0.0));
            format!("{} {}", px(x.position(p.x)), px(at))
        };
        let upper = points.iter().map(|p| edge(p, 1.0));
        let band: Vec<String> = upper.chain(points.iter().rev().map(|p| edge(p, -1.0))).collect();
        put!(out, "<path d=\"M{}Z\" fill=\"{color}\" fill-opacity=\"0.18\"/>", band.join("L"));
    }
    if series.mark != Mark::Dots && line.len() > 1 {
        let width = if series.mark == Mark::Trace { 1.0 } else { 1.8 };
        let stroke = format!("stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"");
        put!(out, "<path d=\"M{}\" fill=\"none\" {stroke}/>", line.join("L"));
    }
    if series.mark != Mark::Trace {
        let (radius, opacity) = if series.mark == Mark::Dots { (3.2, 0.7) } else { (2.4, 1.0) };
        for (at_x, at_y) in points.iter().map(|p| place(p)) {
            put!(
                out,
                "<circle cx=\"{at_x}\" cy=\"{at_y}\" r=\"{radius}\" fill=\"{color}\" fill-opacity=\"{opacity}\"/>"
            );
        }
    }
    put!(out, "</g>");
}

fn draw_legend(out: &mut String, name: &str, color: &str, x: f64, y: f64) {
    put!(out, "<g class=\"legend\" data-name=\"{}\">", escape(name));
    put!(out, "<path d=\"M{} {}h24\" stroke=\"{color}\" stroke-width=\"3\"/>", px(x), px(y - 4.0));
    text(out, (x + LEGEND_MARK, y), LABEL_SIZE, "start", "", name);
    put!(out, "</g>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let cases = [(0.0, "0"), (0.05, "0.05"), (12.3456, "12.35"), (1234.0, "1234"), (-1e-9, "-1.00e-9")];
        cases.into_iter().for_each(|(value, text)| assert_eq!(number(value), text));
    }

    #[test]
    fn hostile_names_stay_text() {
        let point = Point { x: 0.0, y: f64::NAN, sd: None };
        let series = Series {
            name: "<script>\"&".into(),
            color: "#000".into(),
            mark: Mark::Line,
            points: vec![point, Point { y: 1.0, ..point }],
        };
        let axes = Axes { series: vec![series], ..Axes::default() };
        let panel = Panel { title: "<b>".into(), rows: vec![axes], ..Panel::default() };
        let svg = render(&Chart { id: "c".into(), panels: vec![panel], plot_width: None });
        assert!(!svg.contains("<script>") && !svg.contains("<b>"), "{svg}");
        assert!(super::super::png::rasterise(&svg).unwrap().starts_with(b"\x89PNG"));
    }
}
