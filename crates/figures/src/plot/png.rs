//! SVG to PNG, with a font that is part of the program.

use anyhow::{Context as _, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use std::sync::Arc;

/// Pixels of the PNG per unit of the SVG.
const SCALE: f32 = 2.0;

/// The picture at twice its nominal size.
pub(super) fn rasterise(svg: &str) -> Result<Vec<u8>> {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("the plot is not an SVG")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("the plot has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("the plot has no size")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("cannot encode the plot")
}
