//! From a path or bytes to a model: choice of format, evidence.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::text::Text;
use super::{Format, coo, dimod_json, evidence, fg, json, json_factors, qubo, rudy, uai};
use crate::error::{Error, Result};
use crate::model::Model;

/// How to read a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// The format; by default the file name decides.
    pub format: Option<Format>,
    /// Inverse temperature for formats that hold a minimised energy: `f = -beta E`. Default 1.
    pub beta: f64,
    /// A file of evidence, applied to the model of any format.
    pub evidence: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions { format: None, beta: 1.0, evidence: None }
    }
}

/// Reads a model from a file, or from standard input when `path` is `-`.
///
/// **Cost** linear in the size of the file (one sort of the edges apart); the file is held in
/// memory while it is read.
///
/// # Errors
/// [`Error::Io`] when a file cannot be read; [`Error::Setting`] when the format is neither given
/// nor known from the name, or `beta` is not a finite number above zero; [`Error::Parse`] with
/// file and line for anything wrong in a file.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Model> {
    let is_stdin = path == Path::new("-");
    let known = if is_stdin { None } else { Format::from_path(path) };
    let given = options.format.or(known);
    if given.is_none() && !is_stdin {
        return Err(unknown_format(path, "unknown extension"));
    }
    let bytes = if is_stdin {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| Error::io(path, e))?;
    let name = path.to_string_lossy();
    // Where the name says little, the text may say more.
    let is_open = options.format.is_none() && (is_stdin || path.extension().is_none());
    let shown = if is_open { Format::of_text(&Text::decode(&name, &bytes)?.text) } else { None };
    let Some(format) = shown.or(given) else {
        return Err(unknown_format(path, "the text does not show its format"));
    };
    let is_guess = is_open && shown.is_none();
    read_bytes(&name, &bytes, format, options).map_err(|error| match error {
        Error::Parse { path, line, message } if is_guess => {
            let message = format!(
                "{message}; if this is no {}, name its format with --format",
                crate::Choice::about(format)
            );
            Error::Parse { path, line, message }
        }
        other => other,
    })
}

fn unknown_format(path: &Path, why: &str) -> Error {
    let (path, names) = (path.display(), <Format as crate::Choice>::names());
    Error::Setting(format!("{path}: {why}; name the format with --format, one of {names}"))
}

/// Reads a model from memory; `name` is the file name in messages.
///
/// # Errors
/// As [`read`].
///
/// ```
/// use zbound::io::{Format, ReadOptions, read_bytes};
/// let cut = read_bytes("triangle", b"3 3\n1 2 1\n2 3 1\n1 3 1\n", Format::Rudy, &ReadOptions::default())?;
/// assert_eq!(cut.polynomial()?.value(&[1, 1, -1]), 2.0);
/// # Ok::<(), zbound::Error>(())
/// ```
pub fn read_bytes(name: &str, bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Model> {
    let beta = options.beta;
    if !(beta > 0.0 && beta.is_finite()) {
        return Err(Error::Setting(format!("beta = {beta}, expected a finite number above zero")));
    }
    let text = Text::decode(name, bytes)?;
    let is_dimod = matches!(format, Format::Json) && dimod_json::is_dimod(&text);
    let has_energy =
        matches!(format, Format::Coo | Format::DimodJson | Format::Qubo | Format::Bq) || is_dimod;
    if beta != 1.0 && !has_energy {
        return Err(Error::Setting(format!(
            "{name}: beta = {beta} applies to formats that hold an energy (COO, dimod, QUBO), not to this one; --eps is \
             the temperature of any model"
        )));
    }
    let parsed = match format {
        Format::Json if is_dimod => dimod_json::read(&text, beta),
        Format::Json if json_factors::is_factors(&text) => json_factors::read(&text),
        Format::Json => json::read(&text),
        Format::Uai => uai::read(&text),
        Format::LibDai => fg::read(&text),
        Format::Coo => coo::read(&text, beta),
        Format::DimodJson => dimod_json::read(&text, beta),
        Format::Rudy => rudy::read(&text),
        Format::Qubo => qubo::read(&text, beta),
        Format::Bq => qubo::read_bq(&text, beta),
    };
    let mut model = parsed.map_err(|error| with_doubt(error, format, &text))?;
    let Some(path) = &options.evidence else { return Ok(model) };
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let cardinalities: Vec<u32> = (0..model.variables()).map(|i| model.cardinality(i)).collect();
    let (pairs, warnings) = evidence::read_evidence(&path.to_string_lossy(), &bytes, &cardinalities)?;
    model.warnings.extend(warnings);
    model.with_states(&pairs)
}

/// Adds what the text looks like, when that is another format.
fn with_doubt(error: Error, format: Format, text: &Text<'_>) -> Error {
    let is_json = |f: Format| matches!(f, Format::Json | Format::DimodJson);
    match (error, Format::of_text(&text.text)) {
        (Error::Parse { path, line, message }, Some(seen))
            if seen != format && !(is_json(seen) && is_json(format)) =>
        {
            let (read, name) = (format.name(), seen.name());
            let message =
                format!("{message} (read as {read}, but it looks like {name}: try --format {name})");
            Error::Parse { path, line, message }
        }
        (error, _) => error,
    }
}
