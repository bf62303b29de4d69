//! A folder of models under a time limit: the bracket of `auto` beside what others have published.
//!
//! A model `M` with a file `M.evid` beside it is read under that evidence, and a file `M.PR` (log10 Z, as in the UAI
//! competitions) is the published value. Models are read and bounded one after another, each from a cold start.

use crate::{VERSION, duration};
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use zbound::io::{Format, ReadOptions, read};
use zbound::record::BoundRecord;
use zbound::run::{BoundRequest, MethodChoice, bound};
use zbound::{Deadline, Method, Observer, Settings};

/// A bracket this narrow, relative to `max(1, |log Z|)`, is closed.
const CLOSED: f64 = 1e-6;

/// Digits that published values are trusted to: most are printed with six.
const PUBLISHED_DIGITS: f64 = 1e-5;

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Folder that is searched, with all folders in it.
    pub folder: PathBuf,
    /// Seconds for each model, reading included.
    pub time_limit: f64,
    /// Methods; `auto` when empty.
    pub methods: Vec<Method>,
    /// Settings of every run but for its limit.
    pub settings: Settings,
}

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Path below the folder.
    pub model: String,
    /// Seconds, reading included.
    pub seconds: f64,
    /// log Z as published beside the model.
    pub published: Option<f64>,
    /// The document, or why there is none.
    pub outcome: Outcome,
}

/// The document of a model, or why there is none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// What was proved.
    Bounded(Box<BoundRecord>),
    /// The file was refused.
    Refused(String),
}

/// All models of a folder.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// Version of the library.
    pub version: &'static str,
    /// Seconds for each model.
    pub time_limit: f64,
    /// One row per model, by path.
    pub rows: Vec<Row>,
}

/// Runs the plan; `say` hears of every model when it is done.
///
/// # Errors
/// A folder that cannot be read or holds no model.
pub fn run(plan: &Plan, observer: &mut dyn Observer, say: &mut dyn FnMut(&str)) -> Result<Suite> {
    let mut models = Vec::new();
    collect(&plan.folder, &mut models)?;
    anyhow::ensure!(!models.is_empty(), "{}: no model in this folder", plan.folder.display());
    models.sort();
    let mut rows = Vec::new();
    for path in models {
        let row = one(plan, &path, observer);
        say(&row.line());
        rows.push(row);
        if observer.observe(&zbound::Progress::at(0.0)) == zbound::Flow::Stop {
            break;
        }
    }
    Ok(Suite { version: VERSION, time_limit: plan.time_limit, rows })
}

/// Every file below `folder` whose extension names a format.
fn collect(folder: &Path, models: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for entry in entries {
        let path = entry.with_context(|| folder.display().to_string())?.path();
        if path.is_dir() {
            collect(&path, models)?;
        } else if path.extension().is_some() && Format::from_path(&path).is_some() {
            models.push(path);
        }
    }
    Ok(())
}

fn one(plan: &Plan, path: &Path, observer: &mut dyn Observer) -> Row {
    let start = std::time::Instant::now();
    let beside = |suffix: &str| PathBuf::from(format!("{}.{suffix}", path.display()));
    let evidence = Some(beside("evid")).filter(|p| p.is_file());
    let options = ReadOptions { evidence, ..ReadOptions::default() };
    let mut request = BoundRequest::default();
    request.settings = plan.settings.clone();
    request.settings.time_limit_secs = Some(plan.time_limit);
    request.settings.deadline = Deadline::after(start, Some(plan.time_limit));
    if !plan.methods.is_empty() {
        request.methods = MethodChoice::List(plan.methods.clone());
    }
    let answer = read(path, &options).and_then(|model| bound(&model, &request, observer));
    let outcome = match answer {
        Ok(report) => Outcome::Bounded(Box::new(report.record)),
        Err(error) => Outcome::Refused(error.to_string()),
    };
    let published = std::fs::read_to_string(beside("PR")).ok();
    let published = published.and_then(|text| text.split_whitespace().last()?.parse::<f64>().ok());
    Row {
        model: path.strip_prefix(&plan.folder).unwrap_or(path).display().to_string(),
        seconds: start.elapsed().as_secs_f64(),
        published: published.map(|log10| log10 * std::f64::consts::LN_10),
        outcome,
    }
}

impl Row {
    fn sides(&self) -> (Option<f64>, Option<f64>) {
        match &self.outcome {
            Outcome::Bounded(record) => (record.best.log_z.lower, record.best.log_z.upper),
            Outcome::Refused(_) => (None, None),
        }
    }

    /// upper - lower.
    #[must_use]
    pub fn width(&self) -> Option<f64> {
        let (lower, upper) = self.sides();
        Some(upper? - lower?)
    }

    /// Whether log Z is known to six digits or no state has positive weight.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let scale = self.sides().1.map_or(1.0, |upper| upper.abs().max(1.0));
        self.width().is_some_and(|width| width <= CLOSED * scale)
    }

    /// Whether the published value lies outside the bracket by more than its digits.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        let (lower, upper) = self.sides();
        let Some(value) = self.published else { return false };
        let slack = PUBLISHED_DIGITS * value.abs().max(1.0);
        lower.is_some_and(|lower| value < lower - slack) || upper.is_some_and(|upper| value > upper + slack)
    }

    fn line(&self) -> String {
        match &self.outcome {
            Outcome::Refused(why) => format!("{}: {why}", self.model),
            Outcome::Bounded(_) => {
                let (lower, upper) = self.sides();
                format!("{}: [{}, {}] in {}", self.model, show(lower), show(upper), duration(self.seconds))
            }
        }
    }
}

fn show(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"))
}

impl Suite {
    /// A page of Markdown: one row per model, then the published values that are refuted.
    #[must_use]
    pub fn render(&self) -> String {
        let count = |test: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| test(row)).count();
        let mut text = format!(
            "{} models, {} s each: {} closed, both sides of {}, one side of {}, refused {}.\n\n",
            self.rows.len(),
            self.time_limit,
            count(&|row| row.is_closed()),
            count(&|row| row.width().is_some()),
            count(&|row| row.width().is_none() && row.sides() != (None, None)),
            count(&|row| matches!(row.outcome, Outcome::Refused(_))),
        );
        text += "| model | d | lower | upper | width | published | by | time |\n|---|---|---|---|---|---|---|---|\n";
        for row in &self.rows {
            let Outcome::Bounded(record) = &row.outcome else { continue };
            let (lower, upper) = row.sides();
            let name = |method: Option<Method>| method.map_or("-", |m| m.name());
            let width = if row.is_closed() { "closed".to_owned() } else { show(row.width()) };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {width} | {} | {} / {} | {} |",
                row.model,
                record.model.d,
                show(lower),
                show(upper),
                show(row.published),
                name(record.best.lower_method),
                name(record.best.upper_method),
                duration(row.seconds)
            );
        }
        let refuted: Vec<&Row> = self.rows.iter().filter(|row| row.is_refuted()).collect();
        if !refuted.is_empty() {
            text += "\nPublished values outside a certified bracket:\n\n";
            for row in refuted {
                let (lower, upper) = row.sides();
                let _ = writeln!(
                    text,
                    "- {}: {} published, {} to {} proved",
                    row.model,
                    show(row.published),
                    show(lower),
                    show(upper)
                );
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_published_value_is_named_and_a_right_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        // One spin with weights 1 and 3: Z = 4.
        for (name, published) in [("right", 4f64.log10()), ("wrong", 1.0)] {
            let path = folder.path().join(format!("{name}.uai"));
            std::fs::write(&path, "MARKOV 1 2 1 1 0 2 1 3").unwrap();
            std::fs::write(format!("{}.PR", path.display()), format!("PR\n{published}")).unwrap();
        }
        std::fs::write(folder.path().join("broken.uai"), "MARKOV 1").unwrap();
        let plan = Plan {
            folder: folder.path().to_path_buf(),
            time_limit: 10.0,
            methods: Vec::new(),
            settings: Settings::default(),
        };
        let suite = run(&plan, &mut zbound::Silent, &mut |_| {}).unwrap();
        assert_eq!(suite.rows.iter().map(Row::is_refuted).collect::<Vec<_>>(), [false, false, true]);
        assert_eq!(suite.rows.iter().map(Row::is_closed).collect::<Vec<_>>(), [false, true, true]);
        let page = suite.render();
        assert!(
            page.contains("3 models") && page.contains("- wrong.uai") && page.contains("refused 1"),
            "{page}"
        );
    }
}
