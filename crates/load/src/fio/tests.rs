//! The real fio of this machine on real files.

use super::*;
use crate::run_trial;
use crate::tests::support::{Loop, contents, done, filled, root, stream, trial};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Instant;
use stend_base::{Bytes, Kind, Nanos};
use stend_record::TrialStatus;
use stend_spec::workload::{Data, Mix, Op, Pattern, Region, Stream, Sync};

/// The trial's outcome, its slices and what was logged.
type Seen = (TrialOutcome, Vec<Slice>, Vec<EventKind>);

fn run(trial: &Trial, file: &IoFile, control: &Control) -> Result<Seen> {
    let (mut slices, mut log) = (Vec::new(), Vec::new());
    let (mut emit, mut note) = (|more| slices.extend(more), |kind| log.push(kind));
    let outcome = run_trial_by_fio(trial, file, control, &mut emit, &mut note)?;
    Ok((outcome, slices, log))
}

/// Whether there is a fio to test with; a note and `false` if not, which CI does not accept.
fn fio() -> bool {
    let found = probe_fio();
    assert!(found.is_ok() || std::env::var_os("CI").is_none(), "this test needs fio: {found:?}");
    if found.is_err() {
        eprintln!("skipped: needs fio");
    }
    found.is_ok()
}

/// Both latencies of a mixture of kinds and depths, at a length for which both engines agree on what a window is.
fn mixed() -> Trial {
    let mixed = Stream { queue_depth: 4, jobs: 2, ..stream(70) };
    let log =
        Stream { pattern: Pattern::Sequential, sync: Sync::Fdatasync(2), block_size: Bytes::kib(16), ..stream(0) };
    Trial { ramp: Nanos::millis(300), window: Nanos::millis(1000), ..trial(Bytes::mib(48), vec![mixed, log]) }
}

#[test]
fn a_trial_by_fio_has_the_same_shape_as_one_by_our_own_engine() {
    if !fio() {
        return;
    }
    let (file, trial) = (filled(Bytes::mib(48)), mixed());
    let (by_fio, slices, log) = run(&trial, &file, &Control::new()).unwrap();
    let ours = run_trial(&trial, &file, &Control::new(), &mut |_| {}).unwrap();
    assert_eq!((by_fio.status, ours.status), (TrialStatus::Complete, TrialStatus::Complete));
    let shape = |o: &TrialOutcome| {
        o.engine.jobs.iter().map(|job| (job.stream, job.job, job.area, job.in_flight)).collect::<Vec<_>>()
    };
    assert_eq!(shape(&by_fio), shape(&ours));
    for op in [Op::Read, Op::Write, Op::Sync] {
        let (ops, bytes) = done(&by_fio, op);
        assert!(ops > 0 && done(&ours, op).0 > 0, "{op:?}");
        let of = || slices.iter().filter(|s| s.op == op);
        assert_eq!((of().map(|s| s.ops).sum::<u64>(), of().map(|s| s.bytes).sum::<u64>()), (ops, bytes), "{op:?}");
        let told = of().filter_map(|s| s.latency.as_ref()).map(|l| l.count()).sum::<u64>();
        let in_totals = by_fio.jobs.iter().map(|job| job.latency[op.index()].count()).sum::<u64>();
        assert_eq!((told, in_totals), (ops, ops));
    }
    let window = by_fio.window_end.saturating_sub(by_fio.window_start);
    assert!(window >= trial.window && window < trial.window + trial.drain_limit, "{window:?}");
    let external = by_fio.engine.external.unwrap();
    assert!(external.version.starts_with("fio-") && external.job_file.contains("[s0j1]"), "{external:?}");
    assert!(external.start_uncertainty_ns < window.0);
    let [EventKind::Command { argv, exit: Some(0), .. }] = log.as_slice() else { panic!("{log:?}") };
    assert!(argv[0] == "fio" && !Path::new(&argv[argv.len() - 1]).exists(), "{argv:?}");
    assert!(by_fio.jobs.iter().all(|job| job.cpu_ns > Some(0)));
}

#[test]
fn fio_touches_only_the_region_of_a_file_that_has_no_name() {
    if !fio() {
        return;
    }
    let file = filled(Bytes::mib(8));
    let before = contents(&file, 8 << 20);
    let half = Region { start: Bytes::mib(2), len: Bytes::mib(4) };
    let write = Stream {
        data: Data { compress_thousandths: 4000, ..Data::default() },
        block_size: Bytes::kib(64),
        ..stream(0)
    };
    let (outcome, ..) =
        run(&Trial { region: half, ..trial(Bytes::mib(8), vec![write]) }, &file, &Control::new()).unwrap();
    assert!(done(&outcome, Op::Write).0 > 0);
    let after = contents(&file, 8 << 20);
    assert!(before[..2 << 20] == after[..2 << 20] && before[6 << 20..] == after[6 << 20..], "outside of the region");
    assert!(before[2 << 20..6 << 20] != after[2 << 20..6 << 20]);
}

#[test]
fn a_stop_ends_fio_at_once_and_keeps_what_it_measured() {
    if !fio() {
        return;
    }
    let file = filled(Bytes::mib(8));
    let long = Trial { window: Nanos::secs(600), ..trial(Bytes::mib(8), vec![stream(100)]) };
    let (control, begin) = (Control::new(), Instant::now());
    let stopped_after = |millis| {
        let control = Control::new();
        std::thread::scope(|scope| {
            let stop = control.clone();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(millis));
                stop.stop();
            });
            run(&long, &file, &control).unwrap()
        })
    };
    // On a busy machine fio may not have begun when it is stopped.
    let mut seen = [1500, 10_000, 60_000].into_iter().map(stopped_after);
    let (outcome, slices, _) = seen.find(|(outcome, ..)| done(outcome, Op::Read).0 > 0).expect("it measured something");
    assert_eq!(outcome.status, TrialStatus::Interrupted);
    assert!(begin.elapsed() < Duration::from_secs(300), "it did not run to its end");
    assert_eq!(slices.iter().map(|s| s.ops).sum::<u64>(), done(&outcome, Op::Read).0);
    control.stop();
    assert_eq!(run(&long, &file, &control).unwrap_err().kind, Kind::Interrupted, "stopped before it began");
}

#[test]
fn a_device_that_lost_its_end_fails_a_trial_by_fio_with_eio_and_the_offset() {
    if !root() || !fio() {
        return;
    }
    let device = Loop::new(Bytes::mib(64));
    device.backing.as_file().set_len(8 << 20).unwrap();
    let file = IoFile::open_read(&device.device, true).unwrap();
    let (outcome, _, log) = run(&trial(Bytes::mib(64), vec![stream(100)]), &file, &Control::new()).unwrap();
    assert_eq!(outcome.status, TrialStatus::Failed);
    let [errors] = outcome.errors.as_slice() else { panic!("{:?}", outcome.errors) };
    assert_eq!((errors.op, errors.errno, errors.count), (Op::Read, 5, 1));
    assert!(errors.first_offset.is_some_and(|at| (8 << 20..64 << 20).contains(&at)), "{errors:?}");
    assert!(matches!(&log[..], [EventKind::Command { exit: Some(1), .. }]), "{log:?}");
}

#[test]
fn a_fio_that_fails_is_an_error_with_its_last_words_and_one_that_says_nonsense_too() {
    let ended = |code: i32, words: &str| crate::child::Ended {
        status: Some(std::process::ExitStatus::from_raw(code << 8)),
        cut: None,
        output: Vec::new(),
        words: words.into(),
        started: Nanos(0),
        ended: Nanos(1),
    };
    let failed = not_understood(&ended(1, "fio: first\nfio: job s0j0 dropped"), "no JSON");
    assert_eq!(failed.kind, Kind::Preflight);
    assert_eq!(failed.message.en, "fio failed (exit status: 1): fio: job s0j0 dropped");
    assert!(failed.hint.is_some());
    let odd = not_understood(&ended(0, ""), "there is no JSON in what it printed");
    assert_eq!(odd.message.en, "the output of fio cannot be used: there is no JSON in what it printed");
}

#[test]
fn depth_decides_which_way_of_fio_is_nearest() {
    let file = IoFile::create_scratch(Path::new("/dev/shm"), 4096, false).unwrap();
    let all = ["psync", "io_uring", "libaio"].map(String::from);
    let chosen = |depth, engines: &[String]| {
        let fio = Fio { version: "fio-3.33".into(), engines: engines.to_vec(), monotonic: true, dsync: true };
        let buffered =
            Trial { direct: false, ..trial(Bytes(4096), vec![Stream { queue_depth: depth, ..stream(100) }]) };
        choose(&buffered, &file, &fio).map(|way| way.name)
    };
    // Our own engine would make plain calls on tmpfs, as many at a time as the depth says.
    assert_eq!((chosen(1, &all).unwrap(), chosen(4, &all).unwrap()), ("psync", "io_uring"));
    // Through io_uring a sync that failed would count as done.
    let syncing = |depth, beside| {
        let fio = Fio { version: "fio-3.33".into(), engines: all.to_vec(), monotonic: true, dsync: true };
        let log = Stream { sync: Sync::Fdatasync(1), queue_depth: depth, ..stream(0) };
        let reads = Stream { queue_depth: beside, ..stream(100) };
        let trial = Trial { direct: false, ..trial(Bytes::kib(64), vec![log, reads]) };
        let way = choose(&trial, &file, &fio).unwrap();
        (way.name, way.chosen)
    };
    assert_eq!(syncing(1, 1), ("psync", Chosen::Syncs));
    assert_eq!([syncing(1, 8), syncing(1, 128)], [("libaio", Chosen::Syncs); 2]);
    let error = chosen(4, &all[..1]).unwrap_err();
    assert!(error.kind == Kind::Preflight && error.message.ru.contains("`io_uring`"), "{error}");
}

#[test]
fn the_logs_of_a_long_trial_stay_small() {
    let of = |secs, jobs| {
        let trial = Trial {
            window: Nanos::secs(secs),
            ..trial(Bytes::gib(1), vec![Stream { jobs, mix: Mix::of_reads(50), ..stream(50) }])
        };
        interval_ms(&trial, &layout::jobs(&trial, u64::MAX).unwrap())
    };
    assert_eq!((of(3, 1), of(150, 1), of(151, 1)), (100, 100, 200));
    assert_eq!(of(3600, 64), 153_600, "460,800 lines of 100 ms would be more than can be kept");
}
