//! Runs that are kept: one line of JSON each.

use super::Entry;
use anyhow::{Context as _, Result};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// A file of runs, or none.
pub(super) struct Store {
    known: Vec<Entry>,
    file: Option<File>,
}

impl Store {
    /// Reads what is there; a torn last line, of a run that was killed, is dropped.
    pub(super) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Store { known: Vec::new(), file: None }) };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let mut known: Vec<Entry> = Vec::new();
        let mut whole = String::new();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(entry) => {
                    known.push(entry);
                    whole += line;
                    whole.push('\n');
                }
                Err(error) if known.is_empty() => {
                    return Err(error).with_context(|| format!("{}: no file of runs", path.display()));
                }
                Err(_) => break,
            }
        }
        if whole != text {
            std::fs::write(path, whole).with_context(|| path.display().to_string())?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Store { known, file: Some(file.with_context(|| path.display().to_string())?) })
    }

    /// The run, if it is there.
    pub(super) fn take(&self, model: &str, tool: &str, limit: f64) -> Option<Entry> {
        self.known.iter().find(|e| e.model == model && e.tool == tool && e.limit == limit).cloned()
    }

    /// Adds a run.
    pub(super) fn keep(&mut self, entry: &Entry) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = serde_json::to_string(entry)? + "\n";
        file.write_all(line.as_bytes()).context("the file of runs")
    }
}
