//! The hosts of a run: the one that is measured, and those that are watched beside it.

use crate::facts::{HostFacts, TargetFacts};
use crate::observed::{FillOutcome, ZeroSample};
use crate::sample::Sample;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Which host of a run something comes from: its place among the hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HostId(pub u16);

impl HostId {
    /// The host that is measured.
    pub const LOAD: HostId = HostId(0);
    /// The host with the drives of a stand of two hosts.
    pub const STORAGE: HostId = HostId(1);

    /// Its place in a list of hosts.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
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

impl HostRecord {
    /// As the user calls it, else as it calls itself.
    pub fn called(&self) -> &str {
        match (self.info.name.as_str(), &self.info.facts) {
            ("", Some(facts)) => &facts.hostname,
            (name, _) => name,
        }
    }
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
