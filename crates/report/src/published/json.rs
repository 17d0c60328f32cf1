//! A run beside a published table, for machines.

use super::{interval, word};
use serde::Serialize;
use stend_analyse::comparison_with_published::{PublishedComparison, PublishedRow};
use stend_analyse::findings::CheckId;
use stend_base::Say;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    schema_version: u32,
    run: &'a str,
    file: &'a str,
    /// Conditions of the run: key and value.
    ours: Vec<(&'a str, &'a Say)>,
    /// What the table says of its own.
    theirs: &'a [String],
    cases: Vec<CaseOut<'a>>,
    /// Cases without a number in the table, and why.
    unmatched: Vec<Unmatched<'a>>,
    /// Numbers of the table that belong to no case.
    left: usize,
    label: Say,
}

#[derive(Serialize)]
struct CaseOut<'a> {
    label: &'a str,
    workload: &'a Say,
    numbers: Vec<NumberOut<'a>>,
}

#[derive(Serialize)]
struct NumberOut<'a> {
    /// Line of the table's file.
    row: u32,
    layout: &'a str,
    test: &'a str,
    printed: &'a str,
    quantity: &'static str,
    unit: &'static str,
    theirs: f64,
    ours: Option<f64>,
    ours_interval: Option<[f64; 2]>,
    /// Ours over theirs.
    ratio: Option<f64>,
    differences: &'a [Say],
    /// Checks of the audit that doubt the number.
    doubts: Vec<&'a str>,
}

#[derive(Serialize)]
struct Unmatched<'a> {
    label: &'a str,
    why: &'a Say,
}

/// A run beside a published table as JSON, indented, with a line feed at the end.
pub fn published_json(comparison: &PublishedComparison) -> String {
    let cases = comparison.cases.iter().map(|found| CaseOut {
        label: &found.label,
        workload: &found.workload,
        numbers: found.rows.iter().map(number).collect(),
    });
    crate::json::pretty(&Document {
        schema: "stend-beside",
        schema_version: SCHEMA_VERSION,
        run: &comparison.run,
        file: &comparison.file,
        ours: comparison.ours.iter().map(|condition| (condition.key.as_str(), &condition.value)).collect(),
        theirs: &comparison.theirs,
        cases: cases.collect(),
        unmatched: comparison.unmatched.iter().map(|(label, why)| Unmatched { label, why }).collect(),
        left: comparison.left,
        label: comparison.label(),
    })
}

fn number(row: &PublishedRow) -> NumberOut<'_> {
    let (quantity, unit) = word(row.quantity);
    NumberOut {
        row: row.row,
        layout: &row.layout,
        test: &row.test,
        printed: &row.printed,
        quantity,
        unit,
        theirs: row.theirs,
        ours: row.ours.as_ref().map(|estimate| estimate.value),
        ours_interval: row.ours.as_ref().and_then(interval),
        ratio: row.ratio(),
        differences: &row.differences,
        doubts: CheckId::codes(&row.doubts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_document_is_stable() {
        expect_file!["../../tests/golden/beside.json"]
            .assert_eq(&published_json(&crate::fixture::published::published()));
    }
}
