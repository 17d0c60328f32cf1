//! What replacing a member would do on made-up machines. Executes nothing.

use super::*;
use crate::access::Viewer;
use crate::devices::Devices;
use crate::faults::FaultContext;
use crate::recorded::Tree;
use stend_spec::permission::Permission;

const MD: &str = "sys/devices/virtual/block/md0/md";

/// Three drives in an array and a fourth one as its spare; or without.
fn machine(level: &str, spare: bool) -> Tree {
    let tree = Tree::new();
    let drives = ["sda", "sdb", "sdc", "sdd"];
    for (index, name) in drives.into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), &format!("pci/{index}"), &[]);
    }
    let count = if spare { 4 } else { 3 };
    tree.over("md0", "9:0", &drives[..count], &[("md/level", level), ("md/degraded", "0"), ("md/sync_action", "idle")]);
    for (name, slot, state) in
        [("sda", "0", "in_sync"), ("sdb", "1", "in_sync"), ("sdc", "2", "in_sync"), ("sdd", "none", "spare")]
            .into_iter()
            .take(count)
    {
        tree.put(&format!("{MD}/dev-{name}/slot"), slot);
        tree.put(&format!("{MD}/dev-{name}/state"), state);
    }
    tree
}

/// What the event would do, where the stand of the run made the array or did not.
fn told(tree: &Tree, which: Which, made: bool) -> Found<Change> {
    let devices = Devices::read(&tree.roots);
    let node = devices.by_name("md0").unwrap();
    let targets = [crate::inspect::device_facts(&tree.roots, &devices, node, "md0", Viewer::Stranger)];
    let permission = Permission::default();
    let context = FaultContext { targets: &targets, writable: true, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, &devices, &context).with_made(made.then_some("md0"));
    replace(&lower, which, 1)
}

fn lines(tree: &Tree, actions: &[Action]) -> String {
    let root = tree.roots.dev.parent().unwrap().display().to_string();
    actions.iter().map(Action::shell).collect::<Vec<_>>().join("; ").replace(&root, "")
}

fn refused(tree: &Tree, which: Which, made: bool) -> String {
    told(tree, which, made).unwrap_err().en
}

const MDADM: &str = "mdadm --quiet /dev/md0";

#[test]
fn the_spare_gets_what_a_member_has_and_the_member_becomes_the_spare() {
    let tree = machine("raid5", true);
    let change = told(&tree, Which::Each, true).unwrap();
    assert_eq!(change.what.en, "sdb", "the second in the second block");
    assert_eq!(lines(&tree, &change.apply), format!("{MDADM} --replace /dev/sdb --with /dev/sdd"));
    let back = format!("{MDADM} --remove /dev/sdb; mdadm --quiet --zero-superblock /dev/sdb; {MDADM} --add /dev/sdb");
    assert_eq!(lines(&tree, &change.undone_by().cloned().collect::<Vec<_>>()), back);
    let [(_, Action::GiveBack(copy))] = &change.undo[..] else { panic!("{change:?}") };
    for complete in ["faulty", "faulty,want_replacement"] {
        tree.put(&format!("{MD}/dev-sdb/state"), complete);
        assert_eq!(lines(&tree, &ended(copy)), back);
        assert!(copy.missing().is_none(), "{complete}");
    }
}

#[test]
fn a_copy_that_is_not_complete_is_called_off_before_there_is_a_spare_to_copy_to() {
    let tree = machine("raid1", true);
    let change = told(&tree, Which::Number(1), true).unwrap();
    let [(_, Action::GiveBack(copy))] = &change.undo[..] else { panic!("{change:?}") };
    tree.put(&format!("{MD}/dev-sda/state"), "in_sync,want_replacement");
    assert_eq!(copy.missing().map(|missing| missing.text).as_deref(), Some("the copy of sda is not complete"));
    assert_eq!(
        lines(&tree, &ended(copy)),
        format!(
            "{MDADM} --fail /dev/sdd; {MDADM} --remove /dev/sdd; echo -want_replacement > /{MD}/dev-sda/state; \
             mdadm --quiet --zero-superblock /dev/sdd; {MDADM} --add /dev/sdd"
        )
    );
}

#[test]
fn what_has_no_spare_or_no_copies_or_is_somebody_elses_is_refused() {
    let first = Which::Number(1);
    let lacking = refused(&machine("raid5", false), first, true);
    assert_eq!(lacking, "md0 has no spare: give the layer `md: {spares: 1}` and one drive more");
    assert_eq!(refused(&machine("raid0", true), first, true), "md0 is raid0, which has no spares");
    let tree = machine("raid6", true);
    assert_eq!(refused(&tree, first, false), "md0 was not made by the stand of this run");
    assert_eq!(refused(&tree, Which::Number(4), true), "drive 4 is a spare already: the members are 1 to 3");
    assert_eq!(refused(&tree, Which::Number(5), true), "there are only 3 drives");
    tree.put(&format!("{MD}/sync_action"), "resync");
    assert_eq!(refused(&tree, first, true), "md0 is synchronising");
    tree.put(&format!("{MD}/degraded"), "1");
    assert_eq!(refused(&tree, first, true), "md0 lacks 1 members already");
}

#[test]
fn a_spare_that_failed_is_none() {
    let tree = machine("raid5", true);
    tree.put(&format!("{MD}/dev-sdd/state"), "faulty");
    assert!(refused(&tree, Which::Number(1), true).starts_with("md0 has no spare"));
}
