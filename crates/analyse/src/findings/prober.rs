//! What single I/Os beside the load saw. Data only; `prober` finds it, and has its words.

use super::Quantile;
use serde::{Deserialize, Serialize};
use stend_base::{MilliIops, Nanos, Share};
use stend_spec::workload::Op;

/// What the prober of a case saw in all trials that count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProberFinding {
    /// Probes per second that were asked for.
    pub rate: MilliIops,
    /// Reads, or durable writes.
    pub op: Op,
    /// Probes that were due in the windows.
    pub probes: u64,
    /// p50 and p99 of the time from when a probe was due to its end; the probes are taken for independent.
    pub response: Vec<Quantile>,
    /// The longest response; a lower bound if a probe was not answered.
    pub response_max: Nanos,
    /// Probes that were not answered before waiting ended.
    pub unanswered: u64,
    /// Probes that failed.
    pub failed: u64,
    /// The longest time without an answer.
    pub longest: Option<SilenceFinding>,
    /// What the load says of kinds of I/O that the probes do not make.
    pub others: Vec<OtherOp>,
    /// Probes over I/Os of the load, in the windows: those that were due of streams with a rate, those that were completed of
    /// the others. `None` if there were none.
    pub share: Option<Share>,
    /// CPU time of the prober, in CPUs; `None` if it is not known of every trial.
    pub cpus: Option<f64>,
}

/// The longest time without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SilenceFinding {
    /// How long it was, at least.
    pub length: Nanos,
    /// When it began, from the begin of the window.
    pub at: Nanos,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// It was over when looking ended.
    pub ended: bool,
    /// I/Os that the load completed in those intervals that lie wholly in it; `None` if none does.
    pub load_completed: Option<u64>,
    /// What it was.
    pub kind: SilenceKind,
}

/// What the load itself says of a kind of I/O that the probes do not make: where reads go on and writes hang, probes that read have
/// their answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherOp {
    /// The kind.
    pub op: Op,
    /// The longest time in which none of it was completed, by whole intervals, if it is too long for chance.
    pub stood: Option<Standstill>,
    /// The load makes so few of them that a second without one says nothing.
    pub too_few: bool,
}

/// A time in which the load completed nothing of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standstill {
    /// How long it was, at least.
    pub length: Nanos,
    /// When it began at the latest, from the begin of the window.
    pub at: Nanos,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// When it began at the latest, on the run's axis.
    pub(crate) since: Nanos,
}

/// What a time without an answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SilenceKind {
    /// No longer than the time between a few probes, which is as fine as they can tell.
    None,
    /// The load completed nothing either in nearly all of it.
    Standstill,
    /// The load went on: the probes waited in a queue, or for what the load did not need.
    Queued,
    /// Too short to say what the load did.
    Unknown,
}
