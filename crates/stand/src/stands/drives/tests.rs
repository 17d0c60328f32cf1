//! Drives of a stand that arrive over several paths, on a recorded machine.

use super::*;
use crate::recorded::Tree;
use stend_base::Kind;

const WWN: (&str, &str) = ("device/wwid", "naa.5000c500a1b2c3d4");
const ID: &str = "wwn:0x5000c500a1b2c3d4";

fn local(host: u32) -> String {
    format!("pci0000:00/0000:00:0{host}.0/host{host}/target{host}:0:0/{host}:0:0:0")
}

/// Two paths to one drive, and another drive.
fn machine() -> Tree {
    let tree = Tree::new();
    tree.disk("sda", "8:0", &local(1), &[WWN]);
    tree.disk("sdb", "8:16", &local(2), &[WWN]);
    tree.disk("sdc", "8:32", &local(3), &[("device/wwid", "naa.5000c500a1b2c3d5")]);
    tree
}

fn stand(layers: &str) -> Stand {
    stend_spec::parse::stand(&format!("stand: x\ndrives: [{{id: '{ID}'}}]\nlayers: [{layers}]\n"), "s.yaml").unwrap()
}

/// Names of what an identity means that has so many paths, or why it means nothing.
fn found(tree: &Tree, id: &str, paths: u32) -> std::result::Result<Vec<String>, String> {
    let devices = Devices::read(&tree.roots);
    let found = find(&tree.roots, &devices, id, paths);
    found.map(|ways| ways.iter().map(|node| node.name.clone()).collect()).map_err(|error| {
        assert_eq!(error.kind, Kind::Unsafe);
        error.message.en
    })
}

#[test]
fn of_several_devices_with_one_identity_none_is_taken_unless_they_are_said_to_be_paths() {
    let tree = machine();
    assert_eq!(found(&tree, ID, 1).unwrap_err(), format!("`{ID}` is the identity of `sda` and of `sdb`"));
    assert_eq!(found(&tree, ID, 2).unwrap(), ["sda", "sdb"]);
    assert_eq!(found(&tree, "5000c500a1b2c3d5", 1).unwrap(), ["sdc"]);
    assert_eq!(found(&tree, "wwn:0x1", 2).unwrap(), Vec::<String>::new());
}

#[test]
fn drives_that_share_a_serial_number_are_no_paths_to_one() {
    let tree = Tree::new();
    let serial = ("device/serial", "0123456789");
    tree.disk("sda", "8:0", &local(1), &[serial]);
    tree.disk("sdb", "8:16", &local(2), &[serial]);
    assert!(found(&tree, "0123456789", 2).unwrap_err().contains("`sda` has no world-wide name"));
    let tree = Tree::new();
    tree.disk("sda", "8:0", &local(1), &[serial, WWN]);
    tree.disk("sdb", "8:16", &local(2), &[serial, ("device/wwid", "naa.5000c500a1b2c3d5")]);
    assert!(found(&tree, "0123456789", 2).unwrap_err().contains("differ in their world-wide name or size"));
}

#[test]
fn a_stand_takes_a_drive_with_as_many_paths_as_its_file_says_and_no_other() {
    let tree = machine();
    let drives = identify(&tree.roots, &stand("multipath: {paths: 2}")).unwrap();
    assert_eq!(drives[0].paths, 2);
    let ways = paths(&tree.roots, &drives).unwrap();
    assert_eq!(ways[0].len(), 2);
    assert!(ways[0][0].ends_with("/sda") && ways[0][1].ends_with("/sdb"), "{ways:?}");
    must_have_all_paths(&drives, &ways).unwrap();
    for (count, layer) in [(2, "multipath: {paths: 3}"), (2, "multipath: {paths: 4}")] {
        let error = identify(&tree.roots, &stand(layer)).unwrap_err();
        assert!(error.message.en.contains(&format!("here: {count}, but the layer")), "{error}");
    }
    // One that comes up afterwards stops what would be built, and not what is taken down.
    tree.disk("sdd", "8:48", &local(4), &[WWN]);
    let ways = paths(&tree.roots, &drives).unwrap();
    assert!(must_have_all_paths(&drives, &ways).unwrap_err().message.en.contains("here: 3, but the layer"));
    must_all_be_here(&drives, &ways).unwrap();
    let (one, none) = (vec![ways[0][..1].to_vec()], vec![Vec::new()]);
    must_all_be_here(&drives, &one).unwrap();
    assert!(must_have_all_paths(&drives, &one).is_err() && must_all_be_here(&drives, &none).is_err());
}

#[test]
fn of_a_drive_with_paths_each_must_be_free() {
    let tree = machine();
    let free = |name: &str, other: &str| {
        let devices = Devices::read(&tree.roots);
        must_be_free(&look(&tree.roots, devices.by_name(name).unwrap(), &devices, &[other], Viewer::Stranger), &[])
    };
    free("sda", "sdb").unwrap();
    free("sdb", "sda").unwrap();
    assert!(free("sda", "sdc").unwrap_err().message.en.contains("same identity as `sdb`"), "a copy is no path");
    tree.over("dm-0", "253:0", &["sdb"], &[("dm/uuid", "mpath-1")]);
    free("sda", "sdb").unwrap();
    assert!(free("sdb", "sda").unwrap_err().message.en.contains("dm-0"), "one path is somebody's");
}

#[test]
fn two_partitions_of_one_disk_are_no_two_drives() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", &local(1), &[WWN]);
    tree.partition("sda", &local(1), 1, "8:1");
    tree.partition("sda", &local(1), 2, "8:2");
    let of = |one: &str, other: &str| {
        let text = format!(
            "stand: x\ndrives: [{{name: a, id: '{ID}{one}'}}, {{name: b, id: '{ID}{other}'}}]\nlayers: [md: {{level: 1}}]\n"
        );
        identify(&tree.roots, &stend_spec::parse::stand(&text, "s.yaml").unwrap()).unwrap_err()
    };
    for (one, other) in [("-part1", "-part2"), ("", "-part2")] {
        let error = of(one, other);
        assert_eq!(error.kind, Kind::Spec, "{error}");
        assert!(error.message.en.contains("`b` and `a` are partitions of one disk"), "{error}");
    }
}
