//! Red and green of H26 and H66 with counters that were read of loop devices over memory (Linux 6.18, HZ 250) under one writer that rested 2 ms
//! after each write.

use super::foreign::{foreign, io_size};
use crate::findings::CheckStatus::{self, NotMeasurable, Pass, Warn};
use crate::fixture::{RunBuilder, case, run_of};
use crate::trials::by_case;
use stend_base::Bytes;
use stend_record::{Device, RunRecord};
use stend_spec::workload::{Op, Sync};

/// What the kernel counted in ten seconds, and what the writer did.
#[derive(Debug, Clone, Copy)]
struct Counted {
    own: u64,
    writes: u64,
    written_kib: u64,
    flushes: u64,
    reads: u64,
    read_kib: u64,
}

/// With one commit of the journal: 4 blocks in 2 I/Os.
const EXT4_FDATASYNC: Counted = counted(3549, 7100, 14_212, 3551);
/// The same beside `ext4lazyinit`, which writes tables of inodes after `mkfs`.
const EXT4_AFTER_MKFS: Counted = counted(3498, 7021, 23_616, 3503);
/// 2,221 of 3,378 syncs had new times to commit: 12 KiB in 2 I/Os, the second of them with two flushes.
const EXT4_FSYNC: Counted = counted(3378, 8981, 40_148, 5599);
/// Two commits that come by themselves.
const EXT4_NO_SYNC: Counted = counted(3719, 3723, 14_900, 4);
/// Without a journal (a virtual disk, 9,763 syncs a second): a block of inodes with new times every 4 ms, by 4 KiB.
const EXT4_NO_JOURNAL: Counted = counted(97_632, 197_764, 400_528, 97_628);
const XFS_FDATASYNC: Counted = counted(3595, 7190, 14_380, 3595);
/// A log write of 1 KiB in the place of the flush alone.
const XFS_FSYNC: Counted = counted(3653, 7306, 16_841, 5883);
const BTRFS_FDATASYNC: Counted = counted(2725, 31_412, 393_556, 5450);

const fn counted(own: u64, writes: u64, written_kib: u64, flushes: u64) -> Counted {
    Counted { own, writes, written_kib, flushes, reads: 0, read_kib: 0 }
}

impl Counted {
    /// With another program that writes this share of the bytes, in I/Os of 16 KiB.
    fn and_a_writer(self, share: f64) -> Counted {
        let kib = (self.written_kib as f64 * share / (1.0 - share)).ceil() as u64;
        Counted { writes: self.writes + kib.div_ceil(16), written_kib: self.written_kib + kib, ..self }
    }

    /// With another program that reads.
    fn and_a_reader(self, share: f64) -> Counted {
        let kib = (self.written_kib as f64 * share / (1.0 - share)).ceil() as u64;
        Counted { reads: kib.div_ceil(16), read_kib: kib, ..self }
    }

    /// With the flushes of another program that syncs as often as the case.
    fn and_flushes(self) -> Counted {
        Counted { writes: self.writes + self.own, flushes: self.flushes + self.own, ..self }
    }
}

/// A run of six trials of 4 KiB writes one at a time on this file system, of which every ten seconds were as given.
fn record(file_system: &str, sync: Sync, counted: Counted) -> RunRecord {
    let six = |builder: RunBuilder, _| builder.trial(0).iops(counted.own as f64 / 10.0).done();
    let mut record = (0..6).fold(run_of(vec![case("log", 0, 1, sync)]), six).record();
    // The fixture rounds down in each interval.
    let until = |interval: u64| interval * counted.own / 100;
    for slice in record.trials.iter_mut().flat_map(|trial| &mut trial.slices) {
        slice.ops = until(u64::from(slice.interval) + 1) - until(slice.interval.into());
        slice.bytes = if slice.op == Op::Sync { 0 } else { slice.ops * 4096 };
    }
    record.load_mut().targets[0].file_system = Some(file_system.into());
    for device in &mut record.load_mut().targets[0].devices {
        (device.write_cache, device.fua) = (Some("write back".into()), Some(false));
    }
    count(&mut record, &["sda1", "sda"], counted);
    record
}

/// Sets the counters of these devices; samples are half a second apart.
fn count(record: &mut RunRecord, names: &[&str], counted: Counted) {
    for (at, sample) in record.load_mut().samples.iter_mut().skip(1).enumerate() {
        let until = |each: u64| each * at as u64 / 20;
        for name in names {
            let known = sample.disks.iter().position(|disk| disk.name == *name);
            let at = known.unwrap_or_else(|| {
                sample.disks.push(stend_record::sample::DiskCounters { name: name.to_string(), ..Default::default() });
                sample.disks.len() - 1
            });
            let disk = &mut sample.disks[at];
            (disk.writes, disk.write_bytes) = (until(counted.writes), until(counted.written_kib << 10));
            (disk.reads, disk.read_bytes) = (until(counted.reads), until(counted.read_kib << 10));
            disk.flushes = Some(until(counted.flushes));
        }
    }
}

fn status(record: &RunRecord) -> [CheckStatus; 2] {
    let cases = by_case(record);
    [foreign(record, &cases[0]).status, io_size(record, &cases[0]).status]
}

fn h26(record: &RunRecord) -> CheckStatus {
    status(record)[0]
}

#[test]
fn flushes_and_journal_of_the_own_syncs_are_not_of_others() {
    for (file_system, sync, counted) in [
        ("ext4", Sync::Fdatasync(1), EXT4_FDATASYNC),
        ("ext4", Sync::Fsync(1), EXT4_FSYNC),
        ("xfs", Sync::Fdatasync(1), XFS_FDATASYNC),
        ("xfs", Sync::Fsync(1), XFS_FSYNC),
        ("ext4", Sync::None, EXT4_NO_SYNC),
    ] {
        let record = record(file_system, sync, counted);
        let found = foreign(&record, &by_case(&record)[0]);
        assert_eq!(status(&record), [Pass; 2], "{file_system}, {sync:?}: {}", found.measured.en);
    }
}

#[test]
fn a_writer_and_a_reader_of_three_percent_show_beside_flushes_and_journal() {
    for (file_system, sync, counted) in [
        ("ext4", Sync::Fdatasync(1), EXT4_FDATASYNC),
        ("ext4", Sync::Fsync(1), EXT4_FSYNC),
        ("xfs", Sync::Fdatasync(1), XFS_FDATASYNC),
    ] {
        let with = |counted| h26(&record(file_system, sync, counted));
        assert_eq!(with(counted.and_a_writer(0.03)), Warn, "{file_system}, {sync:?}, a writer");
        assert_eq!(with(counted.and_a_reader(0.03)), Warn, "{file_system}, {sync:?}, a reader");
    }
    assert_eq!(h26(&record("ext4", Sync::Fdatasync(1), EXT4_AFTER_MKFS)), Warn, "work in the background");
    assert_eq!(h26(&record("ext4", Sync::Fdatasync(1), EXT4_FDATASYNC.and_flushes())), Warn, "another that syncs");
    // What a journal writes for syncs is none where the case has no syncs, or the file system no journal.
    assert_eq!(h26(&record("ext4", Sync::None, EXT4_FSYNC)), Warn);
    assert_eq!(h26(&record("ext2", Sync::Fsync(1), EXT4_FSYNC)), Warn);
}

#[test]
fn blocks_that_are_written_for_the_first_time_are_committed_by_every_sync() {
    let mut record = record("ext4", Sync::Fdatasync(1), EXT4_FSYNC);
    assert_eq!(h26(&record), Warn, "an overwrite changes nothing that fdatasync has to write");
    record.load_mut().fill = None;
    assert_eq!(h26(&record), Pass);
}

#[test]
fn what_a_copying_file_system_writes_for_itself_is_not_told_from_others_but_reads_are() {
    let btrfs = |counted| record("btrfs", Sync::Fdatasync(1), counted);
    assert_eq!(status(&btrfs(BTRFS_FDATASYNC)), [NotMeasurable; 2]);
    assert_eq!(h26(&btrfs(BTRFS_FDATASYNC.and_a_reader(0.03))), Warn);
    let in_place = Some("rw,nodatacow".to_string());
    let mut record = record("btrfs", Sync::None, counted(3400, 3400, 13_600, 0));
    assert_eq!(h26(&record), NotMeasurable);
    record.load_mut().targets[0].mount_options = in_place;
    assert_eq!(status(&record), [Pass; 2]);
}

#[test]
fn times_that_a_file_system_without_a_journal_writes_with_the_own_syncs_are_not_of_others() {
    let with = |journal, counted| {
        let mut record = record("ext4", Sync::Fdatasync(1), counted);
        record.load_mut().targets[0].journal = journal;
        status(&record)
    };
    assert_eq!(with(Some(false), EXT4_NO_JOURNAL), [Pass; 2]);
    assert_eq!(with(Some(true), EXT4_NO_JOURNAL)[0], Warn, "a journal commits no times with fdatasync");
    assert_eq!(with(None, EXT4_NO_JOURNAL)[0], Warn);
    assert_eq!(with(Some(false), EXT4_NO_JOURNAL.and_a_writer(0.15))[0], Warn);
}

/// A run on a mapping over a disk, `through` it what it counted, at the disk what arrived.
fn mapped(kind: &str, backend: &'static str, through: Counted, arrived: Counted) -> RunRecord {
    let mut record = record("ext4", Sync::None, through);
    record.trials.iter_mut().filter_map(|t| t.outcome.as_mut()).for_each(|o| o.engine.backend = backend.into());
    let device = |name: &str, kind: &str, depth| Device {
        name: name.into(),
        kind: kind.into(),
        depth,
        size: Bytes::gib(100),
        ..Device::default()
    };
    record.load_mut().targets[0].devices =
        vec![device("dm-0", kind, 0), device("sda3", "partition", 1), device("sda", "disk", 2)];
    count(&mut record, &["dm-0"], through);
    count(&mut record, &["sda3", "sda"], arrived);
    record
}

/// By the rule of the kernel, of which this machine has no device mapper: io_uring's first try has REQ_NOWAIT; a linear mapping passes it on, the
/// disk below refuses it when it is full without counting it, and the mapping counts it when it ends, with all of its bytes; the worker
/// thread then tries again and is counted again.
#[test]
fn tries_that_a_mapping_counted_and_its_disk_refused_are_not_of_others() {
    let (own, twice) = (counted(100_000, 100_000, 400_000, 0), counted(100_000, 140_000, 560_000, 0));
    for kind in ["dm", "md"] {
        assert_eq!(status(&mapped(kind, "io_uring", twice, own)), [Pass; 2]);
    }
    assert_eq!(h26(&mapped("dm", "psync", twice, own)), Warn, "nothing is tried without waiting");
    let (above, below) = (twice.and_a_writer(0.03), own.and_a_writer(0.04));
    assert_eq!(h26(&mapped("dm", "io_uring", above, below)), Warn, "another program through the same mapping");
    // A mirror writes everything twice: what is below does not say what was refused.
    let mirrored = counted(100_000, 200_000, 800_000, 0);
    assert_eq!(h26(&mapped("md", "io_uring", own, mirrored)), Pass);
    assert_eq!(h26(&mapped("md", "io_uring", twice, mirrored)), Warn);
    // A layer that holds data back says nothing either.
    assert_eq!(h26(&mapped("dm", "io_uring", twice, counted(100_000, 50_000, 200_000, 0))), Warn);
}
