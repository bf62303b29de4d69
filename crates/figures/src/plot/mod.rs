//! Line plots with bands, as SVG and PNG. No other module knows how a plot is drawn.

mod chart;
mod layout;
mod png;
mod scale;
mod svg;

pub use chart::{Axes, Chart, Mark, Panel, Point, Series, color};
pub(crate) use scale::Scale;
pub use svg::render;
pub(crate) use svg::{escape, number};

use anyhow::{Result, bail};
use std::path::Path;
use zbound::io::write_atomic;

/// Writes a chart in the format of the extension: .svg or .png.
///
/// # Errors
/// Another extension, a chart that cannot be drawn, a file that cannot be written.
pub fn write(chart: &Chart, path: &Path) -> Result<()> {
    let svg = render(chart);
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("svg") => svg.into_bytes(),
        Some("png") => png::rasterise(&svg)?,
        _ => bail!("{}: expected a name ending in .svg or .png", path.display()),
    };
    write_atomic(path, |out| out.write_all(&bytes))?;
    Ok(())
}
