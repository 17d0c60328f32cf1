//! What fio 3.33 really said of a trial, and what becomes of it.

use super::*;
use crate::layout::{self, tests::stream, tests::trial};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use stend_spec::workload::{Mix, Pattern, Stream};

/// The trial of the fixtures: 200 ms of ramp and 300 ms of window, two streams of one job.
fn asked() -> Trial {
    let mixed = Stream { mix: Mix::of_reads(70), ..stream() };
    let log = Stream {
        mix: Mix::of_reads(0),
        pattern: Pattern::Sequential,
        block_size: Bytes::kib(16),
        sync: Sync::Fdatasync(4),
        ..stream()
    };
    Trial { ramp: Nanos::millis(200), ..trial(Bytes::mib(64), vec![mixed, log]) }
}

/// fio was started and ended so.
fn ended() -> Ended {
    Ended {
        status: Some(ExitStatus::from_raw(0)),
        cut: None,
        output: include_bytes!("../../tests/fixtures/fio-3.33.json").to_vec(),
        words: String::new(),
        started: Nanos::millis(36_376_525),
        ended: Nanos::millis(36_377_455),
    }
}

fn told(ended: &Ended) -> Told {
    let logs: [&[u8]; 2] = [
        include_bytes!("../../tests/fixtures/fio-3.33_clat_hist.1.log"),
        include_bytes!("../../tests/fixtures/fio-3.33_clat_hist.2.log"),
    ];
    let rows = logs.map(|log| super::super::logs::rows(log).unwrap()).to_vec();
    Told { document: Document::parse(&ended.output).unwrap(), rows }
}

fn concluded(ended: &Ended, change: impl FnOnce(&mut Told)) -> Result<(TrialOutcome, Vec<Slice>), String> {
    let trial = asked();
    let jobs = layout::jobs(&trial, u64::MAX).unwrap();
    let mut told = told(ended);
    change(&mut told);
    conclude(&Ran { trial: &trial, jobs: &jobs, ended, hist_ms: 100, monotonic: true }, Some(told))
}

#[test]
fn totals_are_those_of_the_summary_and_slices_add_up_to_them() {
    let (outcome, slices) = concluded(&ended(), |_| {}).unwrap();
    assert_eq!(outcome.status, TrialStatus::Complete);
    let done: Vec<_> = outcome.jobs.iter().map(|job| (job.done[0], job.done[1], job.done[4])).collect();
    assert_eq!(done, [((2016, 8_257_536), (873, 3_575_808), (0, 0)), ((0, 0), (2250, 36_864_000), (562, 0))]);
    for (stream, op, ops, bytes) in [
        (0, Op::Read, 2016, 8_257_536),
        (0, Op::Write, 873, 3_575_808),
        (1, Op::Write, 2250, 36_864_000),
        (1, Op::Sync, 562, 0),
    ] {
        let of = || slices.iter().filter(|s| (s.stream, s.op) == (stream, op));
        assert_eq!((of().map(|s| s.ops).sum::<u64>(), of().map(|s| s.bytes).sum::<u64>()), (ops, bytes), "{op:?}");
        let told: u64 = of().filter_map(|s| s.latency.as_ref()).map(|l| l.count()).sum();
        assert_eq!(told, ops);
        assert!(of().all(|s| (2..6).contains(&s.interval)), "nothing in the ramp, nothing behind the window");
    }
    let reads = &outcome.jobs[0].latency[0];
    assert_eq!((reads.count(), reads.min_ns, reads.max_ns), (2016, 40_740, 483_139));
    assert_eq!(reads.sum_ns, (105_609.341_766_f64 * 2016.0).round() as u128);
    assert_eq!(outcome.jobs[0].cpu_ns, Some(87_000_000), "29 % of 300 ms");
}

#[test]
fn the_window_lies_where_the_logs_say_and_how_well_that_is_known_is_told() {
    let (outcome, _) = concluded(&ended(), |_| {}).unwrap();
    // The first line is of 36 377 230 ms, a line covers 100 ms, and the window took 301 ms.
    assert_eq!((outcome.window_start, outcome.window_end), (Nanos::millis(36_377_130), Nanos::millis(36_377_431)));
    assert_eq!(outcome.load_start, Nanos::millis(36_376_930));
    // No I/O took longer than 0.76 ms, and times are whole ms.
    assert_eq!(outcome.engine.external.unwrap().start_uncertainty_ns, 2_764_449);
}

#[test]
fn without_times_in_the_logs_the_window_lies_between_start_and_end_of_fio() {
    let trial = asked();
    let jobs = layout::jobs(&trial, u64::MAX).unwrap();
    let ended = ended();
    let mut told = told(&ended);
    // Then they count from the start of the window.
    told.rows.iter_mut().flatten().for_each(|row| row.at_ms -= 36_377_130);
    let ran = Ran { trial: &trial, jobs: &jobs, ended: &ended, hist_ms: 100, monotonic: false };
    let (outcome, slices) = conclude(&ran, Some(told)).unwrap();
    assert_eq!(outcome.window_end, ended.ended);
    assert_eq!(outcome.engine.external.unwrap().start_uncertainty_ns, 429_000_000, "930 ms less ramp and window");
    assert_eq!(slices, concluded(&ended, |_| {}).unwrap().1, "the same slices");
}

#[test]
fn a_failed_io_is_told_with_its_number_kind_and_offset_and_fails_the_trial() {
    let mut ended = ended();
    ended.status = Some(ExitStatus::from_raw(1 << 8));
    ended.words =
        "fio: io_u error on file /proc/self/fd/0: Input/output error: write offset=33570816, buflen=16384".into();
    let (outcome, _) = concluded(&ended, |told| told.document.jobs[1].error = 5).unwrap();
    assert_eq!(outcome.status, TrialStatus::Failed);
    assert_eq!(outcome.errors, [IoErrors { stream: 1, op: Op::Write, errno: 5, count: 1, first_offset: 33_570_816 }]);
    let other =
        concluded(&Ended { words: "fio: open failed".into(), ..ended }, |told| told.document.jobs[1].error = 22);
    assert_eq!(other.unwrap_err(), "a job failed, and not by an I/O");
}

#[test]
fn a_trial_that_was_cut_is_no_whole_one() {
    let cut = |cut, runtime: &str| {
        let mut ended = Ended { cut: Some(cut), ..ended() };
        let text =
            String::from_utf8(ended.output).unwrap().replace("\"runtime\" : 301", &format!("\"runtime\" : {runtime}"));
        ended.output = text.into_bytes();
        concluded(&ended, |told| told.rows.iter_mut().for_each(|rows| rows.retain(|row| row.at_ms < 36_377_300)))
            .unwrap()
            .0
    };
    assert_eq!(cut(Cut::Stopped, "160").status, TrialStatus::Interrupted);
    assert_eq!(cut(Cut::Stopped, "301").status, TrialStatus::Complete, "the stop came after the window");
    assert_eq!(cut(Cut::Late, "301").status, TrialStatus::Stalled);
}

#[test]
fn of_a_killed_fio_nothing_is_known_and_nothing_is_made_up() {
    let trial = asked();
    let jobs = layout::jobs(&trial, u64::MAX).unwrap();
    let of = |cut| {
        let ended = Ended { cut: Some(cut), status: None, output: Vec::new(), ..ended() };
        let ran = Ran { trial: &trial, jobs: &jobs, ended: &ended, hist_ms: 100, monotonic: true };
        let (outcome, slices) = conclude(&ran, None).unwrap();
        assert!(slices.is_empty() && outcome.jobs.is_empty() && outcome.window_start == outcome.window_end);
        outcome.status
    };
    assert_eq!((of(Cut::Late), of(Cut::Stopped)), (TrialStatus::Stalled, TrialStatus::Interrupted));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let more = concluded(&ended(), |told| {
        let row = told.rows[0][0].clone();
        told.rows[0].extend(std::iter::repeat_n(row, 3));
    });
    assert_eq!(more.unwrap_err(), "its histogram log counts more than its summary");
    let lost = concluded(&ended(), |told| drop(told.document.jobs.remove(1)));
    assert_eq!(lost.unwrap_err(), "fio-3.33 says nothing of job `s1j0`");
}

#[test]
fn only_lines_about_failed_io_are_taken_for_such() {
    let line = |kind: &str| {
        format!("fio: io_u error on file a offset=1 b: Input/output error: {kind} offset=512, buflen=4096")
    };
    assert_eq!(io_error(&line("read")), Some((Op::Read, 512)));
    assert_eq!(io_error(&line("write")), Some((Op::Write, 512)));
    assert_eq!(io_error(&line("sync")), Some((Op::Sync, 512)));
    assert_eq!(io_error("fio: io_u error on file x: no"), None);
    assert_eq!(io_error("read offset=4096, buflen=4096"), None);
}
