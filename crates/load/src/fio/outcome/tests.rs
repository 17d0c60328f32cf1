//! What fio 3.33 really said of a trial, and what becomes of it.

use super::*;
use crate::child::Ended;
use crate::layout::{self, tests::stream, tests::trial};
use proptest::prelude::*;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use stend_record::observed::IoErrors;
use stend_spec::workload::Trial;
use stend_spec::workload::{Mix, Pattern, Stream, Sync};

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
        output: include_bytes!("../../../tests/fixtures/fio-3.33.json").to_vec(),
        words: String::new(),
        started: Nanos::millis(36_376_525),
        ended: Nanos::millis(36_377_455),
    }
}

fn told(ended: &Ended) -> Printed {
    let logs: [&[u8]; 2] = [
        include_bytes!("../../../tests/fixtures/fio-3.33_clat_hist.1.log"),
        include_bytes!("../../../tests/fixtures/fio-3.33_clat_hist.2.log"),
    ];
    let rows = logs.map(|log| super::super::logs::rows(log).unwrap()).to_vec();
    Printed { document: Document::parse(&ended.output).unwrap(), rows }
}

fn concluded(ended: &Ended, change: impl FnOnce(&mut Printed)) -> Result<(TrialOutcome, Vec<Slice>), String> {
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
        assert!(of().all(|s| s.interval < 4), "numbered from the start of the window, nothing behind it");
    }
    let reads = &outcome.jobs[0].latency[0];
    assert_eq!((reads.count(), reads.min_ns, reads.max_ns), (2016, 40_740, 483_139));
    assert_eq!(reads.sum_ns, (105_609.341_766_f64 * 2016.0).round() as u128);
    assert_eq!(outcome.jobs[0].cpu_ns, Some(87_000_000), "29 % of 300 ms");
}

#[test]
fn what_was_set_up_is_what_fio_read_and_not_what_was_asked() {
    let of = |name: &'static str, value: &'static str| {
        let (outcome, _) = concluded(&ended(), |told| told.document.jobs[1].set_option(name, value)).unwrap();
        outcome
            .engine
            .jobs
            .get(1)
            .map(|job| (job.in_flight, job.block_size.0, job.area.start.0, job.area.len.0, job.dsync))
    };
    let (block, half) = (16 << 10, 32 << 20);
    assert_eq!(of("rw", "write"), Some((1, block, half, half, false)));
    assert_eq!(of("iodepth", "7"), Some((7, block, half, half, false)));
    assert_eq!(of("bs", "512"), Some((1, 512, half, half, false)));
    assert_eq!(of("offset", "4096"), Some((1, block, 4096, half, false)));
    assert_eq!(of("sync", "dsync"), Some((1, block, half, half, true)));
    assert_eq!(of("iodepth", "many"), None, "what it does not say is not made up");
}

#[test]
fn the_window_lies_where_the_logs_say_and_how_well_that_is_known_is_told() {
    let (outcome, _) = concluded(&ended(), |_| {}).unwrap();
    // The first line is of 36 377 230 ms, a line covers 100 ms, and the window took 301 ms.
    assert_eq!((outcome.window_start, outcome.window_end), (Nanos::millis(36_377_130), Nanos::millis(36_377_431)));
    assert_eq!(outcome.load_start, outcome.window_start, "of the ramp nothing is known");
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
    assert_eq!(
        outcome.errors,
        [IoErrors { stream: 1, op: Op::Write, errno: 5, count: 1, first_offset: Some(33_570_816) }]
    );
    for (errno, words, op) in [
        // A sync on /dev/null through libaio, and a file that was cut under psync: nothing on standard error.
        (22, "fio: pid=17553, err=22/file:ioengines.c:399, func=td_io_queue, error=Invalid argument", Op::Sync),
        (5, "fio: pid=17573, err=5/file:backend.c:471, func=full resid, error=Input/output error", Op::Write),
    ] {
        let ended = Ended { words: words.into(), ..ended.clone() };
        let (outcome, _) = concluded(&ended, |told| told.document.jobs[1].error = errno).unwrap();
        assert_eq!(outcome.status, TrialStatus::Failed);
        assert_eq!(outcome.errors, [IoErrors { stream: 1, op, errno, count: 1, first_offset: None }]);
        let other = concluded(&ended, |told| told.document.jobs[1].error = errno + 1);
        assert_eq!(other.unwrap_err(), "a job failed, and not by an I/O", "another number");
    }
    let words = "fio: pid=9, err=22/file:filesetup.c:852, func=open(x), error=Invalid argument".into();
    let other = concluded(&Ended { words, ..ended }, |told| told.document.jobs[1].error = 22);
    assert_eq!(other.unwrap_err(), "a job failed, and not by an I/O");
}

#[test]
fn an_io_that_moved_nothing_is_short_and_fails_the_trial() {
    let of = |less: i64| {
        concluded(&ended(), |told| {
            let side = told.document.jobs[0].side_mut(Op::Read);
            side.io_bytes = side.io_bytes.strict_add_signed(-less);
        })
    };
    // A file that is cut under io_uring or libaio: exit code 0, error 0, and fewer bytes than its I/Os must have moved.
    for (less, count) in [(1, 1), (4096, 1), (4097, 2)] {
        let outcome = of(less).unwrap().0;
        assert_eq!(outcome.status, TrialStatus::Failed);
        assert_eq!(outcome.errors, [IoErrors { stream: 0, op: Op::Read, errno: 0, count, first_offset: None }]);
    }
    // One more may be: it was complete when the ramp ended, and its latency was not counted yet.
    assert_eq!(of(-4096).unwrap().0.status, TrialStatus::Complete);
    assert_eq!(of(-4097).unwrap_err(), "8261633 bytes in 2016 I/Os of 4096 bytes");
}

#[test]
fn other_syncs_than_asked_for_are_refused() {
    let twice = concluded(&ended(), |told| {
        told.document.jobs[1].side_mut(Op::Sync).lat_ns.bins.values_mut().for_each(|n| *n *= 2)
    });
    assert_eq!(twice.unwrap_err(), "job `s1j0` made 1124 syncs and 2250 writes, not 4 writes per sync");
}

#[test]
fn what_somebody_else_ended_is_no_whole_trial() {
    let short = |status: i32, runtime: u64| {
        let ended = Ended { status: Some(ExitStatus::from_raw(status << 8)), ..ended() };
        concluded(&ended, |told| {
            told.document.jobs.iter_mut().for_each(|job| job.set_runtime_ms(runtime));
            told.rows.iter_mut().for_each(|rows| rows.retain(|row| row.at_ms < 36_377_300));
        })
        .map(|(outcome, _)| outcome.status)
    };
    // SIGTERM: exit code 128, no error, and a summary of what there was.
    assert_eq!(short(128, 160).unwrap_err(), "it ended by itself or by somebody else (exit status: 128)");
    assert_eq!(short(128, 301).unwrap_err(), "it ended by itself or by somebody else (exit status: 128)");
    assert_eq!(short(0, 160).unwrap_err(), "it measured for 160 ms of 300 ms and does not say why");
    assert_eq!(short(0, 298), Ok(TrialStatus::Complete), "its times are whole ms");
}

#[test]
fn of_a_stopped_ramp_nothing_is_told() {
    let ended = Ended { cut: Some(Cut::Stopped), ..ended() };
    // fio has bytes then, and neither latencies nor a log.
    let (outcome, slices) = concluded(&ended, |told| {
        told.rows.iter_mut().for_each(Vec::clear);
        for job in &mut told.document.jobs {
            for op in [Op::Read, Op::Write, Op::Sync] {
                (job.side_mut(op).lat_ns, job.side_mut(op).clat_ns) = Default::default();
            }
        }
    })
    .unwrap();
    assert_eq!((outcome.status, outcome.window_start), (TrialStatus::Interrupted, outcome.window_end));
    assert!(outcome.jobs.is_empty() && outcome.errors.is_empty() && slices.is_empty());
}

#[test]
fn times_beyond_its_life_are_refused_before_they_are_used() {
    for ms in [400_000_000_000, u64::MAX / 1_000_000, u64::MAX] {
        let runtime = concluded(&ended(), |told| told.document.jobs[0].set_runtime_ms(ms));
        assert_eq!(runtime.unwrap_err(), format!("it tells of {ms} ms of I/O and ran for 930 ms"));
        let row = concluded(&ended(), |told| told.rows[0][1].at_ms = ms);
        assert_eq!(row.unwrap_err(), format!("its histogram log has the time {ms} ms, which is after its end"));
    }
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

proptest! {
    #[test]
    fn no_damage_makes_it_panic(at in 0..ended().output.len(), byte: u8, end in 0..ended().output.len(), digits in 0usize..20) {
        let Ended { mut output, .. } = ended();
        output[at] = byte;
        let mut longer = ended().output;
        if let Some(digit) = (at..longer.len()).find(|at| longer[*at].is_ascii_digit()) {
            longer.splice(digit..digit, vec![b'9'; digits]);
        }
        for text in [&output[..], &output[..end], &longer] {
            let Ok(document) = Document::parse(text) else { continue };
            let _ = concluded(&ended(), |told| told.document = document);
        }
    }
}
