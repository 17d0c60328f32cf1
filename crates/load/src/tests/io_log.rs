//! The log of every I/O beside what the engine counts anyway.

use super::support::{filled, stream, trial};
use crate::{Control, Marks, Sinks, run_trial_of};
use stend_base::{Bytes, Histogram, MilliIops, Nanos};
use stend_record::IoChunk;
use stend_record::io_log::Logged;
use stend_record::observed::{Slice, TrialOutcome};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, BlockShare, Op, Stream, Sync, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(8);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn run(trial: &Trial, file: &IoFile, mut log: impl FnMut(IoChunk)) -> TrialOutcome {
    let sinks = Sinks { slices: &mut |_: Vec<Slice>| {}, log: &mut log, note: &mut drop };
    run_trial_of(Marks::of_session(1, 0), None, trial, &[], file, &Control::new(), sinks).unwrap()
}

/// Everything that was logged, with when it ended.
fn logged(trial: &Trial, file: &IoFile) -> (TrialOutcome, Vec<(IoChunk, Vec<Logged>)>) {
    let mut chunks = Vec::new();
    let outcome = run(trial, file, |chunk| {
        let ios = chunk.ios().map(Option::unwrap).collect();
        chunks.push((chunk, ios));
    });
    (outcome, chunks)
}

/// Every I/O of the window is in one of the counts.
fn assert_all_accounted_for(outcome: &TrialOutcome) {
    let log = outcome.io_log.unwrap();
    let done: u64 = outcome.jobs.iter().flat_map(|job| job.done).map(|(ops, _)| ops).sum();
    assert_eq!(log.recorded + log.dropped + log.beyond, done + log.failed, "{log:?}");
}

#[test]
fn a_log_has_every_io_of_the_window_with_the_latency_that_the_histogram_has() {
    let file = filled(LEN);
    let sizes = [(4, 50), (8, 50)].map(|(kib, percent)| BlockShare { size: Bytes::kib(kib), percent });
    let rate = Some(Rate::constant(MilliIops::per_second(2_000), Gaps::Poisson));
    for (backend, rate) in LANES.into_iter().flat_map(|backend| [(backend, None), (backend, rate.clone())]) {
        let mixed = Stream {
            block_size: Bytes::kib(8),
            block_mix: sizes.to_vec(),
            queue_depth: 4,
            jobs: 2,
            sync: Sync::Fdatasync(16),
            rate,
            ..stream(70)
        };
        // A disk that others write to may stand still for longer than a short window.
        let (ramp, window) = (Nanos::millis(150), Nanos::millis(900));
        let trial =
            Trial { backend, ramp, window, io_log: Some(Bytes::mib(64)), ..trial(LEN, vec![stream(100), mixed]) };
        let (outcome, chunks) = logged(&trial, &file);
        assert_all_accounted_for(&outcome);
        let log = outcome.io_log.unwrap();
        assert_eq!((log.dropped, log.beyond, log.failed), (0, 0, 0));
        for job in &outcome.jobs {
            let mut histograms = Op::ALL.map(|_| Histogram::new());
            let mut bytes = Op::ALL.map(|_| 0);
            let sizes: Vec<Bytes> = trial.streams[usize::from(job.stream)].sizes().map(|share| share.size).collect();
            for (chunk, ios) in chunks.iter().filter(|(chunk, _)| (chunk.stream, chunk.job) == (job.stream, job.job)) {
                for io in ios {
                    histograms[io.op.index()].record(io.latency);
                    bytes[io.op.index()] += io.bytes(&sizes).unwrap().0;
                    let end = chunk.base + Nanos(io.end);
                    assert!(outcome.window_start <= end && end < outcome.window_end, "{io:?}");
                    assert!(!io.failed && io.offset + io.bytes(&sizes).unwrap().0 <= LEN.0, "{io:?}");
                }
            }
            assert_eq!(histograms.map(|histogram| histogram.sparse()), job.latency);
            assert_eq!(bytes, job.done.map(|(_, bytes)| bytes));
        }
        assert!(outcome.jobs.iter().all(|job| job.done[0].0 > 0));
        assert!(outcome.jobs.iter().any(|job| job.done[Op::Sync.index()].0 > 0));
    }
}

#[test]
fn a_failed_io_is_logged_as_such() {
    let named = tempfile::NamedTempFile::new_in(super::support::DISK).unwrap();
    named.as_file().set_len(LEN.0 / 2).unwrap();
    for backend in LANES {
        let file = IoFile::open_read(named.path(), true).unwrap();
        let long = Trial { backend, window: Nanos::secs(600), ..trial(LEN, vec![stream(100)]) };
        let (outcome, chunks) = logged(&Trial { io_log: Some(Bytes::mib(64)), ..long }, &file);
        assert_all_accounted_for(&outcome);
        let failed: Vec<&Logged> = chunks.iter().flat_map(|(_, ios)| ios).filter(|io| io.failed).collect();
        assert_eq!(
            (failed.len() as u64, outcome.io_log.unwrap().failed),
            (outcome.errors[0].count, outcome.errors[0].count)
        );
        assert!(failed.iter().all(|io| io.offset >= LEN.0 / 2 && io.latency.0 > 0), "{failed:?}");
    }
}

#[test]
fn a_log_ends_with_its_size_and_counts_what_comes_later() {
    let file = filled(LEN);
    for backend in LANES {
        let deep = Stream { queue_depth: 4, ..stream(100) };
        let short = Trial { backend, io_log: Some(Bytes(16 * 100)), ..trial(LEN, vec![deep]) };
        let (outcome, chunks) = logged(&short, &file);
        assert_all_accounted_for(&outcome);
        let log = outcome.io_log.unwrap();
        assert!(log.recorded == 100 && log.beyond > 0 && log.dropped == 0, "{log:?}");
        assert_eq!(chunks.iter().map(|(chunk, _)| chunk.len()).sum::<u64>(), 100);
    }
}

#[test]
fn whoever_takes_a_log_slowly_does_not_make_the_load_wait_or_lose_count() {
    let file = filled(LEN);
    let busy = Trial { backend: Backend::Null, io_log: Some(Bytes::gib(1)), ..trial(LEN, vec![stream(100)]) };
    let mut taken = 0;
    let outcome = run(&busy, &file, |chunk| {
        taken += chunk.len();
        // As long as the rest of the window.
        while taken == chunk.len() && stend_sys::clock::now() < chunk.base + busy.window {
            std::thread::yield_now();
        }
    });
    assert_all_accounted_for(&outcome);
    assert_eq!(outcome.io_log.unwrap().recorded, taken);
    assert!(outcome.window_end.saturating_sub(outcome.window_start) == busy.window);
}

#[test]
fn a_trial_without_a_log_has_no_counts_of_one() {
    let outcome = run(&trial(LEN, vec![stream(100)]), &filled(LEN), |chunk| panic!("{chunk:?}"));
    assert_eq!(outcome.io_log, None);
}
