//! H30 and H31: does what is acknowledged as durable reach the medium, and what of the storage forgets at a loss of power?

use super::drives::asked;
use super::lower_devices::LowerDevices;
use super::stretch::{self, Stretch};
use super::{Check, too_few_samples};
use crate::findings::{CheckId, CheckResult, CheckStatus};
use crate::limits::{FLUSHES_PER_SYNC, SYNC_FASTEST, SYNC_PER_SECOND_ROTATING, SYNCS_JUDGED};
use crate::trials::CaseTrials;
use stend_base::histogram::Histogram;
use stend_base::{Nanos, Say, Share, format, say, say_in};
use stend_record::targets::drives;
use stend_record::{Device, RunRecord, TargetFacts};
use stend_spec::workload::{Op, Sync};

/// What the kernel calls a drive that may forget what it has acknowledged.
const VOLATILE: &str = "write back";

/// Mount options that switch flushes off, as file systems print them.
//= linux, Documentation/filesystems/ext4 ("barrier=<0|1(*)>, barrier(*), nobarrier") and btrfs ("barrier, nobarrier")
const WITHOUT_FLUSHES: [&str; 2] = ["nobarrier", "barrier=0"];

/// Whether a sync of this kind empties the caches of drives: `sync_file_range` does not.
fn reaches_the_medium(sync: Sync) -> bool {
    !matches!(sync, Sync::None | Sync::SyncFileRange(_))
}

/// Whether each write says for itself that it must be durable.
fn is_of_the_write(sync: Sync) -> bool {
    matches!(sync, Sync::Dsync | Sync::ODsync)
}

/// H30: drives with a volatile cache got flushes, and took as long as a flush takes.
pub fn fsync(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let mut check = Check { id: CheckId::H30, limit: limit(false) };
    let streams = || case.asked.streams.iter().filter(|s| s.mix.write > 0 && reaches_the_medium(s.sync));
    if streams().next().is_none() {
        return check.not_applicable(say!("The case asks for no syncs.", "Случай не просит синхронизации."));
    }
    if case.counting.is_empty() {
        return check.no_trials();
    }
    let below = LowerDevices::of(run);
    let drives = LowerDevices::drives_of(&below);
    let Some(drives) = drives.filter(|drives| drives.iter().all(|drive| drive.write_cache.is_some())) else {
        return check.not_measurable(say!(
            "not every drive below the target shows whether its cache is volatile",
            "не у каждого накопителя под объектом видно, сохраняет ли его кэш данные"
        ));
    };
    let volatile: Vec<&Device> = drives.iter().copied().filter(|drive| is_volatile_drive(drive)).collect();
    if volatile.is_empty() {
        return check.pass(say!("no volatile cache, so nothing to flush", "кэш не теряет данных, сбрасывать нечего"));
    }
    let by_write = streams().all(|stream| is_of_the_write(stream.sync));
    let Some(found) = flushes_everywhere(&below, case, by_write) else {
        return check.not_measurable(too_few_samples());
    };
    if found.flushes == 0 && volatile.iter().any(|drive| is_joined(drive)) {
        return check.not_measurable(say!(
            "the kernel counts no flushes of a device that it joins from paths of NVMe-oF",
            "у устройства, сведённого из путей NVMe-oF, ядро не считает сбросы"
        ));
    }
    let median = median(case, by_write || (case.asked.direct && are_stable(&run.load().targets)));
    let fua = by_write && volatile.iter().all(|drive| drive.fua == Some(true));
    let turning = is_of_disks(case, &volatile);
    check.limit = limit(turning);
    let measured = measured(found, median, fua, turning);
    // Syncs that follow one another cannot share a flush; those of several jobs can.
    let one_by_one = case.asked.in_flight() == 1 && !by_write;
    let least = if one_by_one { found.syncs * FLUSHES_PER_SYNC } else { 1.0 };
    if found.syncs >= SYNCS_JUDGED && (found.flushes as f64) < least && !fua {
        return check.measured(measured).fail(ignored());
    }
    if median.is_some_and(|median| median < SYNC_FASTEST) || turning && found.rate > SYNC_PER_SECOND_ROTATING {
        // What a hypervisor does with a flush cannot be seen from here, so that a fast one is no sign of a fault.
        let hidden = volatile.iter().all(|drive| drive.is_virtual);
        let status = if hidden { CheckStatus::NotMeasurable } else { CheckStatus::Warn };
        return check.result(status, measured, suspicious(&volatile));
    }
    check.pass(measured)
}

/// A namespace of NVMe-oF is a device over those of its paths, also where there is one, which counts reads and writes alone; a flush
/// counts as one of nothing there.
//= linux 6.12, drivers/nvme/host/multipath.c, nvme_mpath_start_request()
fn is_joined(drive: &Device) -> bool {
    match drive.transport.as_deref() {
        Some("tcp" | "rdma") => true,
        // SCSI disks come over it, too; of these the kernel counts all.
        Some("fc") => drive.name.starts_with("nvme"),
        _ => false,
    }
}

/// What joins paths that are drives: flushes go over such a path as requests that were made above it, and are counted there alone. Paths to
/// what this host hands out itself have drives below them, which count for themselves: the exporting host may swallow flushes.
//= linux 6.12, block/blk-flush.c, flush_end_io(); drivers/md/dm-rq.c, map_request()
fn joining<'a>(targets: &'a [TargetFacts], drives: &'a [&Device]) -> impl Iterator<Item = &'a Device> {
    let is_drive = |device: &Device| drives.iter().any(|drive| drive.name == device.name);
    let joins = move |target: &'a TargetFacts, device: &Device| {
        let mut below = target.devices.iter().filter(|other| other.depth == device.depth + 1);
        device.joins_paths() && below.all(is_drive)
    };
    targets.iter().flat_map(move |target| target.devices.iter().filter(move |device| joins(target, device)))
}

/// Whether direct writes are durable when they return, so that the sync after them has nothing left to do: over NFS.
//= linux 6.12, fs/nfs/direct.c, nfs_file_direct_write(), nfs_direct_write_complete()
fn are_stable(targets: &[TargetFacts]) -> bool {
    targets.iter().all(|target| matches!(target.file_system.as_deref(), Some("nfs" | "nfs4")))
}

/// Syncs of the application and flushes at the drives, over the stretches of load between two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Flushes {
    syncs: f64,
    flushes: u64,
    /// Syncs per second.
    rate: f64,
}

/// Flushes at the volatile drives of all hosts, for the syncs of the application.
fn flushes_everywhere(below: &[LowerDevices<'_>], case: &CaseTrials<'_>, by_write: bool) -> Option<Flushes> {
    let of = |at: &LowerDevices<'_>| {
        let drives = at.drives();
        let volatile = drives.iter().copied().filter(|drive| is_volatile_drive(drive));
        let counting: Vec<&Device> = volatile.chain(joining(at.targets, &drives)).collect();
        flushes(&at.stretches(case), &counting, by_write)
    };
    let mut each = below.iter().map(of).collect::<Option<Vec<Flushes>>>()?.into_iter();
    let first = each.next()?;
    Some(each.fold(first, |sum, other| Flushes { flushes: sum.flushes.saturating_add(other.flushes), ..sum }))
}

fn flushes(stretches: &[Stretch<'_>], drives: &[&Device], by_write: bool) -> Option<Flushes> {
    let of = |drive: &&Device| {
        let counted = |stretch: &Stretch<'_>| {
            stretch.growth(|sample| sample.disks.iter().find(|disk| disk.name == drive.name)?.flushes)
        };
        stretch::sum(stretches, counted)
    };
    let flushes = drives.iter().map(of).collect::<Option<Vec<u64>>>()?.into_iter().fold(0, u64::saturating_add);
    let syncs = stretch::application(stretches, if by_write { Op::Write } else { Op::Sync }).ops;
    let seconds = stretch::length(stretches).as_secs();
    (syncs > 0.0).then(|| Flushes { syncs, flushes, rate: syncs / seconds.max(1e-9) })
}

/// Median latency of what has to be durable: of the syncs, or of writes that are their own.
fn median(case: &CaseTrials<'_>, by_write: bool) -> Option<Nanos> {
    let op = if by_write { Op::Write } else { Op::Sync };
    let mut all = Histogram::new();
    for job in case.counting.iter().flat_map(|trial| &trial.outcome.jobs) {
        let of_stream = case.asked.streams.get(usize::from(job.stream));
        if of_stream.is_some_and(|stream| reaches_the_medium(stream.sync)) {
            // In an open loop the latency counts from when an I/O was due; only what it took at the device speaks of it.
            all.merge_sparse(&job.service.as_ref().unwrap_or(&job.latency)[op.index()]);
        }
    }
    all.quantile(Share(0.5))
}

/// One durable write at a time to disks, which cannot be faster than they turn.
fn is_of_disks(case: &CaseTrials<'_>, drives: &[&Device]) -> bool {
    case.asked.in_flight() == 1 && drives.iter().all(|d| d.rotational == Some(true))
}

/// What syncs may be like, also if they wait for disks to turn.
fn limit(turning: bool) -> Say {
    Say::both(|l| {
        let most = format::iops(SYNC_PER_SECOND_ROTATING, l);
        let rate = match turning {
            true => say_in!(l, ", ≤ {most} per second", ", не чаще {most} в секунду"),
            false => String::new(),
        };
        say_in!(
            l,
            "flushes where syncs are, median ≥ {fastest}{rate}",
            "сбросы там, где синхронизация, медиана ≥ {fastest}{rate}",
            fastest = format::latency(SYNC_FASTEST, l)
        )
    })
}

fn measured(found: Flushes, median: Option<Nanos>, fua: bool, turning: bool) -> Say {
    Say::both(|l| {
        let rate = match turning {
            true => say_in!(l, ", {rate} per second", ", {rate} в секунду", rate = format::iops(found.rate, l)),
            false => String::new(),
        };
        let median = median.map(|median| format!(", {} {}", l.pick("median", "медиана"), format::latency(median, l)));
        let fua = if fua {
            l.pick(
                " (the drive takes FUA, which the kernel does not count)",
                " (накопитель принимает FUA, ядро их не считает)",
            )
        } else {
            ""
        };
        say_in!(
            l,
            "{f} flushes for {s} syncs",
            "сбросов {f} на {s} синхронизаций",
            f = format::count(found.flushes),
            s = format::count(found.syncs.round() as u64)
        ) + fua
            + &median.unwrap_or_default()
            + &rate
    })
}

fn ignored() -> Say {
    say!(
        "The drive has a volatile cache and got fewer flushes than the case had syncs: writes acknowledged as durable would be lost with the power. Look for `nobarrier`, `sync=disabled` of ZFS, a layer or a library that swallows syncs.",
        "У накопителя энергозависимый кэш, а сбросов кэша было меньше, чем синхронизаций: при потере питания подтверждённые записи пропали бы. Ищите `nobarrier`, `sync=disabled` у ZFS, слой или библиотеку, глотающие синхронизацию."
    )
}

fn suspicious(drives: &[&Device]) -> Say {
    if drives.iter().any(|drive| drive.is_virtual) {
        return say!(
            "A sync this fast means power-loss protection behind this virtual disk, or a host that does not flush (`cache=unsafe`). The guest cannot see which. Ask for the cache mode, or cut the power under `verify: {{crash: true}}`.",
            "Столь быстрая синхронизация означает защиту от потери питания за этим виртуальным диском либо хост, который не сбрасывает кэш (`cache=unsafe`); отсюда этого не видно. Узнайте режим кэша или отключите питание под `verify: {{crash: true}}`."
        );
    }
    say!(
        "A sync this fast needs a cache that survives a power failure, but the drive reports a volatile one. Make sure that it has power-loss protection, or cut the power under `verify: {{crash: true}}`.",
        "Столь быстрой синхронизации нужен кэш, переживающий потерю питания, а накопитель называет свой энергозависимым. Убедитесь, что защита есть, или отключите питание под `verify: {{crash: true}}`."
    )
}

/// H31: nothing between the application and the medium forgets what it acknowledged, or the case empties it.
pub fn unsafe_modes(run: &RunRecord, case: &CaseTrials<'_>) -> CheckResult {
    let check = Check {
        id: CheckId::H31, limit: say!("what syncs is durable", "синхронизированное сохраняется")
    };
    if !asked(case, Op::Write) {
        return check.not_applicable(say!("The case writes nothing.", "Случай ничего не пишет."));
    }
    let unsafe_mounts: Vec<String> = run
        .hosts()
        .iter()
        .flat_map(|host| &host.targets)
        .filter_map(|target| Some(format!("{}: {}", target.path, flushes_are_off(target)?)))
        .collect();
    if !unsafe_mounts.is_empty() {
        return check.measured(Say::same(unsafe_mounts.join("; "))).warn(no_barriers());
    }
    let below = LowerDevices::of(run);
    let drives = LowerDevices::drives_of(&below);
    let Some(drives) = drives.filter(|drives| drives.iter().all(|drive| drive.write_cache.is_some())) else {
        return check.not_measurable(say!(
            "not every drive below the target shows whether its cache is volatile",
            "не у каждого накопителя под объектом видно, сохраняет ли его кэш данные"
        ));
    };
    let volatile: Vec<&Device> = drives.iter().copied().filter(|drive| is_volatile_drive(drive)).collect();
    let names = LowerDevices::names_of(&below, is_volatile_drive);
    let is_virtual = drives.iter().any(|drive| drive.is_virtual);
    let measured = Say::both(|l| {
        let hidden = if is_virtual {
            l.pick(" (virtual: the cache mode of its host is not visible)", " (виртуальный: режим кэша хоста не виден)")
        } else {
            ""
        };
        match volatile.is_empty() {
            true => say_in!(l, "no volatile cache", "энергозависимых кэшей нет") + hidden,
            false => format!("{} {}{hidden}", l.pick("volatile cache:", "энергозависимый кэш:"), names.get(l)),
        }
    });
    // A case without syncs does not claim that its writes are durable: what becomes of them is one note of the run.
    let mut claiming = case.asked.streams.iter().filter(|s| s.mix.write > 0 && s.sync != Sync::None);
    let stable = case.asked.direct && are_stable(&run.load().targets);
    if volatile.is_empty() || stable || claiming.all(|stream| reaches_the_medium(stream.sync)) {
        return check.pass(measured);
    }
    check.measured(measured).warn(not_durable())
}

/// Drives with a volatile cache in which writes of a case end, because it has no syncs; `None` if there are none, or it is not known.
pub fn left_in_caches(run: &RunRecord, case: &CaseTrials<'_>) -> Option<Say> {
    let syncs = case.asked.streams.iter().any(|stream| stream.sync != Sync::None);
    let stable = case.asked.direct && are_stable(&run.load().targets);
    let below = LowerDevices::of(run);
    let volatile = below.iter().any(|at| at.drives().into_iter().any(is_volatile_drive));
    let left = asked(case, Op::Write) && !syncs && !stable && volatile;
    left.then(|| LowerDevices::names_of(&below, is_volatile_drive))
}

fn is_volatile_drive(drive: &Device) -> bool {
    drive.write_cache.as_deref() == Some(VOLATILE)
}

/// The option by which the file system of a target sends no flushes.
pub fn flushes_are_off(target: &TargetFacts) -> Option<&str> {
    target.mount_options.as_deref()?.split(',').find(|option| WITHOUT_FLUSHES.contains(option))
}

/// Whether any drive below the targets calls its cache volatile; `None` if they do not all say.
pub fn is_volatile(targets: &[TargetFacts]) -> Option<bool> {
    let caches: Option<Vec<&str>> = drives(targets).into_iter().map(|d| d.write_cache.as_deref()).collect();
    caches.filter(|caches| !caches.is_empty()).map(|caches| caches.contains(&VOLATILE))
}

fn no_barriers() -> Say {
    say!(
        "The file system is mounted so that it sends no flushes: syncs are fast because they do not make anything durable. Mount it without this option, or mention this with the result.",
        "Файловая система смонтирована так, что не посылает сбросов: синхронизация быстра, потому что ничего не закрепляет. Смонтируйте без этого параметра или оговорите это в отчёте."
    )
}

fn not_durable() -> Say {
    say!(
        "`sync_file_range` does not flush the cache of a drive: a power failure loses writes although the case syncs. Use `fdatasync`, and do not compare these writes with durable ones.",
        "`sync_file_range` не сбрасывает кэш накопителя: при потере питания запись пропадёт, хотя случай и синхронизирует. Возьмите `fdatasync` и не сравнивайте эту запись с записью с подтверждением."
    )
}

#[cfg(test)]
mod tests;
