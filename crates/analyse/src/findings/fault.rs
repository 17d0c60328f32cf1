//! What events did to the load that they came upon. Data only; `faults` finds it, and has its words.

use crate::chart::Chart;
pub use crate::faults::Recovery;
use serde::{Deserialize, Serialize};
use stend_base::{Nanos, Say};
use stend_record::verification::Checked;

/// What the events of one case did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultFinding {
    /// Index of the case in the plan.
    pub case: u32,
    /// Name of the case.
    pub label: String,
    /// Its events, in the order of time.
    pub events: Vec<Say>,
    /// One of them takes redundancy away.
    pub loses: bool,
    /// Trials in which the first of them came.
    pub trials: Vec<FaultTrial>,
    /// What is known of the cuts of power that ended its trials; `None`: there were none.
    pub cuts: Option<CutFinding>,
    /// Their rates around the first event.
    pub chart: Option<Chart>,
}

/// What they did in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultTrial {
    /// Ordinal of the trial.
    pub trial: u32,
    /// What happened, with its time since the first event, seconds.
    pub moments: Vec<(f64, Say)>,
    /// What came of events, where that is more than what they are.
    pub came: Vec<Say>,
    /// The course of the rate; `None` without a whole second before the first event and after it.
    pub recovery: Option<Recovery>,
    /// Longest time in which no probe was answered, where it went on, or began, after the first event.
    pub silence: Option<Nanos>,
    /// 99th percentile of all I/Os before the first event and from it on; in an open loop from when they were due.
    pub tail: Option<(Nanos, Nanos)>,
    /// I/Os that failed.
    pub errors: u64,
    /// Blocks that were not as written; `None`: nothing was compared.
    pub mismatches: Option<u64>,
    /// From the first event until all arrays had their redundancy again and synchronised nothing; `None`: none lost it, or it was not
    /// waited for.
    pub whole: Option<Nanos>,
    /// The part of it from when the last event was undone on; `None`, too, where they had it by then.
    pub rebuilt: Option<Nanos>,
}

/// Cuts of power in the trials of a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CutFinding {
    /// How often it was cut.
    pub cuts: u64,
    /// Those of them after which data were compared with what had been acknowledged.
    pub judged: u64,
    /// Blocks with an acknowledged write, over all of these: what was compared.
    pub acknowledged: u64,
    /// Cuts that took or changed something of that.
    pub harmful: u64,
    /// What was found of all blocks.
    pub checked: Checked,
    /// Blocks that cannot be read any more.
    pub unread: u64,
    /// How long after a cut there was something again; `None`: of none it is known.
    pub back: Option<BackTimes>,
}

/// How long after cuts of power there was something again: median and largest of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BackTimes {
    /// The guest answered.
    pub answered: (Nanos, Nanos),
    /// The stand was up; `None`: there is none.
    pub stood: Option<(Nanos, Nanos)>,
    /// The first block had been read and compared.
    pub read: (Nanos, Nanos),
}
