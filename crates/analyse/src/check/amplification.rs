//! H63: how many bytes the drives wrote for each byte that the application wrote.

mod pools;

use super::drives::asked;
use super::lower_devices::{LowerDevices, MIRROR};
use super::stretch::{self, Stretch};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult};
use crate::limits::AMPLIFICATION_DEVIATION;
use crate::trials::CaseTrials;
use pools::PoolWrites;
use stend_base::{Bytes, Lang, Say, format, say, say_in};
use stend_record::{Device, RunRecord, TargetFacts, TargetKind};
use stend_spec::workload::Op;

/// What a mirror of two hosts writes at most before a write to a place that has not been written for a while: a block of its activity log.
//= linux, drivers/block/drbd/drbd_actlog.c: a transaction of 4 KiB before the first write to an extent of 4 MiB that is not in the log
const ACTIVITY_LOG: Bytes = Bytes::kib(4);

/// Bytes that drives write per byte of a write: from whole stripes to a single strip.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Expected {
    least: f64,
    most: f64,
}

/// What the layers below make of a byte, and why.
struct Judged {
    expected: Expected,
    pool: Option<PoolWrites>,
}

/// What is known of the layers below; `None`: they write as they like.
fn judged(run: &RunRecord, case: &CaseTrials<'_>) -> Option<Judged> {
    if let Some(pool) = pools::of(run, case) {
        return Some(Judged { expected: pool.expected, pool: Some(pool) });
    }
    // Without the peer only one of both copies is seen.
    if LowerDevices::mirrored(run) && LowerDevices::of(run).len() < 2 {
        return None;
    }
    let log = activity_log(case);
    let expected = run.load().targets.iter().map(|target| expected(target, log)).reduce(both_or_none).flatten()?;
    // Metadata, journals and the page cache write as they like; a device under no file system does not.
    let bare = run.load().targets.iter().all(|target| target.kind == TargetKind::BlockDevice) && case.asked.direct;
    bare.then_some(Judged { expected, pool: None })
}

/// H63: bytes at the lowest visible devices per byte of the application, against what the layers below should make of it.
pub fn amplification(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let judged = judged(run, case);
    let expected = judged.as_ref().map(|judged| judged.expected);
    let check = Check {
        id: CheckId::H63,
        limit: Say::both(|l| match expected {
            Some(Expected { least, most }) => say_in!(
                l,
                "{a} to {b}, ± {d}",
                "от {a} до {b}, ± {d}",
                a = format::fixed(least, 2, l),
                b = format::fixed(most, 2, l),
                d = format::percent(AMPLIFICATION_DEVIATION, l)
            ),
            None => "–".to_string(),
        }),
    };
    if !asked(case, Op::Write) {
        return check.not_applicable(say!("The case writes nothing.", "Случай ничего не пишет."));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let is_pool = judged.as_ref().is_some_and(|judged| judged.pool.is_some());
    // A mirror has drives on both hosts; what is exported is judged where it arrives.
    let hosts = if LowerDevices::mirrored(run) { LowerDevices::of(run) } else { vec![LowerDevices::here(run)] };
    let drives: Vec<Vec<&Device>> =
        hosts.iter().map(|at| if is_pool { pools::drives(run) } else { at.drives() }).collect();
    if drives.iter().any(Vec::is_empty) {
        return check.not_measurable(say!(
            "no block device below the target is visible",
            "под объектом не видно ни одного блочного устройства"
        ));
    }
    // Each host was read at moments of its own.
    let all = hosts.iter().zip(&drives).map(|(at, drives)| ratio(&at.stretches(case), drives));
    let Some(all) = all.collect::<Option<Vec<Ratio>>>() else { return check.not_measurable(too_few_samples()) };
    let (ratio, asked) =
        (all.iter().map(|found| found.ratio).sum::<f64>(), all.iter().map(|found| found.asked).sum::<f64>());
    let names = Say::both(|l| {
        let each = hosts.iter().zip(&drives).map(|(at, drives)| at.names(drives).get(l).to_string());
        each.collect::<Vec<_>>().join("; ")
    });
    let measured = Say::both(|l| {
        say_in!(
            l,
            "{r} bytes at {names} per byte written",
            "{r} байта на {names} на записанный байт",
            r = format::fixed(ratio, 2, l),
            names = names.get(l)
        )
    });
    let Some(Judged { expected: Expected { least, most }, pool }) = judged else { return check.pass(measured) };
    // What a cache of the client holds back at the end of a trial has not been written yet.
    let held = pool.map_or(0.0, |pool| pool.held.0 as f64 * case.counting.len() as f64);
    if ratio > most * (1.0 + AMPLIFICATION_DEVIATION) {
        return check.measured(measured).warn(if pool.is_some() { more_of_pool() } else { more() });
    }
    if ratio < least * (1.0 - AMPLIFICATION_DEVIATION) * (1.0 - held / asked).max(0.0) {
        return check.measured(measured).warn(less());
    }
    check.pass(match pool {
        Some(pool) if ratio > pool.theory * (1.0 + AMPLIFICATION_DEVIATION) => explained(&measured, &pool),
        _ => measured,
    })
}

/// What the drives of one host wrote.
struct Ratio {
    /// For each byte of the application.
    ratio: f64,
    /// Bytes of the application meanwhile.
    asked: f64,
}

fn ratio(stretches: &[Stretch<'_>], drives: &[&Device]) -> Option<Ratio> {
    let of = |drive: &&Device| stretch::sum(stretches, |s| s.disk(&drive.name, |disk| disk.write_bytes));
    let written = drives.iter().map(of).collect::<Option<Vec<u64>>>()?;
    let asked = stretch::application_and_prober(stretches, Op::Write).bytes;
    let written = written.iter().map(|&bytes| bytes as f64).sum::<f64>();
    (asked > 0.0).then(|| Ratio { ratio: written / asked, asked })
}

/// Why a pool that is well writes more than its copies or parity.
fn explained(measured: &Say, pool: &PoolWrites) -> Say {
    let Say { en, ru } = measured;
    let theory = |l| format::fixed(pool.theory, 2, l);
    let (theory, theory_ru) = (theory(Lang::En), theory(Lang::Ru));
    match pool.deferred {
        Some(piece) => {
            let size = |l| format::bytes(Bytes(piece as u64 / 1024 * 1024), l);
            let (size, size_ru) = (size(Lang::En), size(Lang::Ru));
            say!(
                "{en}: {theory} of copies or parity; OSDs on spinning drives write pieces of {size} twice (deferred writes), and journals",
                "{ru}: {theory_ru} — копии или чётность; куски по {size_ru} OSD на шпиндельных накопителях пишут дважды (отложенная запись), и ещё журналы"
            )
        }
        None => say!(
            "{en}: {theory} of copies or parity; the rest are journals and metadata of the OSDs",
            "{ru}: {theory_ru} — копии или чётность; остальное — журналы и метаданные OSD"
        ),
    }
}

fn more_of_pool() -> Say {
    say!(
        "The OSDs wrote more than copies or parity, journals and small pieces explain: a recovery, other clients of the cluster, or other programs on its drives (H26). Look at `stend stand status`, and repeat when the cluster is clean.",
        "OSD записали больше, чем объясняют копии или чётность, журналы и мелкие куски: идёт восстановление, у кластера есть другие клиенты или накопители занимает кто-то ещё (H26). Посмотрите `stend stand status` и повторите, когда кластер цел."
    )
}

fn more() -> Say {
    say!(
        "The drives wrote more than the layers need for this: blocks across strips, metadata, a bitmap or a journal of the array, or other programs (H26). Check the alignment and what the array stores besides data.",
        "Накопители записали больше, чем нужно слоям: блоки поперёк полос, метаданные, битовая карта или журнал массива либо кто-то ещё (H26). Проверьте выравнивание и что массив хранит помимо данных."
    )
}

fn less() -> Say {
    say!(
        "The drives wrote less than the layers need for this: a cache above them holds or merges the writes; this measures that cache.",
        "Накопители записали меньше, чем нужно слоям: кэш над ними задерживает или объединяет запись; измерен этот кэш."
    )
}

fn both_or_none(a: Option<Expected>, b: Option<Expected>) -> Option<Expected> {
    let (a, b) = (a?, b?);
    Some(Expected { least: a.least.min(b.least), most: a.most.max(b.most) })
}

/// What the activity log of a mirror may add to each byte of the smallest write: only its primary keeps one.
fn activity_log(case: &CaseTrials<'_>) -> f64 {
    let writers = case.asked.streams.iter().filter(|stream| stream.mix.share(Op::Write) > 0);
    let least = writers.map(|stream| stream.block_size_min().0).min();
    least.map_or(0.0, |least| ACTIVITY_LOG.0 as f64 / least.max(1) as f64)
}

/// What the arrays of md under a target make of a write, one factor for each level; `None` for what writes as it likes. A mirror writes to
/// a drive of each host, and its log to one; what else lies below it there is not known here.
fn expected(target: &TargetFacts, log: f64) -> Option<Expected> {
    let plain = |device: &&Device| matches!(device.kind.as_str(), "disk" | "partition");
    if target.devices.first().is_some_and(|device| device.kind == MIRROR) {
        let copies = Expected { least: 2.0, most: 2.0 + log };
        return target.devices[1..].iter().all(|device| plain(&device)).then_some(copies);
    }
    let known = |device: &&Device| plain(device) || matches!(device.kind.as_str(), "md" | "nvme-of" | "iscsi");
    if target.devices.is_empty() || !target.devices.iter().all(|device| known(&device)) {
        return None;
    }
    // With several arrays on one level of the stack, each gets a part of the writes.
    let mut depths: Vec<(u32, Expected)> = Vec::new();
    for array in target.devices.iter().filter(|device| device.kind == "md") {
        let factor = of_level(array)?;
        match depths.iter_mut().find(|(depth, _)| *depth == array.depth) {
            Some((_, known)) => {
                *known = Expected { least: known.least.min(factor.least), most: known.most.max(factor.most) };
            }
            None => depths.push((array.depth, factor)),
        }
    }
    let all = Expected { least: 1.0, most: 1.0 };
    Some(
        depths
            .into_iter()
            .fold(all, |all, (_, factor)| Expected { least: all.least * factor.least, most: all.most * factor.most }),
    )
}

/// From whole stripes (parity once per stripe) to a strip (parity with each), method.md, 5.2.
fn of_level(array: &Device) -> Option<Expected> {
    let members = f64::from(array.members.filter(|&members| members > 0)?);
    let parity =
        |drives: f64| (members > drives).then(|| Expected { least: members / (members - drives), most: 1.0 + drives });
    let even = |factor: f64| Some(Expected { least: factor, most: factor });
    match array.level.as_deref()? {
        "raid0" | "linear" => even(1.0),
        "raid1" => even(members),
        "raid10" => even(2.0),
        "raid4" | "raid5" => parity(1.0),
        "raid6" => parity(2.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::CheckStatus;
    use crate::fixture::{case, run_of};
    use crate::trials::by_case;
    use stend_record::StandText;
    use stend_spec::workload::Sync;

    /// A check of writes to an array of this level and so many drives, whose drives wrote `ratio` bytes for each.
    fn check(level: &str, members: u32, ratio: f64) -> CheckResult {
        let builder = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).at_drives(ratio);
        let mut record = builder.done().record();
        let disk = Device { depth: 1, ..record.load().targets[0].devices[1].clone() };
        let array = Device { name: "md0".into(), kind: "md".into(), level: Some(level.into()), ..Device::default() };
        record.load_mut().targets[0].devices = vec![Device { members: Some(members), ..array }, disk];
        record.load_mut().targets[0].kind = TargetKind::BlockDevice;
        amplification(&record, &by_case(&record)[0])
    }

    /// A check of writes of this size to a mirror, whose drives wrote `share` bytes for each on each host.
    fn on_mirror(block: Bytes, share: f64) -> CheckResult {
        let mut case = case("w", 0, 32, Sync::None);
        case.streams[0].block_size = vec![block];
        let mut record = crate::fixture::mirrored(run_of(vec![case]).trial(0).at_drives(share).done().record());
        record.load_mut().targets[0].kind = TargetKind::BlockDevice;
        record.load_mut().targets[0].devices.retain(|device| device.kind != "partition");
        amplification(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_mirror_writes_each_byte_on_both_hosts_and_less_is_doubted() {
        let of = |share: f64| on_mirror(Bytes::mib(1), share);
        let found = of(1.0);
        let told = (found.status, found.measured.en.as_str(), found.limit.en.as_str());
        assert_eq!(
            told,
            (CheckStatus::Pass, "2.00 bytes at sda; sda of array1 per byte written", "2.00 to 2.00, ± 20.0 %")
        );
        assert_eq!(of(0.5).status, CheckStatus::Warn);
        assert_eq!(of(1.5).status, CheckStatus::Warn);
    }

    #[test]
    fn small_writes_to_a_mirror_may_each_have_a_block_of_its_activity_log() {
        let found = on_mirror(Bytes::kib(4), 1.5);
        assert_eq!((found.status, found.limit.en.as_str()), (CheckStatus::Pass, "2.00 to 3.00, ± 20.0 %"));
        assert_eq!(on_mirror(Bytes::kib(4), 2.0).status, CheckStatus::Warn);
    }

    #[test]
    fn a_mirror_whose_peer_was_not_watched_is_printed_and_not_judged() {
        let builder = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).at_drives(1.0);
        let mut record = builder.done().record();
        let target = &mut record.load_mut().targets[0];
        target.kind = TargetKind::BlockDevice;
        let disk = Device { depth: 1, ..target.devices[1].clone() };
        target.devices = vec![Device { name: "drbd0".into(), kind: MIRROR.into(), ..Device::default() }, disk];
        let found = amplification(&record, &by_case(&record)[0]);
        let told = (found.status, found.measured.en.as_str(), found.limit.en.as_str());
        assert_eq!(told, (CheckStatus::Pass, "1.00 bytes at sda per byte written", "–"));
    }

    #[test]
    fn an_array_that_writes_as_its_level_says_passes() {
        let found = check("raid5", 4, 2.0);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "2.00 bytes at sda per byte written")
        );
        assert_eq!(found.limit.en, "1.33 to 2.00, ± 20.0 %");
        for (level, members, ratio) in [("raid5", 4, 1.33), ("raid6", 6, 3.0), ("raid10", 4, 2.1), ("raid1", 2, 2.0)] {
            assert_eq!(check(level, members, ratio).status, CheckStatus::Pass, "{level}");
        }
    }

    #[test]
    fn more_or_less_than_the_level_explains_is_a_warning() {
        let more = check("raid5", 4, 3.0);
        assert_eq!((more.status, more.meaning.en.contains("alignment")), (CheckStatus::Warn, true));
        let less = check("raid10", 4, 1.2);
        assert_eq!((less.status, less.meaning.ru.contains("кэш")), (CheckStatus::Warn, true));
        assert_eq!(check("raid0", 4, 1.5).status, CheckStatus::Warn);
    }

    #[test]
    fn through_a_file_system_it_is_printed_and_not_judged() {
        let record = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).at_drives(1.9).done().record();
        let found = amplification(&record, &by_case(&record)[0]);
        assert_eq!(
            (found.status, found.measured.ru.as_str()),
            (CheckStatus::Pass, "1,90 байта на sda на записанный байт")
        );
        assert_eq!(check("container", 4, 7.0).status, CheckStatus::Pass, "nothing is known of this level");
    }

    /// A check of writes of 4 KiB at random to three copies in a Ceph that a stand made.
    fn on_ceph(ratio: f64) -> CheckResult {
        let builder = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).at_drives(ratio);
        let mut record = builder.done().record();
        let text = "stand: x\ndrives: [{id: A}, {id: B}, {id: C}]\nlayers:\n- ceph: {replicated: {size: 3}}\n".into();
        record.header.stand = Some(StandText { name: "x".into(), file: "x.yaml".into(), text, nonce: 1 });
        record.load_mut().targets[0].file_system = Some("fuse.ceph-fuse".into());
        record.load_mut().targets[0].devices.iter_mut().for_each(|device| device.rotational = Some(true));
        amplification(&record, &by_case(&record)[0])
    }

    #[test]
    fn a_pool_that_writes_its_copies_and_journals_passes_with_the_reason_and_more_is_a_warning() {
        let healthy = on_ceph(12.0);
        assert_eq!(healthy.status, CheckStatus::Pass, "{healthy:#?}");
        let told = healthy.measured.en.replace('\u{a0}', " ");
        assert!(told.contains("3.00 of copies") && told.contains("4 KiB twice (deferred writes)"), "{told}");
        let recovering = on_ceph(40.0);
        assert_eq!((recovering.status, recovering.meaning.en.contains("recovery")), (CheckStatus::Warn, true));
        let cached = on_ceph(1.5);
        assert_eq!((cached.status, cached.meaning.en.contains("cache")), (CheckStatus::Warn, true));
    }

    #[test]
    fn what_reads_does_not_ask_and_what_is_not_seen_is_not_measurable() {
        let reads = run_of(vec![case("r", 100, 32, Sync::None)]).trial(0).done().record();
        assert_eq!(amplification(&reads, &by_case(&reads)[0]).status, CheckStatus::NotApplicable);
        let mut hidden = run_of(vec![case("w", 0, 32, Sync::None)]).trial(0).done().record();
        hidden.load_mut().targets[0].devices.clear();
        assert_eq!(amplification(&hidden, &by_case(&hidden)[0]).status, CheckStatus::NotMeasurable);
    }
}
