//! The command line of zbound.

#![cfg_attr(
    not(feature = "figures"),
    allow(dead_code, reason = "figures read what no other part of the command does")
)]

mod choices;
mod cli;
mod commands;
mod decimal;
mod input;
mod limits;
mod numbers;
mod output;
mod progress;
#[cfg(feature = "figures")]
mod report;
mod signals;
mod supervise;
mod sweep;
mod table;
mod uai;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    // Time limits count from here, reading included.
    let start = Instant::now();
    match cli::Cli::from_arguments().run(start) {
        Ok(code) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(cli::EXIT_ERROR)
        }
    }
}
