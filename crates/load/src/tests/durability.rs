//! Writes that are durable by themselves, and what the device sees of it.

use super::support::{DISK, Mount, done, filled, root, run, stream, trial};
use crate::{Control, fill};
use std::path::Path;
use stend_base::{Bytes, Kind, Nanos};
use stend_record::observed::TrialStatus;
use stend_spec::workload::{Backend, Op, Stream, Sync, Trial};
use stend_sys::IoFile;

const LEN: Bytes = Bytes::mib(4);
const LANES: [Backend; 3] = [Backend::IoUring, Backend::Libaio, Backend::Psync];

fn durable(sync: Sync) -> Stream {
    Stream { sync, ..stream(0) }
}

/// Flushes of a device since it was set up (Documentation/block/stat.rst, 16th field).
fn flushes(mount: &Mount) -> u64 {
    let name = mount.disk.device.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(15).unwrap().parse().unwrap()
}

#[test]
fn every_durable_write_empties_the_cache_of_the_device_and_plain_ones_do_not() {
    if !root() {
        return;
    }
    let mount = Mount::new(Bytes::mib(64));
    let file = IoFile::create_scratch(mount.at.path(), LEN.0, true).unwrap();
    fill(&file, trial(LEN, vec![]).region, 1, &Control::new(), &mut |_| {}).unwrap();
    for backend in LANES {
        for sync in [Sync::None, Sync::Dsync, Sync::ODsync, Sync::Fdatasync(1)] {
            let before = flushes(&mount);
            // On a disk that others keep busy one flush may take most of a second.
            let long = Trial { backend, window: Nanos::secs(1), ..trial(LEN, vec![durable(sync)]) };
            let (outcome, slices) = run(&long, &file).unwrap();
            assert_eq!(outcome.status, TrialStatus::Complete, "{sync:?}: {:?}", outcome.errors);
            assert_eq!(outcome.engine.jobs[0].dsync, sync == Sync::ODsync);
            let writes = slices.iter().filter(|s| s.op == Op::Write).map(|s| s.ops).sum::<u64>();
            let (flushed, syncs) = (flushes(&mount) - before, done(&outcome, Op::Sync).0);
            // One write at a time: nobody else's flush serves two.
            assert_eq!(flushed >= writes, sync.is_durable(), "{sync:?}, {backend:?}: {flushed} for {writes} writes");
            assert_eq!(syncs > 0, sync.every() > 0, "{sync:?}");
        }
    }
}

#[test]
fn a_target_is_open_for_durable_writes_only_for_the_streams_that_ask() {
    let streams = vec![durable(Sync::ODsync), durable(Sync::None), stream(100)];
    let (outcome, _) = run(&trial(LEN, streams), &filled(LEN)).unwrap();
    assert_eq!(outcome.status, TrialStatus::Complete);
    assert_eq!(outcome.engine.jobs.iter().map(|job| job.dsync).collect::<Vec<_>>(), [true, false, false]);
    assert!(done(&outcome, Op::Write).0 > 0 && done(&outcome, Op::Read).0 > 0);
}

#[test]
fn a_range_is_synced_after_every_so_many_writes() {
    let file = IoFile::create_scratch(Path::new(DISK), LEN.0, false).unwrap();
    let synced = Stream { queue_depth: 2, ..durable(Sync::SyncFileRange(8)) };
    let buffered = Trial { direct: false, window: Nanos::secs(1), ..trial(LEN, vec![synced]) };
    let (outcome, _) = run(&buffered, &file).unwrap();
    assert_eq!((outcome.status, outcome.engine.backend.as_str()), (TrialStatus::Complete, "psync"));
    let (writes, syncs) = (done(&outcome, Op::Write).0, done(&outcome, Op::Sync).0);
    assert!(syncs > 0 && syncs.abs_diff(writes / 8) <= 2, "{syncs} after {writes} writes");
    let direct = run(&Trial { direct: true, ..buffered }, &filled(LEN)).unwrap_err();
    assert_eq!(direct.kind, Kind::Bug, "the parser refuses it before: {direct}");
}
