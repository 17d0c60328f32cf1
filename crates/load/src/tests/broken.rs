//! Targets that answer with errors: which class they are counted in, and that the trial ends. See also `devices`.

use super::support::{DISK, Mount, done, root, run, sh, stream, trial};
use stend_base::{Bytes, MilliIops, Nanos};
use stend_record::observed::{IoErrors, TrialOutcome, TrialStatus};
use stend_spec::rate::{Gaps, Rate};
use stend_spec::workload::{Backend, Op, Pattern, Region, Stream, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(8);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;

/// The one class of errors of a trial that they ended.
fn only_class(outcome: &TrialOutcome) -> &IoErrors {
    assert_eq!(outcome.status, TrialStatus::Failed);
    let [errors] = outcome.errors.as_slice() else { panic!("{:?}", outcome.errors) };
    assert!(errors.count >= 100, "ended by its hundredth error: {errors:?}");
    errors
}

#[test]
fn reads_behind_the_end_of_a_file_are_short_and_counted_as_such() {
    let named = tempfile::NamedTempFile::new_in(DISK).unwrap();
    // The last block is there in half.
    named.as_file().set_len(LEN.0 / 2 + 2048).unwrap();
    for backend in LANES {
        for (start, first) in [(LEN.0 / 2, LEN.0 / 2), (0, LEN.0 / 2)] {
            let file = IoFile::open_read(named.path(), true).unwrap();
            let region = Region { start: Bytes(start), len: Bytes(LEN.0 - start) };
            // The longest window: only the errors end it.
            let long = Trial { backend, region, window: Nanos::secs(600), ..trial(LEN, vec![stream(100)]) };
            let (outcome, slices) = run(&long, &file).unwrap();
            let errors = only_class(&outcome);
            assert_eq!((errors.errno, errors.op), (0, Op::Read));
            assert!(errors.first_offset.is_some_and(|at| (first..LEN.0).contains(&at)));
            assert_eq!(done(&outcome, Op::Read).0 > 0, start == 0, "what is there is read");
            assert_eq!(errors.count, slices.iter().map(|s| s.errors).sum::<u64>());
        }
    }
}

/// Seven reads, four per second, around the end of a file of half the length: `before` blocks in front of it, then `behind`
/// blocks, again and again.
fn slow_reads(before: u64, behind: u64) -> TrialOutcome {
    let named = tempfile::NamedTempFile::new_in(DISK).unwrap();
    named.as_file().set_len(LEN.0 / 2).unwrap();
    let file = IoFile::open_read(named.path(), true).unwrap();
    let rate = Some(Rate::constant(MilliIops::per_second(4), Gaps::Even));
    let slow = Stream { rate, pattern: Pattern::Sequential, ..stream(100) };
    let region = Region { start: Bytes(LEN.0 / 2 - before * 4096), len: Bytes((before + behind) * 4096) };
    let trial = Trial { window: Nanos::millis(1_700), region, ..trial(LEN, vec![slow]) };
    run(&trial, &file).unwrap().0
}

#[test]
fn a_few_errors_in_a_slow_open_loop_are_counted_and_do_not_end_it() {
    let outcome = slow_reads(2, 2);
    assert_eq!((outcome.status, outcome.errors[0].count), (TrialStatus::Complete, 3));
    assert_eq!(done(&outcome, Op::Read).0, 4);
}

#[test]
fn a_slow_open_loop_of_which_nothing_succeeds_runs_to_its_end_and_has_failed() {
    let outcome = slow_reads(0, 4);
    assert_eq!((outcome.status, outcome.errors[0].count), (TrialStatus::Failed, 7));
}

#[test]
fn a_full_file_system_fails_writes_with_its_class() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    // Holes: what is written has to find space.
    let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
    let block = vec![7; 1 << 20];
    let mut filler = tempfile::tempfile_in(mount.at.path()).unwrap();
    while std::io::Write::write_all(&mut filler, &block).is_ok() {}
    while std::io::Write::write_all(&mut filler, &block[..4096]).is_ok() {}
    filler.sync_all().unwrap();
    for backend in LANES {
        let long = Trial { backend, window: Nanos::secs(600), ..trial(LEN, vec![stream(0)]) };
        let (outcome, _) = run(&long, &file).unwrap();
        let errors = only_class(&outcome);
        assert_eq!((errors.errno, errors.op), (ENOSPC, Op::Write));
    }
}

#[test]
fn blocks_smaller_than_those_of_the_device_are_invalid_for_direct_io() {
    if !root() {
        return;
    }
    let backing = tempfile::NamedTempFile::new_in(DISK).unwrap();
    backing.as_file().set_len(LEN.0).unwrap();
    let path = backing.path().to_str().unwrap();
    let device = Detached(sh(&["losetup", "--find", "--show", "--sector-size", "4096", path]));
    let file = IoFile::open_read(std::path::Path::new(&device.0), true).unwrap();
    for backend in LANES {
        let small = Stream { block_size: Bytes(512), ..stream(100) };
        let long = Trial { backend, window: Nanos::secs(600), ..trial(LEN, vec![small]) };
        let (outcome, _) = run(&long, &file).unwrap();
        assert_eq!((only_class(&outcome).errno, done(&outcome, Op::Read).0), (EINVAL, 0));
    }
}

/// A loop device, detached with the value.
struct Detached(String);

impl Drop for Detached {
    fn drop(&mut self) {
        let _ = std::process::Command::new("losetup").args(["--detach", &self.0]).status();
    }
}
