//! What the fuzz targets share.

use zbound::io::{Format, ReadOptions, read_bytes, write_to};

/// Reads `data`; a model that was accepted can be evaluated, and survives being written and read again.
pub fn read_model(data: &[u8], format: Format) {
    let Ok(model) = read_bytes("fuzz", data, format, &ReadOptions::default()) else { return };
    let (d, ones) = (model.d(), vec![1i8; model.d()]);
    let polynomial = model.polynomial();
    if let Ok(f) = &polynomial {
        let _ = f.value(&ones);
    }
    let _ = model.factors().map(|tables| tables.value(&ones));
    let mut written = Vec::new();
    if write_to(&model, format, &mut written).is_ok() {
        let again = read_bytes("again", &written, format, &ReadOptions::default());
        let again = again.unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&written)));
        // An unused variable leaves no trace in a list of entries.
        assert!(again.d() <= d || format == Format::DimodJson, "{} spins became {}", d, again.d());
    }
}
