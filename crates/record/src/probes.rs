//! What the prober of a trial saw: single I/Os beside the load, counted for no stream.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;
use stend_base::histogram::Sparse;

/// Probes of one trial. Where nothing else is said, those that were due inside the measuring window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// Times from when a probe was due to its end, of those that were answered.
    pub response: Sparse,
    /// Times from the begin of a probe to its end, of the same: less than the above where all threads of the prober
    /// were waiting already.
    pub service: Sparse,
    /// Probes that had not been answered when waiting ended, and how long they had been due.
    pub unanswered: Sparse,
    /// Failed probes: (error number of the kernel, or 0 for a short transfer; how many).
    pub errors: Vec<(i32, u64)>,
    /// The longest time in which no probe was answered, one of those that ended or went on in the window. Between two
    /// answers there is as much time as between two probes anyway.
    pub longest: Option<Silence>,
    /// Bytes of the probes that were answered inside the window, whenever they were due.
    pub bytes: u64,
    /// Probes that began in the whole trial.
    pub begun: u64,
    /// How long the prober worked, ramp and drain included.
    pub lasted: Nanos,
    /// Time of its threads on a CPU, ns, in all this time; `None` if the kernel does not tell, or one never came back.
    pub cpu_ns: Option<u64>,
    /// CPUs that its threads were kept on, those without load threads if all of these are kept on CPUs; none: wherever the scheduler put them.
    pub cpus: Vec<u32>,
}

/// Time without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// When the last answer before it came, or the window began, CLOCK_MONOTONIC ns.
    pub since: Nanos,
    /// When the next answer came, or waiting for it ended.
    pub until: Nanos,
    /// The next answer came.
    pub ended: bool,
}

impl Silence {
    /// How long it was, at least.
    pub fn length(&self) -> Nanos {
        self.until.saturating_sub(self.since)
    }
}
