//! What events would do to a made-up cluster. Executes nothing.

use super::*;
use crate::change::Action;
use crate::clusters::tests::{ACTIVE, CLEAN, PEERING, status};
use crate::devices::Devices;
use crate::faults::FaultContext;
use crate::recorded::Tree;
use stend_base::Nanos;
use stend_spec::permission::Permission;

/// Two OSDs.
fn cluster() -> EventCluster {
    let run = |word: &str| Action::Run(vec![word.to_string()]);
    let always = |word: &str| vec![(crate::change::Condition::Always, run(word))];
    let osd = |number: u32| Osd {
        name: format!("osd.{number}"),
        device: format!("/dev/sd{}", ['a', 'b'][number as usize]),
        kill: run(&format!("kill-{number}")),
        restart: always("restart"),
        renew: always("renew"),
    };
    EventCluster { at: "/mnt".into(), settings: "/s.conf".into(), survives: 1, osds: vec![osd(0), osd(1)] }
}

/// The OSD that an event of a block is about, of a cluster that is as it says.
fn chosen(which: Which, block: u32, health: Option<Health>) -> std::result::Result<String, String> {
    let tree = Tree::new();
    let devices = Devices::read(&tree.roots);
    let permission = Permission::default();
    let context = FaultContext { targets: &[], writable: true, stand: None, run_id: "", permission: &permission };
    let lower = LowerDevices::of(&tree.roots, &devices, &context).with_cluster(cluster());
    osd(&lower, which, block, &|_| health.clone()).map(|osd| osd.name.clone()).map_err(|why| why.en)
}

#[test]
fn exactly_one_osd_of_a_whole_cluster_is_taken() {
    let whole = || status(5, CLEAN, ACTIVE, "");
    assert_eq!(chosen(Which::Number(2), 0, whole()), Ok("osd.1".into()));
    assert_eq!(chosen(Which::Each, 2, whole()), Ok("osd.0".into()), "in the third block the first again");
    assert_eq!(chosen(Which::Number(3), 0, whole()), Err("there are only 2 drives".into()));
    let broken = chosen(Which::Number(1), 0, status(4, CLEAN, ACTIVE, "")).unwrap_err();
    assert_eq!(broken, "the cluster is not whole already: OSDs up: 4 of 5");
    assert!(chosen(Which::Number(1), 0, None).unwrap_err().ends_with("does not answer"));
    let all = cluster();
    let change = changed(&all.osds[1], &all.osds[1].renew);
    let shown: Vec<String> = change.apply.iter().chain(change.undone_by()).map(Action::shell).collect();
    assert_eq!((change.what.en.as_str(), shown), ("osd.1", vec!["kill-1".to_string(), "renew".to_string()]));
}

#[test]
fn more_lost_drives_than_the_pool_has_copies_to_spare_are_refused() {
    let fault = |act| Fault { at: Nanos::secs(1), lasts: None, act };
    let (one, other) = (Act::DriveFail(Which::Number(1)), Act::DriveFail(Which::Number(2)));
    // One that is killed keeps its data.
    let killed = fault(Act::DaemonKill(Which::Number(2)));
    assert!(too_many(&cluster(), &[fault(one.clone()), killed]).is_none());
    let both = [fault(one), fault(other.clone())];
    let (act, why) = too_many(&cluster(), &both).unwrap();
    assert!(*act == other && why.en.contains("the loss of 1 drives"), "{}", why.en);
}

#[test]
fn a_cluster_is_waited_for_while_it_recovers_and_not_where_an_osd_stays_away() {
    let told = |health: Option<Health>| lacking(health.as_ref()).map(|missing| (missing.text, missing.is_mended));
    assert_eq!(told(status(5, CLEAN, ACTIVE, "")), None);
    let more = r#","degraded_objects":100,"degraded_total":1000"#;
    let recovering = told(status(5, PEERING, ACTIVE, more));
    assert_eq!(recovering, Some(("placement groups clean: 50 of 57, recovered 90 %".into(), true)));
    assert_eq!(told(status(4, PEERING, ACTIVE, "")), Some(("OSDs up: 4 of 5".into(), false)));
    assert_eq!(told(None), Some(("the monitor of the cluster does not answer".into(), false)));
}
