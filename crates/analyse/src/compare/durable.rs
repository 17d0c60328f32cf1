//! H32: what is compared must be durable alike: a write that is only acknowledged is faster than one that is kept.

use super::CaseComparison;
use crate::check::{flushes_are_off, is_volatile};
use crate::findings::{CheckId, CheckResult, CheckStatus, Findings};
use crate::trials::{CaseTrials, by_case};
use stend_base::text::{counted, plural_ru};
use stend_base::{Lang, Say, say, say_in};
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::workload::{Sync, Trial};

/// What is durable of one case in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Acknowledged writes may lie in a cache that a loss of power empties.
    Volatile,
    /// They are on the medium, or in a cache that survives.
    Durable,
}

/// Whether the cases that write have the same syncs, the same fate at a loss of power, and drives that may fail, in all runs.
pub(super) fn check(runs: &[(&RunRecord, &Findings)], cases: &[CaseComparison]) -> CheckResult {
    let result = |status, measured, meaning| {
        CheckResult::new(CheckId::H32, status, measured, say!("the same in all", "одинаковая у всех"), meaning)
    };
    let Some(mut differences) = differences(runs, cases) else {
        return result(
            CheckStatus::NotApplicable,
            say!("does not apply", "не относится"),
            say!("None of the compared cases writes.", "Ни один из сравниваемых случаев не пишет."),
        );
    };
    let may_fail: Vec<Option<u32>> = runs.iter().map(|(record, _)| may_fail(record)).collect();
    if let [Some(first), rest @ ..] = may_fail.as_slice()
        && rest.iter().flatten().any(|n| n != first)
    {
        let list = |l| may_fail.iter().map(|n| n.map_or(unknown(l), |n| n.to_string())).collect::<Vec<_>>().join(" / ");
        differences.push(Say::both(|l| {
            format!("{}: {}", l.pick("drives that may fail", "накопителей может отказать"), list(l))
        }));
    }
    if !differences.is_empty() {
        let measured = Say::both(|l| differences.iter().map(|d| d.get(l)).collect::<Vec<_>>().join("; "));
        return result(CheckStatus::Fail, measured, unequal());
    }
    match may_fail.iter().copied().collect::<Option<Vec<u32>>>() {
        Some(list) => {
            let n = u64::from(list.first().copied().unwrap_or(0));
            let Say { en, ru } = counted(n, ["drive", "drives"], ["накопитель", "накопителя", "накопителей"]);
            let may = plural_ru(n, "может", "могут", "может");
            let measured = say!("the same syncs; {en} may fail", "синхронизация одна; {may} отказать {ru}");
            result(CheckStatus::Pass, measured, Say::same(""))
        }
        // What is behind the same devices is the same, whatever it is.
        None if on_the_same_devices(runs) => result(
            CheckStatus::Pass,
            say!("the same syncs on the same devices", "синхронизация одна, устройства те же"),
            Say::same(""),
        ),
        None => result(CheckStatus::NotMeasurable, say!("the same syncs", "синхронизация одна"), hidden()),
    }
}

fn unknown(lang: Lang) -> String {
    say_in!(lang, "unknown", "неизвестно")
}

/// What is not durable alike, case by case; `None` if nothing that is compared writes.
fn differences(runs: &[(&RunRecord, &Findings)], cases: &[CaseComparison]) -> Option<Vec<Say>> {
    let trials: Vec<Vec<CaseTrials<'_>>> = runs.iter().map(|(record, _)| by_case(record)).collect();
    let asked = |run: usize, label: &String| -> Option<&Trial> {
        let case = runs[run].1.cases.iter().find(|case| case.label == *label)?;
        Some(trials[run].iter().find(|t| t.case == case.case)?.asked)
    };
    let mut differences: Vec<Say> = Vec::new();
    let mut writes = false;
    for label in cases.iter().map(|case| &case.label) {
        let sides: Vec<(usize, &Trial)> = (0..runs.len()).filter_map(|run| Some((run, asked(run, label)?))).collect();
        let sides: Vec<(usize, &Trial)> = sides.into_iter().filter(|(_, trial)| trial.writes()).collect();
        let Some((first, baseline)) = sides.first() else { continue };
        writes = true;
        let kept_first = kept(runs[*first].0, baseline);
        for (run, trial) in &sides[1..] {
            if syncs(trial) != syncs(baseline) {
                let (a, b) = (in_words(baseline), in_words(trial));
                differences.push(Say::both(|l| format!("{label}: {} / {}", a.get(l), b.get(l))));
            } else if let (Some(a), Some(b)) = (kept_first, kept(runs[*run].0, trial))
                && a != b
            {
                differences.push(Say::both(|l| format!("{label}: {} / {}", fate(a, l), fate(b, l))));
            }
        }
    }
    writes.then_some(differences)
}

/// Whether the devices under the targets have the same identities and are stacked alike in all runs.
fn on_the_same_devices(runs: &[(&RunRecord, &Findings)]) -> bool {
    let of = |record: &RunRecord| -> Option<Vec<(String, u32, String)>> {
        let devices = stend_record::targets::devices(&record.load().targets);
        let one = |device: &Device| Some((device.kind.clone(), device.depth, device.identity.clone()?));
        devices.into_iter().map(one).collect()
    };
    let sides: Option<Vec<_>> = runs.iter().map(|(record, _)| of(record).filter(|list| !list.is_empty())).collect();
    sides.is_some_and(|sides| sides.windows(2).all(|pair| pair[0] == pair[1]))
}

fn unequal() -> Say {
    say!(
        "One side keeps acknowledged data after a power failure or the loss of a drive, the other does not: a part of the difference is the price of that. Compare with equal syncs, mounts and redundancy, or mention this with the result.",
        "Одна сторона сохраняет подтверждённое при потере питания или накопителя, другая — нет: часть различия — цена этого. Сравнивайте с равными синхронизацией, монтированием и избыточностью или оговорите это в отчёте."
    )
}

fn hidden() -> Say {
    say!(
        "Not every side shows how many drives may fail (btrfs, ZFS, LVM, a network, a hypervisor): make sure that it is the same.",
        "Не у каждой стороны видно, сколько накопителей может отказать (btrfs, ZFS, LVM, сеть, гипервизор): убедитесь, что поровну."
    )
}

/// Syncs of the streams that write.
fn syncs(trial: &Trial) -> Vec<Sync> {
    trial.streams.iter().filter(|stream| stream.mix.write > 0).map(|stream| stream.sync).collect()
}

fn in_words(trial: &Trial) -> Say {
    let of = |sync: Sync, l: Lang| match sync {
        Sync::None => say_in!(l, "no sync", "без синхронизации"),
        Sync::Fdatasync(1) => "fdatasync".to_string(),
        Sync::Fsync(1) => "fsync".to_string(),
        Sync::Fdatasync(n) => format!("fdatasync/{n}"),
        Sync::Fsync(n) => format!("fsync/{n}"),
        Sync::Dsync => "RWF_DSYNC".to_string(),
        Sync::ODsync => "O_DSYNC".to_string(),
        Sync::SyncFileRange(n) => format!("sync_file_range/{n}"),
    };
    Say::both(|l| syncs(trial).into_iter().map(|sync| of(sync, l)).collect::<Vec<_>>().join(" + "))
}

fn fate(kept: Kept, lang: Lang) -> &'static str {
    match kept {
        Kept::Volatile => lang.pick("lost with the power", "теряется с питанием"),
        Kept::Durable => lang.pick("durable", "надёжно"),
    }
}

/// What becomes of acknowledged writes; `None` where the drives do not say. Between two syncs they may lie in any cache.
fn kept(record: &RunRecord, trial: &Trial) -> Option<Kept> {
    if record.load().targets.iter().any(|target| flushes_are_off(target).is_some()) {
        return Some(Kept::Volatile);
    }
    if syncs(trial).into_iter().all(Sync::is_durable_each) {
        return Some(Kept::Durable);
    }
    let volatile = !trial.direct || is_volatile(&record.load().targets)?;
    Some(if volatile { Kept::Volatile } else { Kept::Durable })
}

/// Transports of drives that are on another machine: what is behind them may be an array.
const REMOTE: [&str; 5] = ["tcp", "rdma", "iscsi", "fc", "nbd"];

/// Drives under the least protected target that may fail without loss: on the storage hosts where the drives are there, else on the
/// host that was measured. `None` where it is not seen.
fn may_fail(record: &RunRecord) -> Option<u32> {
    let ours = &record.load().targets;
    let remote = |device: &Device| device.transport.as_deref().is_some_and(|transport| REMOTE.contains(&transport));
    if !stend_record::targets::devices(ours).into_iter().any(remote) {
        return least(ours);
    }
    // An array over drives of other machines survives what neither side alone shows.
    let layer = |device: &Device| device.kind != "partition" && !remote(device);
    let above = ours.iter().any(|target| keeps_copies(target) || target.devices.iter().any(layer));
    let there: Vec<TargetFacts> = record.storages().flat_map(|(_, host)| host.targets.iter().cloned()).collect();
    if above || there.is_empty() { None } else { least(&there) }
}

/// The same below these targets, as far as arrays of md tell; `None` where something else may keep copies.
fn least(targets: &[TargetFacts]) -> Option<u32> {
    let of = |target: &TargetFacts| {
        let hidden = |device: &Device| {
            device.is_virtual || matches!(device.kind.as_str(), "dm" | "zvol" | "nbd" | "rbd" | "drbd")
        };
        if keeps_copies(target) || target.devices.is_empty() || target.devices.iter().any(hidden) {
            return None;
        }
        target
            .devices
            .iter()
            .filter(|device| device.kind == "md")
            .map(redundant)
            .try_fold(0, |most, n| Some(most.max(n?)))
    };
    targets.iter().map(of).collect::<Option<Vec<u32>>>()?.into_iter().min()
}

/// Whether what a target lies in may keep copies of its own.
fn keeps_copies(target: &TargetFacts) -> bool {
    matches!(target.file_system.as_deref(), Some("btrfs" | "zfs" | "bcachefs" | "nfs" | "nfs4" | "cifs" | "ceph"))
}

/// Drives that any failure of which an array survives; RAID 10 counts with one, because a second may be the copy of the first.
//= man 4 md: "RAID Levels"
fn redundant(array: &Device) -> Option<u32> {
    match array.level.as_deref()? {
        "raid0" | "linear" => Some(0),
        "raid1" => Some(array.members?.saturating_sub(1)),
        "raid4" | "raid5" | "raid10" => Some(1),
        "raid6" => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::analyse;
    use crate::compare::{Options, compare};
    use crate::findings::{CheckResult, CheckStatus};
    use crate::fixture::{case, over_storage, run_of};
    use stend_record::{Device, RunRecord};
    use stend_spec::workload::Sync;

    fn writes(sync: Sync) -> RunRecord {
        run_of(vec![case("log", 0, 1, sync)]).six_blocks(&[100.0]).record()
    }

    fn on_array(level: &str, members: u32) -> RunRecord {
        let mut record = writes(Sync::None);
        let array = Device { name: "md0".into(), kind: "md".into(), ..Device::default() };
        record.load_mut().targets[0]
            .devices
            .insert(0, Device { level: Some(level.into()), members: Some(members), ..array });
        record
    }

    fn check(a: &RunRecord, b: &RunRecord) -> CheckResult {
        let (of_a, of_b) = (analyse(a).unwrap(), analyse(b).unwrap());
        let compared = compare(&[(a, &of_a), (b, &of_b)], &Options::default());
        compared.checks.into_iter().find(|check| check.id == crate::findings::CheckId::H32).unwrap()
    }

    #[test]
    fn the_same_syncs_on_drives_that_forget_nothing_are_alike() {
        let found = check(&writes(Sync::Fdatasync(1)), &writes(Sync::Fdatasync(1)));
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "the same syncs; 0 drives may fail")
        );
    }

    #[test]
    fn a_side_that_does_not_sync_fails() {
        let found = check(&writes(Sync::Fdatasync(1)), &writes(Sync::None));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "log: fdatasync / no sync"));
        assert_eq!(found.measured.ru, "log: fdatasync / без синхронизации");
    }

    #[test]
    fn a_mount_without_flushes_and_a_volatile_cache_are_another_durability() {
        let mut unsafe_mount = writes(Sync::Fdatasync(1));
        unsafe_mount.load_mut().targets[0].mount_options = Some("rw,nobarrier".into());
        let found = check(&writes(Sync::Fdatasync(1)), &unsafe_mount);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Fail, "log: durable / lost with the power")
        );
        let mut volatile = writes(Sync::None);
        volatile.load_mut().targets[0].devices.iter_mut().for_each(|d| d.write_cache = Some("write back".into()));
        assert_eq!(check(&writes(Sync::None), &volatile).status, CheckStatus::Fail);
        assert_eq!(check(&volatile, &volatile).status, CheckStatus::Pass, "equal is equal");
    }

    #[test]
    fn syncs_keep_what_they_follow_whatever_lies_above_the_drive() {
        let mut buffered = writes(Sync::Fdatasync(1));
        buffered.trials.iter_mut().for_each(|trial| trial.asked.direct = false);
        let found = check(&writes(Sync::Fdatasync(1)), &buffered);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Pass, "the same syncs; 0 drives may fail")
        );
        // Seven of eight writes are acknowledged before the flush that follows.
        let mut volatile = writes(Sync::Fdatasync(8));
        volatile.load_mut().targets[0].devices.iter_mut().for_each(|d| d.write_cache = Some("write back".into()));
        let found = check(&writes(Sync::Fdatasync(8)), &volatile);
        assert_eq!(
            (found.status, found.measured.en.as_str()),
            (CheckStatus::Fail, "log: durable / lost with the power")
        );
        let mut buffered = writes(Sync::Fdatasync(8));
        buffered.trials.iter_mut().for_each(|trial| trial.asked.direct = false);
        assert_eq!(check(&writes(Sync::Fdatasync(8)), &buffered).status, CheckStatus::Fail);
        assert_eq!(check(&volatile, &buffered).status, CheckStatus::Pass, "both lose as much");
    }

    #[test]
    fn arrays_that_survive_as_much_are_alike_and_a_stripe_is_not() {
        assert_eq!(check(&on_array("raid5", 4), &on_array("raid10", 4)).status, CheckStatus::Pass);
        let found = check(&on_array("raid5", 4), &on_array("raid0", 4));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "drives that may fail: 1 / 0"));
        assert_eq!(check(&on_array("raid6", 6), &on_array("raid1", 3)).status, CheckStatus::Pass);
        assert_eq!(check(&on_array("raid6", 6), &on_array("raid1", 2)).status, CheckStatus::Fail);
    }

    #[test]
    fn drives_of_another_machine_that_is_not_watched_hide_what_may_fail() {
        for transport in ["tcp", "rdma", "iscsi", "fc"] {
            let mut far = writes(Sync::None);
            let disks = far.load_mut().targets[0].devices.iter_mut().filter(|device| device.kind == "disk");
            disks.for_each(|device| device.transport = Some(transport.into()));
            let found = check(&far, &writes(Sync::None));
            assert_eq!(
                (found.status, found.measured.en.as_str()),
                (CheckStatus::NotMeasurable, "the same syncs"),
                "{transport}"
            );
        }
    }

    #[test]
    fn what_may_fail_behind_a_target_of_two_hosts_is_what_the_storage_host_has() {
        let found = check(&over_storage(on_array("raid5", 4)), &over_storage(on_array("raid0", 4)));
        assert_eq!((found.status, found.measured.en.as_str()), (CheckStatus::Fail, "drives that may fail: 1 / 0"));
        let same = check(&over_storage(on_array("raid5", 4)), &over_storage(on_array("raid10", 4)));
        assert_eq!((same.status, same.measured.en.as_str()), (CheckStatus::Pass, "the same syncs; 1 drive may fail"));
        assert_eq!(same.measured.ru, "синхронизация одна; может отказать 1 накопитель");
    }

    #[test]
    fn where_redundancy_is_hidden_nobody_knows_and_reads_do_not_ask() {
        let mut pool = writes(Sync::None);
        pool.load_mut().targets[0].file_system = Some("zfs".into());
        assert_eq!(check(&pool, &writes(Sync::None)).status, CheckStatus::NotMeasurable);
        pool.load_mut().targets[0]
            .devices
            .iter_mut()
            .for_each(|device| device.identity = Some(format!("wwn:{}", device.name)));
        assert_eq!(check(&pool, &pool).measured.en, "the same syncs on the same devices");
        let mut other = pool.clone();
        other.load_mut().targets[0].devices[1].identity = Some("wwn:0x2".into());
        assert_eq!(check(&pool, &other).status, CheckStatus::NotMeasurable);
        let reads = run_of(vec![case("read", 100, 1, Sync::None)]).six_blocks(&[100.0]).record();
        assert_eq!(check(&reads, &reads).status, CheckStatus::NotApplicable);
    }
}
