//! The engine on devices that misbehave: errors, stalls, and bytes counted by the kernel. Needs root.

use super::support::{Loop, Mount, done, root, run, stream, trial};
use crate::{Control, fill, run_trial};
use stend_base::{Bytes, Nanos};
use stend_record::observed::TrialStatus;
use stend_spec::workload::{Backend, Mix, Op, Stream, Trial};
use stend_sys::IoFile;
use stend_sys::block::DevNo;
use stend_sys::claim::{Claim, DeviceRequest};

const LEN: Bytes = Bytes::mib(16);
const LANES: [Backend; 3] = [Backend::Auto, Backend::Libaio, Backend::Psync];

/// (bytes read, bytes written) of a device since it was set up; the kernel counts sectors of 512 bytes.
fn device_bytes(disk: &Loop) -> (u64, u64) {
    let name = disk.device.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let fields: Vec<u64> = stat.split_whitespace().map(|f| f.parse().unwrap()).collect();
    (fields[2] * 512, fields[6] * 512)
}

#[test]
fn a_device_that_lost_its_end_fails_with_eio_and_the_first_offset() {
    if !root() {
        return;
    }
    for backend in LANES {
        let disk = Loop::new(LEN);
        disk.backing.as_file().set_len(LEN.0 / 2).unwrap();
        let file = IoFile::open_read(&disk.device, true).unwrap();
        let window = Nanos::secs(600);
        let (outcome, slices) = run(&Trial { backend, window, ..trial(LEN, vec![stream(100)]) }, &file).unwrap();
        assert_eq!(outcome.status, TrialStatus::Failed);
        let [errors] = outcome.errors.as_slice() else { panic!("{:?}", outcome.errors) };
        assert_eq!((errors.errno, errors.op, errors.stream), (5, Op::Read, 0));
        assert_eq!(errors.count, 100);
        assert!(errors.first_offset.is_some_and(|at| (LEN.0 / 2..LEN.0).contains(&at)));
        assert_eq!(errors.count, slices.iter().map(|s| s.errors).sum::<u64>());
        assert!(done(&outcome, Op::Read).0 > 0, "the first half still reads");
    }
}

#[test]
fn the_device_saw_the_bytes_that_we_counted() {
    if !root() {
        return;
    }
    let disk = Loop::new(LEN);
    let file = IoFile::open_read(&disk.device, true).unwrap();
    let before = device_bytes(&disk);
    let deep = Stream { queue_depth: 16, ..stream(100) };
    let (outcome, slices) = run(&trial(LEN, vec![deep]), &file).unwrap();
    let drained: u64 = outcome.drained.iter().map(|d| d.latency.count()).sum();
    let ours = slices.iter().map(|s| s.bytes).sum::<u64>() + drained * 4096;
    let theirs = device_bytes(&disk).0 - before.0;
    assert!(ours > 0 && theirs.abs_diff(ours) <= ours / 100, "we counted {ours}, the device {theirs}");
}

#[test]
fn the_device_saw_what_we_wrote_through_a_file() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    let file = scratch(&mount);
    let before = device_bytes(&mount.disk);
    let deep = Stream { queue_depth: 16, ..stream(0) };
    let (outcome, slices) = run(&Trial { window: Nanos::millis(800), ..trial(LEN, vec![deep]) }, &file).unwrap();
    let drained: u64 = outcome.drained.iter().map(|d| d.latency.count()).sum();
    let ours = slices.iter().map(|s| s.bytes).sum::<u64>() + drained * 4096;
    let theirs = device_bytes(&mount.disk).1 - before.1;
    // The file system adds its journal: one commit is a few blocks.
    assert!(ours > 0 && theirs >= ours && theirs - ours <= ours / 100 + (1 << 18), "{ours} against {theirs}");
}

/// A file on the mount, all of it written, so that only overwrites remain.
fn scratch(mount: &Mount) -> IoFile {
    let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
    fill(&file, trial(LEN, vec![]).region, 1, &Control::new(), &mut |_| {}).unwrap();
    file
}

#[test]
fn a_target_that_never_answers_ends_as_stalled_with_everything_in_flight_censored() {
    if !root() {
        return;
    }
    for backend in LANES {
        let mount = Mount::new(Bytes::mib(64));
        let file = scratch(&mount);
        let deep = Stream { queue_depth: 4, ..stream(0) };
        let limits = Trial { window: Nanos::millis(500), drain_limit: Nanos::millis(200), ..trial(LEN, vec![deep]) };
        let mut frozen = false;
        // Returning at all is the point: the file system is thawed only afterwards.
        let outcome = run_trial(&Trial { backend, ..limits }, &file, &Control::new(), &mut |_| {
            if !std::mem::replace(&mut frozen, true) {
                mount.freeze();
            }
        })
        .unwrap();
        mount.thaw();
        assert_eq!(outcome.status, TrialStatus::Stalled);
        assert_eq!(outcome.censored.len(), 4, "{:?}", outcome.censored);
        assert!(outcome.censored.iter().all(|c| c.op == Op::Write && c.age >= Nanos::millis(200)));
        assert!(done(&outcome, Op::Write).0 > 0, "what came before the freeze is kept");
    }
}

#[test]
fn a_stall_that_ends_while_draining_is_seen_with_its_full_length() {
    if !root() {
        return;
    }
    for backend in LANES {
        let mount = Mount::new(Bytes::mib(64));
        let file = scratch(&mount);
        let deep = Stream { queue_depth: 4, ..stream(0) };
        let trial = Trial { backend, ..trial(LEN, vec![deep]) };
        let outcome = std::thread::scope(|scope| {
            let mut frozen = false;
            run_trial(&trial, &file, &Control::new(), &mut |_| {
                if !std::mem::replace(&mut frozen, true) {
                    mount.freeze();
                    // Past the window of 300 ms, of which 100 ms are gone.
                    scope.spawn(|| {
                        std::thread::sleep(Nanos::millis(400).duration());
                        mount.thaw();
                    });
                }
            })
            .unwrap()
        });
        assert_eq!(outcome.status, TrialStatus::Complete);
        assert!(outcome.censored.is_empty());
        let [drained] = outcome.drained.as_slice() else { panic!("{:?}", outcome.drained) };
        assert_eq!((drained.op, drained.latency.count()), (Op::Write, 4));
        assert!(drained.latency.min_ns >= 300_000_000, "{} ns", drained.latency.min_ns);
    }
}

#[test]
fn a_stop_during_a_stall_does_not_wait_for_the_target() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    let file = scratch(&mount);
    let control = Control::new();
    let long = Trial { window: Nanos::secs(600), drain_limit: Nanos::secs(600), ..trial(LEN, vec![stream(0)]) };
    let mut calls = 0;
    let outcome = run_trial(&long, &file, &control, &mut |_| {
        calls += 1;
        match calls {
            1 => mount.freeze(),
            3 => control.stop(),
            _ => {}
        }
    })
    .unwrap();
    mount.thaw();
    assert_eq!((outcome.status, outcome.censored.len()), (TrialStatus::Interrupted, 1));
}

#[test]
fn discards_of_what_the_page_cache_holds_are_not_refused_as_busy() {
    if !root() {
        return;
    }
    let (disk, leases) = (Loop::new(LEN), tempfile::tempdir().unwrap());
    let number = std::os::unix::fs::MetadataExt::rdev(&std::fs::metadata(&disk.device).unwrap());
    let claim = Claim::device(&DeviceRequest {
        node: &disk.device,
        whole_disk: &disk.device,
        device: DevNo::from_raw(number),
        size: LEN.0,
        leases: leases.path(),
        lease: "loop",
        note: "a test",
        patience: std::time::Duration::from_secs(5),
    })
    .unwrap();
    let file = claim.open_write(false).unwrap();
    for backend in [Backend::Auto, Backend::Psync] {
        // Blocks that were just written are dirty in the cache when they are discarded.
        let mix = Mix { read: 20, write: 60, discard: 10, write_zeroes: 10 };
        let stream = Stream { mix, jobs: 2, ..stream(100) };
        let trial = Trial { backend, direct: false, window: Nanos::SECOND, ..trial(LEN, vec![stream]) };
        let (outcome, _) = run(&trial, &file).unwrap();
        assert_eq!((outcome.status, outcome.errors.as_slice()), (TrialStatus::Complete, &[][..]), "{backend:?}");
        assert!(done(&outcome, Op::Discard).0 > 0 && done(&outcome, Op::WriteZeroes).0 > 0);
    }
    // More than threads would do: io_uring has no call that takes what is dirty out of the cache.
    let mix = Mix { read: 0, write: 80, discard: 0, write_zeroes: 20 };
    let zeroes = |backend| {
        let stream = Stream { mix, queue_depth: 128, ..stream(0) };
        Trial { backend, direct: false, window: Nanos::SECOND, ..trial(LEN, vec![stream]) }
    };
    let (outcome, _) = run(&zeroes(Backend::Auto), &file).unwrap();
    assert_eq!((outcome.status, outcome.errors.as_slice()), (TrialStatus::Complete, &[][..]));
    assert!(run(&zeroes(Backend::IoUring), &file).is_err_and(|error| error.message.en.contains("no request")));
}
