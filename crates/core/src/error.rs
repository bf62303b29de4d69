//! Everything that can go wrong with input: one enum, each message says what to do.

use std::path::PathBuf;

/// Bad input or I/O. A solver that stops early is *not* an error: see [`crate::StopReason`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model that cannot be built: the message names the offending entry.
    #[error("invalid model: {0}")]
    Model(String),
    /// A file that cannot be read as a model.
    #[error("{path}:{line}: {message}")]
    Parse {
        /// The file as the user named it (`-` for standard input).
        path: String,
        /// Line of the offending token, 1-based.
        line: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// A file that could not be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A setting outside its legal range: the message names it and the range.
    #[error("invalid setting: {0}")]
    Setting(String),
    /// A feature set that is malformed or cannot represent the model.
    #[error("invalid features: {0}")]
    Features(String),
    /// A method that does not apply to this model; the reason goes into the result record.
    #[error("not applicable: {0}")]
    NotApplicable(String),
    /// The job needs more memory than allowed.
    #[error("{what} needs {}, above the limit of {limit_mib} MiB; {hint}", size(*needed_mib))]
    Memory {
        /// The object that does not fit.
        what: String,
        /// Estimate in MiB.
        needed_mib: u64,
        /// The limit in force in MiB.
        limit_mib: u64,
        /// What the user can do.
        hint: String,
    },
    /// An exact computation that was stopped: it has no partial answer to give.
    #[error("stopped before the exact answer was known ({})", .0.name())]
    Interrupted(crate::solution::StopReason),
    /// A certificate that does not prove what it claims.
    #[error("certificate rejected: {0}")]
    Certificate(String),
}

impl Error {
    /// Attaches a path to an [`std::io::Error`].
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { path: path.into(), source }
    }

    /// A parse error at `line` of `path`.
    pub fn parse(path: &str, line: usize, message: impl Into<String>) -> Self {
        Error::Parse { path: path.to_owned(), line, message: message.into() }
    }
}

/// An amount of memory that can be believed: estimates beyond the address space saturate and say nothing.
fn size(mib: u64) -> String {
    const ADDRESS_SPACE_MIB: u64 = 1 << 36;
    match mib < ADDRESS_SPACE_MIB {
        true => format!("about {mib} MiB"),
        false => "more memory than any machine has".into(),
    }
}

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
