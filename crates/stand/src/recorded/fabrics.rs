//! What disks are reached over, by where they lie in sysfs.

use super::Tree;
use crate::devices::Devices;
use stend_record::{FabricPath, Refusal};

const FC: &str = "pci0000:3a/0000:3a:00.0/0000:3b:00";

/// A disk of an array behind each of two ports of a Fibre Channel adapter, both of one name, and a SAS disk.
fn machine() -> Tree {
    let tree = Tree::new();
    let wwid = ("device/wwid", "naa.600a098000a1b2c3d4e5f60718293a4b");
    tree.disk("sda", "8:0", &format!("{FC}.0/host7/rport-7:0-2/target7:0:0/7:0:0:1"), &[wwid]);
    tree.disk("sdb", "8:16", &format!("{FC}.1/host8/rport-8:0-2/target8:0:0/8:0:0:1"), &[wwid]);
    let sas = "pci0000:00/0000:00:05.0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0";
    tree.disk("sdc", "8:32", sas, &[("device/wwid", "naa.5000c500a1b2c3d4")]);
    tree
}

#[test]
fn a_scsi_disk_tells_what_it_is_behind() {
    let tree = machine();
    tree.disk("sdd", "8:48", super::SATA, &[]);
    let devices = Devices::read(&tree.roots);
    let over = |name: &str| {
        let stack = devices.stack(&[devices.by_name(name).unwrap()]);
        crate::drives::describe(&tree.roots, &devices, &stack)[0].transport.clone()
    };
    let found = ["sda", "sdb", "sdc", "sdd"].map(over);
    assert_eq!(found.each_ref().map(Option::as_deref), [Some("fc"), Some("fc"), Some("sas"), None]);
}

#[test]
fn a_disk_behind_fibre_channel_tells_the_ports_at_both_ends() {
    let tree = machine();
    let port = "sys/class/fc_host/host7";
    for (file, value) in [("port_name", "0x21000024ff3dc3f4\n"), ("port_state", "Online\n"), ("speed", "16 Gbit\n")] {
        tree.put(&format!("{port}/{file}"), value);
    }
    tree.put("sys/class/fc_remote_ports/rport-7:0-2/port_name", "0x500a09838a1b2c3d\n");
    tree.put("sys/class/fc_remote_ports/rport-7:0-2/port_state", "Blocked\n");
    tree.put("sys/class/fc_host/host8/speed", "unknown\n");
    let devices = Devices::read(&tree.roots);
    let path = |name: &str| crate::inventory::fabric::path(&tree.roots, devices.by_name(name).unwrap());
    let some = |word: &str| Some(word.to_string());
    let expected = FabricPath {
        host: "host7".into(),
        port: some("0x21000024ff3dc3f4"),
        state: some("Online"),
        speed: some("16 Gbit"),
        remote_port: some("0x500a09838a1b2c3d"),
        remote_state: some("Blocked"),
    };
    assert_eq!(path("sda"), Some(expected));
    assert_eq!(path("sdb"), Some(FabricPath { host: "host8".into(), ..FabricPath::default() }));
    assert_eq!(path("sdc"), None);
}

#[test]
fn two_ways_to_one_disk_are_told_by_their_name_and_never_written() {
    let tree = machine();
    assert_eq!(tree.identity("sda"), tree.identity("sdb"));
    assert!(
        tree.reasons("sda").iter().any(|why| matches!(why, Refusal::DuplicateIdentity { .. })),
        "{:?}",
        tree.reasons("sda")
    );
    assert!(!tree.reasons("sdc").iter().any(|why| matches!(why, Refusal::DuplicateIdentity { .. })));
}
