//! Results as text: a table of methods, notes, and one line that can be quoted.

use crate::decimal::{decimals_for, round_down_display, round_up_display};
use comfy_table::{Cell, CellAlignment, Table, presets};
use zbound::record::{BoundRecord, Bracket, MethodRecord};
use zbound::{Alphabet, Model};
use zbound_bench::duration;

/// The text of `zbound bound`. `exact` is eps log Z when it is known, for the column of distances of a wide table; `model` says in which letters
/// a state is written.
pub(crate) fn render(record: &BoundRecord, model: Option<&Model>, exact: Option<f64>, wide: bool) -> String {
    let decimals = decimals(record);
    let mut text = methods_table(record, exact, decimals, wide).trim_fmt();
    text.push('\n');
    text += &notes(record);
    if let Some(advice) = &record.advice {
        text += &format!("{advice}\n");
    }
    text += &answers(record, model);
    text + &headline(record, decimals) + "\n"
}

/// Variables up to which a state is printed in full.
const SHOWN_VARIABLES: usize = 60;

/// What exact inference found besides log Z.
fn answers(record: &BoundRecord, model: Option<&Model>) -> String {
    let mut text = String::new();
    let Some(exact) = record.results.iter().find(|r| r.entropy.is_some() || r.max_f.is_some()) else {
        return text;
    };
    if let Some(value) = exact.max_f {
        text += &format!("max f = {value}");
        if let Some(state) = exact.argmax.as_ref().filter(|s| s.len() <= SHOWN_VARIABLES) {
            // Records have spins for variables of two states, whatever the file calls them.
            let bits = model.filter(|model| model.alphabet != Alphabet::Spins);
            let letter = |(i, &v): (usize, &i64)| match bits {
                Some(model) if model.cardinality(i) == 2 => i64::from(v > 0).to_string(),
                _ => v.to_string(),
            };
            let letters: Vec<String> = state.iter().enumerate().map(letter).collect();
            text += &format!(" at {}", letters.join(" "));
        }
        text.push('\n');
    }
    if let Some(entropy) = exact.entropy {
        text += &format!("entropy = {entropy:.6} nats\n");
    }
    text
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
    let line = |(reason, methods): &(&str, Vec<&str>)| match methods[..] {
        // A sentence whose subject is the method needs no name before it.
        [name] if reason.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')) => {
            format!("{reason}\n")
        }
        _ => format!("{}: {reason}\n", methods.join(", ")),
    };
    notes.iter().map(line).collect()
}

/// `lower <= log Z <= upper`, rounded outward.
pub(crate) fn headline(record: &BoundRecord, decimals: usize) -> String {
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

/// Decimals of the bounds of a document.
pub(crate) fn decimals(record: &BoundRecord) -> usize {
    decimals_for(bounds(record))
}

fn bounds(record: &BoundRecord) -> impl Iterator<Item = f64> + '_ {
    record.results.iter().flat_map(|r| [r.log_z.lower, r.log_z.upper]).flatten()
}

fn methods_table(record: &BoundRecord, exact: Option<f64>, decimals: usize, wide: bool) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_BORDERS_ONLY_CONDENSED);
    let mut header = vec!["method", "lower", "upper", "rel. gap", "time", "status"];
    if wide {
        header.splice(4..4, ["gap", "above exact", "iterations"]);
    }
    table.set_header(header);
    for result in &record.results {
        table.add_row(row(record.eps, result, exact, decimals, wide));
    }
    // Two spaces between columns: the longest names fit 80 columns with them.
    for column in table.column_iter_mut().skip(1) {
        column.set_padding((0, 1));
    }
    let columns = table.column_count();
    for column in table.column_iter_mut().take(columns - 1).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A distance in a few characters.
pub(crate) fn short(gap: f64) -> String {
    match gap {
        0.0 => "0".to_owned(),
        gap if (1e-2..1e6).contains(&gap) => format!("{gap:.3}"),
        gap => format!("{gap:.1e}"),
    }
}

/// Lower bound, upper bound, relative gap in the unit of --tol, and time.
pub(crate) fn figures(eps: f64, result: &MethodRecord, decimals: usize) -> [String; 4] {
    let none = || "-".to_owned();
    let scale = result.phi.upper.map_or(eps, |upper| eps.max(upper.abs()));
    [
        result.log_z.lower.map_or_else(none, |v| round_down_display(v, decimals)),
        result.log_z.upper.map_or_else(none, |v| round_up_display(v, decimals)),
        result.relaxation_gap.map_or_else(none, |gap| short(gap / scale)),
        // What was not begun took no time.
        if result.seconds > 0.0 { duration(result.seconds) } else { none() },
    ]
}

fn row(eps: f64, result: &MethodRecord, exact: Option<f64>, decimals: usize, wide: bool) -> Vec<Cell> {
    let none = || "-".to_owned();
    let log_z = result.log_z;
    let mut cells = vec![result.method.name().to_owned()];
    cells.extend(figures(eps, result, decimals));
    cells.push(result.status.name().to_owned());
    if wide {
        let above = log_z.upper.zip(exact).map_or_else(none, |(v, exact)| short((v - exact).max(0.0)));
        let gap = result.relaxation_gap.map_or_else(none, short);
        cells.splice(4..4, [gap, above, result.iterations.to_string()]);
    }
    cells.into_iter().map(Cell::new).collect()
}
