//! Facts about every device of a stack, for reports. Reads only.

use crate::devices::Devices;
use crate::exports;
use crate::identity;
use crate::node::Node;
use crate::roots::{Roots, names, number, text};
use stend_base::Bytes;
use stend_record::Device;

/// Words in vendor, model or place that only a hypervisor uses.
const VIRTUAL: [&str; 8] = ["virtio", "qemu", "vmware", "virtual disk", "msft", "xen", "amazon elastic", "google"];

/// Facts of the devices of a stack, target first.
pub(crate) fn describe(roots: &Roots, devices: &Devices, stack: &[(u32, &Node)]) -> Vec<Device> {
    let tops: Vec<&Node> = stack.iter().filter(|(depth, _)| *depth == 0).map(|(_, node)| *node).collect();
    let at_work = devices.at_work(&tops);
    let below_array = |node: &Node| stack.iter().any(|(_, above)| above.slaves.contains(&node.name) && is_array(above));
    let told = |node: &Node| {
        let idle = !at_work.iter().any(|known| known.name == node.name);
        (idle || below_array(node)).then_some(idle)
    };
    let facts = |(depth, node): &(u32, &Node)| Device {
        reserve: told(node),
        identity: identity::of(roots, devices, node),
        ..device(roots, node, devices.disk(node), *depth)
    };
    stack.iter().map(facts).collect()
}

/// Facts of one drive from what the kernel shows of it. It is not opened: one that hangs, or that another program has, is described as any.
pub(crate) fn describe_unopened(roots: &Roots, devices: &Devices, drive: &Node) -> Device {
    Device { identity: identity::of_kernel(roots, devices, drive), ..device(roots, drive, drive, 0) }
}

fn is_array(node: &Node) -> bool {
    node.sysfs.join("md").is_dir()
}

/// All but identity and reserve. Queue and hardware are those of `disk`: a partition has none of its own.
fn device(roots: &Roots, node: &Node, disk: &Node, depth: u32) -> Device {
    let of_disk = |file: &str| text(disk.sysfs.join(file));
    let vendor = of_disk("device/vendor").filter(|v| !v.starts_with("0x"));
    let model = match (vendor, of_disk("device/model")) {
        (Some(vendor), Some(model)) => Some(format!("{vendor} {model}")),
        (_, model) => model,
    };
    let place = disk.sysfs.to_string_lossy().to_lowercase();
    let named = model.as_deref().unwrap_or_default().to_lowercase();
    Device {
        name: node.name.clone(),
        kind: kind(node).to_string(),
        depth,
        identity: None,
        firmware: of_disk("device/firmware_rev").or_else(|| of_disk("device/rev")),
        size: Bytes(node.size),
        start: node.partition.as_ref().map(|slot| Bytes(slot.start)),
        rotational: number(disk.sysfs.join("queue/rotational")).map(|n| n == 1),
        write_cache: of_disk("queue/write_cache"),
        fua: number(disk.sysfs.join("queue/fua")).map(|n| n == 1),
        level: text(node.sysfs.join("md/level")),
        // While it is reshaped: `4 (3)`, what it becomes and what it was.
        members: text(node.sysfs.join("md/raid_disks")).and_then(|list| list.split(' ').next()?.parse().ok()),
        chunk: number(node.sysfs.join("md/chunk_size")).filter(|bytes| *bytes > 0).map(Bytes),
        copies: copies(node),
        reserve: None,
        transport: transport(disk).or_else(|| nbd(roots, disk)),
        scheduler: of_disk("queue/scheduler").map(|list| chosen(&list)),
        discards: number(disk.sysfs.join("queue/discard_max_bytes")).map(|bytes| bytes > 0),
        numa_node: numa_node(roots, disk),
        removable: number(disk.sysfs.join("removable")) == Some(1) || place.contains("/usb"),
        is_virtual: VIRTUAL.iter().any(|word| place.contains(word) || named.contains(word)),
        model,
    }
}

/// Near copies times far ones of a RAID 10: the lowest two bytes of its layout. While it is reshaped: `258 (259)`.
//= linux, drivers/md/raid10.c, setup_geo(): "nc = layout & 255; fc = (layout >> 8) & 255"
fn copies(node: &Node) -> Option<u32> {
    text(node.sysfs.join("md/level")).filter(|level| level == "raid10")?;
    let layout: u32 = text(node.sysfs.join("md/layout"))?.split(' ').next()?.parse().ok()?;
    Some((layout & 255) * (layout >> 8 & 255)).filter(|copies| *copies > 0)
}

fn kind(node: &Node) -> &'static str {
    if node.partition.is_some() {
        return "partition";
    }
    let has = |dir: &str| node.sysfs.join(dir).is_dir();
    let starts = |prefix: &str| node.name.starts_with(prefix);
    match () {
        () if has("dm") => "dm",
        () if is_array(node) => "md",
        () if has("bcache") && starts("bcache") => "bcache",
        () if starts("loop") => "loop",
        () if starts("zram") => "zram",
        () if starts("ram") => "ram",
        () if starts("nbd") => "nbd",
        () if starts("rbd") => "rbd",
        () if starts("drbd") => "drbd",
        () if starts("zd") => "zvol",
        // The other end of what this host hands out.
        () if !node.slaves.is_empty() && starts("sd") => "iscsi",
        () if !node.slaves.is_empty() => "nvme-of",
        () => "disk",
    }
}

/// NVMe: what its controller says; a drive with several paths: the first one; a SCSI disk below a session is of iSCSI.
fn transport(disk: &Node) -> Option<String> {
    let device = disk.sysfs.join("device");
    let first = names(&device).into_iter().filter(|name| name.starts_with("nvme"));
    let of_path = || first.into_iter().find_map(|name| text(device.join(name).join("transport")));
    text(device.join("transport")).or_else(of_path).or_else(|| of_scsi(disk).map(str::to_string))
}

/// A device of NBD tells nothing of its server; what a stand has taken in from another host is known.
fn nbd(roots: &Roots, disk: &Node) -> Option<String> {
    let far = |end: &exports::Attached| end.name == disk.name && end.of.is_none();
    (disk.name.starts_with("nbd") && exports::attached(roots).iter().any(far)).then(|| "nbd".to_string())
}

/// What a SCSI disk is behind, by the directories of sysfs that it lies in.
//= linux, drivers/scsi/scsi_transport_{iscsi,fc,sas}.c, dev_set_name(): "session%u", "rport-%d:%d-%d", "end_device-…"
fn of_scsi(disk: &Node) -> Option<&'static str> {
    let is = |part: &str, word: &str| {
        part.strip_prefix(word).is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    disk.sysfs.components().find_map(|part| {
        let part = part.as_os_str().to_string_lossy();
        let known = [("session", "iscsi"), ("rport-", "fc"), ("end_device-", "sas")];
        known.into_iter().find(|(word, _)| is(&part, word)).map(|(_, transport)| transport)
    })
}

/// `[none] mq-deadline` → `none`.
fn chosen(list: &str) -> String {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(list, |(name, _)| name).to_string()
}

/// Unknown on a machine with one node, where the kernel says -1.
fn numa_node(roots: &Roots, disk: &Node) -> Option<i32> {
    let mut place = disk.sysfs.as_path();
    // The attribute is on the controller, a few directories up, never above `/sys/devices`.
    while place.starts_with(&roots.sys) {
        if let Some(node) = text(place.join("numa_node")).or_else(|| text(place.join("device/numa_node"))) {
            return node.parse().ok().filter(|&n: &i32| n >= 0);
        }
        place = place.parent()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }
}
