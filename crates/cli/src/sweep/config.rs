//! The configuration of a sweep, from a file.

use anyhow::{Context as _, Result};
use std::path::Path;

/// A sweep and how to draw it.
#[cfg(feature = "figures")]
pub(crate) type Config = zbound_figures::spec::Config;

/// A sweep; what its file says about drawing it is read past.
#[cfg(not(feature = "figures"))]
pub(crate) type Config = zbound::sweep::Config;

/// Reads a configuration file.
pub(crate) fn read_config(path: &Path) -> Result<Config> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text).with_context(|| path.display().to_string())
}

fn parse(text: &str) -> Result<Config> {
    #[cfg(feature = "figures")]
    return zbound_figures::spec::parse(text);
    #[cfg(not(feature = "figures"))]
    return Ok(toml::from_str(text)?);
}
