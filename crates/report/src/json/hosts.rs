//! What several load hosts did, for machines.

use super::{Number, Operation, number, operation};
use crate::preview::PartOut;
use serde::Serialize;
use stend_analyse::findings::{
    HostFinding, HostSearchFinding, HostUsedUp, HostsFinding, LoadHostFinding, SearchedHosts,
};
use stend_base::Say;

/// A load host of a run with several.
#[derive(Serialize)]
pub(super) struct LoadHostOut<'a> {
    /// Number of the host in the run file.
    host: u16,
    name: &'a str,
    /// Why it was lost; `null`: it was there to the end.
    lost: Option<&'a str>,
    /// When, from the beginning of the run.
    lost_after_ns: Option<u64>,
    /// Ordinals of the trials that it did not begin or did not end because it was lost.
    trials_without: &'a [u32],
    /// Added to its CLOCK_MONOTONIC; `null`: it has the clock of the coordinator.
    clock_shift_ns: Option<i64>,
    clock_uncertainty_ns: Option<u64>,
    /// The last measurement minus the first; `null`: measured once.
    clock_drift_ns: Option<i64>,
    clock_drift_over_ns: Option<u64>,
    worker_cpus: Option<f64>,
    worker_memory_bytes: Option<u64>,
    /// Its part of each target, where hosts share their devices; `null`: no other host uses them.
    part: Option<PartOut>,
}

/// The answer of a search for a number of load hosts.
#[derive(Serialize)]
pub(super) struct HostSearchOut<'a> {
    label: &'a str,
    quantile: f64,
    limit_ns: u64,
    /// Load hosts of the run.
    of: u32,
    held: Option<SearchedHostsOut>,
    missed: Option<SearchedHostsOut>,
    confirmed: bool,
    /// What was used up at the number that missed, by host.
    used_up: &'a [HostUsedUp],
    text: Say,
}

#[derive(Serialize)]
struct SearchedHostsOut {
    load_hosts: u32,
    trials: u32,
    trials_missed: u32,
}

/// The load hosts of a case beside each other.
#[derive(Serialize)]
pub(super) struct HostsOut<'a> {
    hosts: Vec<HostOut<'a>>,
    /// Names of hosts that were lost before the trials of this case.
    without: &'a [String],
    /// Jain's index of the rates.
    fairness: Option<Number>,
    slowest: Option<SlowestOut<'a>>,
    began_apart_ns: u64,
    ended_apart_ns: u64,
    /// How far off these may be by the clocks, either way.
    apart_uncertainty_ns: u64,
}

#[derive(Serialize)]
struct SlowestOut<'a> {
    name: &'a str,
    /// Its rate in parts of the median host.
    of_median: Number,
}

/// What one load host did.
#[derive(Serialize)]
struct HostOut<'a> {
    /// Number of the host in the run file.
    host: u16,
    name: &'a str,
    /// Over the windows of all hosts together: the rates of hosts add up to that of the case.
    iops: Number,
    throughput_bytes_per_s: Number,
    operations: Vec<Operation>,
}

pub(super) fn searched(found: &HostSearchFinding) -> HostSearchOut<'_> {
    let searched =
        |at: SearchedHosts| SearchedHostsOut { load_hosts: at.hosts, trials: at.looks, trials_missed: at.missed };
    HostSearchOut {
        label: &found.label,
        quantile: found.quantile.0,
        limit_ns: found.limit.0,
        of: found.of,
        held: found.held.map(searched),
        missed: found.missed.map(searched),
        confirmed: found.confirmed,
        used_up: &found.used_up,
        text: found.say(),
    }
}

pub(super) fn of_run(found: &LoadHostFinding) -> LoadHostOut<'_> {
    let clock = found.clock;
    let drift = clock.and_then(|clock| clock.drift);
    LoadHostOut {
        host: found.host.0,
        name: &found.name,
        lost: found.lost.as_ref().map(|loss| loss.why.as_str()),
        lost_after_ns: found.lost.as_ref().map(|loss| loss.after.0),
        trials_without: found.lost.as_ref().map_or(&[], |loss| &loss.trials),
        clock_shift_ns: clock.map(|clock| clock.shift_ns),
        clock_uncertainty_ns: clock.map(|clock| clock.uncertainty_ns),
        clock_drift_ns: drift.map(|(ns, _)| ns),
        clock_drift_over_ns: drift.map(|(_, over)| over.0),
        worker_cpus: found.cost.worker_cpus,
        worker_memory_bytes: found.cost.worker_memory.map(|bytes| bytes.0),
        part: found.part.as_ref().map(PartOut::of),
    }
}

pub(super) fn of_case(found: &HostsFinding) -> HostsOut<'_> {
    HostsOut {
        hosts: found.hosts.iter().map(of_host).collect(),
        without: &found.without,
        fairness: found.fairness.as_ref().map(number),
        slowest: found.slowest.as_ref().and_then(|(at, ratio)| {
            Some(SlowestOut { name: &found.hosts.get(*at as usize)?.name, of_median: number(ratio) })
        }),
        began_apart_ns: found.began_apart.0,
        ended_apart_ns: found.ended_apart.0,
        apart_uncertainty_ns: found.apart_uncertainty.0,
    }
}

fn of_host(found: &HostFinding) -> HostOut<'_> {
    HostOut {
        host: found.host.0,
        name: &found.name,
        iops: number(&found.total.iops),
        throughput_bytes_per_s: number(&found.total.throughput),
        operations: found.ops.iter().map(operation).collect(),
    }
}
