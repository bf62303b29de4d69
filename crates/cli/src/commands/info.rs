//! `zbound info`: what a model holds.

use crate::input::ModelArgs;
use crate::output;
use anyhow::Result;
use comfy_table::{Table, presets};
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  zbound info model.json
  zbound info grid.uai --json";

/// Options of `zbound info`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// One JSON document instead of a table
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let info = zbound::exact::info(&self.model.read()?)?;
        if self.json {
            output::print_json(&info)?;
            return Ok(0);
        }
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        add_rows(&mut table, "", &serde_json::to_value(&info)?);
        output::print(&format!("{}\n", table.trim_fmt()))?;
        Ok(0)
    }
}

/// One row per leaf of the document, so that the table and the JSON cannot drift apart.
fn add_rows(table: &mut Table, prefix: &str, value: &Value) {
    let Value::Object(fields) = value else {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null => "-".to_owned(),
            other => other.to_string(),
        };
        table.add_row([prefix.to_owned(), text]);
        return;
    };
    for (name, value) in fields {
        let name = name.replace('_', " ");
        let path = if prefix.is_empty() { name } else { format!("{prefix} {name}") };
        add_rows(table, &path, value);
    }
}
