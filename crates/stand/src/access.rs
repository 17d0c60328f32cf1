//! May a block device be written, and if not, every reason why. Reads only, decides once, in one place.

use crate::blkid::{self, Seen};
use crate::devices::Devices;
use crate::host::effective_user;
use crate::marks::{self, Part};
use crate::node::Node;
use crate::roots::Roots;
use crate::uses::Process;
use crate::{claims, exports, identity, mounts};
use std::path::Path;
use std::time::{Duration, Instant};
use stend_record::{Refusal, Signature, WriteAccess};
use stend_sys::block;
use stend_sys::opened::{self, Opened};
use stend_sys::signature::Found;

/// How long a program that only probes a device (udev, blkid, losetup) may hold it before that is a reason (by eye:
/// they take milliseconds; where 30 processes shared two CPUs one took more than a second).
const PASSING: Duration = Duration::from_secs(3);

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// Anyone.
    Stranger,
    /// The holder of the claim, whose own lease and lock are no reasons.
    Claimant,
}

/// What a look at a device gave.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub identity: Option<String>,
    /// On the device and inside its partitions, offsets from its start.
    pub signatures: Vec<Signature>,
    pub access: WriteAccess,
}

/// Looks at a device from every side.
pub(crate) fn judge(roots: &Roots, devices: &Devices, node: &Node, viewer: Viewer) -> Verdict {
    let identity = identity::of(roots, devices, node);
    let (Contents { own, parts, asked }, unread) = match contents(devices, node) {
        Ok(contents) => (contents, None),
        Err(error) => (Contents::default(), Some(unreadable(&error, effective_user(roots) == Some(0)))),
    };
    let mut reasons = mounted(roots, devices, node);
    reasons.extend(swap(roots, devices, node));
    reasons.extend(members(node, &own, &parts));
    reasons.extend(members_of_blkid(&asked));
    reasons.extend(holders(devices, node));
    reasons.extend(exported(roots, devices, node));
    // Where something else speaks already, nobody need wait.
    let patience = if reasons.is_empty() { PASSING } else { Duration::ZERO };
    reasons.extend(held(roots, devices, node, patience));
    reasons.extend(fstab(roots, devices, node, &own, &parts));
    if viewer == Viewer::Stranger {
        let name = claims::lease_name(roots, devices, node);
        reasons.extend(name.and_then(|name| claims::live(roots, &name)));
    }
    reasons.extend(unread);
    reasons.extend(node.read_only.then_some(Refusal::ReadOnly));
    let other = identity.as_deref().and_then(|id| identity::duplicate(roots, devices, node, id));
    let other = other.or_else(|| over_same_file(devices, node));
    reasons.extend(other.map(|other| Refusal::DuplicateIdentity { other: other.name.clone() }));
    // Taking a device for an instant may disturb others, so it is asked only when nothing else speaks.
    if reasons.is_empty() && viewer == Viewer::Stranger {
        let unseen = Refusal::HeldBy { pid: 0, name: String::new() };
        let exclusively = || block::is_held_exclusively(&devices.path(node)).unwrap_or(false);
        reasons.extend(lasting(PASSING, || exclusively().then(|| unseen.clone()).into_iter().collect()));
    }
    let signatures = signatures(&own, &parts, &asked);
    let access = match &identity {
        Some(identity) if reasons.is_empty() => {
            WriteAccess::Confirm { identity: identity.clone(), signatures: distinct_names(&signatures) }
        }
        Some(_) => WriteAccess::Refused(reasons),
        None => {
            reasons.push(Refusal::NoIdentity);
            WriteAccess::Refused(reasons)
        }
    };
    Verdict { identity, signatures, access }
}

/// Who would lose a device that is taken away: all that has it mounted, has built on it, hands it out, or has it open for longer than a
/// look takes.
pub(crate) fn users(roots: &Roots, devices: &Devices, node: &Node) -> Vec<Refusal> {
    let mut reasons = mounted(roots, devices, node);
    reasons.extend(swap(roots, devices, node));
    reasons.extend(holders(devices, node));
    reasons.extend(exported(roots, devices, node));
    let patience = if reasons.is_empty() { PASSING } else { Duration::ZERO };
    reasons.extend(held(roots, devices, node, patience));
    reasons
}

/// Processes that have a device open, and do not let go of it within `patience`.
fn held(roots: &Roots, devices: &Devices, node: &Node, patience: Duration) -> impl Iterator<Item = Refusal> + use<> {
    let mut holding: Option<Vec<Process>> = None;
    let users = lasting(patience, || {
        let users = devices.users();
        let now = match &holding {
            None => users.of(devices, node),
            Some(before) => users.still_of(roots, devices, node, before),
        };
        holding = Some(now.clone());
        now
    });
    users.into_iter().map(|p| Refusal::HeldBy { pid: p.pid, name: p.name })
}

/// What is on a device.
#[derive(Debug, Default)]
struct Contents {
    /// Marks on the device itself.
    own: Vec<Found>,
    /// Its partitions, with theirs.
    parts: Vec<Part>,
    /// What blkid sees besides.
    asked: Vec<Seen>,
}

/// Why signatures cannot be read: for a user without rights there is nothing wrong with the device.
fn unreadable(error: &std::io::Error, root: bool) -> Refusal {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => Refusal::NoPermission { root },
        _ => Refusal::Unreadable { why: error.to_string() },
    }
}

fn contents(devices: &Devices, node: &Node) -> std::io::Result<Contents> {
    let own = marks::on(devices, node)?;
    let parts = marks::parts(devices, node)?;
    let asked = beyond_ours(blkid::on(devices, node, &parts)?, node, &own, &parts);
    Ok(Contents { own, parts, asked })
}

/// What `look` still finds once those who hold a device only in passing had `patience` to let go of it.
fn lasting<T>(patience: Duration, mut look: impl FnMut() -> Vec<T>) -> Vec<T> {
    let deadline = Instant::now() + patience;
    loop {
        let found = look();
        if found.is_empty() || Instant::now() >= deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The roots of this system and its containers first, then one mount of every device involved.
fn mounted(roots: &Roots, devices: &Devices, node: &Node) -> Vec<Refusal> {
    let all = mounts::everywhere(roots);
    let mut reasons = Vec::new();
    let roots_of_systems = all.iter().filter(|m| m.at == Path::new("/"));
    let tops: Vec<&Node> = roots_of_systems.flat_map(|m| mounts::devices_of(roots, devices, &all, m)).collect();
    if let Some(top) = tops.iter().find(|top| devices.stack(&[top]).iter().any(|(_, below)| below.name == node.name)) {
        reasons.push(Refusal::RootDisk { device: top.name.clone() });
    }
    let related: Vec<&str> =
        devices.same_space(node).into_iter().chain(devices.above(node)).map(|n| n.name.as_str()).collect();
    let mut seen: Vec<String> = Vec::new();
    for mount in &all {
        for device in mounts::devices_of(roots, devices, &all, mount) {
            if !related.contains(&device.name.as_str()) || seen.contains(&device.name) {
                continue;
            }
            seen.push(device.name.clone());
            let at = mount.at.display().to_string();
            reasons.push(match mount.seen_by {
                Some(pid) => {
                    let Process { pid, name } = Process::of(roots, pid);
                    Refusal::MountedElsewhere { device: device.name.clone(), at, pid, name }
                }
                None if device.name == node.name => Refusal::Mounted { at },
                None => Refusal::RelativeMounted { device: device.name.clone(), at },
            });
        }
    }
    reasons
}

/// Swap on the device, on a part of it, on something built on it, or in the file behind it. Any other swap file lies on a mounted file
/// system.
fn swap(roots: &Roots, devices: &Devices, node: &Node) -> Vec<Refusal> {
    let related = || devices.same_space(node).into_iter().chain(devices.above(node));
    let active = mounts::swaps(roots).into_iter().filter_map(|path| devices.at(&path));
    let areas = active.filter(|area| related().any(|n| n.name == area.name)).map(|area| area.name.clone());
    areas.chain(behind(devices, node, mounts::swaps(roots))).map(|device| Refusal::Swap { device }).collect()
}

/// Those of these paths that lead to a file whose bytes are bytes of the device.
fn behind(devices: &Devices, node: &Node, paths: Vec<String>) -> Vec<String> {
    let is_file = |path: &String| match opened::at(Path::new(path)) {
        Ok(Opened::File(file)) => devices.users().files_below(devices, node).any(|behind| behind == file),
        Ok(_) | Err(_) => false,
    };
    paths.into_iter().filter(is_file).collect()
}

fn members(node: &Node, own: &[Found], parts: &[Part]) -> Vec<Refusal> {
    let here = own.iter().filter(|m| m.member).map(|m| (m, &node.name));
    let inside = parts.iter().flat_map(|p| p.marks.iter().filter(|m| m.member).map(move |m| (m, &p.name)));
    here.chain(inside).map(|(m, device)| Refusal::Member { of: m.name.to_string(), device: device.clone() }).collect()
}

fn members_of_blkid(asked: &[Seen]) -> Vec<Refusal> {
    let members = asked.iter().filter(|seen| seen.mark.member);
    members.map(|seen| Refusal::Member { of: seen.mark.name.clone(), device: seen.device.clone() }).collect()
}

/// What blkid sees and we do not.
fn beyond_ours(asked: Vec<Seen>, node: &Node, own: &[Found], parts: &[Part]) -> Vec<Seen> {
    let ours = |seen: &Seen| match seen.device == node.name {
        true => own,
        false => parts.iter().find(|part| part.name == seen.device).map_or(&[][..], |part| &part.marks),
    };
    // It takes some boot sectors, which end like a table, for an empty one as well.
    let is_boot_sector = |mark: &Found| matches!(mark.name, "vfat" | "ntfs" | "exfat" | "BitLocker");
    let new = |seen: &Seen| {
        let (ours, name) = (ours(seen), seen.mark.name.as_str());
        let boot = name == "dos" && ours.iter().any(is_boot_sector);
        !boot && ours.iter().all(|mark| mark.name != name)
    };
    asked.into_iter().filter(new).collect()
}

fn holders(devices: &Devices, node: &Node) -> Vec<Refusal> {
    let mut names: Vec<&String> = devices.same_space(node).into_iter().flat_map(|n| &n.holders).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|device| Refusal::Holder { device: device.clone() }).collect()
}

/// Another loop device over the same file, by whatever name of it: in an overlay it has another number than below.
fn over_same_file<'a>(devices: &'a Devices, node: &Node) -> Option<&'a Node> {
    let users = devices.users();
    let own = users.files_of(devices.disk(node));
    let mut others = devices.all().filter(|other| other.name != devices.disk(node).name);
    others.find(|other| users.files_of(other).iter().any(|file| own.contains(file)))
}

/// Names under which the device, a part of it, the disk that it is on or the file behind it is handed out.
fn exported(roots: &Roots, devices: &Devices, node: &Node) -> Vec<Refusal> {
    let space = devices.same_space(node);
    let own = |path: &str| devices.at(path).is_some_and(|d| space.iter().any(|s| s.name == d.name));
    let all = exports::all(roots).into_iter();
    let all = all.filter(|export| own(&export.path) || !behind(devices, node, vec![export.path.clone()]).is_empty());
    all.map(|export| Refusal::Exported { name: export.name }).collect()
}

/// Lines of fstab that mean the device, a part of it, or the disk that it is on.
fn fstab(roots: &Roots, devices: &Devices, node: &Node, own: &[Found], parts: &[Part]) -> Vec<Refusal> {
    let lines = mounts::fstab(roots);
    if lines.is_empty() {
        return Vec::new();
    }
    let mut tags: Vec<String> = Vec::new();
    let mut tag = |key: &str, value: &Option<String>| tags.extend(value.iter().map(|v| format!("{key}={v}")));
    for mark in own.iter().chain(parts.iter().flat_map(|p| &p.marks)) {
        tag("UUID", &mark.uuid);
        tag("LABEL", &mark.label);
    }
    // A partition's own entry is in the table of its disk, which was not read for the partition itself.
    let table = node.partition.as_ref().and_then(|slot| {
        marks::table(devices, devices.disk(node)).ok()?.into_iter().find(|entry| entry.start == slot.start)
    });
    for entry in parts.iter().map(|p| &p.entry).chain(&table) {
        tag("PARTUUID", &entry.uuid);
        tag("PARTLABEL", &entry.label);
    }
    let space = devices.same_space(node);
    let meant = |device: &str| {
        let tagged = tags.iter().any(|tag| tag.eq_ignore_ascii_case(device));
        tagged || devices.at(device).is_some_and(|d| space.iter().any(|s| s.name == d.name))
    };
    lines.into_iter().filter(|(device, _)| meant(device)).map(|(_, at)| Refusal::Fstab { at }).collect()
}

fn signatures(own: &[Found], parts: &[Part], asked: &[Seen]) -> Vec<Signature> {
    let signature = |start: u64, m: &Found| Signature {
        name: m.name.to_string(),
        offset: start + m.offset,
        label: m.label.clone().or_else(|| m.uuid.clone()),
    };
    let here = own.iter().map(|m| signature(0, m));
    let inside = parts.iter().flat_map(|p| p.marks.iter().map(move |m| signature(p.entry.start, m)));
    // It does not say where it found them.
    let of_blkid = asked.iter().map(|seen| {
        let blkid::Mark { name, label, .. } = &seen.mark;
        Signature { name: name.clone(), offset: seen.start, label: label.clone() }
    });
    let mut all: Vec<Signature> = here.chain(inside).chain(of_blkid).collect();
    all.sort_by_key(|s| s.offset);
    // What lies in the first or last megabytes of a disk is seen both there and in its partition.
    all.dedup();
    all
}

fn distinct_names(signatures: &[Signature]) -> Vec<String> {
    let mut names: Vec<String> = signatures.iter().map(|s| s.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_this_user_may_not_read_is_not_a_broken_one() {
        use std::io::Error;
        // EACCES and EPERM: the second is what root gets in a container.
        for denied in [13, 1] {
            let error = Error::from_raw_os_error(denied);
            assert_eq!(unreadable(&error, false), Refusal::NoPermission { root: false });
        }
        let gone = unreadable(&Error::from_raw_os_error(5), true);
        assert!(matches!(&gone, Refusal::Unreadable { why } if why.contains("nput/output")), "{gone:?}");
    }

    #[test]
    fn who_lets_go_in_time_is_no_reason_and_who_stays_is() {
        let mut looks = 0;
        let mut until = |last: u32| {
            looks += 1;
            if looks < last { vec!["losetup"] } else { Vec::new() }
        };
        assert!(lasting(Duration::from_secs(3600), || until(3)).is_empty());
        assert_eq!(lasting(Duration::from_millis(1), || vec!["qemu"]), ["qemu"]);
        assert_eq!(lasting(Duration::ZERO, || vec!["qemu"]), ["qemu"], "asked once");
        assert_eq!(looks, 3);
    }
}
