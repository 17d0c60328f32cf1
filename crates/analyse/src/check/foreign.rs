//! H26 and H66: was the device ours alone, and did it get the I/Os as they were made?

use super::drives::{asked, moves_no_data};
use super::expected::Expected;
use super::stretch::{self, stretches};
use super::{Check, too_few_samples, zfs};
use crate::findings::{CheckId, CheckResult};
use crate::limits::{FOREIGN_SHARE, MERGED, NEVER_SPLIT, SPLIT};
use crate::phrase::op as op_name;
use crate::series::Cell;
use crate::trials::CaseTrials;
use stend_base::{Say, format, say, say_in};
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::workload::{Op, Sync};

/// The device whose counters are those of our I/O, one to one: the disk under partitions, or the target's own
/// device where layers in between multiply I/O. `None` if it cannot be told.
fn device(target: &TargetFacts) -> Option<&Device> {
    let of = |kind: &str| target.devices.iter().filter(|d| d.kind == kind).collect::<Vec<_>>();
    let (disks, partitions) = (of("disk"), of("partition"));
    match disks.as_slice() {
        [disk] if disks.len() + partitions.len() == target.devices.len() => Some(disk),
        _ => target.devices.iter().find(|d| d.depth == 0),
    }
}

/// That device of every target, each once; `None` if it cannot be told for one of them.
pub(super) fn of_all(targets: &[TargetFacts]) -> Option<Vec<&str>> {
    let mut names: Vec<&str> = Vec::new();
    for found in targets.iter().map(device) {
        let name = found?.name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The file system of a target that writes everything, and its own tables with it, to another place each time, so that what it writes
/// for itself cannot be told from what others write. btrfs with `nodatacow` does so only for syncs.
pub(super) fn writes_elsewhere<'a>(run: &'a RunRecord, case: &CaseTrials<'_>) -> Option<&'a str> {
    let synced = case.asked.streams.iter().any(|stream| stream.sync != Sync::None);
    run.load().targets.iter().find_map(|target| copies_on_write(target, synced)).filter(|_| asked(case, Op::Write))
}

fn copies_on_write(target: &TargetFacts, synced: bool) -> Option<&str> {
    match target.file_system.as_deref()? {
        kind @ ("zfs" | "bcachefs" | "nilfs2" | "f2fs") => Some(kind),
        "btrfs" if synced || !target.mount_options.iter().any(|all| all.split(',').any(|o| o == "nodatacow")) => {
            Some("btrfs")
        }
        _ => None,
    }
}

pub(super) fn not_told(file_system: &str) -> Say {
    say!(
        "{file_system} writes every block and its own tables to new places, which look like writes of other programs",
        "{file_system} пишет каждый блок и свои таблицы на новые места, и этого не отличить от чужой записи"
    )
}

/// H26: hardly any I/O of the device is not ours.
pub fn foreign(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check { id: CheckId::H26, limit: Say::both(|l| format!("≤ {}", format::percent(FOREIGN_SHARE, l))) };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    if case.asked.erases() {
        return check.not_measurable(say!(
            "the effects of discards and zeroes on the device look like I/O of other programs",
            "то, что устройство делает из-за освобождений и нулей, не отличить от чужих операций"
        ));
    }
    let Some(devices) = of_all(&run.load().targets) else { return check.not_measurable(no_device()) };
    let (on_zfs, elsewhere) = (zfs::is_target(run), writes_elsewhere(run, case));
    let all = stretches(run, case);
    // A case that only reads is judged when everything that the run wrote before is on the drives.
    let settled = if on_zfs && elsewhere.is_none() { zfs::settled(run, &all) } else { Vec::new() };
    let writes_judged = if on_zfs { !settled.is_empty() } else { elsewhere.is_none() };
    let stretches = if settled.is_empty() { all } else { settled };
    let expected = Expected::new(run, case, &stretches, &devices);
    let small = case.asked.streams.iter().all(|stream| stream.block_size <= NEVER_SPLIT);
    let judged = |op: &Op| writes_judged || *op == Op::Read;
    let share = |of: fn(&Cell) -> f64, zfs: bool| {
        let counted = |op| expected.counted(op).map(|cell| of(&cell));
        let all = Op::TRANSFERS.into_iter().map(counted).sum::<Option<f64>>().filter(|all| *all > 0.0)?;
        let besides = |op| of(&expected.besides(op)) + if zfs { of(&zfs::besides(&stretches, op)) } else { 0.0 };
        let beyond = |op| Some((counted(op)? - of(&expected.own(op)) - besides(op)).max(0.0));
        let beyond = Op::TRANSFERS.into_iter().filter(judged).map(beyond).sum::<Option<f64>>()?;
        Some(beyond / all)
    };
    let shares = |zfs: bool| Some((share(|cell| cell.bytes, zfs)?, share(|cell| cell.ops, zfs).filter(|_| small)));
    let Some((bytes, ios)) = shares(on_zfs) else { return check.not_measurable(too_few_samples()) };
    let name = devices.join(", ");
    let measured = Say::both(|l| {
        let percent = |share: f64| format::near_limit::percent(share, FOREIGN_SHARE, l);
        let text = say_in!(l, "{b} of the bytes", "{b} байт", b = percent(bytes));
        let ios = ios.map(|share| say_in!(l, ", {o} of the I/Os", ", {o} операций", o = percent(share)));
        format!("{text}{} {} {name}", ios.unwrap_or_default(), l.pick("at", "на"))
    });
    let holds = |(bytes, ios): (f64, Option<f64>)| bytes.max(ios.unwrap_or(0.0)) <= FOREIGN_SHARE;
    if holds((bytes, ios)) {
        return match elsewhere {
            Some(file_system) => check.not_measurable(not_told(file_system)),
            None if writes_judged && shares(false).is_some_and(holds) => check.pass(measured),
            None => check.not_measurable(zfs::not_told()),
        };
    }
    check.measured(measured).warn(say!(
        "Other programs used the device (or the file system worked in the background, as it does after `mkfs`), so these results are too low, and latencies include the I/O of others. Stop them and repeat, or mention this with the result.",
        "Устройством пользовались и другие программы (или файловая система работала в фоне, как после `mkfs`), поэтому результаты занижены, а задержки включают чужие операции. Остановите их и повторите или оговорите это в отчёте."
    ))
}

/// H66: bytes per I/O at the device are those of the block size.
pub fn io_size(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let scattered = case.asked.streams.iter().any(|stream| stream.pattern.is_scattered());
    // ZFS reads whole records and gathers them, whatever the load asks for: larger I/Os at its drives have nothing to do with the offsets.
    let random = scattered && !zfs::is_target(run);
    let mut check = Check { id: CheckId::H66, limit: allowed(&[], random) };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let Some(devices) = of_all(&run.load().targets) else { return check.not_measurable(no_device()) };
    let stretches = stretches(run, case);
    let expected = Expected::new(run, case, &stretches, &devices);
    let ratio = |op: Op| {
        let (sizes, own) = (expected.sizes(op)?, stretch::application(&stretches, op));
        let block = own.bytes / own.ops;
        (block > 0.0).then(|| (op, sizes.map(|size| size / block)))
    };
    let ops: Vec<Op> = Op::TRANSFERS.into_iter().filter(|&op| asked(case, op)).collect();
    if ops.is_empty() {
        return check.not_applicable(moves_no_data());
    }
    if asked(case, Op::WriteZeroes) {
        return check.not_measurable(say!(
            "the kernel counts writes of zeroes among the others",
            "ядро считает записи нулей вместе с прочими"
        ));
    }
    if let Some(file_system) = writes_elsewhere(run, case) {
        return check.not_measurable(not_told(file_system));
    }
    if let Some(file_system) = of_a_program(run) {
        return check.not_measurable(say!(
            "a program serves this file system ({file_system}) and does I/O of its own sizes",
            "эту файловую систему обслуживает программа ({file_system}), и размеры операций выбирает она"
        ));
    }
    let Some(ratios) = ops.into_iter().map(ratio).collect::<Option<Vec<(Op, [f64; 2])>>>() else {
        return check.not_measurable(too_few_samples());
    };
    // The kernel splits large blocks to what a device takes at a time, for every program. Pieces that any device would take warn.
    let least = |op: Op| {
        let own = stretch::application(&stretches, op);
        SPLIT * (NEVER_SPLIT.0 as f64 * own.ops / own.bytes).min(1.0)
    };
    check.limit = allowed(&ratios.iter().map(|(op, _)| (*op, least(*op))).collect::<Vec<_>>(), random);
    // Without what a journal may have mixed in where that decides.
    let decides = |(op, [all, without]): &(Op, [f64; 2])| match () {
        () if *all < least(*op) => (*op, all.max(*without)),
        () if random && *all > MERGED => (*op, all.min(*without)),
        () => (*op, *all),
    };
    let sizes: Vec<(Op, f64)> = ratios.iter().map(decides).collect();
    let measured = shares(&sizes, &devices);
    if sizes.iter().any(|(op, size)| *size < least(*op)) {
        let scatters = run.load().targets.iter().find_map(|target| copies_on_write(target, false));
        return check.measured(measured).warn(split(scatters));
    }
    if random && sizes.iter().any(|(_, size)| *size > MERGED) {
        return check.measured(measured).warn(say!(
            "Random I/Os were merged on their way: their offsets were adjacent, or other programs read ahead. The device did fewer and larger ones.",
            "Случайные операции слились по пути: смещения были соседними или другие программы читали вперёд. Устройство выполняло меньше операций, но крупнее."
        ));
    }
    check.pass(measured)
}

/// The file system of a target that a program serves by FUSE: CephFS by `ceph-fuse`, for example.
fn of_a_program(run: &RunRecord) -> Option<&str> {
    let mut file_systems = run.load().targets.iter().filter_map(|target| target.file_system.as_deref());
    file_systems.find(|file_system| file_system.starts_with("fuse"))
}

/// Why the device got smaller I/Os than the load made, on a file system that `scatters` or on another target.
fn split(scatters: Option<&str>) -> Say {
    match scatters {
        Some(kind) => say!(
            "The device got smaller I/Os than the load made: {kind} puts every overwritten block in a new place, so random writes cut the file into pieces. Large reads are those of such a file; measure them in a run without writes to compare with a fresh one.",
            "Устройство получало операции мельче заявленных: {kind} пишет изменённые блоки на новые места, и случайная запись дробит файл на куски. Большие чтения — это чтения такого файла; для сравнения со свежим измерьте их прогоном без записи."
        ),
        None => say!(
            "The device got smaller I/Os than the load made: a layer splits them (chunks of an array, blocks of a volume, queue/max_sectors_kb), or other programs added small ones. The device does not see the block size of the case.",
            "Устройство получало операции мельче заявленных: их делит слой (полосы массива, блоки тома, queue/max_sectors_kb) или примешаны чужие мелкие. Размер блока случая — не тот, что видит устройство."
        ),
    }
}

/// How large I/Os at the devices may be, as parts of a block: at least so much of each operation, and at random places hardly more.
fn allowed(least: &[(Op, f64)], random: bool) -> Say {
    let is_one = least.iter().all(|(_, share)| *share == least[0].1);
    Say::both(|l| {
        let (one, most) = (least.first().map_or(SPLIT, |(_, share)| *share), format::percent(MERGED, l));
        if is_one && random {
            return say_in!(l, "{s} to {most} of a block", "от {s} до {most} блока", s = format::percent(one, l));
        }
        let of = |(op, share): &(Op, f64)| format!("{} ≥ {}", op_name(*op).get(l), format::percent(*share, l));
        let least = match is_one {
            true => format!("≥ {}", format::percent(one, l)),
            false => least.iter().map(of).collect::<Vec<_>>().join(", "),
        };
        let most = if random { format!(", ≤ {most}") } else { String::new() };
        say_in!(l, "{s} of a block", "{s} блока", s = format!("{least}{most}"))
    })
}

/// The sizes of I/Os at the devices, as parts of the block.
fn shares(sizes: &[(Op, f64)], devices: &[&str]) -> Say {
    Say::both(|l| {
        let one = |(op, size): &(Op, f64)| format!("{} {}", op_name(*op).get(l), format::percent(*size, l));
        format!(
            "{} {} {}",
            sizes.iter().map(one).collect::<Vec<_>>().join(", "),
            l.pick("at", "на"),
            devices.join(", ")
        )
    })
}

pub(super) fn no_device() -> Say {
    say!("no device below the target has counters of its own", "под объектом нет устройства со своими счётчиками")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::sample::DiskCounters;

    fn record() -> RunRecord {
        run_of(vec![case("mix", 70, 32, Sync::None)]).trial(0).done().record()
    }

    fn h26(record: &RunRecord) -> CheckResult {
        foreign(record, &by_case(record)[0])
    }

    fn h66(record: &RunRecord) -> CheckResult {
        io_size(record, &by_case(record)[0])
    }

    /// The record with its counters of the disk changed, given the number of the sample.
    fn with(change: fn(u64, &mut DiskCounters)) -> RunRecord {
        let mut record = record();
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            sample.disks.iter_mut().for_each(|disk| change(at as u64, disk));
        }
        record
    }

    #[test]
    fn h26_a_device_of_our_own_passes() {
        let found = h26(&record());
        let text = "0.0 % of the bytes, 0.0 % of the I/Os at sda";
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Pass, text));
    }

    #[test]
    fn h26_a_neighbour_shows_in_bytes_or_in_ios() {
        // 500 I/Os in the half second between samples are ours 5,000.
        let small = with(|at, disk| disk.reads += at * 500);
        assert_eq!(h26(&small).status, CheckStatus::Warn);
        let large = with(|at, disk| disk.write_bytes += at * (4 << 20));
        assert_eq!(h26(&large).status, CheckStatus::Warn);
    }

    #[test]
    fn flushes_that_a_device_counts_as_writes_are_neither_foreign_nor_small() {
        let record = |empty: u64, flushes: Option<u64>| of(empty, flushes, |disk| &mut disk.writes);
        fn of(empty: u64, flushes: Option<u64>, counted: fn(&mut DiskCounters) -> &mut u64) -> RunRecord {
            let mut record = run_of(vec![case("write", 0, 8, Sync::Fdatasync(1))]).trial(0).done().record();
            for sample in &mut record.load_mut().samples {
                for disk in &mut sample.disks {
                    disk.flushes = flushes.map(|each| disk.writes * each);
                    let more = disk.writes * empty;
                    *counted(disk) += more;
                }
            }
            record
        }
        let status = |record: &RunRecord| [h26(record).status, h66(record).status];
        assert_eq!(status(&record(1, Some(0))), [CheckStatus::Pass; 2], "{:?}", h26(&record(1, Some(0))).measured.en);
        assert_eq!(status(&record(1, None)), [CheckStatus::Pass; 2], "an old kernel");
        let as_reads = of(1, Some(0), |disk| &mut disk.reads);
        assert_eq!(status(&as_reads), [CheckStatus::Pass; 2], "{:?}", h26(&as_reads).measured.en);
        let mut joined = record(1, Some(1));
        joined.load_mut().targets[0]
            .devices
            .iter_mut()
            .for_each(|device| device.identity = Some("dm:mpath-3600".into()));
        assert_eq!(status(&joined), [CheckStatus::Pass; 2], "{:?}", h26(&joined).measured.en);
        // A disk counts the same flush as a write of nothing and as a flush.
        assert_eq!(status(&record(1, Some(1))), [CheckStatus::Pass; 2]);
        let reads_of_others = of(1, Some(1), |disk| &mut disk.reads);
        assert_eq!(
            h26(&reads_of_others).status,
            CheckStatus::Warn,
            "a disk that counts flushes has no reads of nothing"
        );
        assert_eq!(status(&record(2, Some(0))), [CheckStatus::Warn; 2], "nobody asked for so many");
    }

    #[test]
    fn h26_splitting_of_large_blocks_is_not_foreign() {
        let mut record = with(|_, disk| (disk.reads, disk.writes) = (disk.reads * 4, disk.writes * 4));
        assert_eq!(h26(&record).status, CheckStatus::Warn);
        record.trials[0].asked.streams[0].block_size = stend_base::Bytes::mib(1);
        assert_eq!(h26(&record).status, CheckStatus::Pass);
    }

    #[test]
    fn h26_layers_are_judged_at_the_targets_own_device() {
        let mut record = record();
        record.load_mut().targets[0].devices[1].kind = "md".into();
        assert!(h26(&record).measured.en.ends_with("at sda1"));
        record.load_mut().targets[0].devices.clear();
        assert_eq!(h26(&record).status, CheckStatus::NotMeasurable);
    }

    #[test]
    fn h66_ios_that_arrive_as_made_pass() {
        let found = h66(&record());
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "read 100.0 %, write 100.0 % at sda")
        );
    }

    #[test]
    fn h66_split_and_merged_ios_are_told() {
        let split = h66(&with(|_, disk| disk.reads *= 2));
        assert_eq!((split.status, split.meaning.en.contains("max_sectors_kb")), (CheckStatus::Warn, true));
        let mut merged = with(|_, disk| disk.writes /= 2);
        assert_eq!((h66(&merged).status, h66(&merged).meaning.en.contains("merged")), (CheckStatus::Warn, true));
        merged.trials[0].asked.streams[0].pattern = stend_spec::workload::Pattern::Sequential;
        assert_eq!(h66(&merged).status, CheckStatus::Pass);
        // 1 MiB in ordinary pages are 256 segments, of which many devices take 127 or 254 at a time.
        for (pieces, status) in [(2, CheckStatus::Pass), (16, CheckStatus::Pass), (18, CheckStatus::Warn)] {
            let mut large = record();
            large.trials[0].slices.iter_mut().for_each(|slice| slice.bytes *= 256);
            for disk in large.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks) {
                (disk.reads, disk.writes) = (disk.reads * pieces, disk.writes * pieces);
                (disk.read_bytes, disk.write_bytes) = (disk.read_bytes * 256, disk.write_bytes * 256);
            }
            assert_eq!(h66(&large).status, status, "{pieces} pieces of 1 MiB");
        }
    }

    #[test]
    fn h66_whole_records_of_zfs_are_not_merged_ios_and_pieces_of_blocks_are_found_there_too() {
        let on = |file_system: &str, change: fn(u64, &mut DiskCounters)| {
            let mut record = run_of(vec![case("read", 100, 32, Sync::None)]).trial(0).done().record();
            record.load_mut().targets[0].file_system = Some(file_system.into());
            for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
                sample.disks.iter_mut().for_each(|disk| change(at as u64, disk));
            }
            h66(&record).status
        };
        let whole_records: fn(u64, &mut DiskCounters) = |_, disk| disk.read_bytes *= 32;
        let pieces: fn(u64, &mut DiskCounters) = |_, disk| disk.reads *= 2;
        assert_eq!([on("zfs", whole_records), on("ext4", whole_records)], [CheckStatus::Pass, CheckStatus::Warn]);
        assert_eq!([on("zfs", pieces), on("ext4", pieces)], [CheckStatus::Warn; 2]);
    }

    #[test]
    fn h66_pieces_of_a_file_that_btrfs_wrote_at_random_places_are_told_as_such() {
        let mut record = run_of(vec![case("seq-read", 100, 8, Sync::None)]).trial(0).done().record();
        record.trials[0].asked.streams[0].pattern = stend_spec::workload::Pattern::Sequential;
        record.trials[0].slices.iter_mut().for_each(|slice| slice.bytes *= 256);
        // Measured after random writes of 4 KiB: 1 MiB came in pieces of 18 KiB.
        for disk in record.load_mut().samples.iter_mut().flat_map(|sample| &mut sample.disks) {
            (disk.reads, disk.read_bytes) = (disk.reads * 57, disk.read_bytes * 256);
        }
        let told =
            |record: &RunRecord| (h66(record).status, h66(record).meaning.en.contains("cut the file into pieces"));
        assert_eq!(told(&record), (CheckStatus::Warn, false));
        record.load_mut().targets[0].file_system = Some("btrfs".into());
        assert_eq!(told(&record), (CheckStatus::Warn, true));
    }

    #[test]
    fn h66_is_silent_where_a_program_serves_the_file_system() {
        let mut record = with(|_, disk| disk.writes *= 4);
        assert_eq!(h66(&record).status, CheckStatus::Warn);
        record.load_mut().targets[0].file_system = Some("fuse.ceph-fuse".into());
        let found = h66(&record);
        assert_eq!((found.status, found.meaning.en.contains("fuse.ceph-fuse")), (CheckStatus::NotMeasurable, true));
    }

    #[test]
    fn without_counters_neither_is_measurable() {
        let mut record = record();
        record.load_mut().samples.clear();
        assert_eq!([h26(&record).status, h66(&record).status], [CheckStatus::NotMeasurable; 2]);
    }
}
