//! The options every command that reads a model shares.

use crate::choices;
use crate::numbers;
use crate::output;
use anyhow::Result;
use std::path::{Path, PathBuf};
use zbound::Model;
use zbound::io::{self, Format, ReadOptions};

/// A model file and how to read it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// Model file (.json, .uai, .fg, .coo, .mc, .rud, .txt, .dat, .qubo, .bq); `-` reads standard input
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Format, when neither the extension nor (without one) the text tells
    #[arg(long, value_name = "F", value_parser = choices::parser::<Format>(), ignore_case = true)]
    pub(crate) format: Option<Format>,
    /// Evidence file of a UAI model: fixes some variables
    #[arg(long, value_name = "FILE")]
    pub(crate) evidence: Option<PathBuf>,
    /// Inverse temperature of energy formats, above 0: f = -beta E
    #[arg(long, value_name = "B", default_value_t = 1.0, allow_negative_numbers = true, value_parser = numbers::real)]
    pub(crate) beta: f64,
}

impl ModelArgs {
    /// Reads the model and passes the reader's warnings on.
    pub(crate) fn read(&self) -> Result<Model> {
        let options = ReadOptions { format: self.format, beta: self.beta, evidence: self.evidence.clone() };
        let model = io::read(&self.model, &options)?;
        model.warnings.iter().for_each(|warning| output::warn(warning));
        Ok(model)
    }

    /// The file as the user named it.
    pub(crate) fn name(&self) -> String {
        self.model.display().to_string()
    }
}

/// The format that the name of an output file stands for; `option` is what else tells it.
pub(crate) fn format_of(path: &Path, option: &str) -> Result<Format, zbound::Error> {
    Format::from_path(path).ok_or_else(|| {
        let (path, names) = (path.display(), <Format as zbound::Choice>::names());
        let message = format!("{path}: unknown extension; name the format with {option}, one of {names}");
        zbound::Error::Setting(message)
    })
}
