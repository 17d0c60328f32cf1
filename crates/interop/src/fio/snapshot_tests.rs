//! Snapshots of `--status-interval` of several groups, in the form of fio's documents.

use super::tests::{files, imported, trials};
use crate::build::ImportedRun;
use stend_base::Lang;

/// A job of the group with this number: I/Os of 4 KiB, its run time in ms, and what else is printed with it.
fn job(group: u32, ios: u64, runtime_ms: u64, more: &str) -> String {
    let bytes = ios * 4096;
    let side = format!(
        r#"{{"io_bytes": {bytes}, "io_kbytes": {}, "total_ios": {ios}, "runtime": {runtime_ms}}}"#,
        bytes / 1024
    );
    format!(
        r#"{{"jobname": "j{group}", "groupid": {group}{more}, "job options": {{"rw": "read", "bs": "4k"}}, "read": {side}}}"#
    )
}

/// What fio printed at this time.
fn document(at_ms: u64, jobs: &[String]) -> String {
    format!(r#"{{"fio version": "fio-3.29", "timestamp_ms": {at_ms}, "jobs": [{}]}}"#, jobs.join(", "))
}

fn read(documents: &[String]) -> ImportedRun {
    imported(&[documents.join("\n").as_bytes()])
}

/// Snapshots, and trials.
fn counted(documents: &[String]) -> (u32, usize) {
    let run = read(documents);
    (run.imported.snapshots, trials(&run).len())
}

#[test]
fn a_snapshot_tells_a_longer_run_time_of_a_job_that_had_ended() {
    // fio 3.29 adds the 50 s since its start to the 6 s of a job that is over.
    let snapshot = document(50_000, &[job(0, 60_000, 56_000, ""), job(1, 400_000, 44_000, "")]);
    let end = document(54_000, &[job(0, 60_000, 6_000, ""), job(1, 440_000, 48_000, "")]);
    assert_eq!(counted(&[snapshot.clone(), end.clone()]), (1, 2));
    // A job that did more in less time is another run of it.
    let other = end.replace("\"total_ios\": 60000,", "\"total_ios\": 60001,");
    assert_eq!(counted(&[snapshot, other]), (0, 4));
}

#[test]
fn snapshots_may_be_further_apart_than_the_longest_group_lasts() {
    // Two groups of 5 s, one after the other, printed after 1 s and after 10 s.
    let early = document(101_000, &[job(0, 1_000, 1_000, ""), job(1, 0, 0, "")]);
    let end = document(110_000, &[job(0, 5_000, 5_000, ""), job(1, 5_000, 5_000, "")]);
    assert_eq!(counted(&[early, end.clone()]), (1, 2));
    // Another process that began when the first one had ended.
    let second = document(120_000, &[job(0, 5_100, 5_000, ""), job(1, 5_100, 5_000, "")]);
    assert_eq!(counted(&[end, second]), (0, 4));
}

#[test]
fn the_begin_of_a_job_shows_that_documents_far_apart_are_of_one_process() {
    // The second group waited (`startdelay`).
    let began = |ms: u64| format!(", \"job_start\": {ms}");
    let first = || job(0, 5_000, 5_000, &began(100_000));
    let early = document(106_000, &[first(), job(1, 0, 0, "")]);
    let end = document(136_000, &[first(), job(1, 5_000, 5_000, &began(131_000))]);
    assert_eq!(counted(&[early, end]), (1, 2));
}

#[test]
fn a_group_that_had_ended_long_before_the_next_one_is_in_each_snapshot_and_counts_once() {
    let first = |elapsed: u32| job(0, 5_000, 5_000, &format!(", \"eta\": {}, \"elapsed\": {elapsed}", 90 - elapsed));
    let early = document(106_000, &[first(6), job(1, 0, 0, ""), job(2, 0, 0, "")]);
    let again = document(116_000, &[first(16), job(1, 0, 0, ""), job(2, 0, 0, "")]);
    let second = document(136_000, &[first(36), job(1, 2_000, 2_000, ""), job(2, 0, 0, "")]);
    let end = document(186_000, &[first(86), job(1, 5_000, 5_000, ""), job(2, 5_000, 5_000, "")]);
    assert_eq!(counted(&[early.clone(), end.clone()]), (1, 3));
    assert_eq!(counted(&[early.clone(), again.clone(), second, end]), (3, 3));
    // With nothing more it is the same result.
    let error = files(&[[early, again].join("\n").as_bytes()]).unwrap_err().render(Lang::En);
    assert!(error.contains("a.json:2 holds the same results as a.json:1"), "{error}");
}

#[test]
fn a_repetition_is_no_snapshot_where_jobs_tell_their_start_by_another_clock() {
    // A client whose clock is 3 s behind, and CLOCK_MONOTONIC.
    for (one, other) in [(97_000, 108_000), (5_000, 16_000)] {
        let run =
            |at: u64, ios: u64, start: u64| document(at, &[job(0, ios, 10_000, &format!(", \"job_start\": {start}"))]);
        assert_eq!(counted(&[run(110_000, 5_000, one), run(121_000, 5_100, other)]), (0, 2));
        // The start stays what it is in one process.
        assert_eq!(counted(&[run(110_000, 5_000, one), run(121_000, 5_100, one)]), (1, 1));
    }
}

#[test]
fn a_start_by_a_clock_that_counts_from_no_date_is_no_date() {
    let text = document(1_795_379_512_000, &[job(0, 5_000, 10_000, ", \"job_start\": 16000")]);
    assert_eq!(read(&[text]).started_unix_ns, Some(1_795_379_502_000_000_000));
}
