//! H62: do blocks begin and end where those of the medium do? A block across two of them costs both, and a
//! write of a part of one costs a read first.

use super::Check;
use crate::findings::{CheckResult, CheckStatus};
use crate::phrase::{both, pick};
use crate::trials::CaseTrials;
use stend_base::{Bytes, Say, format, say};
use stend_record::targets::devices;
use stend_record::{RunRecord, TargetFacts, TargetKind};

/// H62: block sizes, offsets and partitions are multiples of the physical block.
pub fn alignment(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    // A block that is whole on the coarsest medium is whole on all: they are powers of two.
    let physical = run.targets.iter().map(|target| target.physical_block).max().filter(|block| block.0 > 0);
    let check = Check {
        id: "H62",
        name: say!("alignment", "выравнивание"),
        limit: both(|l| match physical {
            Some(block) => pick(l, "multiples of {b}", "кратно {b}").replace("{b}", &format::bytes(block, l)),
            None => "–".to_string(),
        }),
    };
    let Some(physical) = physical else {
        return check
            .not_measurable(say!("the physical block size is not known", "размер физического блока неизвестен"));
    };
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let found = misaligned(&run.targets, case, physical);
    if found.is_empty() {
        return check.pass(say!("aligned", "выровнено"));
    }
    let measured = both(|l| found.iter().map(|say| say.get(l)).collect::<Vec<_>>().join("; "));
    if case.asked.writes() {
        return check.result(
            CheckStatus::Fail,
            measured,
            say!(
                "Each such write makes the drive read, change and write whole physical blocks; the rate is that of the misalignment. Align the partition or use larger blocks.",
                "При каждой такой записи накопитель читает, меняет и пишет физические блоки целиком: это скорость невыровненного доступа. Выровняйте раздел или возьмите блоки больше."
            ),
        );
    }
    check.result(
        CheckStatus::Warn,
        measured,
        say!(
            "Reads touch more of the medium than they ask for; aligned ones may be faster.",
            "Чтение затрагивает больше носителя, чем запрошено; выровненное может быть быстрее."
        ),
    )
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
        found.push(both(|l| pick(l, "blocks of {b}", "блоки по {b}").replace("{b}", &format::bytes(size, l))));
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
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_spec::workload::Sync;

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
        let found = check(0, |r| r.targets[0].devices[0].start = Some(Bytes(63 * 512)));
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
            r.targets[0].kind = TargetKind::BlockDevice;
        });
        assert_eq!(on_device.status, CheckStatus::Fail);
    }

    #[test]
    fn an_unknown_physical_block_is_not_measurable() {
        assert_eq!(check(0, |r| r.targets[0].physical_block = Bytes(0)).status, CheckStatus::NotMeasurable);
    }
}
