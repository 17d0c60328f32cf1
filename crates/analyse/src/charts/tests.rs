//! Chart documents of small runs: what is drawn, where it ends, and what is left out.

use super::*;
use crate::analyse;
use crate::fixture::{case, run, run_of};
use expect_test::expect_file;
use stend_base::{Bytes, Lang};
use stend_record::observed::Phase;
use stend_record::{Event, EventKind, RunRecord, TrialStatus};
use stend_spec::suite::Fill;
use stend_spec::workload::Sync;

/// The charts of the only case of a record.
fn charts(record: &RunRecord) -> Vec<Chart> {
    analyse(record).unwrap().cases.remove(0).charts
}

fn chart<'a>(charts: &'a [Chart], id: &str) -> &'a Chart {
    charts.iter().find(|c| c.id == id).unwrap()
}

/// A chart as an outline: axes, and for each line its ends.
fn outline(chart: &Chart) -> String {
    let axis = |a: &Axis| format!("{} [{:.4} … {:.4}] {:?} {:?}", a.label.en, a.from, a.to, a.scale, a.unit);
    let mut out = format!("{}: {} | {}\n", chart.id, chart.title.en, chart.title.ru);
    out += &format!("  {}\n  {}\n  x {}\n", chart.summary.en, chart.summary.ru, axis(&chart.x));
    for pane in &chart.panes {
        out += &format!("  y {}\n", axis(&pane.y));
        if let Some(field) = &pane.field {
            let (columns, rows, sum) = (field.columns.len(), field.rows.len(), field.margin.iter().sum::<f64>());
            out += &format!("    {columns} × {rows} cells, {sum} in all, tints from {:?}\n", field.steps);
        }
        for series in &pane.series {
            let known = series.points.iter().filter(|p| p.y.is_some()).count();
            let gaps = series.points.len() - known;
            let (first, last) = (series.points.first(), series.points.last());
            let end =
                |p: Option<&Point>| p.map_or(String::new(), |p| format!("{:.4}: {:.0}", p.x, p.y.unwrap_or(-1.0)));
            let dots = if series.dots { ", dots" } else { "" };
            out +=
                &format!("    {} ({known} points, {gaps} gaps{dots}) {} … {}\n", series.name.en, end(first), end(last));
        }
    }
    for band in &chart.bands {
        out += &format!("  band {} [{:.1} … {:.1}]\n", band.label.en, band.from, band.to);
    }
    out
}

#[test]
fn the_charts_of_a_small_run_are_those_of_the_golden_file() {
    let cases = vec![case("mix", 70, 32, Sync::None), case("durable-write", 0, 1, Sync::Fdatasync(1))];
    let mut record = run_of(cases).six_blocks(&[84_200.0, 1_234.0]).record();
    for (at, phase) in [(99, Phase::Preflight), (100, Phase::Measure), (140, Phase::CleanUp)] {
        record.events.push(Event::new(Nanos::secs(at), EventKind::Phase(phase)));
    }
    let findings = analyse(&record).unwrap();
    let all = findings.cases.iter().flat_map(|c| &c.charts).chain(&findings.across).chain(&findings.charts);
    expect_file!["../../tests/golden/charts.txt"].assert_eq(&all.map(outline).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_stall_is_zero_and_the_time_between_trials_is_a_gap() {
    let stall = |i: u32| if (5..10).contains(&i) { 0.0 } else { 1.0 };
    let found = charts(&run().trial(0).shape(stall).done().trial(0).done().record());
    let points = &chart(&found, "case-0-time").panes[0].series[0].points;
    let zeros: Vec<f64> = points.iter().filter(|p| p.y == Some(0.0)).map(|p| (p.x * 100.0).round() / 100.0).collect();
    // The run's axis begins with the first sample, 1 s before load; the ramp takes 0.5 s.
    assert_eq!(zeros, [2.05, 2.15, 2.25, 2.35, 2.45]);
    assert_eq!(points.iter().filter(|p| p.y.is_none()).count(), 1);
}

#[test]
fn io_that_drains_after_the_window_is_not_drawn_as_load() {
    let late = |_: &mut stend_record::TrialOutcome, slices: &mut Vec<stend_record::Slice>| {
        slices.push(crate::fixture::slice(60, stend_spec::workload::Op::Read, 5));
    };
    let found = charts(&run().trial(0).change(late).done().record());
    let time = chart(&found, "case-0-time");
    assert!((time.x.to - 3.5).abs() < 1e-9, "{}", time.x.to);
    assert_eq!(time.panes[0].series[0].points.len(), 25);
}

#[test]
fn a_trial_that_was_cut_off_is_drawn_as_far_as_it_got() {
    let found = charts(&run().trial(0).change(|_, slices| slices.truncate(12)).unfinished().record());
    assert!(found.iter().all(|c| !c.id.ends_with("latency")), "no outcome, no distribution");
    let time = chart(&found, "case-0-time");
    assert_eq!((time.panes[0].series[0].points.len(), time.bands.len()), (12, 0));
    assert!(time.panes[0].series[0].dots);
}

#[test]
fn a_curve_ends_where_ten_ios_lie_beyond() {
    let found = charts(&run().trial(0).iops(500.0).done().record());
    // 1000 I/Os: 1 − 10 / 1000 = 0.99.
    let curve = chart(&found, "case-0-latency");
    assert!(curve.x.to <= 0.99 && curve.x.to > 0.988, "{}", curve.x.to);
    let few = charts(&run().trial(0).iops(5.0).done().record());
    assert!(few.iter().all(|c| c.id != "case-0-latency"), "10 I/Os draw no curve");
}

#[test]
fn large_blocks_are_drawn_as_throughput() {
    let mut large = case("seq", 100, 8, Sync::None);
    large.streams[0].block_size = vec![stend_base::Bytes::mib(1)];
    let found = charts(&run_of(vec![large]).trial(0).iops(500.0).done().record());
    assert_eq!(chart(&found, "case-0-time").panes[0].y.unit, Unit::BytesPerSecond);
}

#[test]
fn nothing_recorded_draws_nothing() {
    let record = run().trial(0).status(TrialStatus::Failed).change(|_, slices| slices.clear()).done().record();
    assert_eq!(charts(&record), []);
    let mut blind = run().trial(0).done().record();
    blind.load_mut().samples.iter_mut().for_each(|s| s.cpus = None);
    assert_eq!(analyse(&blind).unwrap().charts, []);
}

#[test]
fn every_chart_is_told_in_both_languages() {
    let findings = analyse(&run().six_blocks(&[9_000.0]).record()).unwrap();
    for chart in findings.cases.iter().flat_map(|c| &c.charts).chain(&findings.charts) {
        for say in [&chart.title, &chart.summary, &chart.x.label] {
            assert!(say.get(Lang::Ru).chars().any(|c| ('а'..='я').contains(&c)), "{say:?}");
        }
    }
}

#[test]
fn the_rate_by_bytes_written_is_drawn_once_the_range_was_written_and_says_how_often() {
    let written = |fill: Bytes, read_percent: u8| {
        let run = run_of(vec![case("fall", read_percent, 32, Sync::None)]);
        let run = run.inputs(|inputs| inputs.suite.fill = Some(Fill::Size(fill)));
        // 10 000 IOPS of 4 KiB for 2 s, twice: 156 MiB.
        charts(&run.trial(0).done().trial(0).done().record())
    };
    let fallen = written(Bytes::mib(64), 0);
    let drawn = chart(&fallen, "case-0-written");
    assert_eq!(drawn.events.iter().map(|mark| mark.name.en.as_str()).collect::<Vec<_>>(), ["range × 1", "range × 2"]);
    assert!(drawn.x.unit == Unit::Bytes && drawn.x.to >= Bytes::mib(128).0 as f64, "{:?}", drawn.x);
    let points = &drawn.panes[0].series[0].points;
    assert!(points.windows(2).all(|pair| pair[0].x <= pair[1].x), "both trials are one line");
    assert!(drawn.summary.en.contains("times its range"), "{}", drawn.summary.en);
    for (fill, reads) in [(Bytes::gib(4), 0), (Bytes::mib(64), 100)] {
        assert!(!written(fill, reads).iter().any(|chart| chart.id == "case-0-written"), "{fill:?}, {reads} % reads");
    }
}
