//! Whether the hosts and targets that a run goes on with are those that it began with. Pure.

use crate::ending::named;
use crate::resume::{EarlierHost, Progressed};
use std::slice;
use stend_base::{Error, Result, say};
use stend_record::{Device, HostId, TargetFacts, TargetKind, targets};
use stend_wire::Facts;

/// Whether the load hosts are those of the earlier session, in the order of their ids, each with its targets in the same order, and may still
/// be written.
pub(crate) fn same_hosts(earlier: &Progressed, each: &[(HostId, Facts)], rebuilt: bool) -> Result<()> {
    let (then, found) = (earlier.loads.len(), each.len());
    if then != found {
        return Err(Error::refused(say!(
            "the run began with {then} load hosts, not with {found}",
            "прогон начался с нагружающими машинами числом {then}, а не {found}"
        )));
    }
    for (load, (_, now)) in earlier.loads.iter().zip(each) {
        same_targets(earlier, load, now, rebuilt).map_err(|error| match then {
            1 => error,
            _ => named(&load.name, error),
        })?;
    }
    Ok(())
}

/// Whether the targets that are there now are those of the earlier session, in the same order, and may still be written.
fn same_targets(earlier: &Progressed, load: &EarlierHost, now: &Facts, rebuilt: bool) -> Result<()> {
    same_host(earlier, load, now)?;
    let (then, found) = (load.targets.len(), now.targets.len());
    if then != found {
        return Err(Error::refused(say!(
            "the run began with {then} targets, not with {found}",
            "прогон начался с объектами числом {then}, а не {found}"
        )));
    }
    let same_boot = load.host.boot_id == now.host.boot_id;
    let other_storage = rebuilt || earlier.new_target || earlier.new_storage;
    for (then, found) in load.targets.iter().zip(&now.targets) {
        same_target(earlier.new_target, rebuilt, then, found)?;
        if !other_storage {
            same_file_system(then, found, same_boot)?;
        }
    }
    still_written(earlier, now)
}

/// A directory may have the same path on two hosts, and a run that began on one of them must not go on on the other. One boot is one
/// host; after another boot it is known by its name, unless the run waited for a person, who may have changed all of it.
fn same_host(earlier: &Progressed, load: &EarlierHost, now: &Facts) -> Result<()> {
    let (then, found) = (&load.host.hostname, &now.host.hostname);
    if load.host.boot_id == now.host.boot_id || then == found || earlier.suspended.is_some() {
        return Ok(());
    }
    Err(Error::refused(say!(
        "the run began on the host `{then}`, and this is `{found}`",
        "прогон начался на машине `{then}`, а это `{found}`"
    ))
    .hint(say!(
        "resume with the same `--ssh` or `--lab`; if the host was renamed, give it its old name back",
        "продолжайте с тем же `--ssh` или `--lab`, что и в начале; переименованной машине верните прежнее имя"
    )))
}

/// A stand that was put up anew has the layers of before, not the devices.
fn same_target(replaced: bool, rebuilt: bool, then: &TargetFacts, found: &TargetFacts) -> Result<()> {
    if replaced && then.kind == found.kind {
        return Ok(());
    }
    let same_size = found.kind == TargetKind::Directory || then.size == found.size;
    let same_device = (&then.identity, &then.path) == (&found.identity, &found.path);
    if then.kind != found.kind || !(same_device || rebuilt) || !same_size {
        let path = &found.path;
        return Err(Error::refused(say!(
            "`{path}` is not the target that the run began with",
            "`{path}` — не тот объект, с которым прогон начался"
        )));
    }
    Ok(())
}

/// A directory or file is on the file system of before.
fn same_file_system(then: &TargetFacts, found: &TargetFacts, same_boot: bool) -> Result<()> {
    if lies_on_same(then, found, same_boot) {
        return Ok(());
    }
    let path = &found.path;
    Err(Error::refused(say!(
        "`{path}` is not on the file system that the run began on",
        "`{path}` лежит не на той файловой системе, на которой начался прогон"
    ))
    .hint(say!(
        "mount that file system at this path and resume again",
        "смонтируйте по этому пути прежнюю файловую систему и продолжите прогон"
    )))
}

/// Whether a directory or file lies on the file system of before: where nothing is mounted after a boot, its path leads to that of the
/// system. It is known by its type and the devices that it is on, one of which is enough: an array may have lost another.
fn lies_on_same(then: &TargetFacts, found: &TargetFacts, same_boot: bool) -> bool {
    if !matches!(then.kind, TargetKind::Directory | TargetKind::File) {
        return true;
    }
    if then.file_system.is_some() && then.file_system != found.file_system {
        return false;
    }
    // What the file system itself is on, which tells partitions apart; where that has no identity, the drives below.
    let (own, lowest) = (of_file_system(then, same_boot), of_drives(then, same_boot));
    let own = meets(&own, &of_file_system(found, same_boot));
    let lowest = meets(&lowest, &of_drives(found, same_boot));
    match own {
        // A rebuilt mapping has another kernel name, which proves nothing where the drives are known.
        Some((false, false)) => lowest.is_some_and(|(same, by_identity)| same && by_identity),
        Some((same, _)) => same,
        None => lowest.is_none_or(|(same, _)| same),
    }
}

/// Whether devices of before and of now have one in common, and whether that was decided by identities. `None`: they are known by names of
/// different kinds, because a user may read less of them than root, and nothing can be said.
fn meets(then: &[&str], found: &[&str]) -> Option<(bool, bool)> {
    let kind = |name: &&str| name.split_once(':').map_or("", |(kind, _)| kind).to_string();
    let kinds: Vec<String> = then.iter().map(kind).filter(|of| found.iter().any(|name| kind(name) == *of)).collect();
    let same = then.iter().any(|name| found.contains(name));
    (!kinds.is_empty()).then(|| (same, kinds.iter().any(|kind| !kind.is_empty())))
}

fn of_file_system(target: &TargetFacts, same_boot: bool) -> Vec<&str> {
    names(target.devices.iter().filter(|device| device.depth == 0), same_boot)
}

fn of_drives(target: &TargetFacts, same_boot: bool) -> Vec<&str> {
    names(targets::drives(slice::from_ref(target)).into_iter(), same_boot)
}

/// What devices are known by, if all of them are. Kernel names, files behind loop devices, whose identity has the number of a device, and
/// places on a bus are those of one boot.
fn names<'a>(devices: impl Iterator<Item = &'a Device>, same_boot: bool) -> Vec<&'a str> {
    let name = |device: &'a Device| match device.identity.as_deref() {
        Some(identity) if same_boot || !["loop:", "path:"].iter().any(|of| identity.starts_with(of)) => Some(identity),
        _ => same_boot.then_some(device.name.as_str()),
    };
    devices.map(name).collect::<Option<Vec<_>>>().unwrap_or_default()
}

fn still_written(earlier: &Progressed, now: &Facts) -> Result<()> {
    match (&earlier.inputs.target.writes, &now.writes) {
        (Ok(()), Err(reason)) => {
            let (en, ru) = (&reason.en, &reason.ru);
            Err(Error::refused(say!("the run writes: {en}", "прогон пишет: {ru}")))
        }
        _ => Ok(()),
    }
}
