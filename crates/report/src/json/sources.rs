//! What sources beside the load answered, for machines.

use serde::Serialize;
use stend_analyse::findings::{SourceFinding, SourceValueFinding, Spread};
use stend_base::Say;
use stend_record::SourceWay;

/// A source that was asked while the run went on.
#[derive(Serialize)]
pub(super) struct SourceOut<'a> {
    name: &'a str,
    way: SourceWay,
    place: &'a str,
    every_ns: u64,
    asked: u32,
    /// Answers that were not there within the limit.
    late: u32,
    failed: u32,
    /// Why the first question failed.
    why: Option<&'a Say>,
    took_median_ns: Option<u64>,
    took_max_ns: Option<u64>,
    values: Vec<SourceValueOut<'a>>,
}

/// A value of a source.
#[derive(Serialize)]
struct SourceValueOut<'a> {
    name: &'a str,
    unit: &'a str,
    meaning: &'a str,
    /// It is the rate of a counter.
    counter: bool,
    /// Answers without a number for it.
    missing: u32,
    /// Over the measuring windows of all trials that count; `null`: no answer fell into one.
    measured: Option<SpreadOut>,
    cases: Vec<SourceCaseOut>,
}

/// A value during a case.
#[derive(Serialize)]
struct SourceCaseOut {
    /// Index of the case in the plan.
    case: u32,
    measured: SpreadOut,
}

/// Mean, least and most of so many values.
#[derive(Serialize)]
struct SpreadOut {
    mean: f64,
    least: f64,
    most: f64,
    n: u32,
}

pub(super) fn out(found: &SourceFinding) -> SourceOut<'_> {
    SourceOut {
        name: &found.name,
        way: found.way,
        place: &found.place,
        every_ns: found.every.0,
        asked: found.asked,
        late: found.late,
        failed: found.failed,
        why: found.why.as_ref(),
        took_median_ns: found.took.map(|(median, _)| median.0),
        took_max_ns: found.took.map(|(_, most)| most.0),
        values: found.values.iter().map(value).collect(),
    }
}

fn value(found: &SourceValueFinding) -> SourceValueOut<'_> {
    let case = |(case, found): &(u32, Spread)| SourceCaseOut { case: *case, measured: spread(found) };
    SourceValueOut {
        name: &found.name,
        unit: &found.unit,
        meaning: &found.meaning,
        counter: found.counter,
        missing: found.missing,
        measured: found.measured.as_ref().map(spread),
        cases: found.cases.iter().map(case).collect(),
    }
}

fn spread(found: &Spread) -> SpreadOut {
    SpreadOut { mean: found.mean, least: found.least, most: found.most, n: found.count }
}

#[cfg(test)]
mod tests {
    use crate::fixture;

    #[test]
    fn the_machine_form_of_sources_is_stable() {
        let document: serde_json::Value = serde_json::from_str(&crate::json(&fixture::watched_findings())).unwrap();
        expect_test::expect_file!["../../tests/golden/sources.txt"]
            .assert_eq(&crate::json::pretty(&document["sources"]));
        let without: serde_json::Value = serde_json::from_str(&crate::json(&fixture::findings())).unwrap();
        assert!(without.get("sources").is_none());
    }
}
