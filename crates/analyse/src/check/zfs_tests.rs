//! Red and green of H26 on ZFS. The amounts are those that its rules lead to: records of 128 KiB, tables of blocks, groups of transactions.

use super::foreign::foreign;
use crate::findings::CheckStatus::{self, NotMeasurable, Warn};
use crate::fixture::{case, run_of};
use crate::trials::by_case;
use stend_base::Nanos;
use stend_record::RunRecord;
use stend_record::sample::DiskCounters;
use stend_spec::workload::Sync;

/// Cases of reads and of writes of 4 KiB, in turn, 400 I/Os a second for so long each.
fn record(window: Nanos, cases: &[u32]) -> RunRecord {
    let both = run_of(vec![case("read", 100, 32, Sync::None), case("write", 0, 32, Sync::None)]);
    let trial = |run: crate::fixture::RunBuilder, case: &u32| run.trial(*case).window(window).iops(400.0).done();
    let mut record = cases.iter().fold(both, trial).record();
    record.load_mut().targets[0].file_system = Some("zfs".into());
    record
}

/// Adds to the counters of the disks what somebody does there in each half second of the trials' time; `of` gets their number.
fn also(record: &mut RunRecord, of: impl Fn(u64, &mut DiskCounters)) {
    for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
        sample.disks.iter_mut().for_each(|disk| of(at as u64, disk));
    }
}

/// What ZFS reads for 200 I/Os: a record of 128 KiB for each, and a block of the table that leads to every second one.
fn whole_records(at: u64, disk: &mut DiskCounters) {
    disk.reads += at * 100;
    disk.read_bytes += at * (200 * (124 << 10) + 100 * (16 << 10));
}

fn status(record: &RunRecord, name: &str) -> CheckStatus {
    let cases = by_case(record);
    let plan = record.plan().unwrap();
    let is = |case: &&crate::trials::CaseTrials<'_>| plan.cases[case.case as usize].label().contains(name);
    foreign(record, cases.iter().find(is).unwrap()).status
}

#[test]
fn whole_records_and_what_was_written_before_are_not_foreign_on_zfs() {
    let mut record = record(Nanos::secs(3), &[1, 0, 1, 0]);
    also(&mut record, whole_records);
    // Records that the writing trials changed, written while the reading ones run.
    also(&mut record, |at, disk| {
        (disk.writes, disk.write_bytes) = (disk.writes + at * 200, disk.write_bytes + at * (25 << 20))
    });
    assert_eq!([status(&record, "read"), status(&record, "write")], [NotMeasurable; 2]);
    record.load_mut().targets[0].file_system = Some("ext4".into());
    assert_eq!(
        [status(&record, "read"), status(&record, "write")],
        [Warn; 2],
        "on other file systems they are of others"
    );
}

#[test]
fn who_reads_more_than_zfs_can_is_found() {
    let mut bytes = record(Nanos::secs(3), &[1, 0]);
    also(&mut bytes, |at, disk| disk.read_bytes += at * (300 << 20));
    assert_eq!([status(&bytes, "read"), status(&bytes, "write")], [Warn; 2]);
    let mut small = record(Nanos::secs(3), &[1, 0]);
    also(&mut small, |at, disk| disk.reads += at * 2500);
    assert_eq!([status(&small, "read"), status(&small, "write")], [Warn; 2]);
}

#[test]
fn a_writer_is_found_on_zfs_once_what_the_run_wrote_is_on_the_drives() {
    let writer = |window: u64| {
        let mut record = record(Nanos::secs(window), &[1, 0]);
        also(&mut record, whole_records);
        also(&mut record, |at, disk| {
            (disk.writes, disk.write_bytes) = (disk.writes + at * 100, disk.write_bytes + at * (10 << 20))
        });
        status(&record, "read")
    };
    assert_eq!(writer(30), Warn);
    assert_eq!(writer(10), NotMeasurable, "it may be what the run itself wrote");
}

#[test]
fn groups_of_transactions_that_come_by_themselves_are_not_foreign() {
    let mut record = record(Nanos::secs(60), &[0]);
    // Every five seconds.
    also(&mut record, |at, disk| {
        (disk.writes, disk.write_bytes) = (disk.writes + at / 10 * 40, disk.write_bytes + at / 10 * (400 << 10))
    });
    assert_ne!(status(&record, "read"), Warn);
}
