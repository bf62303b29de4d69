//! `zbound completions`: scripts for shells.

use crate::cli::Cli;
use crate::output;
use anyhow::Result;
use clap::CommandFactory as _;

const EXAMPLES: &str = "\
Examples:
  zbound completions bash > ~/.local/share/bash-completion/completions/zbound
  zbound completions zsh > ~/.zfunc/_zbound       with `fpath+=~/.zfunc` before compinit in ~/.zshrc
  zbound completions fish > ~/.config/fish/completions/zbound.fish";

/// Options of `zbound completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: clap_complete::Shell,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "zbound", &mut script);
        output::print(&String::from_utf8(script)?)?;
        Ok(0)
    }
}
