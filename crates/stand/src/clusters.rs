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
    // A group that is being compared keeps all of its copies; one of which copies were found to differ does not.
    //= ceph 16.2, doc/rados/operations/pg-states.rst: inconsistent
    let is_whole = |name: &str| name.starts_with("active+clean") && !name.split('+').any(|part| part == "inconsistent");
    let is_clean = |state: &&Value| state["state_name"].as_str().is_some_and(is_whole);
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

    /// OSDs that there are.
    pub(crate) fn osds(&self) -> u64 {
        self.osds.0
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
pub(crate) mod tests;
