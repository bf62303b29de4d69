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
    #[error("{what} needs {}, above the limit of {}; {hint}", needed_size(*needed), size(*limit))]
    Memory {
        /// The object that does not fit.
        what: String,
        /// Estimate in bytes.
        needed: u64,
        /// The limit in force in bytes.
        limit: u64,
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
fn needed_size(bytes: u64) -> String {
    const ADDRESS_SPACE: u64 = 1 << 56;
    if bytes < ADDRESS_SPACE {
        format!("about {}", size(bytes))
    } else {
        "more memory than any machine has".into()
    }
}

/// Bytes in the largest unit that leaves a number of at least 1.
fn size(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) if bytes >> shift >= 100 => format!("{} {unit}", bytes >> shift),
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / f64::from(shift).exp2()),
        None => format!("{bytes} bytes"),
    }
}

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_units_that_fit() {
        let of = |needed, limit| {
            let hint = String::new();
            Error::Memory { what: "it".into(), needed, limit, hint }.to_string()
        };
        assert_eq!(of(3000, 1), "it needs about 2.9 KiB, above the limit of 1 bytes; ");
        assert_eq!(of(3 << 40, 8 << 30), "it needs about 3.0 TiB, above the limit of 8.0 GiB; ");
        assert!(of(u64::MAX, 1 << 30).contains("than any machine has"));
    }
}
