//! The table of trials as a Parquet file: the columns of `csv-trials`, each with its type, nulls where something is not known.

use crate::export::{COLUMNS, Cell, Column, TrialsTable};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;
use stend_analyse::by_trial::TrialFigures;

/// The bytes of the file. The same run gives the same bytes: nothing in them is a clock's.
pub fn trials_parquet(run: &str, rows: &[TrialFigures]) -> Result<Vec<u8>> {
    let table = TrialsTable::new(run, rows);
    let told = KeyValue::new("stend.table".to_string(), "trials".to_string());
    let properties = WriterProperties::builder()
        .set_created_by(format!("stend version {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![told]));
    let mut file = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    let mut at = 0;
    while let Some(column) = group.next_column()? {
        write(column, &table, at)?;
        at += 1;
    }
    group.close()?;
    file.into_inner()
}

fn schema() -> Result<TypePtr> {
    let fields: Result<Vec<TypePtr>> =
        COLUMNS.iter().map(|(name, column)| field(name, *column).map(Arc::new)).collect();
    Ok(Arc::new(Type::group_type_builder("trials").with_fields(fields?).build()?))
}

fn field(name: &str, column: Column) -> Result<Type> {
    let (physical, logical, repetition) = match column {
        Column::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        Column::Whole => (Physical::INT64, Some(LogicalType::integer(64, false)), Repetition::OPTIONAL),
        Column::Real => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        Column::Truth => (Physical::BOOLEAN, None, Repetition::REQUIRED),
    };
    Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition).build()
}

fn write(mut to: SerializedColumnWriter<'_>, table: &TrialsTable, at: usize) -> Result<()> {
    let cells = || table.rows.iter().map(|row| &row[at]);
    // A level of 1 is a value, one of 0 a null.
    let known = |cell: &Cell| !matches!(cell, Cell::Whole(None) | Cell::Real(None));
    let levels: Vec<i16> = cells().map(|cell| i16::from(known(cell))).collect();
    match COLUMNS[at].1 {
        Column::Text => {
            let texts = cells().filter_map(|cell| match cell {
                Cell::Text(text) => Some(ByteArray::from(text.as_str())),
                _ => None,
            });
            to.typed::<ByteArrayType>().write_batch(&texts.collect::<Vec<_>>(), None, None)?;
        }
        Column::Whole => {
            // The bits stay: the logical type says that they have no sign.
            let numbers = cells().filter_map(|cell| match cell {
                Cell::Whole(number) => number.map(u64::cast_signed),
                _ => None,
            });
            to.typed::<Int64Type>().write_batch(&numbers.collect::<Vec<_>>(), Some(&levels), None)?;
        }
        Column::Real => {
            let numbers = cells().filter_map(|cell| match cell {
                Cell::Real(number) => *number,
                _ => None,
            });
            to.typed::<DoubleType>().write_batch(&numbers.collect::<Vec<_>>(), Some(&levels), None)?;
        }
        Column::Truth => {
            let truths = cells().filter_map(|cell| match cell {
                Cell::Truth(truth) => Some(*truth),
                _ => None,
            });
            to.typed::<BoolType>().write_batch(&truths.collect::<Vec<_>>(), None, None)?;
        }
    }
    to.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::tests::figures;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::io::Write as _;

    /// Names and values of the rows of a file, as another program reads them.
    fn read(bytes: Vec<u8>) -> Vec<Vec<(String, Field)>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        let rows = file.get_row_iter(None).unwrap();
        let pairs = |row: parquet::record::Row| row.get_column_iter().map(|(n, f)| (n.clone(), f.clone())).collect();
        rows.map(|row| pairs(row.unwrap())).collect()
    }

    #[test]
    fn rows_come_back_with_types_and_nulls_and_bytes_are_the_same_each_time() {
        let trials = [figures("a, \"b\"\nc"), figures("других слов")];
        let bytes = trials_parquet("R-1", &trials).unwrap();
        assert_eq!(bytes, trials_parquet("R-1", &trials).unwrap());
        let rows = read(bytes);
        assert_eq!(rows.len(), 2);
        let names: Vec<&str> = rows[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, COLUMNS.map(|(name, _)| name));
        let cell = |row: usize, name: &str| rows[row].iter().find(|(n, _)| n == name).unwrap().1.clone();
        assert_eq!(cell(0, "label"), Field::Str("a, \"b\"\nc".into()));
        assert_eq!(cell(1, "label"), Field::Str("других слов".into()));
        assert_eq!(cell(0, "counts"), Field::Bool(true));
        assert_eq!(cell(0, "bytes"), Field::ULong(4_096_000));
        assert_eq!(cell(0, "iops"), Field::Double(1000.0 / 3.0));
        assert_eq!((cell(0, "latency_ns_p50"), cell(0, "latency_ns_p99")), (Field::ULong(2000), Field::Null));
    }

    #[test]
    fn a_run_without_trials_is_a_table_without_rows() {
        assert!(read(trials_parquet("R-1", &[]).unwrap()).is_empty());
    }
}
