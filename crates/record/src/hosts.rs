//! The hosts of a run: the one that is measured, and those that are watched beside it.

use crate::facts::{HostFacts, TargetFacts};
use crate::observed::{FillOutcome, ZeroSample};
use crate::sample::Sample;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};
use stend_spec::workload::Region;

/// What the machine of the hypervisor is called, which is watched where virtual machines make the load.
pub const HYPERVISOR: &str = "hypervisor";

/// Which host of a run something comes from: its place among the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(pub u16);

impl HostId {
    /// The host that is measured.
    pub const LOAD: HostId = HostId(0);
    /// The host with the drives of a stand of two hosts, beside one load host.
    pub const STORAGE: HostId = HostId(1);

    /// Its place in a list of hosts.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Before the number of a host in the id by which a run is known there.
const ON_HOST: &str = "-host";

/// The id by which a run is known on one of its load hosts, so that what several make in one directory that they share has names
/// of its own: on the first that of the run.
pub fn run_on_host(run: &str, host: HostId) -> String {
    if host == HostId::LOAD { run.to_string() } else { format!("{run}{ON_HOST}{}", host.0) }
}

/// Whether two such ids are of one run.
pub fn are_of_one_run(one: &str, other: &str) -> bool {
    let run = |id: &str| match id.rsplit_once(ON_HOST) {
        Some((run, number)) if number.parse::<u16>().is_ok() => run.to_string(),
        _ => id.to_string(),
    };
    run(one) == run(other)
}

/// What a host does in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It generates the load and is measured.
    #[default]
    Load,
    /// It has the drives, and is watched.
    Storage,
    /// It is watched because the user asked for it: a server, a switch, another client.
    Observe,
}

/// What is known of a host before anything is read there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HostInfo {
    /// As the user calls it; empty: the machine of the coordinator, or the only host.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// The machine.
    pub facts: Option<HostFacts>,
    /// What is measured there or handed out, with everything below, in the order in which it forms the range.
    pub targets: Vec<TargetFacts>,
    /// How far times of its samples may be off on the axis of the run when watching began, either way, ns; `None`: it has the clock
    /// of the run.
    pub clock_uncertainty_ns: Option<u64>,
    /// Its part of each target, where load hosts share their devices; `None`: no other host uses them.
    // Written also where it is none: postcard knows no names of fields.
    #[serde(default)]
    pub part: Option<Region>,
    /// Network interfaces with hardware behind them. Others count the same bytes once more: bonds, VLANs, bridges.
    #[serde(default)]
    pub ports: Vec<String>,
}

impl HostInfo {
    /// As the user calls it, else as it calls itself.
    pub fn called(&self) -> &str {
        match (self.name.as_str(), &self.facts) {
            ("", Some(facts)) => &facts.hostname,
            (name, _) => name,
        }
    }
}

/// A host, and what was read there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct HostRecord {
    /// What is known of it, as the last session found it.
    pub info: HostInfo,
    /// Telemetry in order, its times on the axis of the run.
    pub samples: Vec<Sample>,
    /// Fill of its range, if one ran.
    pub fill: Option<FillOutcome>,
    /// Zero sample, if one was taken.
    pub zeros: Option<ZeroSample>,
}

impl Deref for HostRecord {
    type Target = HostInfo;

    fn deref(&self) -> &HostInfo {
        &self.info
    }
}

impl DerefMut for HostRecord {
    fn deref_mut(&mut self) -> &mut HostInfo {
        &mut self.info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_another_id_on_each_host_and_is_known_by_all_of_them() {
        let run = "R-20260102T030405Z-abcd";
        let ids = [0, 1, 12].map(|host| run_on_host(run, HostId(host)));
        assert_eq!(ids[0], run);
        assert_eq!(ids[1], "R-20260102T030405Z-abcd-host1");
        assert!(ids.iter().all(|id| are_of_one_run(id, &ids[2])));
        let other = run_on_host("R-20260102T030405Z-host", HostId(1));
        assert!(!are_of_one_run(&other, &ids[1]) && are_of_one_run(&other, "R-20260102T030405Z-host"));
    }
}
