//! From what a stand file calls a drive to the device, and whether it may be written over. Reads only.

use super::journal::Drive;
use super::layers::too_small;
use crate::access::Viewer;
use crate::devices::{Devices, Node};
use crate::inspect::device_facts;
use crate::permission::{Permission, may_write};
use crate::roots::Roots;
use crate::{claims, identity};
use stend_base::{Error, Kind, Result, Say, say};
use stend_record::{TargetFacts, WriteAccess};
use stend_spec::stand::{DriveRef, Stand};

/// The device that an identity means: as it is printed, without what stands before the colon, or the serial number of a whole
/// drive, also of one that has a WWN.
pub(super) fn find<'a>(roots: &Roots, devices: &'a Devices, id: &str) -> Result<Option<&'a Node>> {
    let wanted = id.strip_prefix("serial:").unwrap_or(id);
    let labelled = |node: &Node| {
        let whole = node.partition.is_none() && node.slaves.is_empty();
        whole && identity::serial(node).is_some_and(|serial| serial == wanted)
    };
    let bare =
        |identity: &str| identity.split_once(':').is_some_and(|(_, rest)| rest == id || rest == format!("0x{id}"));
    let is = |node: &&Node| {
        let named = || identity::of(roots, devices, node).is_some_and(|identity| identity == id || bare(&identity));
        // Where it is does not change when something is written to it; what is printed as its identity may.
        let placed = || id.starts_with("path:") && identity::of_place(roots, node).as_deref() == Some(id);
        node.size > 0 && (labelled(node) || placed() || named())
    };
    let mut found = devices.all().filter(is);
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => {
            let (one, other) = (&one.name, &other.name);
            Err(Error::new(
                Kind::Unsafe,
                say!(
                    "`{id}` is the identity of `{one}` and of `{other}`",
                    "идентичность `{id}` у двух устройств: `{one}` и `{other}`"
                ),
            )
            .hint(say!(
                "with several paths to a drive name the multipath device",
                "при нескольких путях к накопителю укажите устройство multipath"
            )))
        }
        (one, _) => Ok(one),
    }
}

/// Every drive of a stand as the journal keeps it; the error names the one that is not there.
pub(super) fn identify(roots: &Roots, stand: &Stand) -> Result<Vec<Drive>> {
    let devices = Devices::read(roots);
    let mut drives: Vec<Drive> = Vec::new();
    for DriveRef { name, id } in &stand.drives {
        let node = find(roots, &devices, id)?.ok_or_else(|| absent(name, id))?;
        let known = identity::of(roots, &devices, node).filter(|identity| !identity.starts_with("fs-uuid:"));
        let lasting = known.or_else(|| identity::of_place(roots, node)).ok_or_else(|| fleeting(name, id));
        let identity = lasting?;
        if let Some(twice) = drives.iter().find(|other| other.identity == identity) {
            let other = &twice.name;
            return Err(Error::new(
                Kind::Spec,
                say!(
                    "`{name}` and `{other}` are the same drive (`{identity}`)",
                    "`{name}` и `{other}` — один и тот же накопитель (`{identity}`)"
                ),
            ));
        }
        drives.push(Drive { name: name.clone(), identity, size: node.size });
    }
    Ok(drives)
}

/// A drive that is known by its contents alone is lost as soon as something is written to it.
fn fleeting(name: &str, id: &str) -> Box<Error> {
    Error::new(
        Kind::Unsafe,
        say!(
            "the drive `{name}` (`{id}`) has no serial number, WWN or place of its own: after the first layer it could not be found again",
            "у накопителя `{name}` (`{id}`) нет ни серийного номера, ни WWN, ни своего места: после первого слоя его было бы не найти"
        ),
    )
}

/// What the layers ask for must fit on drives of these sizes, as far as they are known.
pub(super) fn must_have_room(stand: &Stand, sizes: &[Option<u64>], file: &str) -> Result<()> {
    let Some((layer, why)) = too_small(stand, sizes) else { return Ok(()) };
    let lacks = Error::new(Kind::Preflight, why).hint(say!(
        "ask for less in the file of the stand, or give it larger drives",
        "попросите в файле стенда меньше или дайте ему накопители больше"
    ));
    Err(super::of_layer(layer, file, lacks))
}

/// Every drive must be there before anything is done to the others.
pub(super) fn must_all_be_here(drives: &[Drive], paths: &[Option<String>]) -> Result<()> {
    match drives.iter().zip(paths).find(|(_, path)| path.is_none()) {
        Some((drive, _)) => Err(absent(&drive.name, &drive.identity)),
        None => Ok(()),
    }
}

fn absent(name: &str, id: &str) -> Box<Error> {
    Error::new(
        Kind::Preflight,
        say!(
            "the drive `{name}` of the stand is not here: no device has the identity `{id}`",
            "накопителя `{name}` стенда здесь нет: ни у одного устройства нет идентичности `{id}`"
        ),
    )
    .hint(say!(
        "`stend inspect` lists drives with their identities",
        "`stend inspect` перечисляет накопители с идентичностями"
    ))
}

/// Path of each drive that is there and has the size that it had when the stand was put up.
pub(super) fn paths(roots: &Roots, drives: &[Drive]) -> Result<Vec<Option<String>>> {
    let devices = Devices::read(roots);
    let path = |drive: &Drive| {
        let Some(node) = find(roots, &devices, &drive.identity)? else { return Ok(None) };
        let path = devices.path(node).display().to_string();
        if node.size != drive.size {
            return Err(claims::changed(&path, &say!("size", "размер")));
        }
        Ok(Some(path))
    };
    drives.iter().map(path).collect()
}

/// What is known of a drive of a stand, with the verdict whether it may be written.
pub(super) fn look(roots: &Roots, node: &Node, devices: &Devices) -> TargetFacts {
    let named = devices.path(node).display().to_string();
    device_facts(roots, devices, node, &named, Viewer::Stranger)
}

/// Refuses a drive that may not be written over: in use, or with a signature that `overwrite` does not name. That the stand file
/// names it by identity is its confirmation.
pub(super) fn must_be_free(facts: &TargetFacts, overwrite: &[String]) -> Result<()> {
    // Of the signatures that may be lost those that are there: others may be on other drives.
    let there = match &facts.access {
        WriteAccess::Confirm { signatures, .. } => signatures.as_slice(),
        _ => &[],
    };
    let overwrite_signatures = overwrite.iter().filter(|name| there.contains(name)).cloned().collect();
    let confirm = facts.identity.iter().cloned().collect();
    let permission = Permission { confirm, overwrite_signatures, commands: false };
    let path = &facts.path;
    let refused = |Say { en, ru }| {
        Error::new(Kind::Unsafe, say!("refused to write to `{path}`: {en}", "запись в `{path}` отклонена: {ru}"))
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
