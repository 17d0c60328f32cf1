//! All block devices of a host as a tree from its drives up, with who uses them. Reads only.

pub(crate) mod fabric;
mod health;
mod nvme_cli;

pub use health::HealthTools;
pub(crate) use health::of_json as health_in;

use crate::access::{self, Viewer};
use crate::devices::Devices;
use crate::node::Node;
use crate::roots::{Roots, number};
use crate::{drives, mounts};
use stend_base::Bytes;
use stend_record::{Health, InventoryDevice, TargetFacts, TargetKind, WriteAccess};

/// Deepest level that is followed; real stacks have about five.
const DEPTH_MAX: u32 = 16;
/// Most lines; a shelf of drives with a few layers on each has some hundreds.
const LINES_MAX: usize = 4096;

/// Which programs there are that drives can be asked with.
pub fn health_tools() -> HealthTools {
    health::tools()
}

/// What a drive says of itself now; a disk that stands still is not woken. `None` where it does not tell, or not within half a minute.
pub fn drive_health(path: &str) -> Option<Health> {
    health::ask(path, false)
}

/// The devices of this host, drives first, each followed by what lies on it. With `ask_drives` drives are asked for their health,
/// which is a command to each of them.
pub fn inventory(ask_drives: bool) -> Vec<InventoryDevice> {
    let roots = Roots::host();
    let mut found = inventory_under(&roots);
    if ask_drives {
        for device in found.iter_mut().filter(|device| device.device.depth == 0) {
            device.health = health::ask(&device.path, true);
        }
    }
    found
}

/// The drives of this host as targets that nothing may be written to. It opens no drive and asks none, and judges of none who uses it: a
/// recording of a host with drives that hang, or that machines hold, wants to know what there is all the same.
pub fn describe_drives() -> Vec<TargetFacts> {
    described_under(&Roots::host())
}

pub(crate) fn described_under(roots: &Roots) -> Vec<TargetFacts> {
    let devices = Devices::read(roots);
    let drive = |node: &Node| {
        let device = drives::describe_unopened(roots, &devices, node);
        let path = devices.path(node).display().to_string();
        TargetFacts {
            identity: device.identity.clone(),
            size: device.size,
            free: device.size,
            logical_block: Bytes(block(node, "logical_block_size")),
            physical_block: Bytes(block(node, "physical_block_size")),
            devices: vec![device],
            ..TargetFacts::new(path, TargetKind::BlockDevice, WriteAccess::Refused(Vec::new()))
        }
    };
    devices.all().filter(|node| is_bottom(&devices, node)).take(LINES_MAX).map(drive).collect()
}

fn block(disk: &Node, file: &str) -> u64 {
    number(disk.sysfs.join("queue").join(file)).unwrap_or(512)
}

pub(crate) fn inventory_under(roots: &Roots) -> Vec<InventoryDevice> {
    let devices = Devices::read(roots);
    let mounted = mounts::everywhere(roots);
    let mut found = Vec::new();
    for node in devices.all().filter(|node| is_bottom(&devices, node)) {
        add(roots, &devices, &mounted, node, 0, &mut found);
    }
    found
}

/// What lies on nothing: drives, and what stands for one. Loop and RAM devices that nobody set up are left out.
fn is_bottom(devices: &Devices, node: &Node) -> bool {
    let below = node.partition.is_some() || node.slaves.iter().any(|name| devices.by_name(name).is_some());
    !below && node.size > 0 && !node.name.starts_with("ram")
}

fn add(
    roots: &Roots,
    devices: &Devices,
    mounted: &[mounts::Mount],
    node: &Node,
    depth: u32,
    found: &mut Vec<InventoryDevice>,
) {
    if depth > DEPTH_MAX || found.len() >= LINES_MAX {
        return;
    }
    let Some(device) = drives::describe(roots, devices, &[(depth, node)]).into_iter().next() else { return };
    let verdict = access::judge(roots, devices, node, Viewer::Stranger);
    let disk = devices.disk(node);
    let here = |mount: &&mounts::Mount| {
        mounts::devices_of(roots, devices, mounted, mount).iter().any(|of| of.name == node.name)
    };
    let mut at: Vec<String> = mounted.iter().filter(here).map(|mount| mount.at.display().to_string()).collect();
    at.sort();
    at.dedup();
    found.push(InventoryDevice {
        path: devices.path(node).display().to_string(),
        serial: node.serial().filter(|_| depth == 0),
        logical_block: block(disk, "logical_block_size"),
        physical_block: block(disk, "physical_block_size"),
        signatures: verdict.signatures,
        mounted: at,
        // The device comes with its identity, whether or not it may be written.
        access: verdict.access,
        interrupt_cpus: interrupts(&devices.path(node).display().to_string(), depth),
        fabric: fabric::path(roots, disk).filter(|_| depth == 0),
        health: None,
        device,
    });
    let above = devices.partitions(node).chain(node.holders.iter().filter_map(|name| devices.by_name(name)));
    for next in above {
        add(roots, devices, mounted, next, depth + 1, found);
    }
}

fn interrupts(path: &str, depth: u32) -> Vec<u32> {
    let file = (depth == 0).then(|| stend_sys::IoFile::open_read(std::path::Path::new(path), false).ok()).flatten();
    file.map(|file| stend_sys::interrupts::completion_cpus(&file)).unwrap_or_default()
}
