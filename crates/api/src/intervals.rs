//! A stretch of a run in buckets, as a chart that zooms asks for it. Must not compute it.

use serde::Serialize;
use stend_base::Nanos;

/// Which intervals of a run are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Begin, since the run's start.
    pub from: Nanos,
    /// End; `None`: that of the run.
    pub to: Option<Nanos>,
    /// Most buckets of all trials together; each trial has one at least.
    pub points: usize,
    /// Only trials of this case.
    pub case: Option<u32>,
}

/// A stretch of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Intervals {
    /// `stend-intervals`.
    pub schema: &'static str,
    /// Raised when a field changes its meaning or goes away; new fields do not raise it.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Length of a bucket of rates, except for a shorter last one of a trial. With 100 each is a single interval.
    pub resolution_ms: u64,
    /// Length of a bucket of latencies, whole seconds of a trial. With 1000 each is a single histogram.
    pub latency_resolution_ms: u64,
    /// A part of the file cannot be read: what was in it is missing.
    pub is_damaged: bool,
    /// Trials that ran in the stretch, in the order of the run.
    pub trials: Vec<TrialIntervals>,
}

/// What lies in the stretch of one trial. Times are seconds since the run's start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrialIntervals {
    /// Ordinal in the run.
    pub trial: u32,
    /// `case` of the result.
    pub case: u32,
    /// Index of the block.
    pub block: u32,
    /// Names of its load hosts, whose counts are added up.
    pub hosts: Vec<String>,
    /// Begin of the first interval.
    pub from_s: f64,
    /// End of the last interval.
    pub to_s: f64,
    /// Middle of each bucket of rates.
    pub at_s: Vec<f64>,
    /// Middle of each bucket of latencies.
    pub latency_at_s: Vec<f64>,
    /// Its operations.
    pub operations: Vec<OperationIntervals>,
}

/// One operation of a trial: columns with a value for each bucket.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperationIntervals {
    /// `read`, `write`, `discard`, `write_zeroes` or `sync`.
    pub operation: String,
    /// I/Os per second: mean of the bucket.
    pub iops_mean: Vec<f64>,
    /// The interval with the fewest.
    pub iops_min: Vec<f64>,
    /// The interval with the most.
    pub iops_max: Vec<f64>,
    /// Bytes per second: mean of the bucket.
    pub bytes_per_s_mean: Vec<f64>,
    /// The interval with the fewest.
    pub bytes_per_s_min: Vec<f64>,
    /// The interval with the most.
    pub bytes_per_s_max: Vec<f64>,
    /// Largest latency in each bucket of rates, ns; 0 if nothing completed.
    pub interval_latency_ns_max: Vec<u64>,
    /// Median in each bucket of latencies, ns, from merged histograms; null if nothing completed.
    pub latency_ns_p50: Vec<Option<u64>>,
    /// 99th percentile of the same.
    pub latency_ns_p99: Vec<Option<u64>>,
    /// Largest of the same.
    pub latency_ns_max: Vec<Option<u64>>,
}
