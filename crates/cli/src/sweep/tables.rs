//! Records as tables, for other programs.

use anyhow::Result;
use std::path::Path;
use zbound::io::write_atomic;
use zbound::sweep::{COLUMNS, Cell};

/// Writes `records.csv` (and `records.parquet` in builds that have it) into `folder`.
pub(crate) fn write_tables(folder: &Path, rows: &[Vec<Cell>]) -> Result<()> {
    write_atomic(&folder.join("records.csv"), |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS)?;
        for row in rows {
            csv.write_record(row.iter().map(Cell::text))?;
        }
        csv.flush()
    })?;
    #[cfg(feature = "parquet")]
    super::parquet::write(&folder.join("records.parquet"), rows)?;
    Ok(())
}
