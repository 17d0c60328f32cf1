//! Signatures on a device and inside the partitions on it, also those that the kernel does not know. Reads
//! only.

use crate::devices::Devices;
use crate::node::Node;
use std::io;
use stend_sys::IoFile;
use stend_sys::block;
use stend_sys::signature::{Found, Image, Pool, Superblock, partition};

pub(crate) use stend_sys::signature::partition::Partition;

/// A part of a device that a partition table names.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub entry: Partition,
    /// Kernel name, or the disk's name and the number where the kernel does not know the partition.
    pub name: String,
    /// Offsets count from the start of the partition.
    pub marks: Vec<Found>,
}

/// Signatures on the device itself.
pub(crate) fn on(devices: &Devices, node: &Node) -> io::Result<Vec<Found>> {
    let file = IoFile::open_read(&devices.path(node), false)?;
    Ok(Image::read(&file, 0, node.size)?.signatures())
}

/// What a target of the device mapper would find at the start of a device.
pub(crate) fn superblock(devices: &Devices, node: &Node) -> io::Result<Option<Superblock>> {
    let file = IoFile::open_read(&devices.path(node), false)?;
    Ok(Image::read(&file, 0, node.size)?.superblock())
}

/// The label of a pool of ZFS on the device itself, or in the first partition of its table, whether the kernel knows that or not.
pub(crate) fn pool(devices: &Devices, node: &Node, inside: bool) -> io::Result<Option<Pool>> {
    let first = || Ok::<_, io::Error>(table(devices, node)?.into_iter().min_by_key(|entry| entry.start));
    let (start, len) = match inside {
        false => (0, node.size),
        true => match first()? {
            Some(Partition { start, len, .. }) => (start, len),
            None => return Ok(None),
        },
    };
    let file = IoFile::open_read(&devices.path(node), false)?;
    Ok(Image::read(&file, start, len)?.pool())
}

/// Whether a disk has the table that ZFS makes for a member (a first partition called `zfs-…`), and nothing is in that partition any
/// more, neither a label of any pool nor another mark. What cannot be read is none.
///
/// Source: OpenZFS 2, lib/libzfs/os/linux/libzfs_pool_os.c, `zpool_label_name` and `zpool_label_disk`.
pub(crate) fn is_bare_pool_table(devices: &Devices, disk: &Node) -> bool {
    let first = table(devices, disk).ok().and_then(|entries| entries.into_iter().min_by_key(|entry| entry.start));
    let Some(Partition { start, len, label: Some(name), .. }) = first else { return false };
    let inside = || Image::read(&IoFile::open_read(&devices.path(disk), false)?, start, len);
    name.starts_with("zfs-") && inside().is_ok_and(|image| image.pool().is_none() && image.signatures().is_empty())
}

/// Partitions of a whole disk: those of its table and those of the kernel, which may differ.
pub(crate) fn parts(devices: &Devices, disk: &Node) -> io::Result<Vec<Part>> {
    let entries = table(devices, disk)?;
    let mut parts = Vec::new();
    for kernel in devices.partitions(disk) {
        let Some(slot) = &kernel.partition else { continue };
        let entry = entries.iter().find(|e| e.start == slot.start).cloned();
        let bare = Partition { number: slot.number, start: slot.start, len: kernel.size, uuid: None, label: None };
        let marks = on(devices, kernel)?;
        parts.push(Part { entry: entry.unwrap_or(bare), name: kernel.name.clone(), marks });
    }
    let file = IoFile::open_read(&devices.path(disk), false)?;
    let unknown: Vec<&Partition> = entries.iter().filter(|e| !parts.iter().any(|p| p.entry.start == e.start)).collect();
    for entry in unknown {
        let name = format!("{} #{}", disk.name, entry.number);
        let marks = Image::read(&file, entry.start, entry.len)?.signatures();
        parts.push(Part { entry: entry.clone(), name, marks });
    }
    Ok(parts)
}

/// Entries of the partition table of a disk.
pub(crate) fn table(devices: &Devices, disk: &Node) -> io::Result<Vec<Partition>> {
    let file = IoFile::open_read(&devices.path(disk), false)?;
    let block = u64::from(block::geometry(&file)?.logical_block);
    let sector = |at: u64| (at.checked_add(512)? <= disk.size).then(|| Image::read(&file, at, 512).ok())?;
    Ok(partition::table(&Image::read(&file, 0, disk.size)?, block, &sector))
}
