//! `zbound man`: manual pages, made from the same text as `--help`.

use crate::cli::Cli;
use crate::output;
use anyhow::{Context as _, Result, bail};
use clap::{Command, CommandFactory as _};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  zbound man | man -l -                       the page of the program
  zbound man bound | man -l -                 the page of one command
  zbound man --out ~/.local/share/man/man1    every page: then `man zbound-bound` works";

/// Options of `zbound man`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Command whose page to print [default: the program itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,
    /// Folder to write every page to, as zbound.1, zbound-bound.1, ...; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    /// Runs the command; `Ok` is the exit code.
    pub(crate) fn run(self) -> Result<u8> {
        let program = program();
        if let Some(folder) = &self.out {
            write_all(&program, folder)?;
            return Ok(0);
        }
        let page = match &self.command {
            None => page(&program)?,
            Some(name) => match program.find_subcommand(name) {
                Some(command) => page(command)?,
                None => {
                    let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                    bail!("no command `{name}`; there are {}", names.join(", "));
                }
            },
        };
        output::print(&page)?;
        Ok(0)
    }
}

/// The program, with every command under the name of its page.
fn program() -> Command {
    let program = Cli::command().disable_help_subcommand(true);
    // The page's line NAME is one line.
    let story = program.get_about().map(ToString::to_string).unwrap_or_default();
    let name = story.lines().next().unwrap_or_default().to_owned();
    let mut program = program.about(name).long_about(story);
    program.build();
    let names: Vec<String> = program.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.into_iter().fold(program, |program, name| {
        let (shown, version) = (format!("zbound-{name}"), env!("CARGO_PKG_VERSION"));
        program.mut_subcommand(name, |command| command.display_name(shown).version(version))
    })
}

fn page(command: &Command) -> Result<String> {
    let mut text = Vec::new();
    let name = command.get_display_name().unwrap_or("zbound").to_owned();
    let page = clap_mangen::Man::new(command.clone()).title(name).manual("zbound");
    page.render(&mut text).context("the manual page")?;
    String::from_utf8(text).context("the manual page")
}

fn write_all(program: &Command, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| zbound::Error::io(folder, e))?;
    for command in std::iter::once(program).chain(program.get_subcommands()) {
        let name = command.get_display_name().unwrap_or("zbound");
        let text = page(command)?;
        let path = folder.join(format!("{name}.1"));
        zbound::io::write_atomic(&path, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}
