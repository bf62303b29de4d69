//! `zbound convert`: from one file format to another.

use crate::choices;
use crate::input::{ModelArgs, format_of};
use crate::numbers;
use crate::output;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use zbound::io::{self, Format};

const EXAMPLES: &str = "\
Nothing lossy is silent: what the target format cannot hold is refused by name.

Examples:
  zbound convert grid.uai grid.json
  zbound convert grid.uai grid.json --evidence grid.uai.evid
  zbound convert - model.uai --from json < model.json
  zbound convert problem.qubo - --to json";

/// Options of `zbound convert`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Model file to read; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Model file to write; `-` is standard output
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Format of IN, when the extension does not tell
    #[arg(long, value_name = "F", value_parser = choices::parser::<Format>(), ignore_case = true)]
    from: Option<Format>,
    /// Format of OUT, when the extension does not tell
    #[arg(long, value_name = "F", value_parser = choices::parser::<Format>(), ignore_case = true)]
    to: Option<Format>,
    /// Evidence file of a UAI model: fixes some variables
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// Inverse temperature of energy formats: f = -beta E
    #[arg(long, value_name = "B", default_value_t = 1.0, allow_negative_numbers = true, value_parser = numbers::real)]
    beta: f64,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let to = match self.to {
            Some(format) => format,
            None if self.out == Path::new("-") => Format::Json,
            None => format_of(&self.out, "--to")?,
        };
        let source =
            ModelArgs { model: self.input, format: self.from, evidence: self.evidence, beta: self.beta };
        let model = source.read()?;
        if self.out == Path::new("-") {
            let mut text = Vec::new();
            io::write_to(&model, to, &mut text)?;
            output::print(&String::from_utf8(text).context("the model is not text")?)?;
        } else {
            io::write(&model, &self.out, to)?;
        }
        Ok(0)
    }
}
