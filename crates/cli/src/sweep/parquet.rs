//! Records as Apache Parquet: the columns of the CSV file, typed.

use anyhow::{Context as _, Result};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;
use zbound::io::write_atomic;
use zbound::sweep::{COLUMNS, Cell};

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Whole,
    Number,
}

fn kind(column: &str) -> Kind {
    match column {
        "d" | "draw" | "seed" | "n" | "k" | "max_iterations" | "iterations" => Kind::Whole,
        "grid" | "curve" | "family" | "graph" | "method" | "features" | "solver" | "rho" | "pairwise"
        | "status" | "certified" | "reason" | "model" | "version" | "key" => Kind::Text,
        _ => Kind::Number,
    }
}

/// Writes `rows`, whole or not at all.
pub(super) fn write(path: &Path, rows: &[Vec<Cell>]) -> Result<()> {
    let fields: String = COLUMNS
        .iter()
        .map(|column| match kind(column) {
            Kind::Text => format!("OPTIONAL BYTE_ARRAY {column} (UTF8);"),
            Kind::Whole => format!("OPTIONAL INT64 {column};"),
            Kind::Number => format!("OPTIONAL DOUBLE {column};"),
        })
        .collect();
    let schema = Arc::new(parse_message_type(&format!("message records {{ {fields} }}"))?);
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    for (k, column) in COLUMNS.iter().enumerate() {
        write_column(&mut group, kind(column), rows.iter().map(|row| &row[k]))?;
    }
    group.close()?;
    let bytes = writer.into_inner()?;
    write_atomic(path, |out| out.write_all(&bytes))?;
    Ok(())
}

fn write_column<'a>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    kind: Kind,
    cells: impl Iterator<Item = &'a Cell> + Clone,
) -> Result<()> {
    let levels: Vec<i16> = cells.clone().map(|cell| i16::from(*cell != Cell::Null)).collect();
    let mut column = group.next_column()?.context("the schema has fewer columns than the table")?;
    match kind {
        Kind::Text => {
            let values: Vec<ByteArray> =
                cells.filter(|c| **c != Cell::Null).map(|c| ByteArray::from(c.text().as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Whole => {
            let values: Vec<i64> =
                cells.filter_map(|c| if let Cell::Whole(v) = c { Some(*v as i64) } else { None }).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Kind::Number => {
            let values: Vec<f64> =
                cells.filter_map(|c| if let Cell::Number(v) = c { Some(*v) } else { None }).collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    column.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    #[test]
    fn tables_read_back_with_their_types_and_gaps() {
        let row = |value: Cell| -> Vec<Cell> {
            let cell = |column: &&str| match kind(column) {
                Kind::Text => Cell::Text("x".into()),
                Kind::Whole => Cell::Whole(u64::from(u32::MAX) + 1),
                Kind::Number => value.clone(),
            };
            COLUMNS.iter().map(cell).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.parquet");
        write(&path, &[row(Cell::Number(0.1)), row(Cell::Null)]).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|r| r.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 2);
        assert!(rows[0].contains("bound: 0.1") && rows[0].contains("seed: 4294967296"), "{}", rows[0]);
        assert!(rows[1].contains("bound: null"), "{}", rows[1]);
    }
}
