//! The commands and the story `zbound --help` tells.

use crate::commands::{
    bench, bound, completions, convert, exact, generate, info, kl, man, map, marginals, sample, scan, sweep,
    verify,
};
#[cfg(feature = "figures")]
use crate::commands::{plot, reproduce};
use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};
use std::time::Instant;

/// Exit code of errors: bad input, unreadable or unwritable files, bad options.
pub(crate) const EXIT_ERROR: u8 = 2;

/// Exit code when something requested is not certified, or a certificate does not hold.
pub(crate) const EXIT_INCOMPLETE: u8 = 1;

const STORY: &str = "\
Certified bounds on the log-partition function of Ising models and Markov random fields.

A model gives every joint state x of its variables the weight exp(f(x)/eps). zbound proves numbers
  lower <= eps log Z <= upper,   Z = sum over all states of exp(f(x)/eps),
and writes the proof down, so that another program can check it.";

const EXAMPLES: &str = "\
A first session:
  zbound generate --family gaussian --graph complete --d 12 --seed 1 --out model.json
  zbound info model.json                      what is in it
  zbound bound model.json                     the best bounds for its size
  zbound bound model.json --method all        every method side by side
  zbound bound model.uai --evidence model.uai.evid --json
  zbound bound model.json --method quantum --certificate proof.zbc
  zbound verify model.json proof.zbc          check the proof, as zbound-check does
  zbound map model.json                       the limit eps = 0: the largest f
  zbound marginals model.json                 proved intervals for every P(x_i = +1)
  zbound sample model.json --n 10             states drawn from the distribution
  zbound scan model.json --betas 0:2:21       brackets over inverse temperature
  zbound bound model.json --report page.html  the same answer as a page for a browser
  zbound convert spins.coo model.json         between formats; `-` reads or prints
  zbound reproduce comp_2 --out results       a figure of the paper, recomputed

Exit codes: 0 certified as asked, 1 something asked for is not certified, 2 error, 130 Ctrl-C, 143 SIGTERM \
(the best bound certified so far is still printed).";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "zbound", version, about = STORY, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Bound log Z from both sides, by one method or many
    Bound(bound::Args),
    /// Bound the largest f from above and find a good assignment: the limit eps = 0
    Map(map::Args),
    /// Prove intervals for the probabilities of single variables and pairs
    Marginals(marginals::Args),
    /// Draw states from the model's distribution
    Sample(sample::Args),
    /// Bound log Z over a range of temperatures
    Scan(scan::Args),
    /// Compute log Z and the marginals exactly, with a rigorous enclosure
    Exact(exact::Args),
    /// Bound a Kullback-Leibler divergence from below by moments
    Kl(kl::Args),
    /// Say what a model holds and what exact inference on it would cost
    Info(info::Args),
    /// Translate a model between file formats
    Convert(convert::Args),
    /// Draw a random model of the families in the literature
    Generate(generate::Args),
    /// Re-derive the bound that a certificate proves
    Verify(verify::Args),
    /// Run methods on a grid of random instances, on all cores, resumably
    Sweep(sweep::Args),
    /// Recompute the figures of the paper and check its claims
    #[cfg(feature = "figures")]
    Reproduce(reproduce::Args),
    /// Plot the records of a sweep
    #[cfg(feature = "figures")]
    Plot(plot::Args),
    /// Time every method on random models of growing size, on this machine
    Bench(bench::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print or write manual pages
    Man(man::Args),
}

impl Cli {
    /// The arguments of the process; what is wrong with them is printed and ends it.
    pub(crate) fn from_arguments() -> Self {
        Cli::try_parse().unwrap_or_else(|mut error| {
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested)
            {
                // No file is called like an option: the tip how to pass one would only hide the mistake.
                tips.retain(|tip| !tip.to_string().starts_with("to pass"));
                if !tips.is_empty() {
                    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
                }
            }
            error.exit()
        })
    }

    /// Runs the command in a process that began at `start`; `Ok` is the exit code.
    pub(crate) fn run(self, start: Instant) -> Result<u8> {
        match self.command {
            Command::Bound(args) => args.run(start),
            Command::Map(args) => args.run(start),
            Command::Marginals(args) => args.run(start),
            Command::Sample(args) => args.run(start),
            Command::Scan(args) => args.run(start),
            Command::Exact(args) => args.run(start),
            Command::Kl(args) => args.run(start),
            Command::Info(args) => args.run(start),
            Command::Convert(args) => args.run(),
            Command::Generate(args) => args.run(),
            Command::Verify(args) => args.run(),
            Command::Sweep(args) => args.run(),
            #[cfg(feature = "figures")]
            Command::Reproduce(args) => args.run(),
            #[cfg(feature = "figures")]
            Command::Plot(args) => args.run(),
            Command::Bench(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Man(args) => args.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
