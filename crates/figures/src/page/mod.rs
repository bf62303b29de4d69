//! One run of `zbound bound` as one HTML file: no network, no other file, light and dark, narrow and wide.

mod charts;
mod intervals;

pub use charts::scan_chart;

use crate::plot;
use anyhow::{Context as _, Result};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use std::path::Path;
use zbound::io::write_atomic;
use zbound::record::{BoundRecord, MethodRecord};

/// The bracket at one moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// Seconds since the start.
    pub seconds: f64,
    /// Best lower bound on eps log Z so far.
    pub lower: Option<f64>,
    /// Best upper bound so far.
    pub upper: Option<f64>,
}

/// A line of a table: its name and what it says.
pub type Fact = (String, String);

/// What the page tells besides the document.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The document.
    pub record: &'a BoundRecord,
    /// How the bracket shrank.
    pub history: &'a [Moment],
    /// `lower <= log Z <= upper`, rounded outward.
    pub headline: String,
    /// Cells of the table of methods: lower, upper, relative gap and time, as text.
    pub cells: Vec<[String; 4]>,
    /// About the model.
    pub model: Vec<Fact>,
    /// About the run.
    pub run: Vec<Fact>,
    /// About the certificate.
    pub certificate: Vec<Fact>,
}

/// Writes the page.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, page: &Page<'_>) -> Result<()> {
    let html = render(page)?;
    write_atomic(path, |out| out.write_all(html.as_bytes()))?;
    Ok(())
}

/// A row of the table of methods.
#[derive(Serialize)]
struct Row<'a> {
    method: &'a str,
    about: &'a str,
    cells: &'a [String; 4],
    status: &'a str,
    certified: bool,
    reason: Option<&'a str>,
}

fn render(page: &Page<'_>) -> Result<String> {
    let record = page.record;
    let row = |(result, cells)| {
        let result: &MethodRecord = result;
        Row {
            method: result.method.name(),
            about: result.method.about(),
            cells,
            status: result.status.name(),
            certified: result.certified,
            reason: result.reason.as_deref(),
        }
    };
    let rows: Vec<Row<'_>> = record.results.iter().zip(&page.cells).map(row).collect();
    let marginals = charts::marginals(record);
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page", include_str!("page.html")).context("the page's template")?;
    let values = context! {
        style => include_str!("page.css"),
        title => record.model.path.as_deref().unwrap_or("a model"),
        log_z => if record.eps == 1.0 { "log Z" } else { "eps log Z" },
        headline => page.headline.as_str(),
        advice => record.advice.as_deref(),
        time_chart => charts::over_time(page.history).map(|chart| plot::render(&chart)),
        methods_chart => intervals::methods(record),
        marginals_chart => marginals.as_ref().map(|(_, chart)| plot::render(chart)),
        marginals_exact => marginals.as_ref().is_some_and(|(exact, _)| *exact),
        rows => Serde(&rows),
        model => Serde(&page.model),
        run => Serde(&page.run),
        certificate => Serde(&page.certificate),
    };
    Ok(environment.get_template("page")?.render(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zbound::run::{BoundRequest, MethodChoice, bound};
    use zbound::{Ising, Method, Model, Silent};

    #[test]
    fn the_page_stands_alone_and_escapes_what_users_name() {
        let model = Model::from(Ising::new(3, &[0.1; 3], &[(0, 1, 1.0), (1, 2, -0.5)]).unwrap());
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::List(vec![Method::MeanField, Method::Quantum, Method::Bethe]);
        request.path = Some("<b>\"&.json".into());
        let record = bound(&model, &request, &mut Silent).unwrap().record;
        let moment = |seconds, upper| Moment { seconds, lower: Some(1.0), upper };
        let page = Page {
            record: &record,
            history: &[moment(0.001, Some(9.0)), moment(0.01, None), moment(0.1, Some(4.0))],
            headline: "1 <= log Z <= 4".into(),
            cells: vec![["1".into(), "-".into(), "0".into(), "1 ms".into()]; 3],
            model: vec![("spins".into(), "3 <i>".into())],
            run: vec![],
            certificate: vec![],
        };
        let html = render(&page).unwrap();
        assert!(
            !html.contains("<b>\"") && !html.contains("<i>") && html.matches("<svg").count() == 3,
            "{html}"
        );
        let own = html.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", "src=", "@import", "<link", "<script"] {
            assert!(!own.contains(outside), "{outside}");
        }
        assert!(html.contains("prefers-color-scheme: dark"));
    }
}
