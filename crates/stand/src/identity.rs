//! A name for a device that stays when cables, slots and boots change: what a person confirms before data
//! are overwritten. Reads only.

use crate::devices::Devices;
use crate::exports;
use crate::marks;
use crate::mirrors;
use crate::node::Node;
use crate::roots::{Roots, names, text};
use crate::stands::zram_uuid;

/// Prefixes of every identity that is printed.
pub(crate) const PREFIXES: [&str; 11] =
    ["wwn:", "serial:", "md:", "drbd:", "dm:", "loop:", "zvol:", "nbd:", "zram:", "fs-uuid:", "path:"];

/// Identity of a device: WWN, serial number, UUID of an array, mirror or mapping, file behind a loop device, name of a volume of ZFS, name of an
/// export of NBD, UUID of what a stand has in memory, UUID of the file system, place in the machine with the size; the first that it has.
/// A partition is its disk's identity and its number.
pub(crate) fn of(roots: &Roots, devices: &Devices, node: &Node) -> Option<String> {
    if let Some(slot) = &node.partition {
        let disk = of_hardware(devices, devices.disk(node))
            .or_else(|| of_stand(roots, devices.disk(node)))
            .or_else(|| of_place(roots, devices.disk(node)));
        let part = slot.number;
        return disk.map(|disk| format!("{disk}-part{part}")).or_else(|| of_file_system(devices, node));
    }
    of_hardware(devices, node)
        .or_else(|| of_stand(roots, node))
        .or_else(|| of_file_system(devices, node))
        .or_else(|| of_place(roots, node))
}

/// As far as the kernel knows it: no device is opened for it. A drive without a name of its own has that of its place, if any.
pub(crate) fn of_kernel(roots: &Roots, devices: &Devices, drive: &Node) -> Option<String> {
    of_hardware(devices, drive).or_else(|| of_stand(roots, drive)).or_else(|| of_place(roots, drive))
}

/// The part that needs no look at the contents and is meant to be unique in the world.
fn of_hardware(devices: &Devices, node: &Node) -> Option<String> {
    let wwn = wwid(node).and_then(|id| match id.strip_prefix("naa.") {
        Some(number) => Some(format!("wwn:0x{number}")),
        // `t10.` repeats vendor, model and serial number; the serial number alone is what is on the label.
        None => (!id.starts_with("t10.")).then(|| format!("wwn:{id}")),
    });
    wwn.or_else(|| node.serial().map(|serial| format!("serial:{serial}")))
        .or_else(|| wwid(node).map(|id| format!("serial:{id}")))
        .or_else(|| text(node.sysfs.join("dm/uuid")).map(|uuid| format!("dm:{uuid}")))
        .or_else(|| md(devices, node))
        .or_else(|| mirrors::uuid(devices, node).map(|uuid| format!("drbd:{uuid}")))
        .or_else(|| node.backing.map(|file| format!("loop:{}:{}", file.device, file.inode)))
        .or_else(|| node.dataset.as_ref().map(|name| format!("zvol:{name}")))
        // Spaces would have to be quoted in every command line.
        .map(|id| id.split_whitespace().collect::<Vec<_>>().join("_"))
}

/// What the kernel has no name for, but the stand that it belongs to: what it has taken in over NBD, and what it has made in memory.
fn of_stand(roots: &Roots, node: &Node) -> Option<String> {
    of_export(roots, node).or_else(|| zram_uuid(roots, node).map(|uuid| format!("zram:{uuid}")))
}

/// What a stand has taken in over NBD is known by the name of the export.
fn of_export(roots: &Roots, node: &Node) -> Option<String> {
    let end = node.name.starts_with("nbd").then(|| exports::attached(roots))?;
    end.into_iter().find(|end| end.name == node.name).map(|end| format!("nbd:{}", end.export))
}

fn wwid(node: &Node) -> Option<String> {
    ["wwid", "device/wwid"].iter().find_map(|file| text(node.sysfs.join(file)))
}

/// An array is known by the UUID in the superblock of its members.
fn md(devices: &Devices, node: &Node) -> Option<String> {
    if !node.sysfs.join("md").is_dir() {
        return None;
    }
    let uuid = text(node.sysfs.join("md/uuid")).or_else(|| {
        let members = node.slaves.iter().filter_map(|name| devices.by_name(name));
        members.filter_map(|m| marks::on(devices, m).ok()).flatten().find(|m| m.name == "linux_raid_member")?.uuid
    });
    uuid.map(|uuid| format!("md:{uuid}"))
}

fn of_file_system(devices: &Devices, node: &Node) -> Option<String> {
    let marks = marks::on(devices, node).ok()?;
    marks.into_iter().find_map(|m| m.uuid).map(|uuid| format!("fs-uuid:{uuid}"))
}

/// udev's name of the place, or the place itself where nothing in it is numbered in order of discovery.
pub(crate) fn of_place(roots: &Roots, node: &Node) -> Option<String> {
    let links = roots.dev.join("disk/by-path");
    let by_udev = names(&links).into_iter().find(|name| {
        let target = std::fs::read_link(links.join(name)).ok();
        target.is_some_and(|t| t.file_name().is_some_and(|f| f.to_string_lossy() == node.name))
    });
    let size = node.size;
    if let Some(place) = by_udev {
        return Some(format!("path:{place},{size}"));
    }
    let place = node.sysfs.to_str()?.split_once("/devices/")?.1.rsplit_once("/block/")?.0.to_string();
    let discovered = place.split('/').any(|part| part.starts_with("host") || part.starts_with("virtual"));
    (!discovered && size > 0).then(|| format!("path:{place},{size}"))
}

/// Another device of the host with the same identity. An fs-uuid is compared with those of all devices, even
/// of those that are better known by something else: a copy of a file system is a duplicate wherever it is.
pub(crate) fn duplicate<'a>(roots: &Roots, devices: &'a Devices, node: &Node, identity: &str) -> Option<&'a Node> {
    let by_contents = identity.strip_prefix("fs-uuid:");
    devices.all().filter(|other| other.name != node.name && other.size > 0).find(|other| match by_contents {
        Some(uuid) => marks::on(devices, other).unwrap_or_default().iter().any(|m| m.uuid.as_deref() == Some(uuid)),
        None => of(roots, devices, other).as_deref() == Some(identity),
    })
}
