//! What Ceph prints of its health, and what is read of it; events of its OSDs are tested with the same.

use super::*;

/// Placement groups that lack nothing.
pub(crate) const CLEAN: &str =
    r#"{"state_name":"active+clean","count":50},{"state_name":"active+clean+scrubbing","count":7}"#;
/// Some that are not clean.
pub(crate) const PEERING: &str = r#"{"state_name":"active+clean","count":50},{"state_name":"peering","count":7}"#;
/// A server of metadata that works.
pub(crate) const ACTIVE: &str = r#"{"filesystem_id":1,"rank":0,"name":"a","status":"up:active","gid":4149}"#;

/// As Ceph 16.2.15 printed it.
pub(crate) fn status(up: u64, groups: &str, rank: &str, more: &str) -> Option<Health> {
    read(&format!(
        r#"
{{"fsid":"1","health":{{"status":"HEALTH_WARN","checks":{{"OSD_DOWN":{{"severity":"HEALTH_WARN"}}}},"mutes":[]}},
"osdmap":{{"epoch":32,"num_osds":5,"num_up_osds":{up},"num_in_osds":5}},"pgmap":{{"pgs_by_state":[{groups}],"num_pgs":57{more}}},
"fsmap":{{"epoch":6,"by_rank":[{rank}],"up:standby":0}}}}"#
    ))
}

#[test]
fn a_cluster_is_whole_when_its_osds_groups_and_metadata_are() {
    let lacks = |health: Option<Health>| health.unwrap().lacks();
    assert_eq!(lacks(status(5, CLEAN, ACTIVE, "")), None);
    assert_eq!(lacks(status(4, CLEAN, ACTIVE, "")).as_deref(), Some("OSDs up: 4 of 5"));
    assert_eq!(lacks(status(5, PEERING, ACTIVE, "")).as_deref(), Some("placement groups clean: 50 of 57"));
    let differs = CLEAN.replace("clean+scrubbing", "clean+scrubbing+deep+inconsistent+repair");
    assert_eq!(lacks(status(5, &differs, ACTIVE, "")).as_deref(), Some("placement groups clean: 50 of 57"));
    assert_eq!(lacks(status(5, CLEAN, "", "")).as_deref(), Some("the server of metadata starts"));
    let found = status(4, PEERING, ACTIVE, r#","degraded_objects":100,"degraded_total":1000"#).unwrap();
    assert_eq!((found.missing(), found.recovered), (1, Some(90)));
    assert_eq!(found.shown(), "HEALTH_WARN OSD_DOWN, OSDs up 4 of 5, placement groups clean 50 of 57");
    assert_eq!(read("error: timed out"), None);
}

#[test]
fn osds_are_found_by_their_links_and_only_below_stands() {
    let tree = crate::recorded::Tree::new();
    tree.disk("sda", "8:0", "pci0000:00/0000:00:01.0", &[]);
    let place = tree.roots.state.join("stands/x/cluster-ceph");
    std::fs::create_dir_all(place.join("osd.0")).unwrap();
    std::os::unix::fs::symlink("/dev/sda", place.join("osd.0/block")).unwrap();
    let all = Devices::read(&tree.roots);
    let found = |source: &str| devices(&tree.roots, &all, source).iter().map(|n| n.name.clone()).collect::<Vec<_>>();
    assert_eq!(found("/var/lib/stend/stands/x/cluster-ceph"), ["sda"]);
    assert!(found("/var/lib/stend/stands/y/cluster-ceph").is_empty() && found("ceph-fuse").is_empty());
}
