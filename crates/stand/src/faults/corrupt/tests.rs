//! What would be overwritten on made-up drives. Executes nothing.

use super::*;
use crate::access::Viewer;
use crate::devices::Devices;
use crate::faults::FaultContext;
use crate::pools::{Device, Pool};
use crate::recorded::Tree;
use stend_spec::permission::Permission;

const MIB: u64 = 1 << 20;

fn found(area: &Area, from: Option<u64>, length: u64) -> std::result::Result<(u64, u64), String> {
    area.find(Region { from: from.map(Bytes), length: Bytes(length) }).map_err(|why| why.en.replace('\u{a0}', " "))
}

#[test]
fn what_is_overwritten_lies_in_the_data_and_nowhere_else() {
    let area = Area { start: 4 * MIB, length: 100 * MIB, spared: Vec::new() };
    assert_eq!(found(&area, None, MIB), Ok((4 * MIB + 99 * MIB / 2, MIB)));
    assert_eq!(found(&area, Some(0), MIB), Ok((4 * MIB, MIB)));
    assert_eq!(found(&area, Some(99 * MIB), MIB), Ok((103 * MIB, MIB)));
    assert_eq!(found(&area, None, 100 * MIB), Ok((4 * MIB, 100 * MIB)));
    let why = "the drive has room for 100 MiB of data, and the range to overwrite ends beyond that";
    assert_eq!(found(&area, Some(99 * MIB + 4096), MIB).unwrap_err(), why);
    assert_eq!(found(&area, None, 101 * MIB).unwrap_err(), why);
    assert_eq!(found(&area, Some(u64::MAX), MIB).unwrap_err(), why);
}

#[test]
fn a_superblock_is_stepped_over_or_the_place_is_refused() {
    let area = Area { start: MIB, length: 127 * MIB, spared: vec![(64 * MIB, 64 << 10)] };
    // The middle begins before it and meets it.
    assert_eq!(found(&area, None, 2 * MIB), Ok((64 * MIB + (64 << 10), 2 * MIB)));
    let why = "a superblock lies in the range to overwrite: take another `from`, or a smaller `length`";
    assert_eq!(found(&area, Some(62 * MIB), 2 * MIB).unwrap_err(), why);
    assert_eq!(found(&area, Some(61 * MIB), 2 * MIB), Ok((62 * MIB, 2 * MIB)));
    assert_eq!(found(&area, Some(63 * MIB + (64 << 10)), 2 * MIB), Ok((64 * MIB + (64 << 10), 2 * MIB)));
}

/// Three drives of 8 MiB of which an array consists, each of which keeps 4 MiB of data behind the first MiB.
fn array(level: &str, degraded: &str) -> Tree {
    let tree = Tree::new();
    let names = ["sda", "sdb", "sdc"];
    for (index, name) in names.into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), &format!("pci/{index}"), &[]);
    }
    tree.over("md0", "9:0", &names, &[("md/level", level), ("md/degraded", degraded), ("md/sync_action", "idle")]);
    for (slot, name) in names.into_iter().enumerate() {
        let own = format!("sys/devices/virtual/block/md0/md/dev-{name}");
        for (file, value) in [("slot", slot.to_string()), ("offset", "2048".into()), ("size", "4096".into())] {
            tree.put(&format!("{own}/{file}"), value);
        }
    }
    tree
}

/// What would be done to a target of these devices, and undone, where the stand of the run made it; or why it would not.
fn told(tree: &Tree, devices: &Devices, target: &str, made: bool, (which, from): (u32, Option<u64>)) -> String {
    let node = devices.by_name(target).unwrap();
    let targets = [crate::inspect::device_facts(&tree.roots, devices, node, target, Viewer::Stranger)];
    let permission = Permission::default();
    let context = FaultContext { targets: &targets, writable: true, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, devices, &context).with_made(made.then_some(target));
    let root = tree.roots.dev.parent().unwrap().display().to_string();
    let lines =
        |actions: &[Action]| actions.iter().map(Action::shell).collect::<Vec<_>>().join("; ").replace(&root, "");
    let region = Region { from: from.map(Bytes), length: Bytes(MIB) };
    match corrupt(&lower, Which::Number(which), region, 0) {
        Ok(change) => format!("{} | {}", lines(&change.apply), lines(&change.undone_by().cloned().collect::<Vec<_>>())),
        Err(why) => why.en,
    }
}

const DD: &str =
    "dd if=/dev/urandom bs=1M iflag=fullblock,count_bytes oflag=direct,seek_bytes conv=notrunc,fsync status=none";

#[test]
fn a_member_of_an_array_has_wrong_data_where_it_keeps_data_and_is_rebuilt() {
    let of = |tree: &Tree, made, number, from| told(tree, &Devices::read(&tree.roots), "md0", made, (number, from));
    let tree = array("raid1", "0");
    let md = "mdadm --quiet /dev/md0";
    assert_eq!(
        of(&tree, true, 2, Some(MIB)),
        format!(
            "{DD} of=/dev/sdb seek=2097152 count=1048576 | {md} --fail /dev/sdb; {md} --remove /dev/sdb; mdadm --quiet --zero-superblock /dev/sdb; {md} --add /dev/sdb"
        )
    );
    assert!(of(&tree, true, 2, None).contains("seek=2621440 "), "in the middle: {}", of(&tree, true, 2, None));
    assert_eq!(of(&tree, true, 4, None), "there are only 3 drives");
    assert!(of(&tree, true, 1, Some(4 * MIB)).starts_with("the drive has room for"));
    // Confirmed is not enough.
    assert_eq!(of(&tree, false, 2, None), "md0 was not made by the stand of this run");
    assert!(of(&array("raid0", "0"), true, 2, None).starts_with("md0 is raid0: without a member"));
    assert_eq!(of(&array("raid5", "1"), true, 2, None), "md0 lacks 1 members already");
    tree.put("sys/devices/virtual/block/md0/md/sync_action", "resync");
    assert_eq!(of(&tree, true, 2, None), "md0 is synchronising");
    let none = told(&tree, &Devices::read(&tree.roots), "sdc", true, (1, None));
    assert!(none.starts_with("the stand of this run made no array of md, no pool of ZFS and no btrfs"), "{none}");
}

#[test]
fn a_member_of_a_pool_is_scrubbed_and_a_stripe_is_not_touched() {
    let of = |group: &str, made| {
        let tree = Tree::new();
        tree.disk("sda", "8:0", "pci/0", &[]);
        tree.disk("sdb", "8:16", "pci/1", &[]);
        tree.disk("zd0", "230:0", "virtual", &[]);
        let mut devices = Devices::read(&tree.roots);
        let device = |disk: &str| Device { path: format!("/dev/{disk}"), group: group.to_string() };
        devices.stack_pools(vec![Pool {
            name: "tank".into(),
            devices: ["sda", "sdb"].map(device).to_vec(),
            volumes: vec![("tank/main".into(), "zd0".into())],
        }]);
        told(&tree, &devices, "zd0", made, (2, Some(0)))
    };
    assert_eq!(
        of("mirror-0", true),
        format!(
            "{DD} of=/dev/sdb seek=4194304 count=1048576 | zpool scrub -s tank; zpool scrub -w tank; zpool status tank; zpool clear tank"
        )
    );
    assert_eq!(of("", true), "tank is a stripe: overwritten data would be lost");
    assert!(of("mirror-0", false).starts_with("the stand of this run made no array of md"));
}

#[test]
fn a_btrfs_that_keeps_anything_once_is_not_touched() {
    let tree = array("raid1", "0");
    let devices = Devices::read(&tree.roots);
    let targets: [stend_record::TargetFacts; 0] = [];
    let permission = Permission::default();
    let context = FaultContext { targets: &targets, writable: true, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, &devices, &context);
    let member = devices.by_name("sda").unwrap();
    assert_eq!(poor_profile(&lower, member), Some("?".to_string()), "of no btrfs that is known");
    let own = "sys/fs/btrfs/7d1c3a52-6f0e-4a87-b1c9-0f6f0f3f9c11";
    tree.put(&format!("{own}/devices/sda"), "");
    for (kind, profile) in [("data", "raid1"), ("metadata", "raid1c3"), ("system", "raid1")] {
        tree.put(&format!("{own}/allocation/{kind}/bytes_used"), "1");
        tree.put(&format!("{own}/allocation/{kind}/{profile}/total_bytes"), "1");
    }
    assert_eq!(poor_profile(&lower, member), None);
    tree.put(&format!("{own}/allocation/metadata/dup/total_bytes"), "1");
    assert_eq!(poor_profile(&lower, member), Some("dup".to_string()));
}
