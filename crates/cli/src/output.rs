//! Standard output is data, standard error is for people.

use anyhow::{Context as _, Error, Result, bail};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Writes `text` to standard output and waits until it is there.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("standard output")
}

/// Writes a value as one line of JSON to standard output.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Tells the user what was done.
pub(crate) fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "zbound: {message}");
}

/// Tells the user something that is not an error.
pub(crate) fn warn(message: &str) {
    // Nothing is left to do when even standard error is closed.
    let _ = writeln!(std::io::stderr(), "zbound: warning: {message}");
}

/// Prints an error on one line, and a hint when there is one.
pub(crate) fn complain(error: &Error) {
    let mut chain: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        // Messages that quote their source already must not repeat it.
        if chain.last().is_none_or(|last| !last.ends_with(&cause)) {
            chain.push(cause);
        }
    }
    let message = without_numbers_of_errors(&chain.join(": ").replace('\n', " "));
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "zbound: error: {message}");
    if let Some(hint) = hint(error) {
        let _ = writeln!(stderr, "hint: {hint}");
    }
}

/// Whether the reader of our output went away, which is its right.
pub(crate) fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let own = cause.downcast_ref::<zbound::Error>().and_then(|e| match e {
            zbound::Error::Io { source, .. } => Some(source),
            _ => None,
        });
        io.or(own).is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
    })
}

/// The message without `(os error 2)`: the words before it say the same.
fn without_numbers_of_errors(message: &str) -> String {
    let Some((before, after)) = message.split_once(" (os error ") else { return message.to_owned() };
    after.split_once(')').map_or_else(|| message.to_owned(), |(_, rest)| format!("{before}{rest}"))
}

/// Fails before the work when `path` could not be written after it, or would replace one of the `inputs`.
pub(crate) fn check_target<'a>(
    path: &Path,
    option: &str,
    mut inputs: impl Iterator<Item = &'a PathBuf>,
) -> Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let metadata = parent.metadata().map_err(|e| zbound::Error::io(parent, e));
    if !metadata.with_context(|| option.to_owned())?.is_dir() || path.is_dir() {
        bail!("{option} {}: not a file in an existing folder", path.display());
    }
    // A file that is not there yet is no input; standard input is no file.
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    match inputs.find(|input| input.canonicalize().is_ok_and(|file| file == target)) {
        Some(input) => bail!("{option} {}: would overwrite the input {}", path.display(), input.display()),
        None => Ok(()),
    }
}

fn hint(error: &Error) -> Option<&'static str> {
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<zbound::Error>())?;
    Some(match cause {
        zbound::Error::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            "check the path; `-` stands for standard input"
        }
        zbound::Error::Io { .. } => "check that the path exists, is a file, and that you may use it",
        zbound::Error::Features(_) => {
            "--features takes degree:K, first:N, all, edges, or a list such as '[[],[0],[1],[0,1]]'"
        }
        zbound::Error::Model(_) => "`zbound info` shows what a model holds",
        _ => return None,
    })
}
