//! What several load hosts did, each for itself. Data only.

use super::{CeilingFinding, Estimate, OpFinding, Rates, ToolCost};
use serde::{Deserialize, Serialize};
use stend_base::Nanos;
use stend_record::HostId;
use stend_spec::workload::Region;

/// A load host of a run with several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadHostFinding {
    /// Which.
    pub host: HostId,
    /// How the user calls it.
    pub name: String,
    /// What Stend itself used there.
    pub cost: ToolCost,
    /// How its clock stands to that of the coordinator; `None`: it is the same clock.
    pub clock: Option<ClockFinding>,
    /// How it was lost; `None`: it was there to the end.
    pub lost: Option<LossFinding>,
    /// Its part of each target, where hosts share their devices.
    pub part: Option<Region>,
}

/// The loss of a load host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossFinding {
    /// What the coordinator saw.
    pub why: String,
    /// Time from the beginning of the run.
    pub after: Nanos,
    /// Ordinals of the trials that it did not begin or did not end.
    pub trials: Vec<u32>,
}

/// A clock beside that of the coordinator. Times of the host are moved by the shift when they arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockFinding {
    /// Added to its CLOCK_MONOTONIC, ns.
    pub shift_ns: i64,
    /// How far off that may be at most, either way, ns: the largest of all measurements.
    pub uncertainty_ns: u64,
    /// By how much the last measurement differs from the first, and the time between them, ns; `None`: measured once.
    pub drift: Option<(i64, Nanos)>,
}

/// The load hosts of a case beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostsFinding {
    /// Each that the trials of the case are of, in the order of the run.
    pub hosts: Vec<HostFinding>,
    /// Names of those that were lost before these trials.
    pub without: Vec<String>,
    /// Jain's index of their rates, 1 if all are equal; `None` if nothing was done.
    pub fairness: Option<Estimate>,
    /// The slowest of them, by place in `hosts`, and its rate in parts of the median host; `None` if nothing was done.
    pub slowest: Option<(u32, Estimate)>,
    /// Longest time between the first and the last begin of load in a trial.
    pub began_apart: Nanos,
    /// Longest time between the first and the last end of a window in a trial.
    pub ended_apart: Nanos,
    /// How far off these times may be by the clocks of the hosts, either way: the sum of the two largest uncertainties.
    pub apart_uncertainty: Nanos,
}

/// What one load host did in a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostFinding {
    /// Which.
    pub host: HostId,
    /// How the user calls it.
    pub name: String,
    /// Its I/Os over the windows of all hosts together, so that rates of hosts add up to the total; syncs are not counted.
    pub total: Rates,
    /// By operation.
    pub ops: Vec<OpFinding>,
    /// What bounds it there.
    pub ceiling: Option<CeilingFinding>,
}
