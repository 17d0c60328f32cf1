//! From what a stand file calls a drive to the device, and whether it may be written over. Reads only.

use super::layers::too_small;
pub(super) use crate::access::Viewer;
use crate::change::Drive;
use crate::devices::Devices;
use crate::inspect::device_facts;
use crate::node::Node;
use crate::permission::may_write;
use crate::roots::Roots;
use crate::{claims, contents, identity};
use stend_base::{Error, Result, Say, say};
use stend_record::{TargetFacts, WriteAccess};
use stend_spec::permission::Permission;
use stend_spec::stand::{DriveRef, Stand};

/// The device that an identity means: as it is printed, without what stands before the colon, or the serial number of a whole
/// drive, also of one that has a WWN. Gives the device of each path of a drive; none where it is not there.
///
/// Errors: `Unsafe` where several devices are meant, and not said to be paths to one drive, or not surely are.
pub(super) fn find<'a>(roots: &Roots, devices: &'a Devices, id: &str, paths: u32) -> Result<Vec<&'a Node>> {
    let wanted = id.strip_prefix("serial:").unwrap_or(id);
    let labelled = |node: &Node| {
        let whole = node.partition.is_none() && node.slaves.is_empty();
        whole && node.serial().is_some_and(|serial| serial == wanted)
    };
    let bare =
        |identity: &str| identity.split_once(':').is_some_and(|(_, rest)| rest == id || rest == format!("0x{id}"));
    let is = |node: &&Node| {
        let named = || identity::of(roots, devices, node).is_some_and(|identity| identity == id || bare(&identity));
        // Where it is does not change when something is written to it; what is printed as its identity may.
        let placed = || id.starts_with("path:") && identity::of_place(roots, node).as_deref() == Some(id);
        node.size > 0 && (labelled(node) || placed() || named())
    };
    let found: Vec<&Node> = devices.all().filter(is).collect();
    match found[..] {
        [one, other, ..] if paths == 1 => Err(ambiguous(id, &one.name, &other.name)),
        [one, ..] if paths > 1 => {
            must_be_paths_to_one(roots, devices, id, one, &found)?;
            Ok(found)
        }
        _ => Ok(found),
    }
}

fn ambiguous(id: &str, one: &str, other: &str) -> Box<Error> {
    Error::refused(say!(
        "`{id}` is the identity of `{one}` and of `{other}`",
        "один идентификатор `{id}` у двух устройств: `{one}` и `{other}`"
    ))
    .hint(say!(
        "if these are paths to one drive, put a layer `multipath` on it, or name the multipath device over them",
        "если это пути к одному накопителю, положите на него слой `multipath` или укажите устройство multipath над ними"
    ))
}

/// Serial numbers repeat from one vendor to another, and of cheap bridges all are one; copies of a file system have one UUID. A
/// world-wide name is of one drive.
fn must_be_paths_to_one(roots: &Roots, devices: &Devices, id: &str, one: &Node, found: &[&Node]) -> Result<()> {
    let identity = identity::of(roots, devices, one).filter(|identity| identity.starts_with("wwn:"));
    let is_same = |node: &&&Node| identity == identity::of(roots, devices, node) && node.size == one.size;
    let (other, one) = (found.iter().find(|node| !is_same(node)), &one.name);
    let why = match (&identity, other) {
        (Some(_), None) => return Ok(()),
        (None, _) => say!("`{one}` has no world-wide name", "у `{one}` нет всемирного имени"),
        (Some(_), Some(other)) => {
            let other = &other.name;
            say!(
                "`{one}` and `{other}` differ in their world-wide name or size",
                "у `{one}` и `{other}` разные всемирные имена или размеры"
            )
        }
    };
    let Say { en, ru } = why;
    Err(Error::refused(say!(
        "the paths to `{id}` may lead to different drives: {en}",
        "пути к `{id}` могут вести к разным накопителям: {ru}"
    ))
    .hint(say!("`stend inspect` shows names and sizes", "имена и размеры покажет `stend inspect`")))
}

/// Every drive that a stand has on this host, as the journal keeps it; the error names the one that is not there.
pub(super) fn identify(roots: &Roots, stand: &Stand) -> Result<Vec<Drive>> {
    let devices = Devices::read(roots);
    let mut drives: Vec<Drive> = Vec::new();
    let mut leases: Vec<(&String, Option<String>)> = Vec::new();
    for DriveRef { name, id, .. } in stand.drives_here() {
        let paths = stand.paths_to(name);
        let ways = find(roots, &devices, id, paths)?;
        let node = *ways.first().ok_or_else(|| absent(name, id))?;
        must_be_so_many(name, id, ways.len(), paths)?;
        let known = identity::of(roots, &devices, node).filter(|identity| !identity.starts_with("fs-uuid:"));
        let lasting = known.or_else(|| identity::of_place(roots, node)).ok_or_else(|| fleeting(name, id));
        let identity = lasting?;
        if let Some(twice) = drives.iter().find(|other| other.identity == identity) {
            let other = &twice.name;
            return Err(Error::spec(say!(
                "`{name}` and `{other}` are the same drive (`{identity}`)",
                "`{name}` и `{other}` — один и тот же накопитель (`{identity}`)"
            )));
        }
        let lease = claims::lease_name(roots, &devices, node);
        if let Some((other, _)) = leases.iter().find(|(_, known)| *known == lease) {
            return Err(one_disk(name, other));
        }
        leases.push((name, lease));
        drives.push(Drive { name: name.clone(), identity, size: node.size, paths });
    }
    Ok(drives)
}

/// A claim is on a whole disk.
fn one_disk(name: &str, other: &str) -> Box<Error> {
    Error::spec(say!(
        "`{name}` and `{other}` are partitions of one disk, or a disk and its partition",
        "`{name}` и `{other}` — разделы одного диска или диск и его раздел"
    ))
    .hint(say!(
        "give the stand the whole disk and let the layer `partition` divide it",
        "отдайте стенду весь диск и разделите его слоем `partition`"
    ))
}

/// A drive that is known by its contents alone is lost as soon as something is written to it.
fn fleeting(name: &str, id: &str) -> Box<Error> {
    Error::refused(say!(
        "the drive `{name}` (`{id}`) has no serial number, WWN or fixed path: after the first layer Stend could not find it again",
        "у накопителя `{name}` (`{id}`) нет ни серийного номера, ни WWN, ни постоянного пути: после первого слоя его было бы не найти"
    ))
}

/// What the layers ask for must fit on drives of these sizes, as far as they are known.
pub(super) fn must_have_room(stand: &Stand, sizes: &[Option<u64>], file: &str) -> Result<()> {
    let Some((layer, why)) = too_small(stand, sizes) else { return Ok(()) };
    let lacks = Error::preflight(why).hint(say!(
        "ask for less in the stand file, or give the stand larger drives",
        "уменьшите размеры в файле стенда или дайте ему накопители больше"
    ));
    Err(super::of_layer(layer, file, lacks))
}

/// Every drive must be there before anything is done to the others, be it over one of its paths.
pub(super) fn must_all_be_here(drives: &[Drive], paths: &[Vec<String>]) -> Result<()> {
    match drives.iter().zip(paths).find(|(_, ways)| ways.is_empty()) {
        Some((drive, _)) => Err(absent(&drive.name, &drive.identity)),
        None => Ok(()),
    }
}

/// What is built on a drive is built on all of its paths.
pub(super) fn must_have_all_paths(drives: &[Drive], paths: &[Vec<String>]) -> Result<()> {
    must_all_be_here(drives, paths)?;
    let mut each = drives.iter().zip(paths);
    each.try_for_each(|(drive, ways)| must_be_so_many(&drive.name, &drive.identity, ways.len(), drive.paths))
}

/// One more path than the file says would be a way past the device over the others; one fewer is one that nobody would miss.
pub(super) fn must_be_so_many(name: &str, id: &str, found: usize, paths: u32) -> Result<()> {
    if found == paths as usize {
        return Ok(());
    }
    Err(Error::preflight(say!(
        "paths to the drive `{name}` (`{id}`) here: {found}, but the layer `multipath` needs {paths}",
        "путей к накопителю `{name}` (`{id}`) здесь: {found}, а в слое `multipath` указано {paths}"
    ))
    .hint(say!(
        "`stend inspect` lists each path as a drive of this identity",
        "`stend inspect` показывает каждый путь как накопитель с этим идентификатором"
    )))
}

fn absent(name: &str, id: &str) -> Box<Error> {
    Error::preflight(say!(
        "the drive `{name}` of the stand is not here: no device has the identity `{id}`",
        "накопителя `{name}` стенда здесь нет: ни у одного устройства нет идентификатора `{id}`"
    ))
    .hint(say!(
        "`stend inspect` lists drives with their identities",
        "`stend inspect` перечисляет накопители с идентификаторами"
    ))
}

/// The paths of each drive that is there and has the size that it had when the stand was put up.
pub(super) fn paths(roots: &Roots, drives: &[Drive]) -> Result<Vec<Vec<String>>> {
    let devices = Devices::read(roots);
    let ways = |drive: &Drive| {
        let found = find(roots, &devices, &drive.identity, drive.paths)?;
        let path = |node: &&Node| {
            let path = devices.path(node).display().to_string();
            match node.size == drive.size {
                true => Ok(path),
                false => Err(claims::changed(&path, &say!("size", "размер"))),
            }
        };
        found.iter().map(path).collect()
    };
    drives.iter().map(ways).collect()
}

/// What is known of a drive of a stand, with the verdict whether it may be written; `others` are further paths to it, each of which is
/// looked at in its turn.
pub(crate) fn look(roots: &Roots, node: &Node, devices: &Devices, others: &[&str], viewer: Viewer) -> TargetFacts {
    let named = devices.path(node).display().to_string();
    // Two devices of one identity are refused, but for these.
    device_facts(roots, &devices.without(others), node, &named, viewer)
}

/// Facts of drives with samples of what is on them; those of further paths to a drive have that of the first. `tell` hears what is
/// being waited for.
pub(super) fn sampled(facts: Vec<TargetFacts>, tell: &mut dyn FnMut(String)) -> Vec<TargetFacts> {
    let is_way_to = |way: &TargetFacts, drive: &TargetFacts| way.identity.is_some() && way.identity == drive.identity;
    let is_first = |index: usize| !facts[..index].iter().any(|other| is_way_to(&facts[index], other));
    let firsts: Vec<bool> = (0..facts.len()).map(is_first).collect();
    let split = facts.into_iter().zip(firsts).partition::<Vec<_>, _>(|(_, first)| *first);
    let [mut drives, mut ways] =
        [split.0, split.1].map(|all| all.into_iter().map(|(facts, _)| facts).collect::<Vec<_>>());
    contents::sample_contents(&mut drives, tell);
    for way in &mut ways {
        let of = drives.iter().find(|drive| is_way_to(way, drive));
        of.and_then(|drive| drive.contents.clone()).into_iter().for_each(|found| contents::add_sampled(way, found));
    }
    drives.extend(ways);
    drives
}

/// Refuses a drive that may not be written over: in use, or with a signature that `overwrite` does not name. That the stand file
/// names it by identity is its confirmation.
pub(crate) fn must_be_free(facts: &TargetFacts, overwrite: &[String]) -> Result<()> {
    // Those of the signatures that may be lost that are there: others may be on other drives.
    let there = match &facts.access {
        WriteAccess::Confirm { signatures, .. } => signatures.as_slice(),
        _ => &[],
    };
    let overwrite_signatures = overwrite.iter().filter(|name| there.contains(name)).cloned().collect();
    let confirm = facts.identity.iter().cloned().collect();
    let permission = Permission { confirm, overwrite_signatures, commands: false, beside: false };
    let path = &facts.path;
    let refused = |Say { en, ru }| {
        Error::refused(say!("refused to write to `{path}`: {en}", "запись в `{path}` отклонена: {ru}"))
    };
    may_write(facts, &permission)
        .map_err(|mut error| {
            // The hint of a run speaks of its options.
            if let WriteAccess::Confirm { signatures, .. } = &facts.access {
                let names = signatures.join(", ");
                error.hint = Some(say!(
                    "if that may be lost, write `overwrite: [{names}]` in the stand file",
                    "если это можно потерять, укажите в файле стенда `overwrite: [{names}]`"
                ));
            }
            error
        })?
        .map_err(refused)
}

#[cfg(test)]
mod tests;
