//! Charts across cases: which families a suite makes, what is drawn of them, and what is left out.

use super::*;
use crate::analyse;
use crate::findings::{CheckStatus, Findings};
use crate::fixture::{RunBuilder, case, run, run_of};
use stend_base::Bytes;
use stend_record::parts::ArcCounters;
use stend_record::sample::{Memory, NetworkCounters, Pressure, Traffic};
use stend_record::{Parts, Slice, TrialOutcome, TrialStatus};
use stend_spec::workload::Sync;

/// A case with these axes, and two trials of each of its cells; the rate grows with the cell.
fn swept(block_size: &[u64], queue_depth: &[u32], jobs: &[u32]) -> RunBuilder {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].block_size = block_size.iter().map(|k| Bytes::kib(*k)).collect();
    spec.streams[0].queue_depth = queue_depth.to_vec();
    spec.streams[0].jobs = jobs.to_vec();
    let cells = (block_size.len() * queue_depth.len() * jobs.len()) as u32;
    let mut builder = run_of(vec![spec]);
    // Two equal trials would be taken for a copy: the rates are 2 % apart, their mean is round.
    for (cell, factor) in (0..cells).map(|c| (c, 0.99)).chain((0..cells).map(|c| (c, 1.01))) {
        let asked = jobs[cell as usize % jobs.len()];
        let others = move |outcome: &mut TrialOutcome, _: &mut Vec<Slice>| {
            // The fixture makes one job; here each has a part of its range.
            let mut first = outcome.engine.jobs[0];
            first.area.len = Bytes(first.area.len.0 / u64::from(asked));
            outcome.engine.jobs = vec![first; asked as usize];
            for (job, number) in outcome.engine.jobs.iter_mut().zip(0..) {
                job.area.start = Bytes(job.area.start.0 + number * job.area.len.0);
            }
        };
        builder = builder.trial(cell).iops(1_000.0 * factor * f64::from(cell + 1)).change(others).done();
    }
    builder
}

fn of(builder: RunBuilder) -> Findings {
    analyse(&builder.record()).unwrap()
}

fn ids(findings: &Findings) -> Vec<&str> {
    findings.across.iter().map(|c| c.id.as_str()).collect()
}

fn find<'a>(findings: &'a Findings, id: &str) -> &'a Chart {
    let failed: Vec<_> =
        findings.cases.iter().flat_map(|c| &c.checks).filter(|c| c.status == CheckStatus::Fail).collect();
    findings.across.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no {id}; failed checks: {failed:?}"))
}

#[test]
fn a_suite_without_axes_has_nothing_to_hold_against_each_other() {
    assert!(of(run().trial(0).done()).across.is_empty());
    assert!(of(swept(&[4], &[8], &[1])).across.is_empty());
}

#[test]
fn two_depths_are_two_named_dots_and_three_are_a_sweep_of_joined_dots() {
    let findings = of(swept(&[4], &[1, 32], &[1]));
    assert_eq!(ids(&findings), ["scaling-queue_depth-0"]);
    let scaling = &find(&findings, "scaling-queue_depth-0").panes[0].series;
    assert_eq!((scaling.len(), scaling[0].points.len(), scaling[0].dots), (1, 2, true));
    assert_eq!(scaling[0].labels.iter().map(|l| l.en.as_str()).collect::<Vec<_>>(), ["1", "32"]);
    let findings = of(swept(&[4], &[1, 8, 32], &[1]));
    let sweep = find(&findings, "sweep-0-queue_depth-0-0");
    assert_eq!((sweep.panes.len(), sweep.x.names.len()), (3, 3));
    let rates = &sweep.panes[0].series[0];
    assert!(rates.joined && rates.points.iter().all(|p| p.envelope.is_some()));
}

#[test]
fn depth_by_jobs_is_a_matrix_with_a_number_for_every_pair() {
    let findings = of(swept(&[4], &[1, 4, 16], &[1, 2]));
    let matrix = find(&findings, "matrix-0-0");
    let field = matrix.panes[0].field.as_ref().unwrap();
    assert_eq!((field.columns.len(), field.rows.len(), field.cells.len(), field.numbers), (3, 2, 6, true));
    // Cells in the order of the plan: depth slowest.
    let at = |column, row| field.cells.iter().find(|c| (c.column, c.row) == (column, row)).map(|c| c.value);
    assert_eq!((at(0, 0), at(0, 1), at(2, 1)), (Some(1_000.0), Some(2_000.0), Some(6_000.0)));
    assert_eq!(matrix.x.label.en, "queue depth");
    assert!(matrix.panes[0].y.label.en.contains("jobs"));
}

#[test]
fn a_third_axis_makes_one_matrix_per_value_and_lines_in_sweeps() {
    let findings = of(swept(&[4, 8, 16], &[1, 4], &[1, 2]));
    assert_eq!(ids(&findings).iter().filter(|id| id.starts_with("matrix")).count(), 3);
    let sweep = find(&findings, "sweep-0-block_size-0-0");
    assert_eq!(sweep.panes[0].series.len(), 4);
    assert!(sweep.panes.iter().all(|p| p.series.len() <= SERIES_MAX));
    assert!(sweep.x.names.iter().map(|n| n.name.ru.as_str()).eq(["4 КиБ", "8 КиБ", "16 КиБ"]));
}

#[test]
fn a_case_that_failed_a_check_is_left_out_and_said() {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = vec![1, 4, 8, 16];
    let mut builder = run_of(vec![spec]);
    for cell in 0..4 {
        let trial = builder.trial(cell);
        // Bytes that the device never saw: a failed check.
        let trial = if cell == 3 { trial.change(|outcome, _| outcome.jobs[0].done[0].1 *= 3) } else { trial };
        builder = trial.done();
    }
    let findings = of(builder);
    let sweep = find(&findings, "sweep-0-queue_depth-0-0");
    assert_eq!(sweep.panes[0].series[0].points.len(), 3);
    assert!(sweep.summary.en.contains("left out because a check failed: 1"), "{}", sweep.summary.en);
}

#[test]
fn a_case_without_a_whole_trial_is_no_point() {
    let mut spec = case("rand-read", 100, 1, Sync::None);
    spec.streams[0].queue_depth = vec![1, 4];
    let builder = run_of(vec![spec]).trial(0).done().trial(1).status(TrialStatus::Interrupted).done();
    assert!(of(builder).across.is_empty());
}

#[test]
fn each_case_is_charged_with_what_the_host_did_under_its_load() {
    let mut record = run_of(vec![case("a", 100, 1, Sync::None), case("b", 0, 1, Sync::None)])
        .trial(0)
        .done()
        .trial(1)
        .done()
        .record();
    for (i, sample) in record.load_mut().samples.iter_mut().enumerate() {
        let waited = Some(sample.at.0 / 10);
        sample.pressure = Some(Pressure { io_some_ns: waited, ..Pressure::default() });
        let available_bytes = (8 << 30) - ((i as u64) << 20);
        sample.memory = Some(Memory { total_bytes: 8 << 30, available_bytes, ..Memory::default() });
        let bytes = |rate: u64| Traffic { bytes: sample.at.0 / 1000 * rate / 1000, ..Traffic::default() };
        let network = |name: &str| NetworkCounters { name: name.into(), received: bytes(2000), sent: bytes(500) };
        // A bond counts what its ports count.
        sample.networks = Some(vec![network("bond0"), network("eth0"), network("eth1")]);
    }
    record.load_mut().ports = vec!["eth0".into(), "eth1".into()];
    let findings = analyse(&record).unwrap();
    let chart = findings.charts.iter().find(|c| c.id == "resources").unwrap();
    let values = |pane: usize, line: usize| -> Vec<f64> {
        let points = &chart.panes[pane].series[line].points;
        points.iter().filter_map(|p| p.y).map(|v| (v * 1000.0).round() / 1000.0).collect()
    };
    // The fixture keeps all CPUs a quarter busy and its worker uses a tenth of one of eight.
    assert_eq!((values(0, 0), values(0, 1)), (vec![0.25, 0.25], vec![0.013, 0.013]));
    // Pressure of CPU and memory was not offered: one line is left.
    assert_eq!((chart.panes[1].series.len(), values(1, 0)), (1, vec![0.1, 0.1]));
    assert_eq!(chart.panes[2].series[0].points.len(), 2);
    // Both ports together, bytes per second.
    let near = |found: Vec<f64>, rate: f64| found.len() == 2 && found.iter().all(|v| (v - rate).abs() < rate / 100.0);
    assert!(near(values(3, 0), 4e6) && near(values(3, 1), 1e6), "{:?}", chart.panes[3]);
    assert!(chart.x.names.iter().map(|n| (n.name.en.as_str(), n.detail.en.as_str())).eq([("1", "a"), ("2", "b")]));
}

#[test]
fn what_the_cache_of_zfs_gives_back_is_not_in_use() {
    let mut record = run().trial(0).done().record();
    for (i, sample) in record.load_mut().samples.iter_mut().enumerate() {
        sample.memory = Some(Memory { total_bytes: 64 << 30, available_bytes: 8 << 30, ..Memory::default() });
        let arc = Some(ArcCounters { size_bytes: 34 << 30, ..ArcCounters::default() });
        // It is read less often than memory.
        sample.parts = (i == 0).then(|| Box::new(Parts { arc, ..Parts::default() }));
    }
    let findings = analyse(&record).unwrap();
    let chart = findings.charts.iter().find(|c| c.id == "resources").unwrap();
    let memory = chart.panes.iter().find(|pane| pane.y.label.en == "memory in use").unwrap();
    // A thirty-second of all memory stays with the cache: 64 - 8 - (34 - 2) GiB.
    assert_eq!(memory.series[0].points[0].y, Some((24u64 << 30) as f64));
}

#[test]
fn a_watched_host_has_a_chart_of_its_own_and_is_no_storage_host() {
    let record = crate::fixture::watching(run().trial(0).done().record(), |_, sample| {
        let busy_ns = sample.at.0 / 2;
        sample.disks.iter_mut().for_each(|disk| disk.busy_ns = busy_ns);
    });
    let findings = analyse(&record).unwrap();
    let chart = findings.charts.iter().find(|c| c.id == "resources-host-1").unwrap();
    assert_eq!(
        (chart.title.en.as_str(), chart.title.ru.as_str()),
        ("`switch1` during each case", "`switch1` во время каждого случая")
    );
    assert!(chart.panes[0].series[0].points[0].y.is_some_and(|share| (share - 0.5).abs() < 1e-6));
    assert!(record.storages().next().is_none() && findings.charts.iter().all(|c| c.id != "resources-storage"));
    assert!(findings.caveats.is_empty() || findings.caveats.iter().all(|caveat| caveat.slug() != "host-unwatched"));
}

#[test]
fn what_the_storage_host_gave_has_a_chart_of_its_own() {
    let mut record = crate::fixture::over_storage(run().trial(0).done().record());
    for sample in &mut record.storage_mut().unwrap().samples {
        let busy_ns = sample.at.0 * 3 / 4;
        sample.disks.iter_mut().for_each(|disk| disk.busy_ns = busy_ns);
    }
    let findings = analyse(&record).unwrap();
    let chart = findings.charts.iter().find(|c| c.id == "resources-storage").unwrap();
    assert!(chart.title.en.contains("`array1`") && chart.title.ru.contains("`array1`"));
    let drives: Vec<f64> = chart.panes[0].series.iter().filter_map(|line| line.points[0].y).collect();
    assert!(drives.len() == 2 && drives.iter().all(|share| (share - 0.75).abs() < 1e-6), "{drives:?}");
    assert_eq!(chart.panes[1].series[0].points[0].y.map(|share| (share * 100.0).round()), Some(25.0));
    record.storage_mut().unwrap().samples.clear();
    assert!(analyse(&record).unwrap().charts.iter().all(|c| c.id != "resources-storage"));
}

#[test]
fn an_interface_that_comes_or_goes_leaves_no_number() {
    let mut record = run().trial(0).done().record();
    let networks = |findings: &Findings| {
        let chart = findings.charts.iter().find(|c| c.id == "resources").unwrap();
        chart.panes.iter().filter(|pane| pane.y.label.en.starts_with("network")).count()
    };
    let middle = record.trials[0].outcome.as_ref().unwrap().load_start + stend_base::Nanos::SECOND;
    for (later, panes) in [("eth0", 1), ("wg0", 0)] {
        for sample in &mut record.load_mut().samples {
            let name = if sample.at < middle { "eth0" } else { later };
            let received = Traffic { bytes: sample.at.0 / 1000, ..Traffic::default() };
            sample.networks = Some(vec![NetworkCounters { name: name.into(), received, ..NetworkCounters::default() }]);
        }
        assert_eq!(networks(&analyse(&record).unwrap()), panes, "{later}");
    }
}

#[test]
fn what_does_not_fit_is_counted_and_what_fits_is_not_mentioned() {
    let mut list = vec![1, 2, 3];
    assert_eq!((super::caps::cut(&mut list, 2), list.len()), (1, 2));
    let said = |count| super::caps::left_out(say!("Sum.", "Итог."), &say!("Cases", "Случаи"), count);
    assert_eq!(said(0), say!("Sum.", "Итог."));
    assert_eq!(said(3).en, "Sum. Cases left out for lack of room: 3.");
    assert_eq!(said(3).ru, "Итог. Случаи, не показанные за нехваткой места: 3.");
}

#[test]
fn merged_points_are_said_to_be_merged() {
    let findings = analyse(&run().trial(0).done().record()).unwrap();
    let mut chart = findings.cases[0].charts.iter().find(|c| c.id.ends_with("time")).unwrap().clone();
    assert!(!chart.summary.en.contains("drawn as one"));
    chart.panes[0].series[0].points[0].envelope = Some((1.0, 2.0));
    let merged = super::caps::merged(chart);
    assert!(merged.summary.en.contains("drawn as one") && merged.summary.ru.contains("слиты"), "{:?}", merged.summary);
}

#[test]
fn phases_and_windows_that_are_not_shaded_are_counted() {
    let mut record = run().trial(0).done().record();
    let phase = |s: u64| {
        stend_record::Event::new(
            stend_base::Nanos::secs(s),
            stend_record::EventKind::Phase(stend_record::observed::Phase::Measure),
        )
    };
    record.events.extend((100..200).map(phase));
    let findings = analyse(&record).unwrap();
    let cpu = findings.charts.iter().find(|c| c.id == "cpu").unwrap();
    assert!(cpu.summary.en.contains("Phases left out for lack of room"), "{:?}", cpu.summary);
}
