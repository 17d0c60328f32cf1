//! The drives of a machine as options of QEMU: where they are plugged in, their limits and identities.
//! Must not touch the world.

use stend_spec::machine::{Drive, DriveKind, Machine};

/// Ports of an emulated SAS controller, and our limit for its virtio sibling, too.
//= QEMU 7.2, hw/scsi/mptsas.h, MPTSAS_NUM_PORTS
const PORTS: usize = 8;
/// Bus number of the first NUMA node's bridge, and how far the next one is: a bus for every drive fits between them, and
/// the last of eight nodes ends below 256.
const BUSES: (usize, usize) = (32, 28);

/// An option of QEMU and its value.
pub type Words = Vec<(&'static str, String)>;

/// Where QEMU finds what a drive keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backing {
    /// In this file.
    File(String),
    /// Under this name of what is served over a connection, which it has open under this number.
    Served {
        /// The number.
        socket: i32,
        /// The name.
        name: String,
    },
}

/// The name of a part of a drive: its controller (`drive`), its limits (`limits`), the nodes below it (`limited`, `file`).
/// An id of QEMU begins with a letter and has at most 31 characters.
pub fn id(part: &str, serial: &str) -> String {
    format!("{part}-{serial}")
}

/// Everything about the drives; `places` are those of what they keep, in their order.
pub fn options(machine: &Machine, places: &[Backing]) -> Words {
    let mut words = Words::new();
    // Also for node 0: what is on the root bus itself is on no node.
    for index in 0..machine.numa.len() {
        let bus = BUSES.0 + BUSES.1 * index;
        words.push(("device", format!("pxb-pcie,id=node{index},bus_nr={bus},bus=pcie.0,numa_node={index}")));
    }
    let mut slots = 0;
    let mut controllers: Vec<Controller> = Vec::new();
    for (drive, place) in machine.drives.iter().zip(places) {
        words.extend(storage(drive, place));
        for path in 0..drive.paths {
            let bus = match drive.kind {
                DriveKind::Nvme | DriveKind::Virtio => slot(drive.node, &mut slots, &mut words),
                DriveKind::Scsi | DriveKind::Sas => port(drive, path, &mut controllers, &mut slots, &mut words),
            };
            words.push(("device", device(drive, path, &bus)));
        }
    }
    words
}

/// Names of what a drive is to the guest: one for each path.
pub fn names(drive: &Drive) -> impl Iterator<Item = String> {
    (0..drive.paths).map(|path| name(drive, path))
}

fn name(drive: &Drive, path: u32) -> String {
    match path {
        0 => id("drive", &drive.serial),
        path => format!("{}-{}", id("drive", &drive.serial), path + 1),
    }
}

/// Serial numbers of all drives, each with the QEMU order to plug it in, once for each path.
pub fn plugs(machine: &Machine) -> Vec<(String, String)> {
    let files = vec![Backing::File(String::new()); machine.drives.len()];
    let devices = options(machine, &files).into_iter().filter(|(option, _)| *option == "device");
    let devices: Vec<String> = devices.map(|(_, device)| device).collect();
    let named = |name: &str| {
        let id = format!("id={name}");
        devices.iter().find(|device| device.split(',').any(|word| word == id))
    };
    let of = |drive: &Drive| {
        let found = names(drive).filter_map(|name| named(&name));
        found.map(|device| (drive.serial.clone(), format!("device_add {device}"))).collect::<Vec<_>>()
    };
    machine.drives.iter().flat_map(of).collect()
}

/// Modules that the guest needs to find the drives, set apart by commas; a bus that no drive is on is not waited for.
pub fn modules(machine: &Machine) -> String {
    let of = |kind| match kind {
        DriveKind::Nvme => "nvme",
        DriveKind::Virtio => "virtio_blk",
        DriveKind::Scsi => "virtio_scsi,sd_mod",
        DriveKind::Sas => "mptsas,sd_mod",
    };
    let mut names: Vec<&str> = machine.drives.iter().map(|drive| of(drive.kind)).collect();
    names.sort();
    names.dedup();
    names.join(",")
}

/// Whether the machine file limits a drive.
pub fn has_limits(drive: &Drive) -> bool {
    drive.iops.is_some() || drive.bandwidth.is_some()
}

/// What a drive keeps, with its limits over it.
///
/// Limits are there where none are asked for, too: they can be set while the machine runs.
fn storage(drive: &Drive, place: &Backing) -> Words {
    let [node, limits, limited] = ["file", "limits", "limited"].map(|part| id(part, &drive.serial));
    let most = |name: &str, most: Option<u64>| most.map(|most| format!(",{name}={most}")).unwrap_or_default();
    let group = most("x-iops-total", drive.iops.map(u64::from)) + &most("x-bps-total", drive.bandwidth.map(|b| b.0));
    // A discard counts with all its bytes: at 20 MiB/s that of a whole drive would take minutes.
    let discard = if has_limits(drive) { "ignore" } else { "unmap" };
    let kept = match place {
        Backing::File(file) => {
            format!(
                "driver=file,node-name={node},filename={file},aio=threads,discard=unmap,locking=off,cache.direct=off"
            )
        }
        Backing::Served { socket, name } => format!(
            "driver=nbd,node-name={node},server.type=fd,server.str={socket},export={name},discard=unmap,cache.direct=off"
        ),
    };
    vec![
        ("blockdev", kept),
        ("object", format!("throttle-group,id={limits}{group}")),
        (
            "blockdev",
            format!("driver=throttle,node-name={limited},throttle-group={limits},file={node},discard={discard}"),
        ),
    ]
}

/// A slot of its own for a device, so that it can be unplugged; the name of its bus.
fn slot(node: Option<u32>, slots: &mut usize, words: &mut Words) -> String {
    *slots += 1;
    let (bus, name) = (node.map_or("pcie.0".into(), |node| format!("node{node}")), format!("slot{slots}"));
    words.push(("device", format!("pcie-root-port,id={name},bus={bus},chassis={slots},slot={slots}")));
    name
}

/// A controller of SCSI or SAS disks.
struct Controller {
    kind: DriveKind,
    node: Option<u32>,
    /// Which of the paths to its drives goes over it.
    path: u32,
    used: usize,
}

/// A free port for a path to a disk: of a controller that is there, on its node and for that path, or of a new one.
fn port(drive: &Drive, path: u32, controllers: &mut Vec<Controller>, slots: &mut usize, words: &mut Words) -> String {
    let fits = |one: &Controller| (one.kind, one.node, one.path) == (drive.kind, drive.node, path) && one.used < PORTS;
    let index = controllers.iter().position(fits).unwrap_or_else(|| {
        let bus = slot(drive.node, slots, words);
        let kind = if drive.kind == DriveKind::Sas { "mptsas1068" } else { "virtio-scsi-pci" };
        words.push(("device", format!("{kind},id=controller{},bus={bus}", controllers.len())));
        controllers.push(Controller { kind: drive.kind, node: drive.node, path, used: 0 });
        controllers.len() - 1
    });
    let number = controllers.get_mut(index).map_or(0, |controller| {
        controller.used += 1;
        controller.used - 1
    });
    format!("controller{index}.0,scsi-id={number}")
}

/// The drive itself as it is plugged into a bus; also when it comes back to a machine that runs.
fn device(drive: &Drive, path: u32, bus: &str) -> String {
    let kind = match drive.kind {
        DriveKind::Nvme => "nvme",
        DriveKind::Virtio => "virtio-blk-pci",
        DriveKind::Scsi | DriveKind::Sas => "scsi-hd",
    };
    let (serial, block) = (&drive.serial, drive.logical_block_size);
    let (id, node) = (name(drive, path), id("limited", serial));
    let mut text = format!("{kind},id={id},bus={bus},serial={serial},drive={node}");
    text += &format!(",logical_block_size={block},physical_block_size={}", block.max(4096));
    match drive.kind {
        DriveKind::Nvme if drive.warnings > 0 => text += &format!(",smart_critical_warning={}", drive.warnings),
        DriveKind::Scsi | DriveKind::Sas => {
            // 1: it does not rotate.
            text += &format!(",rotation_rate={}", drive.rotation.unwrap_or(1));
            // QEMU lets nobody else write to what a drive keeps, unless every path allows it.
            text += if drive.paths > 1 { ",share-rw=on" } else { "" };
            text += &drive.wwn.map(|wwn| format!(",wwn={wwn:#018x}")).unwrap_or_default();
        }
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_drive_with_a_service_time_is_reached_over_a_connection_below_its_limits() {
        let text = "machine: m\ndrives:\n  - {serial: A1, size: 64MiB, iops: 400, latency: 3ms}\n";
        let machine = stend_spec::parse::machine(text, "m.yaml").unwrap();
        let place = Backing::Served { socket: 7, name: "5".into() };
        let options = options(&machine, &[place]);
        let told: Vec<String> = options.iter().map(|(option, value)| format!("-{option} {value}")).collect();
        expect![[r#"
            -blockdev driver=nbd,node-name=file-A1,server.type=fd,server.str=7,export=5,discard=unmap,cache.direct=off
            -object throttle-group,id=limits-A1,x-iops-total=400
            -blockdev driver=throttle,node-name=limited-A1,throttle-group=limits-A1,file=file-A1,discard=ignore
        "#]]
        .assert_eq(&format!("{}\n", told[..3].join("\n")));
    }
}
