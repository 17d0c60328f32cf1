//! What is mounted, swapped to, or listed to be: `/proc/*/mountinfo`, `/proc/swaps`, `/etc/fstab`. Reads only.

use crate::clusters;
use crate::devices::Devices;
use crate::escapes::unescape;
use crate::node::Node;
use crate::roots::{Roots, names, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stend_sys::block::DevNo;

/// One mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub number: DevNo,
    pub at: PathBuf,
    /// `ext4`, `btrfs`, `overlay`, …
    pub kind: String,
    /// What was mounted: for a file system on a device its path.
    pub source: String,
    /// Options of the mount point and of the file system, comma separated.
    pub options: String,
    /// A process that sees it, if we do not.
    pub seen_by: Option<u32>,
}

/// Mounts that this process sees, in the order of mounting.
pub(crate) fn own(roots: &Roots) -> Vec<Mount> {
    parse(&text(roots.proc.join("self/mountinfo")).unwrap_or_default(), None)
}

/// Mounts of every mount namespace that can be seen, our own first.
pub(crate) fn everywhere(roots: &Roots) -> Vec<Mount> {
    let mut mounts = own(roots);
    let mut seen: BTreeSet<PathBuf> = std::fs::read_link(roots.proc.join("self/ns/mnt")).into_iter().collect();
    for pid in names(&roots.proc).iter().filter_map(|name| name.parse::<u32>().ok()) {
        let process = roots.proc.join(pid.to_string());
        let Ok(namespace) = std::fs::read_link(process.join("ns/mnt")) else { continue };
        if seen.insert(namespace) {
            mounts.extend(parse(&text(process.join("mountinfo")).unwrap_or_default(), Some(pid)));
        }
    }
    mounts
}

/// The mount that a path without links lies in.
pub(crate) fn of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    // The last of equal mount points covers the others.
    mounts.iter().filter(|m| path.starts_with(&m.at)).max_by_key(|m| m.at.components().count())
}

/// Devices of the kernel that a mounted file system lies on.
pub(crate) fn devices_of<'a>(roots: &Roots, devices: &'a Devices, mounts: &[Mount], mount: &Mount) -> Vec<&'a Node> {
    on_devices(roots, devices, mounts, mount, 4)
}

fn on_devices<'a>(roots: &Roots, devices: &'a Devices, mounts: &[Mount], mount: &Mount, depth: u32) -> Vec<&'a Node> {
    if !mount.number.is_anonymous() {
        return devices.by_number(mount.number).into_iter().collect();
    }
    if mount.kind == "overlay" && depth > 0 {
        // What is written lands in the upper directory.
        let upper = mount.options.split(',').find_map(|option| option.strip_prefix("upperdir="));
        let below = upper.and_then(|dir| of_path(mounts, Path::new(dir)));
        return below.map(|below| on_devices(roots, devices, mounts, below, depth - 1)).unwrap_or_default();
    }
    if mount.kind == "zfs" {
        return devices.of_dataset(&mount.source);
    }
    if mount.kind == "fuse.ceph-fuse" {
        return clusters::devices(roots, devices, &mount.source);
    }
    if mount.kind.starts_with("nfs") && depth > 0 {
        // What this host hands out to itself lands in its own directory.
        let own = ["127.0.0.1:", "localhost:"].iter().find_map(|host| mount.source.strip_prefix(host));
        let below = own.and_then(|path| of_path(mounts, Path::new(path)));
        return below.map(|below| on_devices(roots, devices, mounts, below, depth - 1)).unwrap_or_default();
    }
    let Some(source) = devices.at(&mount.source) else { return Vec::new() };
    let pool = pool_of(roots, &source.name);
    if pool.is_empty() { vec![source] } else { pool.iter().filter_map(|name| devices.by_name(name)).collect() }
}

/// Devices of the mounted btrfs that `name` belongs to, itself included.
fn pool_of(roots: &Roots, name: &str) -> Vec<String> {
    let pools = roots.sys.join("fs/btrfs");
    let mut members = names(&pools).into_iter().map(|id| names(pools.join(id).join("devices")));
    members.find(|members| members.iter().any(|m| m == name)).unwrap_or_default()
}

/// Paths of active swap areas.
pub(crate) fn swaps(roots: &Roots) -> Vec<String> {
    let text = text(roots.proc.join("swaps")).unwrap_or_default();
    text.lines().skip(1).filter_map(|line| Some(unescape(line.split_whitespace().next()?))).collect()
}

/// (device as written, mount point) of every line of fstab, those not mounted at boot included.
pub(crate) fn fstab(roots: &Roots) -> Vec<(String, String)> {
    let text = text(roots.etc.join("fstab")).unwrap_or_default();
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        let (device, at) = (fields.next()?, fields.next()?);
        (!device.starts_with('#')).then(|| (unescape(device.trim_matches('"')).replace('"', ""), unescape(at)))
    };
    text.lines().filter_map(line).collect()
}

/// Format: Linux Documentation/filesystems/proc.rst, section 3.5.
pub(crate) fn parse(text: &str, seen_by: Option<u32>) -> Vec<Mount> {
    let line = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let before: Vec<&str> = before.split(' ').collect();
        let mut after = after.split(' ');
        let (kind, source) = (after.next()?.to_string(), unescape(after.next()?));
        let options = match after.next() {
            Some(of_super) => format!("{},{of_super}", before.get(5)?),
            None => before.get(5)?.to_string(),
        };
        Some(Mount {
            number: DevNo::parse(before.get(2)?)?,
            at: unescape(before.get(4)?).into(),
            kind,
            source,
            options,
            seen_by,
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = r"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
41 27 8:17 / /srv/with\040space ro,relatime shared:5 master:1 - xfs /dev/sdb1 rw,attr2
43 27 0:39 / /srv rw - btrfs /dev/loop0 rw,subvol=/
broken line
44 43 8:33 / /srv/deep rw,relatime - ext4 /dev/sdc1 ro";

    #[test]
    fn mount_lines_are_read_with_escapes_and_optional_fields() {
        let mounts = parse(MOUNTINFO, None);
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].at, Path::new("/srv/with space"));
        assert_eq!((mounts[1].kind.as_str(), mounts[1].source.as_str()), ("xfs", "/dev/sdb1"));
        assert_eq!(mounts[3].options, "rw,relatime,ro", "of the mount point and of the file system");
    }

    #[test]
    fn a_path_lies_in_the_deepest_mount_above_it() {
        let mounts = parse(MOUNTINFO, None);
        let source = |path| of_path(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(source("/srv/deep/er"), "/dev/sdc1");
        assert_eq!(source("/srv/deeper"), "/dev/loop0");
        assert_eq!(source("/var"), "/dev/vda");
    }

    #[test]
    fn of_two_mounts_on_one_point_the_later_counts() {
        let mounts = parse("1 0 8:1 / /a rw - ext4 /dev/sda1 rw\n2 1 8:2 / /a rw - ext4 /dev/sda2 rw", None);
        assert_eq!(of_path(&mounts, Path::new("/a/b")).unwrap().source, "/dev/sda2");
    }
}
