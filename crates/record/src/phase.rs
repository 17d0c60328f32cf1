//! What a run does at a time.

use serde::{Deserialize, Serialize};

/// Phases of a run, in order; arms and trials may alternate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Looking at the target and the machine.
    Preflight,
    /// Creating the test file.
    Provision,
    /// Measuring ceilings.
    Calibrate,
    /// Writing the range once.
    Fill,
    /// Switching to another arm.
    Arm,
    /// Trials.
    Measure,
    /// Undoing what was made.
    CleanUp,
    /// Making states of a device again from a log of its writes, and judging them.
    Replay,
}
