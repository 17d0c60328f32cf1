//! The machine file of a machine like a host: as many drives of the same kinds, sizes in proportion, on as many NUMA nodes. Pure.

use crate::qemu;
use stend_base::format::bytes;
use stend_base::{Bytes, Error, Lang, Result, say};
use stend_record::{Inventory, InventoryDevice};
use stend_spec::keys::machine as known;

/// CPUs and memory of a guest that shall start on a laptop as well: what storage does depends little on them.
const CPUS: u32 = 4;
const MEMORY: Bytes = Bytes::gib(1);
/// The same of each node of a machine with several.
const NODE_CPUS: u32 = 2;
const NODE_MEMORY: Bytes = Bytes::mib(768);
/// Below this md, LVM and the file systems have no room for their own data.
const SMALLEST: Bytes = Bytes::mib(128);
/// What nearly every disk turns with that turns; the kernel tells only that it does.
const ROTATION: u32 = 7200;
/// Characters of a name that `--lab NAME` takes.
const NAME: usize = 40;

/// A machine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    /// Its text.
    pub text: String,
    /// Drives of the host that have no place in a machine of the lab.
    pub left_out: usize,
}

/// The file of a machine like the host. If the largest drive of the host is larger than `largest`, all drives are smaller in proportion.
///
/// Errors: `Usage` if the host shows no drive.
pub fn like(inventory: &Inventory, largest: Bytes) -> Result<Like> {
    let drives = drives(inventory);
    if drives.is_empty() {
        return Err(Error::usage(say!("the inventory shows no drive", "в описи нет ни одного накопителя")).hint(say!(
            "loop devices, zram and layers over drives do not count",
            "устройства loop, zram и слои над накопителями не считаются"
        )));
    }
    let biggest = drives.iter().map(|(drive, _)| drive.device.size.0).max().unwrap_or(0);
    let hostname = plain(&inventory.host.hostname);
    let name: String = hostname.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let name: String = format!("like-{name}").chars().take(NAME).collect();
    let mut text = format!(
        "# Drives, their kinds and NUMA nodes as on {hostname} ({} CPUs, {} of memory).\n\
         # Speed is not: `iops` and `bandwidth` limit a drive, `latency` is what an I/O takes.\n\
         machine: {name}\n",
        inventory.host.cpus,
        bytes(inventory.host.memory, Lang::En),
    );
    let nodes = nodes(inventory);
    match nodes.as_slice() {
        [] => text += &format!("cpus: {}\nmemory: {}\n", inventory.host.cpus.clamp(1, CPUS), exact(MEMORY)),
        nodes => {
            text += "numa:\n";
            for cpus in nodes.iter().map(|(_, cpus)| cpus) {
                let (cpus, memory) = ((*cpus).clamp(1, NODE_CPUS), exact(NODE_MEMORY));
                text += &format!("  - {{cpus: {cpus}, memory: {memory}}}\n");
            }
        }
    }
    text += "drives:\n";
    let mut serials = Vec::new();
    for (drive, paths) in drives.iter().take(known::DRIVES.most) {
        let size = scaled(drive.device.size.0, biggest, largest.0);
        text += &line(drive, *paths, size, &nodes, &mut serials);
    }
    Ok(Like { text, left_out: drives.len().saturating_sub(known::DRIVES.most) })
}

/// Drives that the lab can emulate, each with how many paths to it the host has.
fn drives(inventory: &Inventory) -> Vec<(&InventoryDevice, u32)> {
    let mut found: Vec<(&InventoryDevice, u32)> = Vec::new();
    for device in inventory.devices.iter().filter(|device| is_drive(device)) {
        let same = |(known, _): &&mut (&InventoryDevice, u32)| {
            wwn(device).is_some() && device.device.identity == known.device.identity
        };
        match found.iter_mut().find(same) {
            Some((_, paths)) => *paths = (*paths + 1).min(known::PATHS.most),
            None => found.push((device, 1)),
        }
    }
    found
}

/// The world-wide name of a disk of SCSI as a machine file takes it.
fn wwn(drive: &InventoryDevice) -> Option<String> {
    let name = drive.device.name.as_str();
    let is_scsi = !name.starts_with("nvme") && !name.starts_with("vd");
    let wwn = drive.device.identity.as_deref()?.strip_prefix("wwn:0x").filter(|_| is_scsi)?;
    // That of a unit of an array has 32 digits, of which the last ones tell it from others.
    let own = wwn.get(wwn.len().checked_sub(16)?..)?;
    own.bytes().all(|b| b.is_ascii_hexdigit()).then(|| own.to_ascii_lowercase())
}

/// Whether the lab can emulate it: neither empty slots of card readers nor what the kernel makes of files and memory, nor what each
/// machine of the lab has anyway.
fn is_drive(device: &InventoryDevice) -> bool {
    let own = device.serial.as_deref().is_some_and(|serial| serial.starts_with(qemu::OWN));
    !own && device.device.depth == 0 && device.device.kind == "disk" && device.device.size.0 >= known::UNIT
}

/// Numbers of the nodes and their CPUs; none if there is only one, or more than the lab has.
fn nodes(inventory: &Inventory) -> Vec<(i64, u32)> {
    let nodes = &inventory.host.numa_nodes;
    match nodes.len() {
        count if count > 1 && known::NODES.hold(&count) => {
            nodes.iter().map(|node| (i64::from(node.node), node.cpus.len().try_into().unwrap_or(u32::MAX))).collect()
        }
        _ => Vec::new(),
    }
}

/// Bytes in proportion, whole mebibytes.
fn scaled(size: u64, biggest: u64, largest: u64) -> u64 {
    let least = size.min(SMALLEST.0);
    let size = match biggest > largest {
        // Both factors are bytes of real drives: their product needs 128 bits.
        true => (u128::from(size) * u128::from(largest) / u128::from(biggest)) as u64,
        false => size,
    };
    let size = size.clamp(least, known::SIZE.most.0);
    size / known::UNIT * known::UNIT
}

fn line(drive: &InventoryDevice, paths: u32, size: u64, nodes: &[(i64, u32)], serials: &mut Vec<String>) -> String {
    let device = &drive.device;
    let (kind, is_scsi) = match device.name.as_str() {
        name if name.starts_with("nvme") => ("nvme", false),
        name if name.starts_with("vd") => ("virtio", false),
        _ => ("scsi", true),
    };
    let identity = device.identity.as_deref().unwrap_or_default();
    let serial = serial(drive.serial.as_deref().unwrap_or(identity), serials);
    serials.push(serial.clone());
    let mut words =
        vec![format!("kind: {kind}"), format!("serial: '{serial}'"), format!("size: {}", exact(Bytes(size)))];
    let node = device.numa_node.and_then(|own| nodes.iter().position(|(number, _)| *number == i64::from(own)));
    words.extend(node.map(|node| format!("node: {node}")));
    words.extend((drive.logical_block == 4096).then(|| "logical_block_size: 4KiB".to_string()));
    if is_scsi {
        words.extend((device.rotational == Some(true)).then(|| format!("rotation: {ROTATION}")));
        words.extend(wwn(drive).map(|wwn| format!("wwn: '{wwn}'")));
        words.extend((paths > 1).then(|| format!("paths: {paths}")));
    }
    let model = device.model.as_deref().unwrap_or_default();
    let told: Vec<String> =
        [device.name.as_str(), model, identity].into_iter().map(plain).filter(|word| !word.is_empty()).collect();
    format!("  - {{{}}}  # {}\n", words.join(", "), told.join(", "))
}

/// The end of the serial number or the identity, which is where they differ; a number of its own where that is taken or nothing is
/// left.
fn serial(known_by: &str, taken: &[String]) -> String {
    let own = known_by.split_once(':').map_or(known_by, |(_, own)| own.trim_start_matches("0x"));
    let letters: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
    let end = letters.get(letters.len().saturating_sub(known::SERIAL.most)..).unwrap_or_default().to_string();
    if !end.is_empty() && !taken.contains(&end) {
        return end;
    }
    let numbered = (1..).map(|number| format!("DRIVE{number}")).find(|name| !taken.contains(name));
    numbered.unwrap_or_default()
}

/// As a machine file takes it, nothing rounded.
fn exact(size: Bytes) -> String {
    match size.0 % Bytes::gib(1).0 {
        0 => format!("{}GiB", size.0 >> 30),
        _ => format!("{}MiB", size.0 >> 20),
    }
}

/// Without what would end a comment, or a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect::<String>().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use stend_base::Kind;
    use stend_spec::machine::DriveKind;

    /// An inventory of drives: name, identity, size, logical block, whether it turns, node.
    fn inventory(nodes: u32, drives: &[(&str, &str, u64, u64, bool, i32)]) -> Inventory {
        let devices = drives.iter().map(|(name, identity, size, block, turns, node)| {
            serde_json::json!({
                "device": {
                    "name": name, "kind": "disk", "depth": 0, "identity": identity, "model": "Model\n- evil", "firmware": null,
                    "size": size, "start": null, "rotational": turns, "write_cache": null, "fua": null, "level": null,
                    "members": null, "chunk": null, "copies": null, "reserve": null, "transport": null, "scheduler": null,
                    "discards": null, "numa_node": node, "removable": false, "is_virtual": false
                },
                "path": format!("/dev/{name}"), "serial": null, "logical_block": block, "physical_block": block, "signatures": [], "mounted": [],
                "access": "nowhere", "interrupt_cpus": [], "health": null
            })
        });
        let nodes: Vec<_> = (0..nodes)
            .map(|node| serde_json::json!({"node": node, "cpus": [node * 8, node * 8 + 1, node * 8 + 2]}))
            .collect();
        let document = serde_json::json!({
            "host": {
                "hostname": "db 1\n.example", "kernel": "", "os": "", "cpu_model": "", "cpus": 48, "numa_nodes": nodes,
                "memory": 274877906944_u64, "hypervisor": null, "clock_source": null, "governor": null, "boot_id": "",
                "kernel_command_line": "", "stend_version": "", "root": true
            },
            "devices": devices.collect::<Vec<_>>(),
            "parts": stend_record::Parts::default()
        });
        serde_json::from_value(document).unwrap()
    }

    const TB: u64 = 1_000_000_000_000;

    #[test]
    fn drives_keep_their_kinds_nodes_and_proportions() {
        let host = inventory(
            2,
            &[
                ("nvme0n1", "serial:S4NFNX0R100001", 4 * TB, 512, false, 0),
                ("nvme1n1", "serial:S4NFNX0R100001", 4 * TB, 4096, false, 1),
                ("sda", "wwn:0x5000C500A1B2C3D4", TB, 512, true, 1),
                ("sdb", "wwn:0x600a098000a1b2c3d4e5f60718293a4b", TB, 512, false, 0),
                ("sdc", "wwn:0x600a098000a1b2c3d4e5f60718293a4b", TB, 512, false, 0),
                ("vda", "", TB / 100, 512, false, -1),
            ],
        );
        let Like { text, left_out } = like(&host, Bytes::gib(1)).unwrap();
        expect![[r#"
            # Drives, their kinds and NUMA nodes as on db 1.example (48 CPUs, 256 GiB of memory).
            # Speed is not: `iops` and `bandwidth` limit a drive, `latency` is what an I/O takes.
            machine: like-db1example
            numa:
              - {cpus: 2, memory: 768MiB}
              - {cpus: 2, memory: 768MiB}
            drives:
              - {kind: nvme, serial: 'S4NFNX0R100001', size: 1GiB, node: 0}  # nvme0n1, Model- evil, serial:S4NFNX0R100001
              - {kind: nvme, serial: 'DRIVE1', size: 1GiB, node: 1, logical_block_size: 4KiB}  # nvme1n1, Model- evil, serial:S4NFNX0R100001
              - {kind: scsi, serial: '5000C500A1B2C3D4', size: 256MiB, node: 1, rotation: 7200, wwn: '5000c500a1b2c3d4'}  # sda, Model- evil, wwn:0x5000C500A1B2C3D4
              - {kind: scsi, serial: 'b2c3d4e5f60718293a4b', size: 256MiB, node: 0, wwn: 'd4e5f60718293a4b', paths: 2}  # sdb, Model- evil, wwn:0x600a098000a1b2c3d4e5f60718293a4b
              - {kind: virtio, serial: 'DRIVE2', size: 128MiB}  # vda, Model- evil
        "#]].assert_eq(&text);
        assert_eq!(left_out, 0);
        let machine = stend_spec::parse::machine(&text, "m.yaml").unwrap();
        let kinds: Vec<DriveKind> = machine.drives.iter().map(|drive| drive.kind).collect();
        assert_eq!(kinds, [DriveKind::Nvme, DriveKind::Nvme, DriveKind::Scsi, DriveKind::Scsi, DriveKind::Virtio]);
        assert_eq!((machine.drives[2].paths, machine.drives[3].paths), (1, 2));
        assert_eq!(machine.drives[2].wwn, Some(0x5000_c500_a1b2_c3d4));
        assert_eq!(machine.drives[2].rotation, Some(7200));
    }

    #[test]
    fn drives_that_are_small_enough_keep_their_size_and_the_25th_is_left_out() {
        let drives = vec![("nvme0n1", "serial:A", 300 << 20, 512, false, -1); 25];
        let Like { text, left_out } = like(&inventory(1, &drives), Bytes::gib(1)).unwrap();
        let machine = stend_spec::parse::machine(&text, "m.yaml").unwrap();
        assert_eq!((machine.drives.len(), left_out), (24, 1));
        assert!(machine.numa.is_empty() && machine.drives.iter().all(|drive| drive.size == Bytes::mib(300)));
    }

    #[test]
    fn what_is_no_drive_is_left_out_and_a_host_without_drives_is_refused() {
        let mut host = inventory(1, &[("sr0", "", 0, 2048, false, -1), ("loop0", "", TB, 512, false, -1)]);
        host.devices[1].device.kind = "loop".into();
        assert_eq!(like(&host, Bytes::gib(1)).unwrap_err().kind, Kind::Usage);
    }
}
