//! One HTML file with every figure: no network, no other file, readable on paper.

mod section;

pub use section::summary;

use crate::paper::{Finding, Verdict};
use anyhow::{Context as _, Result};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;
use std::path::Path;
use zbound::io::write_atomic;

/// A figure in the report.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The paper's label.
    pub id: String,
    /// One line.
    pub title: String,
    /// What the reader sees, and where it departs from the paper.
    pub caption: String,
    /// The plot.
    pub svg: String,
    /// Claims and what the data say about them.
    pub findings: Vec<Finding>,
    /// How the draws are shown.
    pub note: String,
    /// How many records it shows.
    pub records: usize,
    /// Records by status, for the reader who wonders what is missing.
    pub statuses: Vec<(String, usize)>,
    /// Seconds of solving, summed over records.
    pub seconds: f64,
}

/// What produced the numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Metadata {
    /// Of the program.
    pub version: &'static str,
    /// As it was typed.
    pub command: String,
    /// Operating system and architecture.
    pub system: String,
    /// The processor as the system names it.
    pub cpu: String,
    /// Instances that were solved side by side.
    pub threads: usize,
    /// Seconds since 1970, at the end of the run.
    pub finished: u64,
    /// Of the whole run.
    pub wall_seconds: f64,
    /// Records that this run made.
    pub computed: usize,
    /// Records that were there before.
    pub reused: usize,
    /// Hash of every configuration and what the command line changed in it.
    pub plan: String,
}

/// Writes the report.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, sections: &[Section], metadata: &Metadata) -> Result<()> {
    let html = render(sections, metadata)?;
    write_atomic(path, |out| out.write_all(html.as_bytes()))?;
    Ok(())
}

fn render(sections: &[Section], metadata: &Metadata) -> Result<String> {
    let count = |verdict| sections.iter().flat_map(|s| &s.findings).filter(|f| f.verdict == verdict).count();
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("date", date);
    environment.add_filter("seconds", |s: f64| {
        if s < 120.0 { format!("{s:.1} s") } else { format!("{:.1} min", s / 60.0) }
    });
    environment.add_filter("verdict", |word: String| word.replace('-', " "));
    environment.add_template("report", include_str!("report.html")).context("the report's template")?;
    let template = environment.get_template("report")?;
    let values = context! {
        sections => Serde(sections),
        metadata => Serde(metadata),
        holds => count(Verdict::Holds),
        fails => count(Verdict::DoesNotHold),
        missing => count(Verdict::NoData),
        style => include_str!("report.css"),
        script => include_str!("report.js"),
    };
    Ok(template.render(values)?)
}

/// `2026-11-15 20:33 UTC`, by Hinnant's algorithm for the civil calendar.
fn date(unix: u64) -> String {
    let (days, seconds) = ((unix / 86_400) as i64, unix % 86_400);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_around_leap_days() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(date(1_709_251_200), "2024-03-01 00:00 UTC");
    }

    #[test]
    fn the_report_needs_no_network_and_escapes_its_data() {
        let finding = Finding {
            claim: "<img src=x>".into(),
            test: String::new(),
            verdict: Verdict::DoesNotHold,
            evidence: vec![crate::paper::Evidence { holds: false, text: "a < b".into() }],
        };
        let section = Section {
            id: "f".into(),
            title: "T & <i>".into(),
            caption: String::new(),
            svg: "<svg></svg>".into(),
            findings: vec![finding],
            note: String::new(),
            records: 1,
            statuses: vec![("converged".into(), 1)],
            seconds: 0.5,
        };
        let metadata = Metadata {
            version: "0",
            command: "zbound".into(),
            system: "linux".into(),
            cpu: "c".into(),
            threads: 1,
            finished: 0,
            wall_seconds: 1.0,
            computed: 1,
            reused: 0,
            plan: "p".into(),
        };
        let html = render(&[section], &metadata).unwrap();
        assert!(html.contains("&lt;img") && html.contains("<svg></svg>") && html.contains("does not hold"));
        for outside in ["http://", "https://", "src=\"", "@import", "<link"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
