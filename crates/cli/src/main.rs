//! The command line of zbound.

mod cli;
mod commands;
mod decimal;
mod input;
mod output;
mod progress;
mod sweep;
mod table;
mod uai;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => ExitCode::from(code),
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            ExitCode::from(cli::EXIT_ERROR)
        }
    }
}
