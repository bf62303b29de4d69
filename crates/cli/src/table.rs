//! Results as text: a table of methods, notes, and one line that can be quoted.

use crate::decimal::{decimals_for, round_down_display, round_up_display};
use comfy_table::{Cell, CellAlignment, Table, presets};
use zbound::record::{BoundRecord, Bracket, MethodRecord};
use zbound_bench::duration;

/// The text of `zbound bound`. `exact` is eps log Z when it is known, for the column of distances.
pub(crate) fn render(record: &BoundRecord, exact: Option<f64>) -> String {
    let decimals = decimals_for(bounds(record));
    let mut text = methods_table(record, exact, decimals).trim_fmt();
    text.push('\n');
    text += &notes(record);
    text + &headline(record, decimals) + "\n"
}

/// One line per reason, methods with the same reason together.
fn notes(record: &BoundRecord) -> String {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for result in &record.results {
        let Some(reason) = &result.reason else { continue };
        match notes.iter_mut().find(|(known, _)| known == reason) {
            Some((_, methods)) => methods.push(result.method.name()),
            None => notes.push((reason, vec![result.method.name()])),
        }
    }
    notes.iter().map(|(reason, methods)| format!("{}: {reason}\n", methods.join(", "))).collect()
}

/// `lower <= log Z <= upper`, rounded outward.
fn headline(record: &BoundRecord, decimals: usize) -> String {
    let name = if record.eps == 1.0 { "log Z" } else { "eps log Z" };
    let Bracket { lower, upper } = record.best.log_z;
    let (lower, upper) =
        (lower.map(|v| round_down_display(v, decimals)), upper.map(|v| round_up_display(v, decimals)));
    let impossible = record.results.iter().any(|r| r.certified && r.log_z.upper.is_none());
    match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{lower} <= {name} <= {upper}"),
        (None, Some(upper)) => format!("{name} <= {upper}"),
        (Some(lower), None) => format!("{lower} <= {name}"),
        (None, None) if impossible => format!("{name} = -inf"),
        (None, None) => format!("nothing is proved about {name}"),
    }
}

fn bounds(record: &BoundRecord) -> impl Iterator<Item = f64> + '_ {
    record.results.iter().flat_map(|r| [r.log_z.lower, r.log_z.upper]).flatten()
}

fn methods_table(record: &BoundRecord, exact: Option<f64>, decimals: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    let mut header = vec!["method", "lower", "upper", "gap", "iterations", "time", "status"];
    if exact.is_some() {
        header.insert(4, "above exact");
    }
    table.set_header(header);
    for result in &record.results {
        table.add_row(row(result, exact, decimals));
    }
    let columns = table.column_count();
    for column in table.column_iter_mut().take(columns - 1).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(result: &MethodRecord, exact: Option<f64>, decimals: usize) -> Vec<Cell> {
    let none = || "-".to_owned();
    let log_z = result.log_z;
    let gap = result
        .relaxation_gap
        .map_or_else(none, |gap| if gap == 0.0 { "0".to_owned() } else { format!("{gap:.1e}") });
    let mut cells = vec![
        result.method.name().to_owned(),
        log_z.lower.map_or_else(none, |v| round_down_display(v, decimals)),
        log_z.upper.map_or_else(none, |v| round_up_display(v, decimals)),
        gap,
        result.iterations.to_string(),
        duration(result.seconds),
        result.status.name().to_owned(),
    ];
    if let Some(exact) = exact {
        cells.insert(4, log_z.upper.map_or_else(none, |v| format!("{:.3e}", (v - exact).max(0.0))));
    }
    cells.into_iter().map(Cell::new).collect()
}
