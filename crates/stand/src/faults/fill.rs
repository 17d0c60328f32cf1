//! A file system that gets full while it is measured, by a file of our own. Fills no root, nothing in memory, and nothing beyond what was
//! asked for.

use super::filling::{Filling, Room, full, unseen};
use super::lower_devices::LowerDevices;
use crate::change::{Action, Change, run};
use crate::command::{told, words};
use crate::mounts::{self, Mount};
use crate::node::Node;
use crate::roots::text;
use std::path::Path;
use stend_base::{Millionths, Say, say};

type Found<T> = std::result::Result<T, Say>;

/// File systems for which space that is reserved is space that is taken. Others compress, keep copies, or are somewhere else.
const RESERVE: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "f2fs"];
/// Kinds of mappings whose space is taken by writes alone.
//= linux, Documentation/admin-guide/device-mapper/thin-provisioning.rst, vdo.rst
const THIN: [&str; 2] = ["thin", "vdo"];

/// Fills the file system of every target that is a directory, each once.
pub(super) fn fill(lower: &LowerDevices, to: Millionths) -> Found<Change> {
    let mounted = mounts::own(lower.roots());
    let mut change = Change::unseen(Say::same(""), Vec::new(), []);
    let mut filled: Vec<&Mount> = Vec::new();
    for (path, below) in lower.places() {
        let Some(mount) = mounts::of_path(&mounted, path) else { continue };
        if filled.contains(&mount) {
            continue;
        }
        filled.push(mount);
        may_be_filled(&mounted, mount)?;
        let at = mount.at.display();
        Room::of(path).map_err(|error| unseen(path, &error))?.until(to).ok_or_else(|| full(path, to))?;
        let is_thin = is_thin(&below)?;
        let is_written = is_thin || !RESERVE.contains(&mount.kind.as_str());
        let file = crate::testfile::fill_in(path, lower.run_id());
        change.undo_by(run("rm --force --", &[&file.display().to_string()]));
        if is_written {
            // Such file systems count what is written, or removed, when it is on the drives.
            let sync = run("sync --file-system", &[&at.to_string()]);
            change.apply.push(sync.clone());
            change.undo_by(sync);
        }
        if is_thin {
            // The pool gets the space of a file back only on command.
            change.undo_by(run("fstrim --quiet-unsupported", &[&at.to_string()]));
        }
        change.apply.push(Action::Fill(Filling { file, to, is_written }));
    }
    match change.apply.is_empty() {
        false => Ok(change),
        true => Err(say!(
            "no target is a directory, and a bare device cannot fill up: put a file system on it",
            "среди объектов нет каталога, а устройство само по себе не заполняется: создайте на нём файловую систему"
        )),
    }
}

/// Neither the root of this host nor memory.
fn may_be_filled(mounted: &[Mount], mount: &Mount) -> Found<()> {
    let at = mount.at.display();
    let root = mounted.iter().rfind(|other| other.at == Path::new("/"));
    let same_device = |root: &Mount| root.source == mount.source && root.source.starts_with('/');
    if root.is_some_and(|root| root.number == mount.number || same_device(root)) {
        return Err(say!(
            "the target lies on the root file system of this host, which is never filled",
            "объект лежит на корневой файловой системе этой машины, а её не заполняют"
        ));
    }
    if ["tmpfs", "ramfs", "devtmpfs"].contains(&mount.kind.as_str()) {
        return Err(say!("{at} is memory, which is never filled", "{at} — это память, а её не заполняют"));
    }
    Ok(())
}

/// Whether something below has only the space that was written.
fn is_thin(below: &[&Node]) -> Found<bool> {
    for node in below {
        if node.dataset.is_some() {
            return Ok(true);
        }
        if let Some(name) = text(node.sysfs.join("dm/name")) {
            let table = told(&words("dmsetup table", &[&name]))?;
            if table.lines().any(|line| line.split_whitespace().nth(2).is_some_and(|kind| THIN.contains(&kind))) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_sys::block::DevNo;

    fn mount(at: &str, kind: &str, source: &str, minor: u32) -> Mount {
        let number = DevNo { major: 8, minor };
        Mount { number, at: at.into(), kind: kind.into(), source: source.into(), options: String::new(), seen_by: None }
    }

    #[test]
    fn neither_the_root_nor_memory_is_filled() {
        let mounted = [
            mount("/", "btrfs", "/dev/sda1", 1),
            mount("/home", "btrfs", "/dev/sda1", 2),
            mount("/mnt", "ext4", "/dev/sdb1", 3),
            mount("/bound", "btrfs", "none", 1),
            mount("/tmp", "tmpfs", "tmpfs", 4),
        ];
        let told = |index: usize| may_be_filled(&mounted, &mounted[index]).map_err(|why| why.en);
        let root = "the target lies on the root file system of this host, which is never filled";
        assert_eq!([told(0), told(1), told(3)].map(|told| told.unwrap_err()), [root; 3]);
        assert_eq!(told(4).unwrap_err(), "/tmp is memory, which is never filled");
        assert_eq!(told(2), Ok(()));
    }
}
