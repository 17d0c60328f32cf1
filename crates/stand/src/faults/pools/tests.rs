//! What events would do to made-up pools. Executes nothing.

use super::*;
use crate::devices::Devices;
use crate::faults::FaultContext;
use crate::pools::Pool;
use crate::recorded::Tree;
use stend_spec::permission::Permission;

/// A pool with a volume over the first partitions of two drives and a third as its log, all as ZFS names them.
fn machine(tree: &Tree, groups: [&str; 3]) -> Devices {
    for (index, name) in ["sda", "sdb", "sdc"].into_iter().enumerate() {
        let index = index as u32;
        tree.disk(name, &format!("8:{}", index * 16), "virtual", &[]);
        tree.partition(name, "virtual", 1, &format!("8:{}", index * 16 + 1));
    }
    tree.disk("zd0", "230:0", "virtual", &[]);
    let mut devices = Devices::read(&tree.roots);
    let device = |(disk, group): (&str, &str)| Device { path: format!("/dev/{disk}1"), group: group.to_string() };
    devices.stack_pools(vec![Pool {
        name: "tank".into(),
        devices: ["sda", "sdb", "sdc"].into_iter().zip(groups).map(device).collect(),
        volumes: vec![("tank/main".into(), "zd0".into())],
    }]);
    devices
}

/// The commands of an event, with those that undo it, where the stand of the run made the volume, or did not.
fn told(groups: [&str; 3], made: bool, act: impl Fn(&LowerDevices) -> Found<Change>) -> String {
    told_of(groups, (made, false), act)
}

/// The same where the tool of the pool does not answer, or does.
fn told_of(groups: [&str; 3], (made, silent): (bool, bool), act: impl Fn(&LowerDevices) -> Found<Change>) -> String {
    let tree = Tree::new();
    let devices = machine(&tree, groups);
    let node = devices.by_name("zd0").unwrap();
    let viewer = crate::access::Viewer::Stranger;
    let targets = [crate::inspect::device_facts(&tree.roots, &devices, node, "zd0", viewer)];
    let permission = Permission::default();
    let context = FaultContext { targets: &targets, writable: true, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, &devices, &context).with_made(made.then_some("zd0"));
    let lower = if silent { lower.with_health(|_, _| None) } else { lower };
    let lines = |actions: &[Action]| actions.iter().map(Action::shell).collect::<Vec<_>>().join("; ");
    match act(&lower) {
        Ok(change) => format!("{} | {}", lines(&change.apply), lines(&change.undone_by().cloned().collect::<Vec<_>>())),
        Err(why) => why.en,
    }
}

const MIRROR: [&str; 3] = ["mirror-0", "mirror-0", "logs"];

#[test]
fn a_member_goes_with_its_table_and_comes_back_as_a_new_drive() {
    let of = |number| told(MIRROR, true, |lower| fail(lower, Which::Number(number), 0));
    assert_eq!(
        of(2),
        "zpool offline tank /dev/sdb1; zpool labelclear -f /dev/sdb1; wipefs --all --quiet /dev/sdb | zpool replace -f tank /dev/sdb1 /dev/sdb"
    );
    assert_eq!(of(3), "there are only 2 drives", "a log is no member");
    let each = told(MIRROR, true, |lower| fail(lower, Which::Each, 2));
    assert!(each.starts_with("zpool offline tank /dev/sda1;"), "{each}");
}

#[test]
fn a_spare_of_a_pool_gets_a_copy_and_is_let_go_again() {
    let of = |groups, made| told(groups, made, |lower| replace(lower, Which::Number(2), 0));
    let spared = of(["mirror-0", "mirror-0", "spare"], true);
    assert_eq!(spared, "zpool replace tank /dev/sdb1 /dev/sdc1 | zpool detach tank /dev/sdc1");
    assert_eq!(of(MIRROR, true), "tank has no spare: give the layer `zfs: {spares: 1}` and one drive more");
    assert_eq!(of(["", "", "spare"], true), "tank is a stripe, which has no spares");
    assert!(of(["mirror-0", "mirror-0", "spare"], false).ends_with("no pool of ZFS that the stand of this run made"));
}

#[test]
fn a_stripe_and_a_pool_that_the_stand_did_not_make_are_not_touched() {
    let act = |lower: &LowerDevices| fail(lower, Which::Number(1), 0);
    let stripe = told(["", "", "logs"], true, act);
    assert!(stripe.starts_with("tank is a stripe: without a member"), "{stripe}");
    let foreign = told(MIRROR, false, act);
    assert!(foreign.ends_with("no pool of ZFS that the stand of this run made"), "{foreign}");
    assert!(told(MIRROR, false, |lower| scrub(lower).ok_or(say!("none", "нет"))) == "none");
}

#[test]
fn a_scrub_is_ended_where_it_goes_on_and_errors_are_mended_afterwards() {
    let of = |made| told(MIRROR, made, |lower| scrub(lower).ok_or(say!("none", "нет")));
    assert_eq!(of(true), "zpool scrub tank | zpool scrub -s tank");
    let mends = |lower: &LowerDevices| Ok(Change::unseen(Say::same(""), mend(lower), []));
    assert_eq!(told(MIRROR, true, mends), "zpool clear tank | ");
}

#[test]
fn a_pool_whose_tool_does_not_answer_is_not_called_whole() {
    let silent = told_of(MIRROR, (true, true), |lower| fail(lower, Which::Number(1), 0));
    assert!(silent.contains("does not answer"), "{silent}");
    let missing = |state, asked| lacking("tank", state, asked).map(|missing| (missing.text, missing.is_mended));
    let silent = "zpool status of tank does not answer".to_string();
    assert_eq!(missing("ONLINE", Some(None)), Some((silent, false)));
    assert_eq!(missing("ONLINE", None), None, "nothing was asked");
    assert_eq!(missing("DEGRADED", None), Some(("tank is DEGRADED".to_string(), true)));
    assert_eq!(missing("DEGRADED", Some(None)), Some(("tank is DEGRADED".to_string(), false)));
    let health = |resilver| Some(Some(Health { state: "ONLINE".into(), missing: 0, resilver }));
    assert_eq!(missing("ONLINE", health(None)), None);
    assert_eq!(missing("ONLINE", health(Some(7))), Some(("resilver of tank: 7 %".to_string(), true)));
}

/// As `btrfs scrub status` prints it.
const SCRUBBED: &str = "UUID:             7d1c3a52-6f0e-4a87-b1c9-0f6f0f3f9c11
Scrub started:    Mon Nov 23 09:00:00 2026
Status:           finished
Duration:         0:00:03
Total to scrub:   258.31MiB
Rate:             86.10MiB/s
Error summary:    csum=412
  Corrected:      412
  Uncorrectable:  0
  Unverified:     0
";

#[test]
fn a_btrfs_is_whole_when_its_scrub_has_ended_and_left_nothing() {
    let missing = |status: &str| scrubbed("/mnt/x", status).map(|missing| (missing.text, missing.is_mended));
    assert_eq!(missing(SCRUBBED), None);
    assert_eq!(missing("Error summary:    no errors found\n"), None);
    let running = SCRUBBED.replace("finished", "running");
    assert_eq!(missing(&running), Some(("scrub of /mnt/x".to_string(), true)));
    let left = SCRUBBED.replace("Uncorrectable:  0", "Uncorrectable:  7");
    assert_eq!(missing(&left), Some(("/mnt/x: 7 errors that no copy mends".to_string(), false)));
}
