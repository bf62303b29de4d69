//! `--report`: the page about one run.

use crate::progress::History;
use crate::table;
use anyhow::Result;
use std::path::Path;
use zbound::Model;
use zbound::certify::{Certificate, Limits};
use zbound::record::BoundRecord;
use zbound_bench::duration;
use zbound_figures::page::{self, Fact, Moment, Page};

/// Writes the page; `model` is missing when the run had to be left.
pub(crate) fn write(
    path: &Path,
    record: &BoundRecord,
    history: &History,
    model: Option<&Model>,
    certificate: Option<&Path>,
) -> Result<()> {
    let moments = history.list().into_iter();
    let mut moments: Vec<Moment> = moments
        .map(|i| Moment { seconds: i.seconds, lower: i.bracket.lower, upper: i.bracket.upper })
        .collect();
    // The curves go on to the end of the run.
    let solving: f64 = record.results.iter().map(|r| r.seconds).sum();
    let seconds = moments.last().map_or(0.0, |m| m.seconds).max(solving);
    let best = record.best.log_z;
    moments.push(Moment { seconds, lower: best.lower, upper: best.upper });
    let decimals = table::decimals(record);
    let page = Page {
        record,
        history: &moments,
        headline: table::headline(record, decimals),
        cells: record.results.iter().map(|r| table::figures(record.eps, r, decimals)).collect(),
        model: about_model(record, model),
        run: about_run(record, seconds),
        certificate: about_certificate(record, model, certificate),
    };
    page::write(path, &page)
}

fn fact(name: &str, value: impl ToString) -> Fact {
    (name.to_owned(), value.to_string())
}

fn about_model(record: &BoundRecord, model: Option<&Model>) -> Vec<Fact> {
    let mut facts = vec![fact("file", record.model.path.as_deref().unwrap_or("-"))];
    let fixed = model.map_or(0, |model| model.variables() - model.d());
    let fixed = if fixed > 0 { format!(", and {fixed} fixed by evidence") } else { String::new() };
    facts.push(fact("free variables", format!("{}{fixed}", record.model.d)));
    if let Some(model) = model.filter(|model| !model.is_binary()) {
        let most = model.free_cardinalities().into_iter().max().unwrap_or(1);
        facts.push(fact("states", format!("at most {most} each")));
    }
    facts.push(fact("edges", record.model.edges));
    facts.push(fact("higher terms", record.model.terms));
    facts.push(fact("temperature eps", record.eps));
    facts
}

fn about_run(record: &BoundRecord, seconds: f64) -> Vec<Fact> {
    // As it was typed, but for quotes.
    let command: Vec<String> = std::env::args().skip(1).collect();
    vec![
        fact("command", format!("zbound {}", command.join(" "))),
        fact("version", format!("zbound {}", record.version)),
        fact("time", duration(seconds)),
    ]
}

/// Where the proofs are, and what reading them back proves.
fn about_certificate(record: &BoundRecord, model: Option<&Model>, path: Option<&Path>) -> Vec<Fact> {
    let name = |m: Option<zbound::Method>| m.map_or("-", zbound::Method::name);
    let sides =
        format!("lower by {}, upper by {}", name(record.best.lower_method), name(record.best.upper_method));
    let mut facts = vec![fact("bracket", format!("proved in this run: {sides}"))];
    let Some(path) = path.filter(|path| path.is_file()) else {
        facts.push(fact(
            "file",
            "none was asked for: --certificate FILE writes one that zbound-check confirms",
        ));
        return facts;
    };
    facts.push(fact("file", path.display()));
    let confirmed = model.map(|model| {
        let (certificate, claim) = Certificate::read(path)?;
        claim.confirm_model(&certificate, model, &Limits::default())
    });
    let text = match confirmed {
        Some(Ok(proved)) => {
            let side = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| v.to_string());
            format!("read back and verified: {} to {}", side(proved.log_z_lower), side(proved.log_z_upper))
        }
        Some(Err(error)) => format!("not verified here: {error}"),
        None => "not verified here: the run was stopped".to_owned(),
    };
    facts.push(fact("verification", text));
    facts
}
