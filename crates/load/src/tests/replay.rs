//! Recorded I/O repeated on real files: every I/O once, where and when the trace says, whatever submits it.

use super::support::{DISK, contents, done, filled, trial};
use crate::replay::tests::{io, replaying};
use crate::{Control, Marks, Sinks, run_trial_of};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use stend_base::{Bytes, Nanos};
use stend_record::observed::{Slice, TrialOutcome, TrialStatus};
use stend_spec::trace::{Beyond, Pace, TracedIo};
use stend_spec::workload::{Backend, Op, Region, Stream, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(16);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn run(trial: &Trial, ios: &[TracedIo], file: &IoFile) -> (TrialOutcome, Vec<Slice>) {
    let (traces, mut slices) = ([Arc::new(ios.to_vec())], Vec::new());
    let sinks = Sinks { slices: &mut |more| slices.extend(more), log: &mut drop, note: &mut drop };
    let outcome = run_trial_of(Marks::of_session(1, 0), None, trial, &traces, file, &Control::new(), sinks).unwrap();
    (outcome, slices)
}

/// I/Os of a kind in window and drain.
fn made(outcome: &TrialOutcome, op: Op) -> u64 {
    let drained = outcome.drained.iter().filter(|drained| drained.op == op).map(|drained| drained.latency.count());
    done(outcome, op).0 + drained.sum::<u64>()
}

/// 90 I/Os, 4 ms apart: reads, writes (every other durable by itself), syncs.
fn recorded() -> Vec<TracedIo> {
    let one = |n: u64| match n % 3 {
        0 => io(n * 4, Op::Read, n * 32),
        1 => TracedIo { durable: n.is_multiple_of(2), ..io(n * 4, Op::Write, n * 64) },
        _ => TracedIo { offset: 0, len: 0, ..io(n * 4, Op::Sync, 0) },
    };
    (0..90).map(one).collect()
}

#[test]
fn every_io_of_a_trace_is_made_once_where_and_not_before_it_is_due() {
    let ios = recorded();
    for backend in LANES {
        let file = IoFile::create_scratch(Path::new(DISK), LEN.0, true).unwrap();
        let stream = Stream { jobs: 2, ..replaying(&ios, Pace::Timed(1000), Beyond::Refuse) };
        // Four times the trace: a durable write may wait for what others write to the disk.
        let trial = Trial { backend, window: Nanos::millis(1500), ..trial(LEN, vec![stream]) };
        let (outcome, slices) = run(&trial, &ios, &file);
        assert_eq!((outcome.status, outcome.errors.len()), (TrialStatus::Complete, 0), "{backend:?}");
        assert_eq!([Op::Read, Op::Write, Op::Sync].map(|op| made(&outcome, op)), [30; 3], "{backend:?}");
        let due =
            |until: u32| slices.iter().filter(move |s| s.interval < until).filter_map(|s| Some(s.open.as_ref()?.due));
        // I/Os of the first 100 ms: those from 0 to 96 ms.
        assert_eq!((due(1).sum::<u64>(), due(9).sum::<u64>()), (25, 90), "{backend:?}");
        assert_eq!((outcome.open[0].late.count(), outcome.open[0].own_late.count()), (90, 90));
        let written: BTreeSet<u64> = ios.iter().filter(|io| io.op == Op::Write).map(|io| io.offset).collect();
        assert_eq!(blocks_with_data(&file), written, "{backend:?}");
    }
}

/// Offsets of the blocks of 4 KiB that are not zero all over.
fn blocks_with_data(file: &IoFile) -> BTreeSet<u64> {
    let all = contents(file, LEN.0 as usize);
    let blocks = all.chunks(4096).zip(0u64..);
    blocks.filter(|(block, _)| block.iter().any(|byte| *byte != 0)).map(|(_, n)| n * 4096).collect()
}

#[test]
fn as_fast_as_possible_a_trace_begins_anew_and_stays_where_it_is() {
    let ios: Vec<_> = (0..7).map(|n| io(n * 60_000, Op::Write, n * 8)).collect();
    for backend in LANES {
        let file = IoFile::create_scratch(Path::new(DISK), LEN.0, true).unwrap();
        let region = Some(Region { start: Bytes::mib(8), len: Bytes::kib(52) });
        let stream = Stream { region, ..replaying(&ios, Pace::Asap, Beyond::Refuse) };
        let trial = Trial { backend, ..trial(LEN, vec![stream]) };
        let (outcome, _) = run(&trial, &ios, &file);
        assert!(made(&outcome, Op::Write) > 70, "{backend:?}: {}", made(&outcome, Op::Write));
        assert!(outcome.open.is_empty());
        let expected: BTreeSet<u64> = (0..7).map(|n| (8 << 20) + n * 8192).collect();
        assert_eq!(blocks_with_data(&file), expected, "{backend:?}");
    }
}

#[test]
fn writes_of_any_length_go_through_the_page_cache() {
    let odd = |n: u64| TracedIo { offset: n * 1000, len: 1 + 515 * (n as u32 % 3), ..io(n, Op::Write, 0) };
    let ios: Vec<_> = (0..50).map(odd).collect();
    let mut stream = replaying(&ios, Pace::Timed(1000), Beyond::Refuse);
    stream.replay.as_mut().unwrap().alignment = Bytes(1);
    stream.block_size = Bytes(1536);
    let trial = Trial { direct: false, ..trial(LEN, vec![stream]) };
    let file = IoFile::create_scratch(Path::new(DISK), LEN.0, false).unwrap();
    let (outcome, _) = run(&trial, &ios, &file);
    assert_eq!((outcome.status, made(&outcome, Op::Write)), (TrialStatus::Complete, 50));
}

#[test]
fn ios_that_were_due_after_the_window_are_not_made() {
    let ios: Vec<_> = (0..100).map(|n| io(n * 10, Op::Read, n * 4)).collect();
    let stream = replaying(&ios, Pace::Timed(1000), Beyond::Refuse);
    let trial = Trial { window: Nanos::millis(300), ..trial(LEN, vec![stream]) };
    let (outcome, _) = run(&trial, &ios, &filled(LEN));
    assert_eq!((outcome.status, made(&outcome, Op::Read)), (TrialStatus::Complete, 30));
}
