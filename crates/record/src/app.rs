//! What the instances of an application did in a trial, as their clients printed it. No judgement.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// Everything about a trial whose load is an application.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AppOutcome {
    /// What the programs call themselves, server first, e.g. `postgres (PostgreSQL) 15.8`.
    pub versions: Vec<String>,
    /// Version of the control groups that held the limits, 1 or 2; `None`: there were no limits.
    pub groups: Option<u8>,
    /// Time that making data took, starting servers included.
    pub set_up: Nanos,
    /// One entry per instance.
    pub instances: Vec<Instance>,
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Instance {
    /// The windows that its client told, in order; fewer than asked for if it ended early.
    pub windows: Vec<AppWindow>,
    /// Last words of a client or server that failed; empty if none did.
    pub failed: String,
    /// Periods of 100 ms in which its processes had to wait because their CPU time was used up, over the trial (`nr_throttled`). The
    /// kernel's time of waiting is a sum over CPUs, and says nothing about one instance without them.
    pub throttled_periods: Option<u64>,
    /// CPU time of its processes, ns, over the trial.
    pub cpu_ns: Option<u64>,
    /// How often its memory limit was reached.
    pub memory_hits: Option<u64>,
}

/// A window of an instance, as its client printed it. Percentiles cannot be merged or averaged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AppWindow {
    /// Transactions or requests per second, in thousandths.
    pub rate_thousandths: u64,
    /// The percentile that the objective names; `None`: it was not printed.
    pub latency: Option<Nanos>,
    /// What broke the objective whatever the latency: connections made anew, socket errors, refused requests.
    pub errors: u64,
    /// The lines of it, digit by digit.
    pub printed: String,
}
