//! What a plan decides, and what became of it.

use serde::{Deserialize, Serialize};
use stend_base::Bytes;

/// A case is given up after this many failed trials.
pub(crate) const FAILURES_PER_CASE: usize = 2;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Write the region in order, once or as its preconditioning says.
    Fill {
        /// Bytes from the start of the region.
        len: Bytes,
    },
    /// Run one trial.
    Trial {
        /// Index into the cases of the plan.
        case: u32,
        /// Index of the block.
        block: u32,
        /// Seed of this trial.
        seed: u64,
    },
    /// Run the load of a case for a round, which does not count, before its trials.
    Round {
        /// Index into the cases of the plan.
        case: u32,
        /// Which one, from 0; after a pause they begin anew.
        round: u32,
        /// Seed of this round.
        seed: u64,
    },
    /// Nothing more to do.
    Stop(StopReason),
}

/// Why a plan stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Every block of every case ran.
    Done,
    /// The target stalled or the fill failed: more trials would say nothing.
    TargetFailed,
    /// Every case that was left has been given up.
    AllCasesFailed,
}

/// What became of a decision; the history is the list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The step did what it should.
    Ok,
    /// The target failed I/O.
    Failed,
    /// I/O was still in flight when waiting ended.
    Stalled,
    /// It did, and the rate that a search tried was not served within its limit.
    Missed,
    /// It did, and its case is now as precise as the suite asks.
    Narrow,
    /// The round did, and with it the rate of its case is steady.
    Steady,
    /// It was done by fewer load hosts than were asked, because some were lost.
    Incomplete,
    /// Nothing was done: the run was interrupted before it went on, and whatever state a load had reached is lost.
    Paused,
}
