//! What events would do to made-up machines. Executes nothing.

use super::*;
use crate::access::Viewer;
use crate::devices::Devices;
use crate::faults::FaultContext;
use crate::recorded::Tree;
use stend_spec::permission::Permission;

/// Four drives, of which three are in an array whose slots are not in the order of their names; it is a target.
fn machine(level: &str, degraded: &str) -> Tree {
    let tree = Tree::new();
    for (index, name) in ["sda", "sdb", "sdc", "sdd"].into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), &format!("pci/{index}"), &[]);
    }
    tree.over("md0", "9:0", &["sda", "sdb", "sdc"], &[("md/level", level), ("md/degraded", degraded)]);
    for (name, slot) in [("sda", "2"), ("sdb", "0"), ("sdc", "1"), ("sdd", "none")] {
        tree.put(&format!("sys/devices/virtual/block/md0/md/dev-{name}/slot"), slot);
        tree.put(&format!("sys/devices/virtual/block/md0/md/dev-{name}/state"), "in_sync");
    }
    tree.put("sys/devices/virtual/block/md0/md/sync_action", "idle");
    tree
}

/// What an event would do to a target of the machine, as lines, with what would undo it; or why it cannot be done.
fn told(tree: &Tree, target: &str, act: &Act, writable: bool) -> String {
    let devices = Devices::read(&tree.roots);
    let node = devices.by_name(target).unwrap();
    let targets = [crate::inspect::device_facts(&tree.roots, &devices, node, target, Viewer::Stranger)];
    let permission = Permission::default();
    let context = FaultContext { targets: &targets, writable, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, &devices, &context);
    let root = tree.roots.dev.parent().unwrap().display().to_string();
    let lines =
        |actions: &[Action]| actions.iter().map(Action::shell).collect::<Vec<_>>().join("; ").replace(&root, "");
    match change(&lower, act, 1) {
        Ok(change) => format!("{} | {}", lines(&change.apply), lines(&change.undone_by().cloned().collect::<Vec<_>>())),
        Err(error) => error.message.en,
    }
}

#[test]
fn members_count_in_the_order_of_their_slots_and_come_back_as_new_ones() {
    let tree = machine("raid5", "0");
    let of = |which| told(&tree, "md0", &Act::DriveFail(which), true);
    let all = |member: &str| {
        let md = "mdadm --quiet /dev/md0";
        format!(
            "{md} --fail /dev/{member}; {md} --remove /dev/{member}; mdadm --quiet --zero-superblock /dev/{member} | {md} --add /dev/{member}"
        )
    };
    assert_eq!(of(Which::Number(1)), all("sdb"));
    assert_eq!(of(Which::Number(3)), all("sda"));
    assert_eq!(of(Which::Each), all("sdc"), "of the second block");
    assert!(of(Which::Number(4)).ends_with("there are only 3 drives"), "{}", of(Which::Number(4)));
    let scrub = told(&tree, "md0", &Act::Scrub, true);
    let file = "/sys/devices/virtual/block/md0/md/sync_action";
    assert_eq!(scrub, format!("echo check > {file} | echo idle > {file}"));
}

#[test]
fn nothing_that_would_lose_data_or_is_somebody_elses_is_touched() {
    let fail = Act::DriveFail(Which::Number(1));
    let of = |tree: &Tree, target: &str, writable| told(tree, target, &fail, writable);
    let striped = of(&machine("raid0", "0"), "md0", true);
    assert!(striped.ends_with("md0 is raid0: without a member all of its data would be lost"), "{striped}");
    let degraded = of(&machine("raid5", "1"), "md0", true);
    assert!(degraded.ends_with("md0 lacks 1 members already"), "{degraded}");
    let foreign = of(&machine("raid5", "0"), "md0", false);
    assert!(foreign.contains("not confirmed with --confirm"), "{foreign}");
    let none = of(&machine("raid5", "0"), "sdd", true);
    assert!(
        none.ends_with("there is no array of md below the target, and no pool of ZFS that the stand of this run made"),
        "{none}"
    );
    // A volume on it was confirmed, the array below was not.
    let tree = machine("raid5", "0");
    tree.over("dm-0", "253:0", &["md0"], &[("dm/uuid", "LVM-a"), ("dm/name", "vg-a")]);
    let below = of(&tree, "dm-0", true);
    assert!(below.contains("md0 was not made by the stand of this run"), "{below}");
}

#[test]
fn snapshots_and_paths_are_of_what_the_stand_made_and_of_nothing_that_was_only_confirmed() {
    let tree = machine("raid5", "0");
    tree.over("dm-0", "253:0", &["md0"], &[("dm/uuid", "LVM-a"), ("dm/name", "vg-a")]);
    let snapshot = told(&tree, "dm-0", &Act::Snapshot, true);
    assert!(snapshot.contains("nothing that can have snapshots was made by the stand"), "{snapshot}");
    let path = told(&tree, "dm-0", &Act::PathDown(1), true);
    assert!(path.contains("made no device with several paths"), "{path}");
}

#[test]
fn a_drive_gets_slow_only_by_a_mapping_that_is_not_lvms() {
    let slow = Act::DriveSlow(Which::Number(1), Nanos::millis(50));
    let of = |tree: &Tree, target: &str| told(tree, target, &slow, true);
    let bare = of(&machine("raid5", "0"), "md0");
    assert!(
        bare.contains("there is no mapping over sdb whose table could be changed: put a layer `dm: {linear: whole}`"),
        "{bare}"
    );
    let tree = machine("raid5", "0");
    tree.over("dm-0", "253:0", &["sdd"], &[("dm/uuid", "LVM-a"), ("dm/name", "vg-a")]);
    assert!(of(&tree, "dm-0").contains("there is no mapping over sdd"), "{}", of(&tree, "dm-0"));
}

#[test]
fn paths_to_a_drive_are_one_drive_and_what_joins_them_is_not_what_gets_slow() {
    let tree = Tree::new();
    let wwn = ("device/wwid", "naa.5000c500a1b2c3d4");
    for (index, name) in ["sda", "sdb"].into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), &format!("pci/{index}"), &[wwn]);
    }
    tree.over("dm-0", "253:0", &["sda", "sdb"], &[("dm/uuid", "STEND-mpath-1"), ("dm/name", "stend-x-multipath-1")]);
    let of = |number| told(&tree, "dm-0", &Act::DriveSlow(Which::Number(number), Nanos::millis(50)), true);
    assert!(of(1).contains("there is no mapping over sda whose table could be changed"), "{}", of(1));
    assert!(of(2).ends_with("there are only 1 drives"), "{}", of(2));
}

#[test]
fn a_table_of_one_piece_gets_slow_and_others_are_not_touched() {
    let table = parsed("0 131072 linear 259:0 2048\n").unwrap();
    assert_eq!(slow(&table, Nanos::millis(50)), "0 131072 delay 259:0 2048 50");
    assert_eq!(parsed("0 8 delay 7:0 0 2 7:0 0 2").unwrap().device, "7:0");
    for other in ["", "0 8 linear 7:0 0\n8 8 linear 7:1 0", "0 8 striped 2 64 7:0 0 7:1 0", "8 8 linear 7:0 0"] {
        assert!(parsed(other).is_none(), "{other}");
    }
}

#[test]
fn a_drive_of_a_mirror_does_not_fail_its_ios_and_without_a_stand_no_peer_goes() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", "pci/0", &[]);
    tree.over("drbd5", "147:5", &["sda"], &[]);
    let error = told(&tree, "drbd5", &Act::DriveError(Which::Number(1)), true);
    assert!(error.ends_with("DRBD lets a device go at its first error: take `drive.slow` or `peer.down`"), "{error}");
    let peer = told(&tree, "drbd5", &Act::PeerDown, true);
    assert!(peer.contains("there is no mirror of two hosts (`drbd`) below the target"), "{peer}");
}
