//! A run for other programs: all of it as JSON, or the figures of its trials as CSV. Numbers are in base units that
//! their names have, with a point for decimals, whatever the language.

use crate::figures::{known, largest, quantile_name};
use crate::markup::visible;
use serde::Serialize;
use std::io::{Result, Write};
use stend_analyse::by_trial::TrialFigures;
use stend_analyse::findings::OpFinding;
use stend_base::Share;
use stend_record::{RunRecord, TrialStatus};
use stend_spec::workload::Op;

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA_VERSION: u32 = 1;

/// How to read a histogram, for readers who have the file without its documentation.
const HISTOGRAM: &str = "A latency histogram is {buckets: [[gap, count], ...], sum_ns, min_ns, max_ns}; only used buckets \
are listed, gap is the distance from the index of the one before (from 0 for the first). Buckets 0 to 255 hold one ns each; \
above, each power of two has 128 equal buckets: index i >= 256 holds values of \
(128 + i % 128) * 2^(i / 128 - 1) ns up to the next bucket. Histograms are merged by adding counts bucket by bucket.";

/// Writes everything that a run file holds as one JSON object, with intervals and mergeable histograms.
pub fn record_json(run: &RunRecord, to: &mut dyn Write) -> Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        schema_version: u32,
        histograms: &'static str,
        record: &'a RunRecord,
    }
    let document =
        Document { schema: "stend-record", schema_version: SCHEMA_VERSION, histograms: HISTOGRAM, record: run };
    serde_json::to_writer(&mut *to, &document)?;
    to.write_all(b"\n")
}

/// Columns of the table of trials: one row per trial, stream and operation.
///
/// A percentile is unknown where the trial has too few I/Os for it, or where it reaches I/Os whose end was not seen (`censored` is
/// then above 0). It is also unknown for an imported trial whose jobs printed one each; the last column has the smallest and the
/// largest of these. Percentiles of several trials must not be averaged.
pub(crate) const COLUMNS: [&str; 23] = [
    "run",
    "trial",
    "block",
    "case",
    "label",
    "status",
    "counts",
    "window_ns",
    "stream",
    "operation",
    "ops",
    "bytes",
    "errors",
    "iops",
    "throughput_bytes_per_s",
    "latency_count",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_p99_9",
    "latency_ns_max",
    "censored",
    "latency_ns_printed_ranges",
];

/// Writes the table of trials as CSV (RFC 4180, UTF-8, lines end with a line feed); what is not known is empty. Where rows of single load
/// hosts are among them the last column has the host, and is empty in those of all.
pub fn trials_csv(run: &str, rows: &[TrialFigures], to: &mut dyn Write) -> Result<()> {
    let several = rows.iter().any(|row| row.host.is_some());
    writeln!(to, "{}{}", COLUMNS.join(","), if several { ",host" } else { "" })?;
    for row in rows {
        let host = several.then(|| format!(",{}", quoted(row.host.as_deref().unwrap_or_default())));
        writeln!(to, "{}{}", fields(run, row).join(","), host.unwrap_or_default())?;
    }
    Ok(())
}

/// A row; a field is empty where the value is unknown.
fn fields(run: &str, row: &TrialFigures) -> [String; COLUMNS.len()] {
    let found = &row.figures;
    [
        quoted(run),
        row.trial.to_string(),
        row.block.to_string(),
        row.case.to_string(),
        quoted(&row.label),
        status(row.status).to_string(),
        row.counts.to_string(),
        row.window.0.to_string(),
        found.stream.to_string(),
        operation(found.op).to_string(),
        row.ops.to_string(),
        row.bytes.to_string(),
        row.errors.to_string(),
        found.rates.iops.value.to_string(),
        found.rates.throughput.value.to_string(),
        found.count.to_string(),
        or_empty(known(found, found.latency_mean_ns)),
        quantile(found, Share(0.5)),
        quantile(found, Share(0.99)),
        quantile(found, Share(0.999)),
        or_empty(largest(found).map(|max| max.0)),
        found.censored.to_string(),
        quoted(&ranges(found)),
    ]
}

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn quantile(found: &OpFinding, q: Share) -> String {
    let found = found.quantiles.iter().find(|quantile| quantile.q == q);
    or_empty(found.and_then(|quantile| quantile.value.single()).map(|value| value.0))
}

/// `p99=700..900`: what the jobs of an imported trial printed each for itself.
fn ranges(found: &OpFinding) -> String {
    let ranges = found.quantiles.iter().filter_map(|quantile| {
        let (least, most) = quantile.value.range()?;
        Some(format!("{}={}..{}", quantile_name(quantile.q).en, least.0, most.0))
    });
    ranges.collect::<Vec<_>>().join(" ")
}

fn status(status: TrialStatus) -> &'static str {
    match status {
        TrialStatus::Complete => "complete",
        TrialStatus::Interrupted => "interrupted",
        TrialStatus::Failed => "failed",
        TrialStatus::Stalled => "stalled",
        TrialStatus::Mismatch => "mismatch",
    }
}

pub(crate) fn operation(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Discard => "discard",
        Op::WriteZeroes => "write_zeroes",
        Op::Sync => "sync",
    }
}

/// Text as a field of a table for programs: in quotes where it would otherwise end the field or the line. What could steer a terminal is
/// replaced as everywhere.
pub(crate) fn quoted(text: &str) -> String {
    between(text.chars().map(visible).collect(), ',')
}

/// The same in a table for spreadsheets, whose fields are separated by this. They take what begins like this for a formula, also in quotes:
/// an apostrophe before it has them show it as it is.
pub(crate) fn guarded(text: &str, separator: char) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    between(formula.then_some('\'').into_iter().chain(text.chars().map(visible)).collect(), separator)
}

fn between(field: String, separator: char) -> String {
    match field.contains([separator, '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use stend_analyse::findings::{Basis, Estimate, Quantile, QuantileValue, Rates};
    use stend_base::Nanos;

    /// A trial that stalled: one percentile is known.
    fn figures(label: &str) -> TrialFigures {
        let estimate = |value| Estimate { value, interval: None, basis: Basis::TooFew { n: 1 } };
        let quantile = |q, value| Quantile { q: Share(q), value, interval: None };
        TrialFigures {
            host: None,
            trial: 3,
            block: 1,
            case: 0,
            label: label.into(),
            status: TrialStatus::Stalled,
            counts: true,
            window: Nanos::secs(3),
            ops: 1000,
            bytes: 4_096_000,
            errors: 0,
            figures: OpFinding {
                stream: 0,
                op: Op::Write,
                rates: Rates { iops: estimate(1000.0 / 3.0), throughput: estimate(4_096_000.0 / 3.0) },
                count: 1001,
                latency_mean_ns: 2500.5,
                quantiles: vec![
                    quantile(0.5, QuantileValue::At(Nanos(2000))),
                    quantile(0.99, QuantileValue::Above(Nanos::secs(1))),
                    quantile(0.999, QuantileValue::NotEnough { have: 1001, need: 3688 }),
                ],
                latency_max: Nanos::secs(1),
                censored: 1,
                service: None,
            },
        }
    }

    #[test]
    fn a_field_is_no_formula_and_steers_no_terminal() {
        for (text, field) in [
            ("=1+1", "'=1+1"),
            ("+7", "'+7"),
            ("-x", "'-x"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("=a,b", "\"'=a,b\""),
            ("=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""),
            ("\u{1b}[2Ja", "\u{fffd}[2Ja"),
            ("a=b", "a=b"),
            ("4 KiB", "4 KiB"),
        ] {
            assert_eq!(guarded(text, ','), field);
            assert_eq!(quoted(text), field.replacen('\'', "", 1), "names for programs stay as they are");
        }
        assert_eq!((guarded("a;b", ';'), guarded("a,b", ';')), ("\"a;b\"".into(), "a,b".into()));
    }

    #[test]
    fn a_line_has_every_column_points_for_decimals_and_quotes_where_they_are_needed() {
        let mut out = Vec::new();
        trials_csv("R-1", &[figures("a, \"b\"\nc")], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (head, line) = text.split_once('\n').unwrap();
        assert_eq!(head.split(',').count(), 23);
        assert_eq!(
            line,
            "R-1,3,1,0,\"a, \"\"b\"\"\nc\",stalled,true,3000000000,0,write,1000,4096000,0,333.3333333333333,\
             1365333.3333333333,1001,2500.5,2000,,,1000000000,1,\n"
        );
    }

    #[test]
    fn of_several_load_hosts_each_has_a_row_beside_that_of_all() {
        let mut out = Vec::new();
        let of_host = TrialFigures { host: Some("load1".into()), ..figures("a") };
        trials_csv("R-1", &[figures("a"), of_host], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let ends: Vec<_> = text.lines().map(|line| line.rsplit_once(',').unwrap().1).collect();
        assert_eq!(ends, ["host", "", "load1"]);
        assert!(text.lines().all(|line| line.split(',').count() == 24));
    }

    #[test]
    fn of_an_imported_trial_what_was_not_told_is_empty_and_what_was_printed_apart_is_a_range() {
        let line = |change: &dyn Fn(&mut OpFinding)| {
            let (mut row, mut out) = (figures("a"), Vec::new());
            change(&mut row.figures);
            trials_csv("R-1", &[row], &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            text.lines().nth(1).unwrap().split(',').skip(15).collect::<Vec<_>>().join(",")
        };
        let printed = |range: Option<(u64, u64)>| QuantileValue::Printed(range.map(|(a, b)| (Nanos(a), Nanos(b))));
        let no_latency = line(&|op| {
            (op.count, op.latency_mean_ns, op.latency_max, op.censored) = (0, 0.0, Nanos(0), 0);
            op.quantiles.iter_mut().for_each(|quantile| quantile.value = printed(None));
        });
        assert_eq!(no_latency, "0,,,,,,0,");
        let ranges = line(&|op| {
            (op.latency_max, op.censored) = (Nanos(0), 0);
            for (quantile, range) in op.quantiles.iter_mut().zip([(5, 5), (700, 900), (800, 1000)]) {
                quantile.value = printed(Some(range));
            }
        });
        assert_eq!(ranges, "1001,2500.5,5,,,,0,p99=700..900 p99.9=800..1000");
    }

    #[test]
    fn the_record_is_whole_and_says_how_to_read_it() {
        let run = fixture::run();
        let mut out = Vec::new();
        record_json(&run, &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&value["schema"], &value["schema_version"]), (&"stend-record".into(), &1.into()));
        assert!(value["histograms"].as_str().unwrap().contains("gap"));
        assert_eq!(value["record"], serde_json::to_value(&run).unwrap());
        assert_eq!(value["record"]["trials"].as_array().map(Vec::len), Some(run.trials.len()));
    }

    #[test]
    fn the_machine_form_of_a_record_is_stable() {
        let mut run = fixture::run();
        run.trials.truncate(1);
        let mut out = Vec::new();
        record_json(&run, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        expect_test::expect_file!["../tests/golden/record.json"].assert_eq(&crate::json::pretty(&value));
    }

    #[test]
    fn buckets_are_where_the_text_in_the_file_says() {
        for index in [256usize, 300, 1000, 5000, 7423] {
            let lower = (128 + index as u64 % 128) << (index / 128 - 1);
            assert_eq!(stend_base::histogram::lower_edge(index), lower, "bucket {index}");
        }
        assert_eq!(stend_base::histogram::upper_edge(255), 255);
    }
}
