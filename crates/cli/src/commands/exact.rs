//! `zbound exact`: the value itself.

use super::bound::{Files, OutputArgs, answer};
use crate::input::ModelArgs;
use crate::limits::LimitArgs;
use crate::numbers;
use crate::supervise::Run;
use anyhow::Result;
use std::time::Instant;
use zbound::Method;
use zbound::run::{BoundRequest, MethodChoice};

const EXAMPLES: &str = "\
Enumerates all states, or eliminates variables along a good order, whichever is cheaper; `zbound info` \
tells the cost beforehand. lower and upper enclose log Z rigorously.

Examples:
  zbound exact model.json
  zbound exact grid.uai --evidence grid.uai.evid --output-format uai";

/// Options of `zbound exact`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// Temperature: eps log Z of exp(f/eps); 1e-12 to 1e12
    #[arg(long, alias = "temperature", value_name = "E", default_value_t = 1.0, allow_negative_numbers = true, value_parser = numbers::real)]
    eps: f64,
    #[command(flatten)]
    limits: LimitArgs,
    /// Also report E[x_i x_j] (JSON)
    #[arg(long)]
    pair_moments: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        let run = Run::new(start, &self.limits)?;
        let mut request = BoundRequest::default();
        request.methods = MethodChoice::List(vec![Method::Exact]);
        request.eps = self.eps;
        request.want_pairwise = self.pair_moments;
        request.path = Some(self.model.name());
        request.settings = run.settings.clone();
        request.validate()?;
        answer(&run, self.model, request, &self.output, Files::default())
    }
}
