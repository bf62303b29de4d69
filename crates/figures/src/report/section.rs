//! From the records of a figure to its section of the report.

use super::Section;
use crate::paper::{FigureData, Verdict, chart, findings};
use crate::plot::{self, Chart};
use crate::spec::{FigureSpec, Metric};
use std::collections::BTreeMap;
use zbound::sweep::{Plan, SweepRecord};

impl Section {
    /// The section and the plot of a figure; `record` finds a record by the key of its job.
    pub fn new<'a>(
        id: &str,
        spec: &FigureSpec,
        plan: &'a Plan,
        record: impl Fn(&str) -> Option<&'a SweepRecord>,
    ) -> (Self, Chart) {
        let data = FigureData::new(spec, plan, &record);
        let chart = chart(id, spec, &data);
        let records: Vec<_> = plan.jobs.iter().filter_map(|job| record(&job.key)).collect();
        let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
        records.iter().for_each(|r| *statuses.entry(r.status.clone()).or_default() += 1);
        let section = Section {
            id: id.to_owned(),
            title: spec.title.clone(),
            caption: spec.caption.clone(),
            svg: plot::render(&chart),
            note: note(spec, plan),
            findings: findings(id, &data),
            records: records.len(),
            statuses: statuses.into_iter().collect(),
            seconds: records.iter().filter_map(|r| r.seconds).sum(),
        };
        (section, chart)
    }
}

/// How many draws there are and what is drawn of them.
fn note(spec: &FigureSpec, plan: &Plan) -> String {
    let draws = plan.jobs.iter().map(|job| job.instance.draw + 1).max().unwrap_or(0);
    let each =
        spec.panels.iter().all(|p| p.rows.iter().all(|m| matches!(m, Metric::Iterations | Metric::GapTrace)));
    match (each, draws) {
        (_, 1) => "One draw.".into(),
        (true, _) => format!("Each of {draws} draws is shown."),
        (false, _) => format!("Mean over {draws} draws; bands of one standard deviation."),
    }
}

/// One line per claim.
#[must_use]
pub fn summary(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        for finding in &section.findings {
            let verdict = match finding.verdict {
                Verdict::Holds => "holds",
                Verdict::DoesNotHold => "DOES NOT HOLD",
                Verdict::NoData => "no data",
            };
            let numbers = finding.evidence.iter();
            let numbers: Vec<&str> = numbers
                .filter(|e| !e.holds || finding.verdict != Verdict::DoesNotHold)
                .map(|e| e.text.as_str())
                .collect();
            text += &format!("{}: {verdict}: {}\n    {}\n", section.id, finding.claim, numbers.join("; "));
        }
    }
    text
}
