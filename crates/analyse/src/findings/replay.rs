//! How faithful replays were, and what logs of every I/O hold. Data only.

use serde::{Deserialize, Serialize};
use stend_base::Nanos;

/// How faithful the replay of a trace by one stream was, over all trials that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayFinding {
    /// Index of the stream.
    pub stream: u16,
    /// The trace as the suite names it.
    pub trace: String,
    /// SHA-256 of its file.
    pub sha256: String,
    /// I/Os that began.
    pub begun: u64,
    /// I/Os that were due and never began.
    pub never_begun: u64,
    /// Arrival error: how much later than due half of those that began did so, at most.
    pub late_p50: Option<Nanos>,
    /// The same for 99 % of them.
    pub late_p99: Option<Nanos>,
    /// The latest of all.
    pub late_max: Option<Nanos>,
    /// By how much lateness grew per time, in the trial where that was most; 0.01 is 10 ms per second.
    pub drift: Option<f64>,
    /// I/Os in flight, syncs not counted: mean from the begin of the window to the time at which the last I/O was due, or to the
    /// end of the window if that is earlier. `None` if the window begins behind the last I/O.
    pub in_flight: Option<f64>,
    /// The same of the original at its own pace; `None` if the trace does not say, or if not all of the replay lies in the
    /// window of every trial: the two would be means over different parts of the trace.
    pub in_flight_original: Option<f64>,
}

/// The log of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoLogFinding {
    /// Ordinal of the trial in the run.
    pub trial: u32,
    /// I/Os of the window that the run file holds, failed ones included.
    pub recorded: u64,
    /// Those that it lacks because the recorder was behind.
    pub dropped: u64,
    /// Those beyond the size that the suite allows.
    pub beyond: u64,
}
