//! The storage host of a stand of two hosts, as it was watched beside the client that is measured.

use crate::facts::{HostFacts, TargetFacts};
use crate::sample::Sample;
use serde::{Deserialize, Serialize};

/// What is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageHost {
    /// As the user calls it.
    pub name: String,
    /// The host.
    pub host: HostFacts,
    /// What it hands out, with everything below.
    pub targets: Vec<TargetFacts>,
    /// How far times of its samples may be off on the axis of the run when watching began, either way, ns.
    pub clock_uncertainty_ns: u64,
}

/// The same with what was read there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StorageRecord {
    /// Facts of the last session.
    pub facts: StorageHost,
    /// Telemetry in order, its times moved to the axis of the run.
    pub samples: Vec<Sample>,
}
