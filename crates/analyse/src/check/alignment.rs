//! H62: do blocks begin and end where those of the medium do? A block across two of them costs both, and a
//! write of a part of one costs a read first. Arrays and volumes have blocks of their own (stripes, records), and what a part of one
//! costs is counted: [`read_back`].

mod read_back;

use super::Check;
use crate::findings::{CheckId, CheckResult};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, format, say, say_in};
use stend_record::targets::devices;
use stend_record::{RunRecord, TargetFacts, TargetKind};

/// H62: block sizes, offsets and partitions are multiples of the physical block.
pub fn alignment(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    // A block that is whole on the coarsest medium is whole on all: they are powers of two. A volume of ZFS calls its records so
    // (volblocksize), which are no blocks of a medium: what it makes of parts of them is counted.
    let of_medium = || run.load().targets.iter().filter(|target| !read_back::is_volume(target));
    let physical = of_medium().map(|target| target.physical_block).max().filter(|block| block.0 > 0);
    let volumes_only = !run.load().targets.is_empty() && of_medium().next().is_none();
    let check = Check {
        id: CheckId::H62,
        limit: Say::both(|l| match physical {
            Some(block) => say_in!(l, "multiples of {b}", "кратно {b}", b = format::bytes(block, l)),
            None => "–".to_string(),
        }),
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let beneath = read_back::judged(run, case);
    if volumes_only {
        return match beneath {
            Some(found) => check.result(found.status, found.measured, found.meaning),
            None => check.not_measurable(super::too_few_samples()),
        };
    }
    let Some(physical) = physical else {
        return check
            .not_measurable(say!("the physical block size is not known", "размер физического блока неизвестен"));
    };
    let found = misaligned(&run.load().targets, case, physical);
    if found.is_empty() {
        let aligned = say!("aligned", "выровнено");
        let Some(beneath) = beneath else { return check.pass(aligned) };
        let measured = Say::both(|l| format!("{}; {}", aligned.get(l), beneath.measured.get(l)));
        return check.result(beneath.status, measured, beneath.meaning);
    }
    let measured = Say::both(|l| found.iter().map(|say| say.get(l)).collect::<Vec<_>>().join("; "));
    if case.asked.writes() {
        return check.measured(measured).fail(say!(
            "Each such write makes the drive read, change and write whole physical blocks; the rate is that of the misalignment. Align the partition or use larger blocks.",
            "При каждой такой записи накопитель читает, меняет и пишет физические блоки целиком: это скорость невыровненного доступа. Выровняйте раздел или возьмите блоки больше."
        ));
    }
    check.measured(measured).warn(say!(
        "Reads touch more of the medium than they ask for; aligned ones may be faster.",
        "Чтение затрагивает больше носителя, чем запрошено; выровненное может быть быстрее."
    ))
}

/// What is no multiple of the physical block.
fn misaligned(targets: &[TargetFacts], case: &CaseTrials<'_>, physical: Bytes) -> Vec<Say> {
    let off = |bytes: Bytes| !bytes.0.is_multiple_of(physical.0);
    let mut found = Vec::new();
    for device in devices(targets).into_iter().filter(|d| d.start.is_some_and(off)) {
        let (name, start) = (&device.name, device.start.unwrap_or_default().0);
        found.push(say!("partition {name} begins at byte {start}", "раздел {name} начинается с байта {start}"));
    }
    for size in case.asked.streams.iter().flat_map(|s| s.sizes().map(|share| share.size)).filter(|size| off(*size)) {
        found.push(say!(|l| "blocks of {b}", "блоки по {b}", b = format::bytes(size, l)));
    }
    // Offsets in a file say nothing about the device: the file system aligns its own blocks.
    let jobs = case.counting.iter().flat_map(|trial| &trial.outcome.engine.jobs);
    if targets.iter().any(|target| target.kind == TargetKind::BlockDevice)
        && let Some(job) = jobs.into_iter().find(|job| off(job.area.start))
    {
        let start = job.area.start.0;
        found.push(say!("a job that begins at byte {start}", "задание, начинающееся с байта {start}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::Device;
    use stend_record::sample::DiskCounters;
    use stend_spec::workload::{Pattern, Sync};

    fn check(read_percent: u8, change: fn(&mut RunRecord)) -> CheckResult {
        let mut record = run_of(vec![case("x", read_percent, 1, Sync::None)]).trial(0).done().record();
        change(&mut record);
        alignment(&record, &by_case(&record)[0])
    }

    #[test]
    fn whole_physical_blocks_pass() {
        assert_eq!(check(0, |_| {}).status, CheckStatus::Pass);
    }

    #[test]
    fn writes_of_half_blocks_fail_and_reads_are_a_warning() {
        let small = |r: &mut RunRecord| r.trials[0].asked.streams[0].block_size = Bytes(512);
        assert_eq!(check(0, small).status, CheckStatus::Fail);
        assert_eq!(check(100, small).status, CheckStatus::Warn);
        assert_eq!(check(0, small).measured.en, "blocks of 512 B");
    }

    #[test]
    fn a_partition_from_the_days_of_63_sectors_fails() {
        let found = check(0, |r| r.load_mut().targets[0].devices[0].start = Some(Bytes(63 * 512)));
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Fail, "partition sda1 begins at byte 32256")
        );
    }

    #[test]
    fn an_offset_counts_on_a_device_and_not_in_a_file() {
        let shift = |r: &mut RunRecord| r.trials[0].outcome.as_mut().unwrap().engine.jobs[0].area.start = Bytes(512);
        assert_eq!(check(0, shift).status, CheckStatus::Pass);
        let on_device = check(0, |r| {
            r.trials[0].outcome.as_mut().unwrap().engine.jobs[0].area.start = Bytes(512);
            r.load_mut().targets[0].kind = TargetKind::BlockDevice;
        });
        assert_eq!(on_device.status, CheckStatus::Fail);
    }

    #[test]
    fn an_unknown_physical_block_is_not_measurable() {
        assert_eq!(check(0, |r| r.load_mut().targets[0].physical_block = Bytes(0)).status, CheckStatus::NotMeasurable);
    }

    /// A load on `top` over two devices, which read so many bytes for each that was written (or read) there.
    fn over(top: Device, read_percent: u8, block: Bytes, pattern: Pattern, per_byte: f64) -> CheckResult {
        let mut suite = case("x", read_percent, 1, Sync::None);
        (suite.streams[0].block_size, suite.streams[0].pattern) = (vec![block], pattern);
        let mut record = run_of(vec![suite]).trial(0).done().record();
        let member = |name: &str| Device { name: name.into(), kind: "disk".into(), depth: 1, ..Device::default() };
        let is_volume = top.kind == "zvol";
        let name = top.name.clone();
        record.load_mut().targets[0].devices = vec![top, member("sda"), member("sdb")];
        record.load_mut().targets[0].kind = TargetKind::BlockDevice;
        if is_volume {
            record.load_mut().targets[0].physical_block = Bytes::kib(16);
        }
        for (at, sample) in record.load_mut().samples.iter_mut().enumerate() {
            // 20 MB per sample at the top.
            let moved = at as u64 * 20_000_000;
            let extra = (moved as f64 * per_byte) as u64;
            let (read, written) = if read_percent == 100 { (moved, 0) } else { (0, moved) };
            let disk = |name: &str, read_bytes, write_bytes| DiskCounters {
                name: name.into(),
                read_bytes,
                write_bytes,
                ..DiskCounters::default()
            };
            sample.disks = vec![
                disk(&name, read, written),
                disk("sda", (read + extra) / 2, written),
                disk("sdb", (read + extra) / 2, written),
            ];
        }
        alignment(&record, &by_case(&record)[0])
    }

    fn volume() -> Device {
        Device { name: "zd0".into(), kind: "zvol".into(), ..Device::default() }
    }

    fn array(level: &str, members: u32) -> Device {
        let (level, chunk) = (Some(level.into()), Some(Bytes::kib(64)));
        Device { name: "md0".into(), kind: "md".into(), level, chunk, members: Some(members), ..Device::default() }
    }

    #[test]
    fn parts_of_the_records_of_a_volume_are_judged_by_what_they_cost() {
        let small = |read, per_byte| over(volume(), read, Bytes::kib(4), Pattern::Random, per_byte);
        let quiet = small(0, 0.01);
        assert_eq!(quiet.status, CheckStatus::Pass, "{quiet:?}");
        assert_eq!(quiet.measured.en, "0.010 bytes read below zd0 per byte written");
        let costly = small(0, 3.0);
        assert!(costly.status == CheckStatus::Warn && costly.meaning.en.contains("volblocksize"), "{costly:?}");
        assert_eq!((small(100, 0.1).status, small(100, 3.0).status), (CheckStatus::Pass, CheckStatus::Warn));
    }

    #[test]
    fn a_parity_array_says_that_it_reads_for_parts_of_stripes_and_warns_where_it_need_not() {
        let of = |array, block, pattern, per_byte| over(array, 0, Bytes::kib(block), pattern, per_byte);
        let random = of(array("raid5", 4), 4, Pattern::Random, 2.0);
        assert_eq!(random.status, CheckStatus::Pass, "{random:?}");
        assert_eq!(random.measured.en, "aligned; read-modify-write: 2.00 bytes read below md0 per byte written");
        assert!(random.measured.ru.contains("чтение-изменение-запись"), "{random:?}");
        // More than the old data and the old parity.
        assert_eq!(of(array("raid5", 4), 4, Pattern::Random, 3.0).status, CheckStatus::Warn);
        assert_eq!(of(array("raid6", 6), 4, Pattern::Random, 3.0).status, CheckStatus::Pass);
        // 64 KiB in order can be whole stripes of 192 KiB, and whole stripes need no read.
        let in_order = of(array("raid5", 4), 64, Pattern::Sequential, 0.5);
        assert!(in_order.status == CheckStatus::Warn && in_order.meaning.en.contains("192 KiB"), "{in_order:?}");
        assert_eq!(of(array("raid5", 4), 192, Pattern::Random, 0.5).status, CheckStatus::Warn);
        assert_eq!(
            of(array("raid5", 4), 192, Pattern::Random, 0.0).measured.en,
            "aligned; 0.000 bytes read below md0 per byte written"
        );
        // Levels without parity never read for a write.
        assert_eq!(of(array("raid0", 4), 4, Pattern::Random, 0.5).status, CheckStatus::Warn);
        assert_eq!(of(array("raid0", 4), 4, Pattern::Random, 0.0).status, CheckStatus::Pass);
    }
}
