//! `zbound generate`: random models.

use crate::choices;
use crate::input::format_of;
use crate::numbers;
use crate::output;
use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use zbound::Model;
use zbound::generate::{Family, GenerateSpec, Graph, generate};
use zbound::io::{self, Format};

const EXAMPLES: &str = "\
The same options give the same bytes on every machine.

Examples:
  zbound generate --family gaussian --graph complete --d 12 --seed 1 --out model.json
  zbound generate --family trw-mixed --graph grid --d 49 --w 0.5 --seed 7 | zbound info -";

/// Options of `zbound generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Distribution of fields and couplings
    #[arg(long, value_parser = choices::parser::<Family>())]
    family: Family,
    /// Graph that carries the couplings
    #[arg(long, value_parser = choices::parser::<Graph>())]
    graph: Graph,
    /// Number of spins
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::whole)]
    d: usize,
    /// Strength of the couplings, for every family but gaussian
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::real)]
    w: Option<f64>,
    /// Seed
    #[arg(long, allow_negative_numbers = true, value_parser = numbers::seed)]
    seed: u64,
    /// File to write, in the format of its extension [default: native JSON on standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let w = match self.w {
            Some(w) => w,
            None if self.family.needs_strength() => {
                bail!("family {} needs the strength of its couplings: add --w W", self.family.name())
            }
            None => 0.0,
        };
        let spec = GenerateSpec { family: self.family, graph: self.graph, d: self.d, w, seed: self.seed };
        let format = match &self.out {
            Some(path) => format_of(path, "another extension")?,
            None => Format::Json,
        };
        let model = Model::from(generate(&spec)?);
        match &self.out {
            Some(path) => io::write(&model, path, format)?,
            None => {
                let mut text = Vec::new();
                io::write_to(&model, format, &mut text)?;
                output::print(&String::from_utf8(text).context("the model is not text")?)?;
            }
        }
        Ok(0)
    }
}
