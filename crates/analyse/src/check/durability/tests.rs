//! Red and green of H30 and H31.

use super::*;
use crate::fixture::{case, over_storage, over_two_storages, run, run_of};
use crate::trials::by_case;
use stend_record::sample::DiskCounters;

/// A run of writes with these syncs at queue depth 1, 200 a second, over drives that are as `device` makes them, in which the
/// drives counted so many flushes per sample.
fn record(sync: Sync, flushes: u64, device: fn(&mut Device)) -> RunRecord {
    let mut record = run_of(vec![case("log", 0, 1, sync)]).trial(0).iops(200.0).done().record();
    record.load_mut().targets[0].devices.iter_mut().for_each(|drive| {
        drive.write_cache = Some(VOLATILE.into());
        device(drive);
    });
    for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
        sample.disks.iter_mut().for_each(|disk| disk.flushes = Some(at as u64 * flushes));
    }
    record
}

fn h30(record: &RunRecord) -> CheckResult {
    fsync(record, &by_case(record)[0])
}

fn h31(record: &RunRecord) -> CheckResult {
    unsafe_modes(record, &by_case(record)[0])
}

#[test]
fn syncs_with_flushes_pass() {
    let found = h30(&record(Sync::Fdatasync(1), 100, |_| {}));
    assert_eq!(found.status, CheckStatus::Pass);
    assert_eq!(found.measured.en, "500 flushes for 500 syncs, median 4.98 ms");
}

#[test]
fn syncs_of_which_no_flush_comes_fail() {
    let found = h30(&record(Sync::Fdatasync(1), 0, |_| {}));
    assert_eq!((found.status, found.measured.ru.contains("сбросов 0 на 500")), (CheckStatus::Fail, true), "{found:?}");
    assert_eq!(h30(&record(Sync::ODsync, 0, |_| {})).status, CheckStatus::Fail);
}

#[test]
fn what_counts_no_flushes_is_not_blamed_for_lacking_them() {
    let far = h30(&record(Sync::Fdatasync(1), 0, |drive| drive.transport = Some("tcp".into())));
    assert_eq!((far.status, far.meaning.en.contains("NVMe-oF")), (CheckStatus::NotMeasurable, true), "{far:?}");
    let counts = h30(&record(Sync::Fdatasync(1), 3, |drive| drive.transport = Some("tcp".into())));
    assert_eq!(counts.status, CheckStatus::Fail, "one that counts some counts all");
    let disk = h30(&record(Sync::Fdatasync(1), 0, |drive| drive.transport = Some("iscsi".into())));
    assert_eq!(disk.status, CheckStatus::Fail);
    let joined =
        |name: &str| is_joined(&Device { name: name.into(), transport: Some("fc".into()), ..Device::default() });
    assert!(joined("nvme0n1") && !joined("sda"), "a SCSI disk behind Fibre Channel counts all");
}

#[test]
fn of_two_hosts_flushes_count_at_the_drives_of_the_storage_host() {
    let far = |flushes: u64| {
        let mut far = over_storage(record(Sync::Fdatasync(1), flushes, |_| {}));
        // At the client none are counted.
        far.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks).for_each(|disk| disk.flushes = Some(0));
        far
    };
    assert_eq!(h30(&far(100)).measured.en, "500 flushes for 500 syncs, median 4.98 ms");
    assert_eq!((h30(&far(100)).status, h30(&far(0)).status), (CheckStatus::Pass, CheckStatus::Fail));
    assert_eq!(h31(&far(100)).measured.en, "volatile cache: sda of array1");
    // The server has what a direct write brings on its drives before it answers.
    let left = |file_system: &str| {
        let mut plain = over_storage(record(Sync::None, 100, |_| {}));
        plain.load_mut().targets[0].file_system = Some(file_system.into());
        left_in_caches(&plain, &by_case(&plain)[0]).map(|names| names.en)
    };
    assert_eq!((left("ext4").as_deref(), left("nfs4")), (Some("sda of array1"), None));
    let mut unwatched = far(100);
    crate::fixture::unwatched(&mut unwatched);
    assert_eq!([h30(&unwatched).status, h31(&unwatched).status], [CheckStatus::NotMeasurable; 2]);
    let mut careless = far(100);
    careless.storage_mut().unwrap().targets[0].mount_options = Some("rw,nobarrier".into());
    assert_eq!((h31(&careless).status, h31(&careless).measured.en.as_str()), (CheckStatus::Warn, "/srv: nobarrier"));
}

#[test]
fn bytes_and_flushes_of_several_storage_hosts_add_up() {
    let h11 = |record: &RunRecord| super::super::drives::bytes(record, &by_case(record)[0]);
    let halves = |share: f64| over_two_storages(run().trial(0).at_drives(share).done().record());
    let found = h11(&halves(0.5));
    assert_eq!(
        (found.status, found.measured.en.as_str()),
        (CheckStatus::Pass, "read 1.000 at sda of array1; sda of array2")
    );
    assert_eq!(h11(&halves(0.3)).status, CheckStatus::Fail, "their memories answer");
    let mut lost = halves(0.5);
    lost.hosts_mut()[2].samples.truncate(2);
    assert_eq!(h11(&lost).status, CheckStatus::NotMeasurable, "half of the drives were not watched");
    let taken_in = |kind: &str| {
        let mut chain = halves(1.0);
        chain.hosts_mut()[2].targets[0].devices.iter_mut().for_each(|drive| drive.transport = Some(kind.into()));
        h11(&chain).status
    };
    assert_eq!([taken_in("nbd"), taken_in("nvme")], [CheckStatus::NotMeasurable, CheckStatus::Pass]);

    let far = |flushes: u64| over_two_storages(record(Sync::Fdatasync(1), flushes, |_| {}));
    assert_eq!(h30(&far(50)).measured.en, "500 flushes for 500 syncs, median 4.98 ms");
    assert_eq!((h30(&far(50)).status, h30(&far(0)).status), (CheckStatus::Pass, CheckStatus::Fail));
    assert_eq!(h31(&far(50)).measured.en, "volatile cache: sda of array1; sda of array2");
    let mut one = far(50);
    one.hosts_mut()[2].targets[0].devices.iter_mut().for_each(|drive| drive.write_cache = Some("write through".into()));
    assert_eq!(h31(&one).measured.en, "volatile cache: sda of array1");
}

#[test]
fn over_nfs_a_sync_after_a_direct_write_has_nothing_left_to_do() {
    let fast = |file_system: &str| {
        let mut record = record(Sync::Fdatasync(1), 100, |_| {});
        record.load_mut().targets[0].file_system = Some(file_system.into());
        let jobs = record.trials.iter_mut().flat_map(|trial| &mut trial.outcome.as_mut().unwrap().jobs);
        let mut microseconds = Histogram::new();
        (0..500).for_each(|_| microseconds.record(Nanos(2_000)));
        jobs.for_each(|job| job.latency[Op::Sync.index()] = microseconds.sparse());
        record
    };
    assert_eq!(h30(&fast("ext4")).status, CheckStatus::Warn);
    assert_eq!(h30(&fast("nfs4")).status, CheckStatus::Pass);
    let mut cached = fast("nfs4");
    cached.trials[0].asked.direct = false;
    assert_eq!(h30(&cached).status, CheckStatus::Warn);
}

#[test]
fn flushes_over_paths_are_counted_where_these_are_joined() {
    let over_paths = |flushes: u64| {
        let mut record = record(Sync::Fdatasync(1), 0, |_| {});
        let joined = Device {
            name: "dm-0".into(),
            kind: "dm".into(),
            identity: Some("dm:mpath-3600".into()),
            ..Device::default()
        };
        record.load_mut().targets[0].devices.insert(0, joined);
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            let path = sample.disks[0].clone();
            sample.disks.push(DiskCounters { name: "dm-0".into(), flushes: Some(at as u64 * flushes), ..path });
        }
        h30(&record)
    };
    assert_eq!(over_paths(100).measured.en, "500 flushes for 500 syncs, median 4.98 ms");
    assert_eq!([100, 0].map(|flushes| over_paths(flushes).status), [CheckStatus::Pass, CheckStatus::Fail]);
}

#[test]
fn flushes_that_reach_a_path_and_not_the_drive_behind_it_were_swallowed() {
    // A target of this host that hands a drive out and keeps flushes to itself.
    let mut record = record(Sync::Fdatasync(1), 0, |drive| drive.depth = 2);
    let path = |name: &str| Device { name: name.into(), kind: "iscsi".into(), depth: 1, ..Device::default() };
    let joined = Device { kind: "dm".into(), depth: 0, identity: Some("dm:STEND-mpath-1".into()), ..path("dm-0") };
    record.load_mut().targets[0].devices.splice(0..0, [joined, path("sdx"), path("sdy")]);
    for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
        let drive = sample.disks[0].clone();
        sample.disks.push(DiskCounters { name: "dm-0".into(), flushes: Some(at as u64 * 100), ..drive });
    }
    assert_eq!(h30(&record).status, CheckStatus::Fail, "{:?}", h30(&record).measured.en);
}

#[test]
fn flushes_of_others_do_not_cover_syncs_that_were_swallowed() {
    // 15 flushes for 500 syncs, as on a file system without barriers beside other programs.
    let found = h30(&record(Sync::Fdatasync(1), 3, |_| {}));
    assert_eq!(
        (found.status, found.measured.en.as_str()),
        (CheckStatus::Fail, "15 flushes for 500 syncs, median 4.98 ms")
    );
    let mut many = run_of(vec![case("log", 0, 8, Sync::Fdatasync(1))]).trial(0).iops(200.0).done().record();
    let few = record(Sync::Fdatasync(1), 3, |_| {});
    *many.load_mut() = few.load().clone();
    assert_eq!(h30(&many).status, CheckStatus::Pass, "syncs in flight together share flushes");
}

#[test]
fn writes_with_fua_need_no_flush() {
    let found = h30(&record(Sync::Dsync, 0, |drive| drive.fua = Some(true)));
    assert_eq!((found.status, found.measured.en.contains("FUA")), (CheckStatus::Pass, true));
    assert_eq!(h30(&record(Sync::Fdatasync(1), 0, |drive| drive.fua = Some(true))).status, CheckStatus::Fail);
}

#[test]
fn a_sync_faster_than_a_volatile_cache_is_emptied_is_a_warning_where_the_drive_is_seen() {
    let fast = |device: fn(&mut Device)| {
        let mut made = run_of(vec![case("log", 0, 1, Sync::ODsync)]).trial(0).iops(20_000.0).done().record();
        let slow = record(Sync::ODsync, 100, device);
        *made.load_mut() = slow.load().clone();
        h30(&made)
    };
    assert_eq!(fast(|_| {}).status, CheckStatus::Warn);
    let hidden = fast(|drive| drive.is_virtual = true);
    assert_eq!(hidden.status, CheckStatus::NotMeasurable, "it is as fast over a protected cache");
    assert!(hidden.meaning.en.contains("`cache=unsafe`"));
}

#[test]
fn a_disk_that_syncs_faster_than_it_turns_is_a_warning() {
    let of = |iops: f64| {
        let mut made = run_of(vec![case("log", 0, 1, Sync::Fdatasync(1))]).trial(0).iops(iops).done().record();
        let other = record(Sync::Fdatasync(1), 2_000, |drive| drive.rotational = Some(true));
        *made.load_mut() = other.load().clone();
        h30(&made).status
    };
    assert_eq!((of(120.0), of(2_000.0)), (CheckStatus::Pass, CheckStatus::Warn));
}

#[test]
fn a_drive_without_a_volatile_cache_has_nothing_to_flush_and_an_unknown_one_is_not_measurable() {
    let safe = h30(&record(Sync::Fdatasync(1), 0, |drive| drive.write_cache = Some("write through".into())));
    assert_eq!(safe.status, CheckStatus::Pass);
    assert_eq!(
        h30(&record(Sync::Fdatasync(1), 0, |drive| drive.write_cache = None)).status,
        CheckStatus::NotMeasurable
    );
    assert_eq!(h30(&record(Sync::None, 0, |_| {})).status, CheckStatus::NotApplicable);
    assert_eq!(h30(&record(Sync::SyncFileRange(1), 0, |_| {})).status, CheckStatus::NotApplicable);
    let mut old_kernel = record(Sync::Fdatasync(1), 0, |_| {});
    old_kernel.load_mut().samples.iter_mut().flat_map(|s| &mut s.disks).for_each(|disk| disk.flushes = None);
    assert_eq!(h30(&old_kernel).status, CheckStatus::NotMeasurable);
}

#[test]
fn writes_that_stay_in_a_volatile_cache_are_a_note_and_a_sync_that_does_not_empty_it_is_a_warning() {
    let left = h31(&record(Sync::None, 0, |_| {}));
    assert_eq!((left.status, left.measured.en.as_str()), (CheckStatus::Pass, "volatile cache: sda"));
    let noted = |sync, cache: fn(&mut Device)| {
        let record = record(sync, 0, cache);
        left_in_caches(&record, &by_case(&record)[0]).map(|names| names.en)
    };
    assert_eq!(noted(Sync::None, |_| {}).as_deref(), Some("sda"));
    assert_eq!(noted(Sync::Fdatasync(1), |_| {}), None);
    assert_eq!(noted(Sync::None, |drive| drive.write_cache = Some("write through".into())), None);
    assert_eq!(h31(&record(Sync::SyncFileRange(1), 0, |_| {})).status, CheckStatus::Warn);
    assert_eq!(h31(&record(Sync::Fdatasync(1), 0, |_| {})).status, CheckStatus::Pass);
    let safe = h31(&record(Sync::None, 0, |drive| drive.write_cache = Some("write through".into())));
    assert_eq!(safe.status, CheckStatus::Pass);
}

#[test]
fn a_mount_that_sends_no_flushes_is_told_whatever_the_drives() {
    let mut mounted = record(Sync::Fdatasync(1), 0, |drive| drive.write_cache = Some("write through".into()));
    mounted.load_mut().targets[0].mount_options = Some("rw,relatime,nobarrier".into());
    let found = h31(&mounted);
    assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Warn, "/srv: nobarrier"));
    mounted.load_mut().targets[0].mount_options = Some("rw,barrier=1".into());
    assert_eq!(h31(&mounted).status, CheckStatus::Pass);
}

#[test]
fn what_a_virtual_disk_hides_is_said_and_an_unknown_cache_is_not_measurable() {
    let hidden = h31(&record(Sync::Fdatasync(1), 0, |drive| drive.is_virtual = true));
    assert!(hidden.measured.en.contains("not visible") && hidden.measured.ru.contains("не виден"));
    assert_eq!(h31(&record(Sync::None, 0, |drive| drive.write_cache = None)).status, CheckStatus::NotMeasurable);
    let reads = run_of(vec![case("read", 100, 1, Sync::None)]).trial(0).done().record();
    assert_eq!(h31(&reads).status, CheckStatus::NotApplicable);
}
