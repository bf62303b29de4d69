//! The comparison as a page of Markdown.

use super::compare::FACTOR;
use super::entry::show;
use super::{AUTO, Entry, Instance, Suite};
use crate::duration;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PREAMBLE: &str = include_str!("preamble.md");

/// Columns of every table of models.
const HEAD: &str = "| model | variables | bracket of log Z | width | known | lower / upper by | time |";

impl Suite {
    /// The page; `picture` is the name of the profile's file, if there is one, and `command` what was typed.
    #[must_use]
    pub fn render(&self, picture: Option<&str>, command: &str) -> String {
        let mut text = PREAMBLE.to_owned();
        text += &self.summary();
        if let Some(picture) = picture {
            text += &format!(
                "\n![Models within a gap against time]({picture})\n\nModels whose bracket is closed, within a hundredth and within a tenth of |log Z|, against seconds.\n"
            );
        }
        text += &self.models();
        text += &self.against_single_methods();
        text += &self.estimates();
        text += &self.refuted();
        text += &self.refused();
        text += &format!(
            "\n## How this page was made\nVersion {} of the library: `{command}`. Runs follow one another; anything else that the machine did meanwhile makes times longer and brackets wider.\n",
            self.version
        );
        for (name, why) in &self.skipped {
            text += &format!("{name} did not take part: {why}.\n");
        }
        text
    }

    /// How many models were closed, by folder and limit.
    fn summary(&self) -> String {
        let mut groups: BTreeMap<(&str, u64), Vec<&Entry>> = BTreeMap::new();
        for instance in &self.instances {
            for entry in self.of(&instance.name).filter(|e| e.tool == AUTO) {
                let key = (instance.group(), entry.limit.to_bits());
                groups.entry(key).or_default().push(entry);
            }
        }
        let mut text = "\n## `auto` in short\n| folder | limit | models | closed | within 1 % | within 5 % | both sides | one side | neither | refused |\n|---|---|---|---|---|---|---|---|---|---|\n".to_owned();
        for ((folder, limit), entries) in &groups {
            let count = |test: &dyn Fn(&Entry) -> bool| entries.iter().filter(|e| test(e)).count();
            let within = |gap: f64| count(&|e| e.relative_width().is_some_and(|width| width <= gap));
            let sides = |e: &Entry| usize::from(e.lower.is_some()) + usize::from(e.upper.is_some());
            let open = |e: &Entry| e.refused.is_none() && !e.impossible;
            let _ = writeln!(
                text,
                "| {} | {} s | {} | {} | {} | {} | {} | {} | {} | {} |",
                if folder.is_empty() { "." } else { folder },
                f64::from_bits(*limit),
                entries.len(),
                count(&|e| e.is_closed()),
                within(0.01),
                within(0.05),
                count(&|e| e.impossible || sides(e) == 2),
                count(&|e| open(e) && sides(e) == 1),
                count(&|e| open(e) && sides(e) == 0),
                count(&|e| e.refused.is_some()),
            );
        }
        text
    }

    /// One row per model and limit: `auto`, and under the first limit single methods and other programs beside it. Longer limits list
    /// what the first left open.
    fn models(&self) -> String {
        let mut text = String::new();
        for (place, &limit) in self.limits.iter().enumerate() {
            let is_first = place == 0;
            let explanation = if is_first {
                "*Known* is log Z as computed by others, or as published (p). *Narrowest* is whose bracket is, under the same limit; the last column is the narrowest of a single method, then other programs; (e) marks what comes without a proof."
            } else {
                "What the first limit left open."
            };
            let _ = write!(text, "\n## Models, {limit} s\n{explanation}\n\n{HEAD}");
            text += if is_first {
                " narrowest | others |\n|---|---|---|---|---|---|---|---|---|\n"
            } else {
                "\n|---|---|---|---|---|---|---|\n"
            };
            for instance in &self.instances {
                let auto = self.find(&instance.name, AUTO, limit).filter(|e| e.refused.is_none());
                let Some(auto) = auto else { continue };
                text += &row(instance, auto);
                if is_first {
                    let _ =
                        write!(text, " {} | {} |", self.narrowest(instance, limit), self.others(instance));
                }
                text.push('\n');
            }
        }
        text
    }

    /// Who has the narrowest bracket under a limit.
    fn narrowest(&self, instance: &Instance, limit: f64) -> &str {
        let answers = self.of(&instance.name).filter(|e| e.limit == limit && e.refused.is_none());
        let width = |e: &Entry| match e.value {
            Some(_) => 0.0,
            None if e.is_closed() => 0.0,
            None => e.width().unwrap_or(f64::INFINITY),
        };
        // `auto` comes first among equals.
        let best = answers.filter(|e| width(e).is_finite()).min_by(|a, b| width(a).total_cmp(&width(b)));
        best.map_or("-", |e| e.tool.as_str())
    }

    /// The best single method and other programs, in one cell.
    fn others(&self, instance: &Instance) -> String {
        let single = self.best_single(&instance.name).map(|e| format!("{}: {}", e.tool, width(e)));
        let foreign = self.of(&instance.name).filter(|e| e.tool.contains(' ') && e.refused.is_none());
        let foreign = foreign.map(|e| match e.value {
            Some(value) => format!("{}: {value:.4} (e) in {}", e.tool, duration(e.seconds)),
            None => format!("{}: {} to {} (e)", e.tool, show(e.lower), show(e.upper)),
        });
        let all: Vec<String> = single.into_iter().chain(foreign).collect();
        if all.is_empty() { "-".into() } else { all.join("; ") }
    }

    fn against_single_methods(&self) -> String {
        let alone = self.entries.iter().any(|e| e.tool != AUTO && !e.tool.contains(' '));
        if !alone {
            return String::new();
        }
        let losses = self.losses();
        let mut text = "\n## Where one method alone does better\n".to_owned();
        if losses.is_empty() {
            text += "Nowhere: at equal time `auto` is within a tenth of the best single method on every model, and not worse with twice the time.\n";
            return text;
        }
        text += "More than a tenth narrower at equal time, or narrower at all than `auto` with twice the time:\n\n| model | method | its width | width of `auto` |\n|---|---|---|---|\n";
        for loss in losses {
            let (seconds, width) = loss.auto;
            let _ = writeln!(
                text,
                "| {} | {} | {:.4} | {width:.4} in {seconds} s |",
                loss.model, loss.method, loss.width
            );
        }
        text
    }

    fn estimates(&self) -> String {
        let accuracy = self.accuracy();
        if accuracy.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\n## Expected and measured time\nRuns that ended by themselves and took or were expected to take more than 20 ms; the ratio is expected over measured seconds. Methods that go on for as long as they are let have no expected time.\n\n| method | runs | within a factor of {FACTOR} | smallest | median | largest |\n|---|---|---|---|---|---|\n"
        );
        for row in accuracy {
            let (least, median, most) = row.ratios;
            let _ = writeln!(
                text,
                "| {} | {} | {} | {least:.2} | {median:.2} | {most:.2} |",
                row.method, row.runs, row.within
            );
        }
        text
    }

    /// Published values that a certified bracket excludes.
    fn refuted(&self) -> String {
        let mut text = String::new();
        for instance in &self.instances {
            let Some(published) = instance.published else { continue };
            let refuting = |e: &&Entry| !e.tool.contains(' ') && e.refutes(published);
            let Some(entry) = self.of(&instance.name).find(refuting) else { continue };
            let _ =
                writeln!(text, "- {}: {published:.4} published, {} proved", instance.name, bracket(entry));
        }
        if text.is_empty() {
            text
        } else {
            format!("\n## Published values outside a certified bracket\n{text}")
        }
    }

    fn refused(&self) -> String {
        let mut text = String::new();
        for entry in self.entries.iter().filter(|e| e.tool == AUTO) {
            if let Some(why) = entry.refused.as_ref().filter(|_| Some(&entry.limit) == self.limits.first()) {
                // Messages name the file by its path on the machine that made this page.
                let why = why.rsplit_once(&entry.model).map_or(why.as_str(), |(_, rest)| rest);
                let _ =
                    writeln!(text, "- {}{}{why}", entry.model, if why.starts_with(':') { "" } else { ": " });
            }
        }
        if text.is_empty() { text } else { format!("\n## Files that were refused\n{text}") }
    }
}

/// What `auto` says of a model.
fn row(instance: &Instance, auto: &Entry) -> String {
    let method = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".into());
    format!(
        "| {} | {} | {} | {} | {} | {} / {} | {} |",
        instance.name,
        auto.d,
        bracket(auto),
        width(auto),
        known(instance),
        method(&auto.lower_method),
        method(&auto.upper_method),
        duration(auto.seconds),
    )
}

fn known(instance: &Instance) -> String {
    match (instance.truth, instance.published) {
        (Some(truth), _) => format!("{truth:.4}"),
        (None, Some(published)) => format!("{published:.4} (p)"),
        (None, None) => "-".into(),
    }
}

fn bracket(entry: &Entry) -> String {
    if entry.impossible {
        return "no state has positive weight".into();
    }
    match (entry.lower, entry.upper) {
        (Some(lower), Some(_)) if entry.is_closed() => format!("{lower:.6}"),
        (lower, upper) => format!("{} to {}", show(lower), show(upper)),
    }
}

fn width(entry: &Entry) -> String {
    match entry.relative_width() {
        _ if entry.is_closed() => "closed".into(),
        Some(relative) => format!("{} ({:.2} %)", show(entry.width()), 100.0 * relative),
        None => "-".into(),
    }
}
