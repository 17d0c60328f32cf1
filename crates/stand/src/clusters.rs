//! Clusters of Ceph that stands have put up on this host: what they say of themselves, and on which devices their OSDs are. Reads only.

use crate::command;
use crate::devices::Devices;
use crate::node::Node;
use crate::roots::{Roots, names};
use serde_json::Value;

/// Where stands keep what they are, as programs get it.
const STATE: &str = "/var/lib/stend/";
/// How long a command waits for a monitor that does not answer, in seconds.
const PATIENCE: &str = "10";

/// The words of `ceph` for a cluster with these settings.
pub(crate) fn words(settings: &str, line: &str) -> Vec<String> {
    let all = ["ceph", "--conf", settings, "--connect-timeout", PATIENCE].into_iter().chain(line.split(' '));
    all.map(str::to_string).collect()
}

/// The devices of the OSDs of a cluster that a file system was mounted from: such a mount has the directory of the cluster for its
/// source. None where a link leads nowhere, or where there is no such directory.
pub(crate) fn devices<'a>(roots: &Roots, devices: &'a Devices, source: &str) -> Vec<&'a Node> {
    let Some(below) = source.strip_prefix(STATE) else { return Vec::new() };
    let place = roots.state.join(below);
    let links = names(&place).into_iter().filter(|name| name.starts_with("osd."));
    let device = |name: String| {
        let device = std::fs::read_link(place.join(name).join("block")).ok()?;
        devices.at(&device.to_string_lossy())
    };
    links.filter_map(device).collect()
}

/// How a cluster is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Health {
    /// `HEALTH_OK`, `HEALTH_WARN` or `HEALTH_ERR`, with the names of what is wrong.
    state: String,
    /// OSDs that there are, and those that work.
    osds: (u64, u64),
    /// Placement groups that there are, and those that lack nothing.
    groups: (u64, u64),
    /// Whether the server of metadata answers.
    files: bool,
    /// Percentage of the copies and parts that are where they belong, while some are not.
    pub recovered: Option<u64>,
}

/// Asks a cluster with these settings; `None`: its monitor does not answer.
pub(crate) fn health(settings: &str) -> Option<Health> {
    read(&command::told(&words(settings, "status --format json")).ok()?)
}

fn read(told: &str) -> Option<Health> {
    // Warnings of the program stand above it.
    let status: Value = serde_json::from_str(&told[told.find('{')?..]).ok()?;
    let number = |path: &str| status.pointer(path).and_then(Value::as_u64);
    let checks = status.pointer("/health/checks").and_then(Value::as_object);
    let wrong: Vec<&str> = checks.into_iter().flat_map(|checks| checks.keys().map(String::as_str)).collect();
    let state = status.pointer("/health/status")?.as_str()?;
    let states = status.pointer("/pgmap/pgs_by_state").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_clean = |state: &&Value| state["state_name"].as_str().is_some_and(|name| name.starts_with("active+clean"));
    let clean = states.iter().filter(is_clean).filter_map(|state| state["count"].as_u64()).sum();
    let ranks = status.pointer("/fsmap/by_rank").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let away = ["degraded", "misplaced"].map(|what| {
        let [some, all] = ["objects", "total"].map(|part| number(&format!("/pgmap/{what}_{part}")));
        Some((some?, all.filter(|all| *all > 0)?))
    });
    let worst = away.into_iter().flatten().map(|(some, all)| 100 - some.saturating_mul(100).div_ceil(all).min(100));
    Some(Health {
        state: [&[state], &wrong[..]].concat().join(" "),
        osds: (number("/osdmap/num_osds")?, number("/osdmap/num_up_osds")?),
        groups: (number("/pgmap/num_pgs")?, clean),
        files: ranks.iter().any(|rank| rank["status"] == "up:active"),
        recovered: worst.min(),
    })
}

impl Health {
    /// In English: state, OSDs, placement groups.
    pub(crate) fn shown(&self) -> String {
        let ((osds, up), (groups, clean)) = (self.osds, self.groups);
        format!("{}, OSDs up {up} of {osds}, placement groups clean {clean} of {groups}", self.state)
    }

    /// OSDs that do not work.
    pub(crate) fn missing(&self) -> u64 {
        self.osds.0.saturating_sub(self.osds.1)
    }

    /// What is lacking until pools can be made, in English.
    pub(crate) fn lacks_osds(&self) -> Option<String> {
        let (all, up) = self.osds;
        (up < all).then(|| format!("OSDs up: {up} of {all}"))
    }

    /// What is lacking until it can be used, in English.
    pub(crate) fn lacks(&self) -> Option<String> {
        let (all, clean) = self.groups;
        let groups = || (clean < all).then(|| format!("placement groups clean: {clean} of {all}"));
        let files = || (!self.files).then(|| "the server of metadata starts".to_string());
        self.lacks_osds().or_else(groups).or_else(files)
    }
}

#[cfg(test)]
pub(crate) mod tests {
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
        let found =
            |source: &str| devices(&tree.roots, &all, source).iter().map(|n| n.name.clone()).collect::<Vec<_>>();
        assert_eq!(found("/var/lib/stend/stands/x/cluster-ceph"), ["sda"]);
        assert!(found("/var/lib/stend/stands/y/cluster-ceph").is_empty() && found("ceph-fuse").is_empty());
    }
}
