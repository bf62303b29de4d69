//! From [`zbound::Error`] to the exception tree of `zbound.errors`.

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use zbound::Error;

/// The exception for `error`; an I/O error is the `OSError` that `open` would raise.
pub(crate) fn to_py(py: Python<'_>, error: Error) -> PyErr {
    let message = in_python_terms(&error.to_string());
    let name = match error {
        Error::Io { path, source } => {
            let text = source.to_string();
            return match source.raw_os_error() {
                Some(code) => PyOSError::new_err((code, text, path.display().to_string())),
                None => PyOSError::new_err(message),
            };
        }
        Error::Model(_) => "ModelError",
        Error::Parse { .. } => "ParseError",
        Error::Features(_) => "FeaturesError",
        Error::Setting(_) => "SettingError",
        Error::NotApplicable(_) => "NotApplicableError",
        Error::Memory { .. } => "MemoryLimitError",
        Error::Interrupted(_) => "StoppedError",
        Error::Certificate(_) => "CertificateError",
        _ => "ZboundError",
    };
    named(py, name, message)
}

/// The exception for a panic: a bug of this library, reported as one.
pub(crate) fn panicked(py: Python<'_>, payload: &(dyn std::any::Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    named(py, "InternalError", format!("{text}; this is a bug in zbound, please report it"))
}

/// Class `name` of `zbound.errors` with `message`.
pub(crate) fn named(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py.import("zbound.errors").and_then(|m| m.getattr(name));
    match class.map(|c| c.cast_into::<PyType>()) {
        Ok(Ok(class)) => PyErr::from_type(class, message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// The library speaks to the command line: options become keyword arguments.
pub(crate) fn in_python_terms(message: &str) -> String {
    message.replace("--method exact", "method=\"exact\"").replace("--format", "format=")
}
