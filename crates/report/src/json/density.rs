//! How many instances of an application hold their objective, for machines.

use serde::Serialize;
use stend_analyse::findings::{DensityFinding, DensityPoint, UsedUp};
use stend_base::Say;
use stend_spec::app::Program;

/// The answer of a search for instances.
#[derive(Serialize)]
pub(super) struct DensityOut<'a> {
    label: &'a str,
    program: Program,
    versions: &'a [String],
    /// 1 or 2; `null`: instances had no limits.
    cgroup_version: Option<u8>,
    quantile: f64,
    limit_ns: u64,
    window_ns: u64,
    offered_per_s: Option<f64>,
    objective: Say,
    /// What the client means by latency.
    latency: Say,
    /// Largest number that held every time, below every one that missed.
    held: Option<u32>,
    /// Smallest number that missed once.
    missed: Option<u32>,
    /// Smallest number that missed every time.
    failed: Option<u32>,
    confirmed: bool,
    disordered: bool,
    points: Vec<PointOut>,
    used_up: &'a [UsedUp],
    /// Last words of an instance that failed, or could not be started, at the smallest number that missed; `null`: none did.
    broke: Option<&'a str>,
    text: Say,
}

#[derive(Serialize)]
struct PointOut {
    instances: u32,
    trials: u32,
    trials_held: u32,
    /// Least part of the instances that held in a trial.
    within: f64,
    /// Sum over all instances.
    rate_per_s: f64,
    /// One value per trial.
    rate_per_s_least: f64,
    rate_per_s_most: f64,
    fairness: Option<f64>,
    /// As printed by a client of a window: smallest and largest. Percentiles are never merged.
    latency_ns_least: Option<u64>,
    latency_ns_most: Option<u64>,
    /// Within it each instance has as many windows as must hold: of the trial in the middle, the best and the worst.
    decisive_ns: Option<u64>,
    decisive_ns_least: Option<u64>,
    decisive_ns_most: Option<u64>,
    cpu: Option<f64>,
    drive_busy: Option<f64>,
    memory_wait: Option<f64>,
    held_back: Option<f64>,
}

pub(super) fn out(found: &DensityFinding) -> DensityOut<'_> {
    DensityOut {
        label: &found.label,
        program: found.program,
        versions: &found.versions,
        cgroup_version: found.groups,
        quantile: found.slo.quantile.as_share(),
        limit_ns: found.slo.limit.0,
        window_ns: found.slo.window.0,
        offered_per_s: found.offered.map(|rate| rate.as_iops()),
        objective: found.objective(),
        latency: found.program.latency(),
        held: found.held,
        missed: found.missed,
        failed: found.failed,
        confirmed: found.confirmed,
        disordered: found.disordered,
        points: found.points.iter().map(point).collect(),
        used_up: &found.used_up,
        broke: found.broke.as_deref(),
        text: found.say(),
    }
}

fn point(point: &DensityPoint) -> PointOut {
    PointOut {
        instances: point.instances,
        trials: point.trials,
        trials_held: point.held,
        within: point.within.0,
        rate_per_s: point.rate,
        rate_per_s_least: point.rates.0,
        rate_per_s_most: point.rates.1,
        fairness: point.fairness,
        latency_ns_least: point.latency.map(|range| range.0.0),
        latency_ns_most: point.latency.map(|range| range.1.0),
        decisive_ns: point.decisive.map(|found| found.middle.0),
        decisive_ns_least: point.decisive.map(|found| found.least.0),
        decisive_ns_most: point.decisive.map(|found| found.most.0),
        cpu: point.cpu.map(|share| share.0),
        drive_busy: point.drive.map(|share| share.0),
        memory_wait: point.memory_wait.map(|share| share.0),
        held_back: point.held_back.map(|share| share.0),
    }
}
